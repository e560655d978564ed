//! One client for everything that speaks HTTP: connections kept alive, answers limited, faults tried again.
//!
//! *Invariant:* only connection faults, 429 and 5xx are tried again, unless a plan says otherwise; no message and no
//! answer holds the value of a secret; nothing of TLS is set up for plain HTTP.

mod pace;
mod reply;
mod text;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use heldset_core::fault::Problem;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::AgentFailure;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};

use crate::agent::{Secrets, failure};
use crate::config::{plain_text, wrong};
pub(crate) use pace::Pace;
pub(crate) use reply::{Reply, chain, excerpt, read_json};
pub(crate) use text::{Part, Text, percent_encoded};

/// Connections and secrets that all endpoints of a run share.
pub(crate) struct Net {
    connections: usize,
    secrets: Arc<Secrets>,
    plain: OnceLock<Result<Client, String>>,
    secure: OnceLock<Result<Client, String>>,
}

/// Where requests go, and with what headers.
#[derive(Clone)]
pub(crate) struct Endpoint {
    net: Arc<Net>,
    method: Method,
    address: Address,
    headers: Vec<(HeaderName, Field)>,
    /// How often it is tried again; absent: the default for each kind of fault.
    max_retries: Option<u64>,
    verdicts: Vec<(String, Verdict)>,
}

#[derive(Clone)]
enum Address {
    Fixed(Url),
    Template(Text),
}

#[derive(Clone)]
enum Field {
    Fixed(HeaderValue),
    Template(Text),
}

/// What a status means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The body holds the answer.
    Answer,
    /// It is tried again.
    Retry,
    /// The session fails.
    Error,
}

/// What fills the `{name}` of templates in one request.
pub(crate) type Fill<'f> = &'f dyn Fn(&str) -> String;

impl Net {
    /// A client that keeps as many connections to a host as sessions run at a time.
    pub(crate) fn new(connections: usize, secrets: Arc<Secrets>) -> Arc<Net> {
        Arc::new(Net { connections, secrets, plain: OnceLock::new(), secure: OnceLock::new() })
    }

    /// The value of a secret.
    pub(crate) fn secret(&self, name: &str) -> Option<String> {
        (self.secrets)(name)
    }

    fn client(&self, secure: bool) -> Result<&Client, AgentFailure> {
        let client = match secure {
            true => self.secure.get_or_init(|| secure_client(self.connections)),
            false => self.plain.get_or_init(|| plain_client(self.connections)),
        };
        client.as_ref().map_err(|message| failure("setup", message.clone()))
    }
}

/// A client whose TLS trusts nobody, since it is not used: reading the certificates of the system takes a while.
fn plain_client(connections: usize) -> Result<Client, String> {
    let stay_plain = reqwest::redirect::Policy::custom(|attempt| {
        if attempt.url().scheme() != "http" || attempt.previous().len() > 10 {
            attempt.stop()
        } else {
            attempt.follow()
        }
    });
    let builder = Client::builder().tls_backend_preconfigured(unused_tls()?).redirect(stay_plain).no_proxy();
    built(builder, connections)
}

fn unused_tls() -> Result<rustls::ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(versions.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

/// A client that connects only to what a resolver answers, follows nobody and uses no proxy.
pub(crate) fn pinned_client(secure: bool, resolver: impl reqwest::dns::Resolve + 'static) -> Result<Client, String> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = match secure {
        true => Client::builder(),
        false => Client::builder().tls_backend_preconfigured(unused_tls()?),
    };
    let builder = builder.no_proxy().redirect(reqwest::redirect::Policy::none()).dns_resolver(Arc::new(resolver));
    built(builder, 4)
}

fn secure_client(connections: usize) -> Result<Client, String> {
    // An error says that a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    built(Client::builder(), connections)
}

fn built(builder: reqwest::ClientBuilder, connections: usize) -> Result<Client, String> {
    builder
        .pool_max_idle_per_host(connections.max(1))
        .connect_timeout(std::time::Duration::from_secs(10))
        .referer(false)
        .build()
        .map_err(|error| format!("the HTTP client cannot be set up: {}", reply::chain(&error)))
}

impl Endpoint {
    /// The endpoint of a configuration: `headers`, `api_key` and `max_retries` beside an address. `names` may stand as
    /// `{name}` in the address and the headers.
    pub(crate) fn new(
        net: &Arc<Net>,
        config: &Object<'_>,
        (key, url): (&str, &str),
        names: &[&str],
    ) -> Result<Endpoint, Problem> {
        let address = address(net, key, url, names)?;
        let mut headers = headers(net, config, names)?;
        if let Some(field) = bearer(net, config)? {
            headers.retain(|(name, _)| name != AUTHORIZATION);
            headers.push((AUTHORIZATION, field));
        }
        if !headers.iter().any(|(name, _)| name == CONTENT_TYPE) {
            headers.push((CONTENT_TYPE, Field::Fixed(HeaderValue::from_static("application/json"))));
        }
        let max_retries = count(config, "max_retries")?;
        Ok(Endpoint { net: net.clone(), method: Method::POST, address, headers, max_retries, verdicts: Vec::new() })
    }

