//! An answer over HTTP: read to a limit, and told in few words when it is none.
//!
//! *Invariant:* an answer is whole or it is a fault.

use std::error::Error;
use std::time::Duration;

use heldset_core::json;
use heldset_core::value::Value;
use heldset_engine::agents::AgentFailure;
use reqwest::StatusCode;
use reqwest::header::RETRY_AFTER;

use crate::agent::failure;
use crate::pick;

/// The longest answer that is read.
const LONGEST: usize = 8 << 20;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status.
    pub(crate) status: u16,
    /// The body.
    pub(crate) text: String,
    /// How long the server wants us to wait.
    pub(crate) retry_after: Option<Duration>,
    /// Whether the body is text at all.
    whole: bool,
}

pub(super) enum Unread {
    TooLong,
    Broken(reqwest::Error),
}

pub(super) async fn read(mut response: reqwest::Response) -> Result<Reply, Unread> {
    let status = response.status().as_u16();
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let retry_after = seconds.map(Duration::from_secs);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unread::Broken)? {
        if body.len() + chunk.len() > LONGEST {
            return Err(Unread::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    let (text, whole) = match String::from_utf8(body) {
        Ok(text) => (text, true),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
    };
    Ok(Reply { status, text, retry_after, whole })
}

impl Reply {
    /// The reply, if its body is text.
    pub(super) fn checked(self) -> Result<Reply, AgentFailure> {
        match self.whole {
            true => Ok(self),
            false => Err(failure("protocol", "the answer is not UTF-8")),
        }
    }

    /// The JSON in the body.
    pub(crate) fn json(&self) -> Result<Value<'static>, AgentFailure> {
        read_json(&self.text)
            .ok_or_else(|| failure("protocol", format!("the answer is not JSON: {}", excerpt(&self.text))))
    }

    /// The failure that this status is.
    pub(super) fn failure(&self) -> AgentFailure {
        let reason = StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let mut message = format!("answered with status {}", self.status);
        if let Some(reason) = reason {
            message = format!("{message} {reason}");
        }
        if !self.text.trim().is_empty() {
            message = format!("{message}: {}", excerpt(&self.text));
        }
        failure("status", message)
    }
}

/// The JSON in a text: strictly when it can be, else as most readers take it.
pub(crate) fn read_json(text: &str) -> Option<Value<'static>> {
    let text = text.trim_start_matches('\u{feff}');
    match json::read(text) {
        Ok(value) => Some(value.into_owned()),
        Err(_) => serde_json::from_str(text).ok().map(|value| pick::from_serde(&value)),
    }
}

/// The beginning of a text in one line, in backticks.
pub(crate) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 200;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// An error with all its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let told = inner.to_string();
        if !message.contains(&told) {
            message = format!("{message}: {told}");
        }
        cause = inner.source();
    }
    message
}
