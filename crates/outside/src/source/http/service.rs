//! A service over HTTP: where it is, how one shows who one is, and what may be reached.
//!
//! *Invariant:* the secret goes into headers that are marked, or into a parameter that is never told.

use std::time::Duration;

use bytes::Bytes;
use heldset_core::address::Allow;
use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::mapping::is_secret_name;
use heldset_core::value::{Object, Value};
use heldset_engine::refusal::{Outcome, Refusal};
use reqwest::Url;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::ask::{Asker, Credential, Request};
use super::operation::{Format, Operation};
use super::paging::{At, Place};
use crate::config::plain_text;
use crate::source::Sleeper;
use crate::source::guard::Guard;
use crate::source::keys::Keys;
use crate::source::secret::{Secret, USERS};

/// A service.
pub(crate) struct Service {
    base: Url,
    headers: HeaderMap,
    credential: Credential,
    /// What the credential must have and has not.
    lacks: Option<&'static str>,
    secret: Secret,
    allow: Allow,
    timeout: Duration,
    max_bytes: u64,
}

impl Service {
    /// Reads the configuration of a connector. What is wrong with it is noted in the keys.
    pub(crate) fn read(keys: &mut Keys<'_>, secret: Option<&Object<'static>>, prefers_basic: bool) -> Outcome<Service> {
        let secret = Secret::new(secret);
        let base = address(keys, None);
        let headers = headers(keys);
        let (credential, lacks) = credential(keys, &secret, prefers_basic);
        let allow = keys.allow();
        let timeout = keys.seconds("timeout_s").unwrap_or(Duration::from_secs(30));
        let max_bytes = keys.count("max_bytes", 1, 1 << 40).unwrap_or(64 << 20);
        let base = base.ok_or_else(|| Refusal::usage(Code::E067, "`config` has no `url`", "write the address"))?;
        Ok(Service { base, headers, credential, lacks, secret, allow, timeout, max_bytes })
    }

    /// A service of a kind that is known: only its address and its token differ.
    pub(crate) fn known(keys: &mut Keys<'_>, default: &str, secret: Option<&Object<'static>>) -> Outcome<Service> {
        let secret = Secret::new(secret);
        let base = address(keys, Some(default));
        let credential = match secret.text(&["token", "api_key", "password"]) {
            Some(token) => in_header(keys, AUTHORIZATION, &format!("Bearer {token}")),
            None => Credential::None,
        };
        let allow = keys.allow();
        let timeout = keys.seconds("timeout_s").unwrap_or(Duration::from_secs(60));
        let max_bytes = keys.count("max_bytes", 1, 1 << 40).unwrap_or(4 << 30);
        let base = base.ok_or_else(|| Refusal::usage(Code::E067, "`config` has no address", "write `endpoint`"))?;
        let headers = HeaderMap::new();
        Ok(Service { base, headers, credential, lacks: None, secret, allow, timeout, max_bytes })
    }

    /// Refuses to go on without a credential that the configuration asks for.
    pub(super) fn needs_secret(&self, given: bool) -> Outcome<()> {
        match self.lacks {
            None => Ok(()),
            Some(what) => {
                let message = match given {
                    true => format!("the credential of the connector has no {what}"),
                    false => format!("the connector needs a credential with {what}"),
                };
                Err(Refusal::usage(Code::E067, message, "set it with `heldset credential set`"))
            }
        }
    }

    /// Who asks it.
    pub(crate) fn asker(&self, operation: &Operation, sleeper: Sleeper) -> Asker {
        let guard = Guard::new(self.allow.clone());
        Asker::new(guard, self.secret.clone(), sleeper, self.timeout, self.max_bytes)
            .paced(operation.per_second)
            .retries(operation.retries)
    }