    /// The same endpoint with another method.
    #[must_use]
    pub(crate) fn method(mut self, method: Method) -> Endpoint {
        self.method = method;
        self
    }

    /// The same endpoint with what statuses mean, each as `404` or `4xx`.
    #[must_use]
    pub(crate) fn verdicts(mut self, verdicts: Vec<(String, Verdict)>) -> Endpoint {
        self.verdicts = verdicts;
        self
    }

    /// The same endpoint for bodies of another type.
    #[must_use]
    pub(crate) fn content_type(mut self, content_type: &str) -> Endpoint {
        if let Ok(value) = HeaderValue::from_str(content_type) {
            self.headers.retain(|(name, _)| name != CONTENT_TYPE);
            self.headers.push((CONTENT_TYPE, Field::Fixed(value)));
        }
        self
    }

    /// The endpoint of a path under this one.
    #[must_use]
    pub(crate) fn under(&self, method: Method, path: &str) -> Endpoint {
        let mut under = self.clone();
        under.method = method;
        under.address = match &self.address {
            Address::Fixed(url) => match Url::parse(&format!("{}{path}", url.as_str().trim_end_matches('/'))) {
                Ok(url) => Address::Fixed(url),
                Err(_) => self.address.clone(),
            },
            Address::Template(text) => Address::Template(text.clone().then(path)),
        };
        under
    }

    /// Sends a body until it is answered or given up; counts how often it was tried again.
    pub(crate) async fn send(
        &self,
        body: impl Into<Bytes>,
        traceparent: &str,
        fill: Fill<'_>,
        retries: &mut u64,
    ) -> Result<Reply, AgentFailure> {
        let body = body.into();
        let mut pace = Pace::new(self.max_retries);
        loop {
            let (why, limited, asked) = match self.once(body.clone(), traceparent, fill).await {
                Ok(reply) => match self.verdict(reply.status) {
                    Verdict::Answer => return reply.checked(),
                    Verdict::Error => return Err(reply.failure()),
                    Verdict::Retry => (reply.failure(), reply.status == 429, reply.retry_after),
                },
                Err(Trouble::Again(message)) => (failure("connection", message), false, None),
                Err(Trouble::Final(failure)) => return Err(failure),
            };
            let Some(wait) = pace.next(limited, asked) else { return Err(pace.gives_up(why)) };
            *retries += 1;
            tokio::time::sleep(wait).await;
        }
    }

    async fn once(&self, body: Bytes, traceparent: &str, fill: Fill<'_>) -> Result<Reply, Trouble> {
        let url = match &self.address {
            Address::Fixed(url) => url.clone(),
            Address::Template(text) => {
                let filled = text.fill(&*self.net.secrets, &|name| percent_encoded(&fill(name)));
                Url::parse(&filled).map_err(|_| Trouble::Final(failure("setup", "the address is not a URL")))?
            }
        };
        let client = self.net.client(url.scheme() == "https").map_err(Trouble::Final)?;
        let mut request = reqwest::Request::new(self.method.clone(), url);
        *request.headers_mut() = self.fields(traceparent, fill)?;
        if self.method != Method::GET && self.method != Method::DELETE {
            *request.body_mut() = Some(body.into());
        }
        let response = client.execute(request).await.map_err(|error| self.trouble(error))?;
        let mut reply = reply::read(response).await.map_err(|trouble| match trouble {
            reply::Unread::TooLong => Trouble::Final(failure("protocol", "the answer is longer than 8 MiB")),
            reply::Unread::Broken(error) => self.trouble(error),
        })?;
        self.hide_secrets(&mut reply.text);
        Ok(reply)
    }

    fn fields(&self, traceparent: &str, fill: Fill<'_>) -> Result<HeaderMap, Trouble> {
        let mut fields = HeaderMap::with_capacity(self.headers.len() + 4);
        for (name, field) in &self.headers {
            let value = match field {
                Field::Fixed(value) => value.clone(),
                Field::Template(text) => {
                    let mut value = HeaderValue::from_str(&text.fill(&*self.net.secrets, fill)).map_err(|_| {
                        let message = format!("the header `{name}` has a value that cannot be sent");
                        Trouble::Final(failure("setup", message))
                    })?;
                    value.set_sensitive(true);
                    value
                }
            };
            fields.append(name, value);
        }
        if let Ok(value) = HeaderValue::from_str(traceparent)
            && !traceparent.is_empty()
        {
            fields.insert("traceparent", value);
        }
        Ok(fields)
    }

