//! Asks over HTTP, carefully: every address is checked, redirects are followed by hand, faults are tried again.
//!
//! *Invariant:* credentials never go to another origin, nor from https to http; no message has a secret in it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use heldset_core::code::Code;
use heldset_engine::refusal::{Outcome, Refusal};
use reqwest::header::{AUTHORIZATION, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode, Url};

use crate::requests::{Pace, chain, excerpt, pinned_client};
use crate::source::Sleeper;
use crate::source::guard::{Guard, Pinned};
use crate::source::secret::Secret;
use crate::source::spool::{Full, Spool, Spooled, bytes_told};
use crate::watch::Watch;

/// How often a service may send one elsewhere.
const MOST_HOPS: usize = 5;

/// A request.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) credential: Credential,
    pub(crate) body: Option<Bytes>,
}

/// How one shows who one is.
#[derive(Clone)]
pub(crate) enum Credential {
    None,
    Header(HeaderName, HeaderValue),
    Query(String, String),
}

/// An answer with its whole body.
pub(crate) struct Answer {
    /// What was asked, without secrets.
    pub(crate) asked: String,
    /// The address that answered, after all redirects.
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) sha256: String,
    pub(crate) body: Vec<u8>,
}

/// The address that was asked, and the one that answered.
pub(crate) struct Addresses {
    pub(crate) asked: Url,
    pub(crate) answered: Url,
}

/// Why there is no answer.
pub(crate) enum Failed {
    /// A status that is none of an answer.
    Status(StatusCode, Box<Refusal>),
    /// Anything else.
    Other(Box<Refusal>),
}

impl Failed {
    /// The refusal that this is.
    pub(crate) fn refusal(self) -> Box<Refusal> {
        match self {
            Failed::Status(_, refusal) | Failed::Other(refusal) => refusal,
        }
    }
}

impl From<Box<Refusal>> for Failed {
    fn from(refusal: Box<Refusal>) -> Self {
        Failed::Other(refusal)
    }
}

/// Asks one service.
pub(crate) struct Asker {
    guard: Arc<Guard>,
    pub(crate) secret: Secret,
    sleeper: Sleeper,
    timeout: Duration,
    max_bytes: u64,
    retries: Option<u64>,
    gap: Option<Duration>,
    last: Mutex<Option<Watch>>,
    plain: OnceLock<Result<Client, String>>,
    secure: OnceLock<Result<Client, String>>,
    private: Mutex<Option<String>>,
}

/// What one try came to.
enum Trouble {
    /// It may work another time.
    Again {
        why: String,
        limited: bool,
        wait: Option<Duration>,
        status: Option<StatusCode>,
    },
    Final(Failed),
}

impl From<Box<Refusal>> for Trouble {
    fn from(refusal: Box<Refusal>) -> Self {
        Trouble::Final(Failed::Other(refusal))
    }
}

impl Asker {
    /// One that goes where the guard lets it.
    pub(crate) fn new(guard: Arc<Guard>, secret: Secret, sleeper: Sleeper, timeout: Duration, max_bytes: u64) -> Asker {
        Asker {
            guard,
            secret,
            sleeper,
            timeout,
            max_bytes,
            retries: None,
            gap: None,
            last: Mutex::default(),
            plain: OnceLock::new(),
            secure: OnceLock::new(),
            private: Mutex::default(),
        }
    }

    /// The same, with so many requests in a second at most.
    pub(crate) fn paced(mut self, per_second: Option<f64>) -> Asker {
        self.gap = per_second.and_then(|rate| Duration::try_from_secs_f64(1.0 / rate).ok());
        self
    }

    /// The same, which tries again so often.
    pub(crate) fn retries(mut self, retries: Option<u64>) -> Asker {
        self.retries = retries;
        self
    }

    /// The answer to a request. `what` names it in messages.
    pub(crate) async fn ask(&self, request: Request, what: &str) -> Result<Answer, Failed> {
        let (spooled, headers, addresses) = self.fetch(request, what, true).await?;
        let (asked, sha256) = (addresses.asked.to_string(), spooled.sha256.clone());
        let body = spooled.bytes().map_err(|error| Failed::Other(unkept(&error)))?;
        Ok(Answer { asked, url: addresses.answered, headers, sha256, body })
    }