    /// The request for a page.
    pub(super) fn request(&self, operation: &Operation, place: &Place) -> Outcome<Request> {
        let parameters = operation.paging.parameters(place);
        let mut url = match &place.at {
            At::Link(link) => self.linked(link)?,
            _ => self.at(&operation.path)?,
        };
        if !matches!(place.at, At::Link(_)) {
            let mut pairs: Vec<(String, String)> = operation.params.clone();
            if !operation.paging.in_body {
                for (name, value) in &parameters {
                    pairs.retain(|(other, _)| other != name);
                    pairs.push(((*name).to_owned(), plain_text(value)));
                }
            }
            if !pairs.is_empty() {
                url.query_pairs_mut().extend_pairs(pairs);
            }
        }
        let mut request = self.get(url, accept(operation.format));
        request.method = operation.method.clone();
        if let Some(body) = &operation.body {
            let mut body = body.clone();
            if let (true, Value::Object(object)) = (operation.paging.in_body, &mut body) {
                parameters.into_iter().for_each(|(name, value)| object.set(name.to_owned(), value));
            }
            request.body = Some(Bytes::from(match body {
                Value::String(text) => text.into_owned().into_bytes(),
                body => canonical::bytes(&body),
            }));
            request.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        Ok(request)
    }

    /// A plain request for an address of this service.
    pub(crate) fn get(&self, url: Url, accept: &'static str) -> Request {
        let mut headers = self.headers.clone();
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static(accept));
        Request { method: reqwest::Method::GET, url, headers, credential: self.credential.clone(), body: None }
    }

    /// The address of a path of this service.
    pub(crate) fn at(&self, path: &str) -> Outcome<Url> {
        let (base, path) = (self.base.as_str(), path.trim_start_matches('/'));
        let text = match path {
            "" => base.to_owned(),
            path if base.contains('?') => format!("{base}{path}"),
            path => format!("{}/{path}", base.trim_end_matches('/')),
        };
        Url::parse(&text).map_err(|_| Refusal::usage(Code::E067, format!("`{path}` is not a path"), "see `path`"))
    }

    /// What is asked, for people.
    pub(super) fn told(&self, operation: &Operation) -> String {
        self.at(&operation.path).map_or_else(|_| "the service".to_owned(), |url| format!("`{url}`"))
    }

    /// The address of a further page: at the same origin, or the credential would go elsewhere.
    fn linked(&self, link: &str) -> Outcome<Url> {
        let url = self.base.join(link).ok().filter(|url| url.origin() == self.base.origin());
        url.ok_or_else(|| {
            let message = format!("the next page is said to be elsewhere: `{}`", self.secret.hidden(link));
            Refusal::denied(Code::E073, message, "the pages of a source must come from the address of its connector")
        })
    }
}

/// The address of a service: `url` or `base_url`, or `endpoint` of one that has a usual place.
fn address(keys: &mut Keys<'_>, default: Option<&str>) -> Option<Url> {
    let text = match default {
        Some(default) => keys.text("endpoint").unwrap_or(default),
        None => keys.either("url", "base_url").unwrap_or_else(|| {
            keys.wrong("`config` has no `url`", "write the address of the service, such as `https://host/api`");
            ""
        }),
    };
    if text.is_empty() {
        return None;
    }
    let Some(url) = Url::parse(text).ok().filter(|url| url.host_str().is_some()) else {
        keys.wrong(format!("`{text}` is not an address"), "write it as `https://host/path`");
        return None;
    };
    if !matches!(url.scheme(), "http" | "https") {
        keys.wrong(format!("`{}` is not a way to reach a service", url.scheme()), "use `https` or `http`");
        return None;
    }
    if !url.username().is_empty() || url.password().is_some() {
        keys.in_the_clear("a user or a password in its address");
        return None;
    }
    Some(url)
}

