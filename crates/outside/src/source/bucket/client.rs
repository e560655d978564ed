//! How buckets are reached: by the same careful client as services.
//!
//! *Invariant:* every host is admitted before it is asked; nobody is followed elsewhere.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use heldset_engine::refusal::{Reason, Refusal};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::{Client, Url};

use crate::requests::{chain, pinned_client};
use crate::source::guard::{Guard, Pinned};

/// Makes clients that go where a guard lets them.
#[derive(Clone)]
pub(super) struct Connector(Arc<Careful>);

struct Careful {
    guard: Arc<Guard>,
    timeout: Duration,
    plain: OnceLock<Result<Client, String>>,
    secure: OnceLock<Result<Client, String>>,
}

impl Connector {
    /// One with a guard.
    pub(super) fn new(guard: Arc<Guard>, timeout: Duration) -> Self {
        Connector(Arc::new(Careful { guard, timeout, plain: OnceLock::new(), secure: OnceLock::new() }))
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Connector")
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl HttpService for Connector {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(self.0.send(request))
    }
}

impl Careful {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string()).map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        self.guard.admit_url(&url).await.map_err(|refusal| HttpError::new(HttpErrorKind::Unknown, Denied(refusal)))?;
        let secure = url.scheme() == "https";
        let client = if secure { &self.secure } else { &self.plain };
        let client = client.get_or_init(|| pinned_client(secure, Pinned(self.guard.clone())));
        let client = client.as_ref().map_err(|why| told(HttpErrorKind::Unknown, why.clone()))?;
        let mut sent = reqwest::Request::new(parts.method, url);
        *sent.headers_mut() = parts.headers;
        *sent.body_mut() = Some(body.as_bytes().cloned().unwrap_or_default().into());
        *sent.timeout_mut() = Some(self.timeout);
        let response = client.execute(sent).await.map_err(broken)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes: Bytes = response.bytes().await.map_err(broken)?;
        let mut answer = HttpResponse::new(HttpResponseBody::from(bytes));
        *answer.status_mut() = status;
        *answer.headers_mut() = headers;
        Ok(answer)
    }
}

/// The refusal that made a request fail, if one did.
pub(super) fn refusal_in(error: &object_store::Error) -> Option<Box<Refusal>> {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(inner) = cause {
        if let Some(Denied(refusal)) = inner.downcast_ref::<Denied>() {
            let again = match refusal.reason {
                Reason::Denied => Refusal::denied(refusal.code, refusal.message.clone(), refusal.help.clone()),
                _ => Refusal::incomplete(refusal.code, refusal.message.clone(), refusal.help.clone()),
            };
            return Some(again);
        }
        cause = inner.source();
    }
    None
}

/// A refusal on its way through others' errors.
#[derive(Debug)]
struct Denied(Box<Refusal>);

impl fmt::Display for Denied {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.message)
    }
}

impl Error for Denied {}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Told(String);

fn told(kind: HttpErrorKind, why: String) -> HttpError {
    HttpError::new(kind, Told(why))
}

fn broken(error: reqwest::Error) -> HttpError {
    let kind = match (error.is_timeout(), error.is_connect(), error.is_decode()) {
        (true, _, _) => HttpErrorKind::Timeout,
        (_, true, _) => HttpErrorKind::Connect,
        (_, _, true) => HttpErrorKind::Decode,
        _ => HttpErrorKind::Interrupted,
    };
    told(kind, chain(&error.without_url()))
}