    fn verdict(&self, status: u16) -> Verdict {
        let class = format!("{}xx", status / 100);
        let exact = self.verdicts.iter().find(|(of, _)| of.parse() == Ok(status));
        match exact.or_else(|| self.verdicts.iter().find(|(of, _)| of.eq_ignore_ascii_case(&class))) {
            Some((_, verdict)) => *verdict,
            None if (200..300).contains(&status) => Verdict::Answer,
            None if status == 429 || status >= 500 => Verdict::Retry,
            None => Verdict::Error,
        }
    }

    fn trouble(&self, error: reqwest::Error) -> Trouble {
        let is_final = error.is_builder() || error.is_redirect();
        let mut message = reply::chain(&error.without_url());
        self.hide_secrets(&mut message);
        match is_final {
            true => Trouble::Final(failure("connection", message)),
            false => Trouble::Again(message),
        }
    }

    /// An agent that sends back what it was sent must not bring a secret into the results.
    fn hide_secrets(&self, text: &mut String) {
        let fields = self.headers.iter().filter_map(|(_, field)| match field {
            Field::Template(text) => Some(text),
            Field::Fixed(_) => None,
        });
        let address = match &self.address {
            Address::Template(text) => Some(text),
            Address::Fixed(_) => None,
        };
        for name in fields.chain(address).flat_map(Text::secrets) {
            let value = self.net.secret(name).unwrap_or_default();
            // A short one is likely to be an ordinary word.
            if value.len() >= 8 && text.contains(&value) {
                *text = text.replace(&value, "[secret]");
            }
        }
    }
}

enum Trouble {
    Again(String),
    Final(AgentFailure),
}

fn address(net: &Net, key: &str, url: &str, names: &[&str]) -> Result<Address, Problem> {
    let text = Text::parse(url, names).map_err(|name| unknown_name(key, &name, names))?;
    checked(net, key, &text)?;
    let filled = text.fill(&*net.secrets, &|_| "x".to_owned());
    let bad = || wrong(key, format!("`{url}` is not an address"), "write it as `http://host:port/path`");
    let parsed = Url::parse(&filled).map_err(|_| bad())?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(bad());
    }
    Ok(if text.is_fixed() { Address::Fixed(parsed) } else { Address::Template(text) })
}

fn headers(net: &Net, config: &Object<'_>, names: &[&str]) -> Result<Vec<(HeaderName, Field)>, Problem> {
    let headers = match config.get("headers") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(headers)) => headers,
        Some(other) => {
            let message = format!("`headers` is a mapping, not {}", other.type_name());
            return Err(wrong("headers", message, "write `name: value`"));
        }
    };
    let one = |(name, value): (&str, &Value<'_>)| {
        let bad =
            |what: &str| wrong("headers", format!("the {what} of the header `{name}` cannot be sent"), "see RFC 9110");
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("name"))?;
        let text =
            Text::parse(&plain_text(value), names).map_err(|unknown| unknown_name("headers", &unknown, names))?;
        checked(net, "headers", &text)?;
        let filled = HeaderValue::from_str(&text.fill(&*net.secrets, &|_| String::new())).map_err(|_| bad("value"))?;
        Ok((header, if text.is_fixed() { Field::Fixed(filled) } else { Field::Template(text) }))
    };
    headers.iter().filter(|(_, value)| !value.is_null()).map(one).collect()
}

fn bearer(net: &Net, config: &Object<'_>) -> Result<Option<Field>, Problem> {
    let key = match crate::config::text(config, "api_key")? {
        None | Some("") => return Ok(None),
        Some(key) => key,
    };
    let text = Text::parse(&format!("Bearer {key}"), &[]).map_err(|name| unknown_name("api_key", &name, &[]))?;
    checked(net, "api_key", &text)?;
    Ok(Some(Field::Template(text)))
}

/// Finds a secret that is not there before anything is sent.
fn checked(net: &Net, key: &str, text: &Text) -> Result<(), Problem> {
    match text.secrets().find(|name| net.secret(name).is_none()) {
        None => Ok(()),
        Some(name) => {
            let help = format!("set `{name}` in the environment of heldset");
            Err(wrong(key, format!("the variable `{name}` is not set"), help))
        }
    }
}

/// A name that a template may not use.
pub(crate) fn unknown_name(key: &str, name: &str, names: &[&str]) -> Problem {
    let help = match heldset_core::fault::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{{{near}}}`?"),
        None if names.is_empty() => "write `{{` and `}}` for braces".to_owned(),
        None => {
            format!("it can name {}", names.iter().map(|name| format!("`{{{name}}}`")).collect::<Vec<_>>().join(", "))
        }
    };
    wrong(key, format!("`{{{name}}}` in `{key}` is not known"), help)
}

/// The whole number of `key`, from 0.
pub(crate) fn count(config: &Object<'_>, key: &str) -> Result<Option<u64>, Problem> {
    match config.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) if number.as_u64().is_some() => Ok(number.as_u64()),
        Some(_) => Err(wrong(key, format!("`{key}` is not a whole number from 0"), "write one such as `3`")),
    }
}

#[cfg(test)]
mod tests;