fn headers(keys: &mut Keys<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in keys.mapping("headers").into_iter().flat_map(Object::iter).filter(|(_, v)| !v.is_null()) {
        if is_secret_name(name) {
            keys.in_the_clear(&format!("the header `{name}`"));
            continue;
        }
        match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&plain_text(value))) {
            (Ok(name), Ok(value)) => {
                headers.insert(name, value);
            }
            _ => keys.wrong(format!("the header `{name}` cannot be sent"), "see RFC 9110"),
        }
    }
    headers
}

/// How one shows who one is; and what the secret lacks for it.
fn credential(keys: &mut Keys<'_>, secret: &Secret, prefers_basic: bool) -> (Credential, Option<&'static str>) {
    let has = |names: &[&str]| secret.text(names).is_some();
    let usual = match prefers_basic && has(&USERS) || has(&["password"]) {
        true => "basic",
        false => "bearer",
    };
    let mut name = None;
    let mut prefix = None;
    let mut member = None;
    let kind = keys.inside("auth", |keys| {
        name = keys.either("name", "param").map(str::to_owned);
        prefix = keys.text("prefix").map(str::to_owned);
        member = keys.text("from").map(str::to_owned);
        keys.word("kind", &["bearer", "basic", "header", "query", "none"])
    });
    let asked = kind.is_some();
    let kind = kind.flatten().unwrap_or(if secret.is_empty() { "none" } else { usual });
    let token = match &member {
        Some(member) => secret.text(&[member]),
        None => secret.text(&["token", "api_key", "api_token", "key", "password"]),
    };
    let Some(token) = token.filter(|_| kind != "basic") else {
        return match (kind, basic(secret)) {
            ("basic", Some(value)) => (in_header(keys, AUTHORIZATION, &value), None),
            ("none", _) => (Credential::None, None),
            ("basic", None) => (Credential::None, asked.then_some("`username` and `password`")),
            _ => (Credential::None, asked.then_some("`token`")),
        };
    };
    let credential = match kind {
        "bearer" => in_header(keys, AUTHORIZATION, &format!("Bearer {token}")),
        "header" => {
            let name = name.unwrap_or_else(|| "X-Api-Key".to_owned());
            match HeaderName::from_bytes(name.as_bytes()) {
                Ok(header) => {
                    let prefix = prefix.map(|prefix| format!("{} ", prefix.trim_end())).unwrap_or_default();
                    in_header(keys, header, &format!("{prefix}{token}"))
                }
                Err(_) => {
                    keys.wrong(format!("`auth.name` is no header: `{name}`"), "see RFC 9110");
                    Credential::None
                }
            }
        }
        "query" if token.contains(char::is_control) => unsendable(keys),
        "query" => Credential::Query(name.unwrap_or_else(|| "api_key".to_owned()), token.to_owned()),
        _ => Credential::None,
    };
    (credential, None)
}

fn basic(secret: &Secret) -> Option<String> {
    use base64::Engine as _;
    let user = secret.text(&USERS)?;
    let word = secret.text(&["password", "token", "api_token"]).unwrap_or_default();
    let code = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{word}"));
    Some(format!("Basic {code}"))
}

/// A header that is never shown. One that cannot be sent is refused: without it the service would be asked by nobody.
fn in_header(keys: &mut Keys<'_>, name: HeaderName, value: &str) -> Credential {
    match HeaderValue::from_str(value) {
        Ok(mut value) if !value.as_bytes().contains(&b'\t') => {
            value.set_sensitive(true);
            Credential::Header(name, value)
        }
        _ => unsendable(keys),
    }
}

fn unsendable(keys: &mut Keys<'_>) -> Credential {
    let message = "the credential of the connector has a character that cannot be sent, such as a line break";
    keys.wrong(message, "set it again with `heldset credential set`, without what is around it");
    Credential::None
}

fn accept(format: Format) -> &'static str {
    match format {
        Format::Json => "application/json",
        Format::JsonLines => "application/x-ndjson, application/jsonl, application/json;q=0.5",
        Format::Csv => "text/csv, text/plain;q=0.5",
    }
}
