//! Lets connections go only where they may: a host is resolved once, every address is checked, and what was checked is
//! what is connected to.
//!
//! *Invariant:* no connection is made to an address that did not pass [`Guard::admit`].

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use heldset_core::address::{Allow, decide};
use heldset_core::code::Code;
use heldset_engine::refusal::{Outcome, Refusal};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Who may be reached.
pub(super) struct Guard {
    allow: Allow,
    admitted: Mutex<HashMap<String, Vec<IpAddr>>>,
}

/// The addresses that were admitted, for a client that asks for them by name.
pub(super) struct Pinned(pub(super) Arc<Guard>);

impl Guard {
    /// One that allows public addresses and those named.
    pub(super) fn new(allow: Allow) -> Arc<Self> {
        Arc::new(Guard { allow, admitted: Mutex::default() })
    }

    /// The addresses of the host of a URL, if it may be reached.
    pub(super) async fn admit_url(&self, url: &Url) -> Outcome<Vec<IpAddr>> {
        self.admit(url.host_str().unwrap_or_default()).await
    }

    /// The addresses of a host, if it may be reached.
    pub(super) async fn admit(&self, host: &str) -> Outcome<Vec<IpAddr>> {
        let host = spelled(host);
        if let Some(known) = self.known(&host) {
            return Ok(known);
        }
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => resolve(&host).await?,
        };
        let fine = decide(&host, &addresses, &self.allow).map_err(|denied| {
            let place = match denied.address {
                Some(address) if address.to_string() != host => format!("`{host}` is at {address}, which is"),
                _ => format!("`{host}` is"),
            };
            let message = format!("{place} {}, and may not be reached", article(denied.kind));
            let entry = denied.address.map_or(host.clone(), |address| address.to_string());
            Refusal::denied(Code::E073, message, format!("if it is meant, add `{entry}` to `allow` of the connector"))
        })?;
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner).insert(host, fine.clone());
        Ok(fine)
    }

    fn known(&self, host: &str) -> Option<Vec<IpAddr>> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned()
    }
}

impl Resolve for Pinned {
    fn resolve(&self, name: Name) -> Resolving {
        let host = spelled(name.as_str());
        let addresses = self.0.known(&host);
        Box::pin(async move {
            match addresses {
                Some(addresses) => {
                    let at = addresses.into_iter().map(|address| SocketAddr::new(address, 0));
                    Ok(Box::new(at) as Addrs)
                }
                None => Err(format!("`{host}` was not admitted").into()),
            }
        })
    }
}

/// A host as it is looked up: without brackets, case and the dot at the end, and numbers as the address they are.
pub(super) fn spelled(host: &str) -> String {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    if bare.parse::<IpAddr>().is_ok() {
        return bare.to_owned();
    }
    let read = Url::parse(&format!("http://{host}/")).ok();
    let host = read.as_ref().and_then(Url::host_str).unwrap_or(bare);
    host.trim_end_matches('.').to_ascii_lowercase()
}

async fn resolve(host: &str) -> Outcome<Vec<IpAddr>> {
    let found = tokio::net::lookup_host((host, 0)).await.map(|found| found.map(|at| at.ip()).collect::<Vec<_>>());
    let why = match found {
        Ok(found) if !found.is_empty() => {
            let mut addresses: Vec<IpAddr> = Vec::with_capacity(found.len());
            for address in found {
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
            return Ok(addresses);
        }
        Ok(_) => "it has none".to_owned(),
        Err(error) => error.to_string(),
    };
    let message = format!("the address of `{host}` cannot be found: {why}");
    Err(Refusal::incomplete(Code::E070, message, "see whether the name is right and the network is there"))
}

fn article(kind: &str) -> String {
    match kind {
        "shared" => "a shared address (carrier-grade NAT)".to_owned(),
        "metadata" => "a metadata service".to_owned(),
        "unspecified" => "an unspecified address".to_owned(),
        kind => format!("a {kind} address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(url: &str, allow: &[&str]) -> String {
        let Ok(url) = Url::parse(url) else { return "not a URL".to_owned() };
        let mut allowed = Allow::default();
        assert!(allow.iter().all(|entry| allowed.add(entry)));
        let guard = Guard::new(allowed);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        match runtime.block_on(guard.admit_url(&url)) {
            Ok(addresses) => addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" "),
            Err(refusal) => format!("{} {}", refusal.code, refusal.message),
        }
    }

    #[test]
    fn however_an_address_is_spelled_it_is_refused() {
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://127。0。0。1/",
            "http://①②⑦.0.0.1/",
            "http://%31%32%37.0.0.1/",
            "http://example.org@127.0.0.1/",
            "http://example.org:80@127.0.0.1:80/",
            "http://127.0.0.1:80\\@example.org/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[0:0:0:0:0:ffff:7f00:1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://0/",
            "http://169.254.169.254/latest/meta-data",
            "http://[fd00:ec2::254]/",
            "http://10.0.0.1/",
        ] {
            let found = admit(url, &[]);
            let named = url.contains("a.localhost");
            assert!(found.starts_with("E073 ") || named && found.starts_with("E070 "), "{url}: {found}");
        }
        assert_eq!(admit("http://[fe80::1%25eth0]/", &[]), "not a URL");
    }

    #[test]
    fn what_is_public_or_allowed_is_admitted() {
        assert_eq!(admit("http://93.184.215.14/", &[]), "93.184.215.14");
        assert_eq!(admit("http://0x7f.1/", &["127.0.0.1"]), "127.0.0.1");
        assert_eq!(admit("http://[::ffff:127.0.0.1]/", &["127.0.0.0/8"]), "::ffff:127.0.0.1");
        assert_eq!(
            admit("http://10.0.0.1/", &["127.0.0.1"]),
            "E073 `10.0.0.1` is a private address, and may not be reached"
        );
    }
}