    /// The body of an answer, kept in a file when it is large. The time limit is for all of it when it is asked for as a
    /// `whole`, else for its beginning and for each piece.
    pub(crate) async fn fetch(
        &self,
        request: Request,
        what: &str,
        whole: bool,
    ) -> Result<(Spooled, HeaderMap, Addresses), Failed> {
        if let Credential::Query(name, _) = &request.credential {
            *self.private.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
        }
        let mut pace = Pace::new(self.retries);
        loop {
            self.keep_pace().await;
            let limit = if whole { self.timeout } else { Duration::MAX };
            let tried = tokio::time::timeout(limit, self.once(request.clone(), what)).await;
            let trouble = match tried {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(trouble)) => trouble,
                Err(_) => return Err(Failed::Other(self.timed_out(what))),
            };
            let (why, limited, wait, status) = match trouble {
                Trouble::Again { why, limited, wait, status } => (why, limited, wait, status),
                Trouble::Final(failed) => return Err(failed),
            };
            let Some(wait) = pace.next(limited, wait) else {
                let tries = pace.tried() + 1;
                let times = if tries > 1 { format!(", {tries} times in all") } else { String::new() };
                let message = format!("{why}{times}, at {what}");
                let refusal = Refusal::incomplete(Code::E070, message, help_for(status));
                return Err(match status {
                    Some(status) => Failed::Status(status, refusal),
                    None => Failed::Other(refusal),
                });
            };
            (self.sleeper.0)(wait).await;
        }
    }

    /// An address without the parameter that shows who one is.
    pub(crate) fn without_credential(&self, link: &str) -> String {
        let private = self.private.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (private, Url::parse(link)) {
            (Some(private), Ok(mut url)) => {
                let kept: Vec<(String, String)> =
                    url.query_pairs().filter(|(name, _)| *name != private).map(|(n, v)| (n.into(), v.into())).collect();
                url.set_query(None);
                if !kept.is_empty() {
                    url.query_pairs_mut().extend_pairs(kept);
                }
                url.into()
            }
            _ => self.secret.hidden(link),
        }
    }

    /// One try, with all redirects.
    async fn once(&self, mut request: Request, what: &str) -> Result<(Spooled, HeaderMap, Addresses), Trouble> {
        let first = request.url.clone();
        for _ in 0..=MOST_HOPS {
            let response = self.send(&request, what).await?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                let addresses = Addresses { asked: first, answered: request.url };
                return self.answered(response, addresses, what).await;
            }
            request = self.redirected(request, &response, what)?;
        }
        let message = format!("sent elsewhere more than {MOST_HOPS} times, at {what}");
        Err(Refusal::incomplete(Code::E070, message, "see whether the address is right").into())
    }

    async fn send(&self, request: &Request, what: &str) -> Result<Response, Trouble> {
        self.guard.admit_url(&request.url).await.map_err(|mut refusal| {
            if refusal.code == Code::E073 {
                refusal.message = format!("{}, at {what}", refusal.message);
            }
            refusal
        })?;
        let secure = request.url.scheme() == "https";
        let client = if secure { &self.secure } else { &self.plain };
        let client = client.get_or_init(|| pinned_client(secure, Pinned(self.guard.clone())));
        let client =
            client.as_ref().map_err(|why| Refusal::incomplete(Code::E070, why.clone(), "report it, please"))?;
        let mut sent = reqwest::Request::new(request.method.clone(), request.url.clone());
        *sent.headers_mut() = request.headers.clone();
        match &request.credential {
            Credential::None => {}
            Credential::Header(name, value) => {
                sent.headers_mut().insert(name.clone(), value.clone());
            }
            Credential::Query(name, value) => {
                sent.url_mut().query_pairs_mut().append_pair(name, value);
            }
        }
        *sent.body_mut() = request.body.clone().map(Into::into);
        match tokio::time::timeout(self.timeout, client.execute(sent)).await {
            Ok(answered) => answered.map_err(|error| self.broken(error)),
            Err(_) => Err(self.timed_out(what).into()),
        }
    }

    /// The request that a redirect asks for.
    fn redirected(&self, request: Request, response: &Response, what: &str) -> Result<Request, Trouble> {
        let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let Some(url) = target.and_then(|target| request.url.join(target).ok()) else {
            let message = format!("sent elsewhere without an address, at {what}");
            return Err(Refusal::incomplete(Code::E070, message, "see whether the address is right").into());
        };
        let told = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
        let denied = |why: &str| {
            let message = format!("sent to `{told}`, {why}, at {what}");
            Trouble::from(Refusal::denied(Code::E073, message, "write the address that it leads to in the connector"))
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(denied("which is no web address"));
        }
        if request.url.scheme() == "https" && url.scheme() == "http" {
            return Err(denied("which is not protected by TLS any more"));
        }
        let keeps = matches!(response.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let elsewhere = url.origin() != request.url.origin();
        if keeps && elsewhere && request.body.is_some() {
            return Err(denied("and the body of a request does not go elsewhere"));
        }
        let mut next = Request { url, ..request };
        if !keeps && next.method != Method::GET {
            next.method = Method::GET;
            next.body = None;
        }
        if elsewhere {
            next.credential = Credential::None;
            next.headers.retain_safe();
        }
        Ok(next)
    }

    async fn answered(
        &self,
        mut response: Response,
        addresses: Addresses,
        what: &str,
    ) -> Result<(Spooled, HeaderMap, Addresses), Trouble> {
        let (status, headers) = (response.status(), response.headers().clone());
        let limit = if status.is_success() { self.max_bytes } else { 1 << 16 };
        let mut spool = Spool::new(limit);
        loop {
            let piece = match tokio::time::timeout(self.timeout, response.chunk()).await {
                Ok(piece) => piece.map_err(|error| self.broken(error))?,
                Err(_) => return Err(self.timed_out(what).into()),
            };
            let Some(piece) = piece else { break };
            match spool.push(&piece) {
                Ok(()) => {}
                Err(Full::TooMany(_)) if !status.is_success() => break,
                Err(Full::TooMany(limit)) => {
                    let message = format!("the answer is larger than {}, at {what}", bytes_told(limit));
                    let help = "ask for smaller pages, or raise `max_bytes` of the connector";
                    return Err(Refusal::invalid(Code::E071, message, help).into());
                }
                Err(Full::Io(error)) => return Err(unkept(&error).into()),
            }
        }
        let spooled = spool.finish().map_err(|error| unkept(&error))?;
        if status.is_success() {
            return Ok((spooled, headers, addresses));
        }
        let text = String::from_utf8_lossy(&spooled.bytes().unwrap_or_default()).into_owned();
        let mut why = format!("answered with status {}", status.as_u16());
        if let Some(reason) = status.canonical_reason() {
            why = format!("{why} {reason}");
        }
        if !text.trim().is_empty() {
            why = format!("{why}: {}", excerpt(&self.secret.hidden(&text)));
        }
        let limited = status == StatusCode::TOO_MANY_REQUESTS;
        if limited || status.is_server_error() {
            return Err(Trouble::Again { why, limited, wait: retry_after(&headers), status: Some(status) });
        }
        let refusal = Refusal::incomplete(Code::E070, format!("{why}, at {what}"), help_for(Some(status)));
        Err(Trouble::Final(Failed::Status(status, refusal)))
    }

    fn broken(&self, error: reqwest::Error) -> Trouble {
        let why = self.secret.hidden(&chain(&error.without_url()));
        Trouble::Again { why, limited: false, wait: None, status: None }
    }

    /// Waits until the next request may go.
    async fn keep_pace(&self) {
        let Some(gap) = self.gap else { return };
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let spent = last.map(|watch| Duration::from_secs_f64(watch.ms() / 1000.0));
        if let Some(wait) = spent.and_then(|spent| gap.checked_sub(spent)) {
            (self.sleeper.0)(wait).await;
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Watch::start());
    }

    fn timed_out(&self, what: &str) -> Box<Refusal> {
        let message = format!("no answer within {} s, at {what}", self.timeout.as_secs_f64());
        let help = "try it again, which goes on from here, or raise `timeout_s` of the connector";
        Refusal::incomplete(Code::E070, message, help)
    }
}

