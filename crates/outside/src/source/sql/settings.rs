//! Where a database is, by its address.
//!
//! *Invariant:* an address has no password in it.

use std::path::Path;

use reqwest::Url;

use super::statement::Flavour;
use super::{Place, Server};
use crate::source::keys::Keys;

const FORMS: &str = "write `postgres://host/database`, `mysql://host/database` or `sqlite:file.db`";

/// Reads `url`, `user`, `database`, `tls` and `allow`.
pub(super) fn place(keys: &mut Keys<'_>, folder: &str) -> Option<Place> {
    let text = keys.needed("url", FORMS);
    if let Some(rest) = text.strip_prefix("sqlite:") {
        return file(keys, rest, folder);
    }
    let user = keys.either("user", "username").map(str::to_owned);
    let database = keys.text("database").map(str::to_owned);
    let allow = keys.allow();
    let tls = keys.word("tls", &["verify", "off"]).map(|word| word == "verify");
    if text.is_empty() {
        return None;
    }
    let Some(url) = Url::parse(text).ok().filter(|url| url.host_str().is_some_and(|host| !host.is_empty())) else {
        keys.wrong("`config.url` is not an address of a database", FORMS);
        return None;
    };
    if url.password().is_some() || url.query_pairs().any(|(name, _)| name.eq_ignore_ascii_case("password")) {
        keys.in_the_clear("a password in its address");
        return None;
    }
    let (flavour, port) = match url.scheme() {
        "postgres" | "postgresql" => (Flavour::Postgres, 5432),
        "mysql" | "mariadb" => (Flavour::MySql, 3306),
        scheme => {
            keys.wrong(format!("`{scheme}` is no kind of database"), FORMS);
            return None;
        }
    };
    let asked = asked_tls(&url, keys);
    let own = Some(url.username()).filter(|name| !name.is_empty()).map(plain);
    let path = plain(url.path().trim_start_matches('/'));
    Some(Place::Server(Server {
        flavour,
        host: url.host_str().unwrap_or_default().to_owned(),
        port: url.port().unwrap_or(port),
        user: user.or(own),
        database: database.unwrap_or(path),
        tls: tls.or(asked),
        allow,
    }))
}

/// The file of a database of SQLite.
fn file(keys: &mut Keys<'_>, rest: &str, folder: &str) -> Option<Place> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let path = path.split('?').next().unwrap_or(path);
    if path.is_empty() || path.contains(":memory:") {
        keys.wrong("`config.url` names no file", "write `sqlite:file.db`");
        return None;
    }
    Some(Place::File(Path::new(folder).join(path)))
}

/// Whether the address asks for TLS, in the words that others use for it.
fn asked_tls(url: &Url, keys: &mut Keys<'_>) -> Option<bool> {
    let mut asked = None;
    for (name, value) in url.query_pairs() {
        match (name.as_ref(), value.as_ref()) {
            ("sslmode" | "ssl-mode", "disable") => asked = Some(false),
            ("sslmode" | "ssl-mode", "prefer") => {}
            ("sslmode" | "ssl-mode", "require" | "verify-ca" | "verify-full") => asked = Some(true),
            _ => keys.wrong(format!("`config.url` has `{name}={value}`, which is not known"), "leave it out"),
        }
    }
    asked
}

/// A part of an address with its `%20` read.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
