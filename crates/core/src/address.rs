//! Which network addresses a source may be at: public ones, unless others are allowed by name.
//!
//! *Invariant:* an address that is not known to be public is refused; an address inside another (mapped, translated,
//! tunnelled) is judged as what it leads to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is allowed beside public addresses: addresses, ranges, and names of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    ranges: Vec<(IpAddr, u32)>,
    hosts: Vec<String>,
}

/// Why a host may not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The address that may not be, unless it is the name itself.
    pub address: Option<IpAddr>,
    /// What it is, such as `loopback`.
    pub kind: &'static str,
}

impl Allow {
    /// Adds an entry: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`, `intranet.example`, `*.intranet.example`. Answers whether
    /// it is one of those.
    pub fn add(&mut self, entry: &str) -> bool {
        let entry = entry.trim();
        let (address, length) = match entry.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (entry, None),
        };
        let bare = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
        if let Ok(address) = bare.parse::<IpAddr>() {
            let whole = if address.is_ipv4() { 32 } else { 128 };
            let Some(length) = length.map_or(Some(whole), |length| length.parse().ok().filter(|bits| *bits <= whole))
            else {
                return false;
            };
            self.ranges.push((address, length));
            return true;
        }
        let host = plain(entry);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        let name = host.strip_prefix("*.").unwrap_or(&host);
        if length.is_some() || name.is_empty() || !name.chars().all(is_name) || looks_like_address(name) {
            return false;
        }
        self.hosts.push(host);
        true
    }

    /// Whether a host may be reached whatever its addresses are.
    pub fn host(&self, host: &str) -> bool {
        let host = plain(host);
        self.hosts.iter().any(|allowed| match allowed.strip_prefix("*.") {
            Some(parent) => host.strip_suffix(parent).is_some_and(|left| left.ends_with('.')),
            None => host == *allowed,
        })
    }

    /// Whether an address is one of those that are allowed.
    pub fn address(&self, address: IpAddr) -> bool {
        self.ranges.iter().any(|(start, length)| within(address.to_canonical(), *start, *length))
    }
}

/// The addresses of a host that may be connected to: all of them, or it may not be reached at all. Where an address
/// was allowed on purpose, those that were not are left out instead.
pub fn decide(host: &str, addresses: &[IpAddr], allow: &Allow) -> Result<Vec<IpAddr>, Denied> {
    if allow.host(host) {
        return Ok(addresses.to_vec());
    }
    if addresses.iter().any(|address| allow.address(*address)) {
        let fine = |address: &IpAddr| allow.address(*address) || special(*address).is_none();
        return Ok(addresses.iter().copied().filter(fine).collect());
    }
    if let Some(kind) = special_name(host) {
        return Err(Denied { address: None, kind });
    }
    match addresses.iter().find_map(|address| Some((*address, special(*address)?))) {
        Some((address, kind)) => Err(Denied { address: Some(address), kind }),
        None => Ok(addresses.to_vec()),
    }
}

/// What an address is, unless it is public.
pub fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

/// What a name of a host stands for, unless it is an ordinary one.
pub fn special_name(host: &str) -> Option<&'static str> {
    let host = plain(host);
    let is = |name: &str| host == name || host.strip_suffix(name).is_some_and(|left| left.ends_with('.'));
    if ["localhost", "localdomain", "ip6-localhost", "ip6-loopback"].into_iter().any(is) {
        return Some("loopback");
    }
    ["metadata.google.internal", "instance-data", "metadata"].contains(&host.as_str()).then_some("metadata")
}

/// A name without what does not tell names apart: case, and the dot at the end.
fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// Whether a name would be read as an address: its last part is a number.
fn looks_like_address(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hex = last.strip_prefix("0x").is_some_and(|digits| digits.chars().all(|digit| digit.is_ascii_hexdigit()));
    hex || !last.is_empty() && last.chars().all(|digit| digit.is_ascii_digit())
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, d] = address.octets();
    Some(match (a, b, c, d) {
        (169, 254, 169, 254) | (169, 254, 170, 2) | (168, 63, 129, 16) | (100, 100, 100, 200) => "metadata",
        (0, ..) => "unspecified",
        (127, ..) => "loopback",
        (10, ..) | (172, 16..=31, ..) | (192, 168, ..) => "private",
        (100, 64..=127, ..) => "shared",
        (169, 254, ..) => "link-local",
        (192, 0, 0, _) => "protocol",
        (192, 0, 2, _) | (198, 51, 100, _) | (203, 0, 113, _) => "documentation",
        (192, 88, 99, _) => "relay",
        (198, 18..=19, ..) => "benchmarking",
        (224..=239, ..) => "multicast",
        (255, 255, 255, 255) => "broadcast",
        (240..=255, ..) => "reserved",
        _ => return None,
    })
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    let parts = address.segments();
    let low = || {
        let [.., a, b, c, d] = address.octets();
        special_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("loopback"),
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => low(),
        [0, 0, 0, 0, 0, 0, ..] => Some(low().unwrap_or("reserved")),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Some("metadata"),
        [0xfc00..=0xfdff, ..] => Some("private"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xfec0..=0xfeff, ..] => Some("site-local"),
        [0xff00..=0xffff, ..] => Some("multicast"),
        [0x2001, 0, ..] | [0x2002, ..] => Some("tunnel"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("documentation"),
        [0x2001, 2, 0, ..] => Some("benchmarking"),
        [0x2001, 0..=0x1ff, ..] => Some("protocol"),
        // An address of another family in the lower half of one of its own (ISATAP).
        [0x2000..=0x3fff, _, _, _, 0 | 0x200, 0x5efe, ..] => low(),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

/// Whether the first `length` bits are the same.
fn within(address: IpAddr, start: IpAddr, length: u32) -> bool {
    match (address, start) {
        (IpAddr::V4(address), IpAddr::V4(start)) => same(address.to_bits().into(), start.to_bits().into(), 32, length),
        (IpAddr::V6(address), IpAddr::V6(start)) => same(address.to_bits(), start.to_bits(), 128, length),
        _ => false,
    }
}

fn same(a: u128, b: u128, bits: u32, length: u32) -> bool {
    length == 0 || (a ^ b) >> (bits - length) == 0
}
