//! The endpoint of a model, as it is configured.
//!
//! *Invariant:* a key is the name of a secret, as `${NAME}`, never the secret.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::run::Target;
use heldset_core::value::{Object, Value};

use crate::settings::Settings;

/// The model that judges when none is named, as in Letta's suites.
pub(crate) const DEFAULT_MODEL: &str = "gpt-4o-mini";

/// Models that take no temperature but their own.
const FIXED_TEMPERATURE: &[&str] = &["o1", "o3", "o4", "gpt-5"];

/// The endpoint of a judge: as configured, with a model, and without chance where the model allows that.
pub(crate) fn judge(settings: &Settings<'_>) -> Result<Object<'static>, Problem> {
    let mut endpoint = read(settings)?;
    if !endpoint.contains("model") {
        endpoint.set("model", DEFAULT_MODEL.into());
    }
    let model = endpoint.get("model").and_then(Value::as_str).unwrap_or_default();
    let fixed = FIXED_TEMPERATURE.iter().any(|prefix| model.starts_with(prefix));
    if !fixed && !endpoint.contains("temperature") {
        endpoint.set("temperature", 0.into());
    }
    Ok(endpoint)
}

/// Reads the keys that say whom to ask and how.
pub(crate) fn read(settings: &Settings<'_>) -> Result<Object<'static>, Problem> {
    let mut endpoint = Object::new();
    for key in ["model", "base_url", "api_key", "provider"] {
        if let Some(text) = settings.text(key)? {
            endpoint.set(key, text.into());
        }
    }
    for key in ["temperature", "timeout"] {
        if let Some(number) = settings.amount(key)? {
            endpoint.set(key, crate::text::number(number));
        }
    }
    for key in ["max_retries", "max_tokens", "seed"] {
        if let Some(count) = settings.integer(key)? {
            endpoint.set(key, count.into());
        }
    }
    if let Some(headers) = settings.mapping("headers")? {
        endpoint.set("headers", headers.into());
    }
    // Recorded answers in place of a model.
    for key in ["record", "replay"] {
        if let Some(file) = settings.any(key) {
            endpoint.set(key, file.clone());
        }
    }
    Target::new(endpoint.clone()).map_err(|error| {
        Problem::new(Code::E057, settings.at().then_key("api_key"), error.to_string())
            .help("write the name of an environment variable, as `${NAME}`")
    })?;
    Ok(endpoint)
}
