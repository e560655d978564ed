//! Which addresses are public, and what an allowance lets through.

use std::net::IpAddr;

use heldset_core::address::{Allow, decide, special, special_name};

fn addresses(text: &str) -> Vec<IpAddr> {
    text.split_whitespace().map(|address| address.parse().unwrap()).collect()
}

fn allow(entries: &[&str]) -> Allow {
    let mut allow = Allow::default();
    for entry in entries {
        assert!(allow.add(entry), "{entry}");
    }
    allow
}

#[test]
fn every_address_of_the_table_is_what_it_says() {
    let table = include_str!("data/addresses.txt");
    let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.len() >= 60, "the table has {} rows", rows.len());
    for row in rows {
        let (address, expected) = row.split_once(' ').unwrap();
        let found = special(address.parse().unwrap()).unwrap_or("public");
        assert_eq!(found, expected.trim(), "{address}");
    }
}

#[test]
fn names_that_mean_this_machine_are_known() {
    for name in ["localhost", "LOCALHOST.", "a.b.localhost", "x.localdomain", "ip6-loopback"] {
        assert_eq!(special_name(name), Some("loopback"), "{name}");
    }
    assert_eq!(special_name("Metadata.Google.Internal"), Some("metadata"));
    for name in ["example.org", "localhost.example.org", "notlocalhost", "metadata.example.org"] {
        assert_eq!(special_name(name), None, "{name}");
    }
}

/// Hosts, what they resolve to, what is allowed, and which addresses are then connected to.
#[test]
fn one_bad_address_refuses_the_host_unless_it_is_allowed() {
    for (host, resolved, allowed, expected) in [
        ("example.org", "8.8.8.8", &[][..], Ok("8.8.8.8")),
        ("example.org", "8.8.8.8 10.0.0.1", &[], Err("private")),
        ("example.org", "8.8.8.8 10.0.0.1", &["10.0.0.0/8"], Ok("8.8.8.8 10.0.0.1")),
        ("example.org", "8.8.8.8 10.0.0.1 127.0.0.1", &["10.0.0.0/8"], Ok("8.8.8.8 10.0.0.1")),
        ("localhost", "127.0.0.1 ::1", &["127.0.0.1"], Ok("127.0.0.1")),
        ("localhost", "127.0.0.1 ::1", &["localhost"], Ok("127.0.0.1 ::1")),
        ("localhost", "8.8.8.8", &[], Err("loopback")),
        ("localhost", "127.0.0.1", &["127.0.0.2"], Err("loopback")),
        ("wiki.intranet.example", "10.0.0.1", &["*.intranet.example"], Ok("10.0.0.1")),
        ("intranet.example", "10.0.0.1", &["*.intranet.example"], Err("private")),
        ("evilintranet.example", "10.0.0.1", &["*.intranet.example"], Err("private")),
        ("Intranet.Example.", "10.0.0.1", &["intranet.example"], Ok("10.0.0.1")),
        ("x", "::ffff:127.0.0.1", &["127.0.0.0/8"], Ok("::ffff:127.0.0.1")),
        ("x", "fd00::1", &["[fd00::]/8"], Ok("fd00::1")),
        ("x", "10.0.0.1", &["0.0.0.0/0"], Ok("10.0.0.1")),
        ("x", "::1", &["0.0.0.0/0"], Err("loopback")),
    ] {
        let found = decide(host, &addresses(resolved), &allow(allowed));
        let expected = expected.map(addresses);
        assert_eq!(found.map_err(|denied| denied.kind), expected, "{host} at {resolved} with {allowed:?}");
    }
}

#[test]
fn an_allowance_is_an_address_a_range_or_a_name() {
    for entry in
        ["", "10.0.0.0/33", "10.0.0/8", "::1/129", "a b", "http://x", "x/8", "127.1", "0x7f.1", "*", "10.0.0.1:80"]
    {
        assert!(!Allow::default().add(entry), "{entry}");
    }
}