/// Headers that may go to another origin.
trait Safe {
    /// Keeps only those.
    fn retain_safe(&mut self);
}

impl Safe for HeaderMap {
    fn retain_safe(&mut self) {
        let kept = self.get(reqwest::header::ACCEPT).cloned();
        self.clear();
        debug_assert!(!self.contains_key(AUTHORIZATION));
        if let Some(kept) = kept {
            self.insert(reqwest::header::ACCEPT, kept);
        }
    }
}

/// How long a service wants us to wait: seconds, or until a time by its own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let time = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|time| time.timestamp().as_second());
    let now = time(headers.get(DATE)?.to_str().ok()?)?;
    Some(Duration::from_secs(u64::try_from(time(text)? - now).unwrap_or(0)))
}

fn help_for(status: Option<StatusCode>) -> &'static str {
    match status.map(|status| status.as_u16()) {
        Some(401 | 403) => "set a credential that may read it with `heldset credential set`",
        Some(404 | 410) => "see whether the address and the path are right",
        Some(429) => "ask for less at a time with `rate_limit`, and try it again later",
        Some(400..=499) => "see what the service says, and the configuration of the source",
        _ => "try it again: what was read before is not lost",
    }
}

fn unkept(error: &std::io::Error) -> Box<Refusal> {
    let message = format!("the answer cannot be kept: {error}");
    Refusal::incomplete(Code::E070, message, "see whether there is room in the folder of temporary files")
}

/// For connectors that speak to one service in their own way.
pub(crate) fn status_of(failed: &Failed) -> Option<StatusCode> {
    match failed {
        Failed::Status(status, _) => Some(*status),
        Failed::Other(_) => None,
    }
}

/// What a request for JSON answers, as a value.
pub(crate) fn value_of(answer: &Answer) -> Outcome<heldset_core::value::Value<'static>> {
    let text = String::from_utf8_lossy(&answer.body);
    heldset_core::json::read(&text).map(heldset_core::value::Value::into_owned).map_err(|error| {
        let message = format!("`{}` did not answer with JSON: {error}", answer.asked);
        Refusal::invalid(Code::E071, message, "see whether the address is right")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_may_ask_for_patience_in_seconds_or_by_its_clock() {
        let wait = |after: &'static str, date: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(after));
            date.map(|date| headers.insert(DATE, HeaderValue::from_static(date)));
            retry_after(&headers).map(|wait| wait.as_secs())
        };
        assert_eq!(wait("7", None), Some(7));
        let (now, then) = ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 GMT");
        assert_eq!(wait(then, Some(now)), Some(30));
        assert_eq!(wait(now, Some(then)), Some(0));
        assert_eq!(wait(then, None), None);
        assert_eq!(wait("soon", Some(now)), None);
    }
}
