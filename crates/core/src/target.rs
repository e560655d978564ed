//! The configuration of a target: overlays, and what of it makes two runs the same.
//!
//! *Invariant:* maps merge, lists and scalars replace; times and names are not part of what is run.

use crate::digest::Digest;
use crate::run::{SecretError, Target};
use crate::value::{Object, Value};

/// The configuration with a patch merged over it: maps merge, lists and scalars replace.
pub fn overlaid(base: &Object<'static>, patch: &Object<'static>) -> Object<'static> {
    let mut merged = base.clone();
    for (key, value) in patch.iter() {
        let value = match (merged.get(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => Value::Object(overlaid(below, above)),
            _ => value.clone(),
        };
        merged.set(key.to_owned(), value);
    }
    merged
}

/// What of an effective configuration is in the run key: without timeouts and the target's name, with the digests of
/// the files it is made of, and with what a record gives to the runtime.
pub fn identity(
    configuration: &Object<'static>,
    files: &[(String, Digest)],
    runtime: &Object<'static>,
) -> Result<Target<'static>, SecretError> {
    let mut kept = Object::new();
    for (key, value) in configuration.iter().filter(|(key, _)| !is_left_out(key)) {
        kept.set(key.to_owned(), value.clone());
    }
    if !files.is_empty() {
        let digests = files.iter().map(|(name, digest)| (name.clone().into(), Value::from(digest.hex())));
        kept.set("files", Value::Object(digests.collect()));
    }
    if !runtime.is_empty() {
        kept.set("runtime", Value::Object(runtime.clone()));
    }
    Target::new(kept)
}

/// Whether results of a target may be used again by other runs: it is made of files whose digests are known, or
/// somebody says which revision it is.
pub fn is_reusable(configuration: &Object<'_>) -> bool {
    let kind = configuration.get("kind").and_then(Value::as_str).unwrap_or_default();
    let revised = configuration.get("revision").is_some_and(|revision| !revision.is_null());
    revised || matches!(kind, "command" | "python" | "scripted" | "replay" | "echo")
}

fn is_left_out(key: &str) -> bool {
    matches!(key, "name" | "display_name" | "description") || key == "timeout" || key.ends_with("_timeout")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::json;

    fn object(text: &str) -> Object<'static> {
        json::read(text).unwrap().as_object().unwrap().clone().into_owned()
    }

    #[test]
    fn maps_merge_and_all_else_is_replaced() {
        let merged =
            overlaid(&object(r#"{"a":{"b":1,"c":[1,2]},"d":1}"#), &object(r#"{"a":{"c":[3],"e":null},"d":{"f":2}}"#));
        assert_eq!(merged, object(r#"{"a":{"b":1,"c":[3],"e":null},"d":{"f":2}}"#));
    }

    #[test]
    fn times_and_the_name_are_not_part_of_what_is_run() {
        let config =
            object(r#"{"kind":"mas","name":"x","timeout":3,"run_timeout":4,"agents":[{"name":"a","timeout":1}]}"#);
        let kept = identity(&config, &[], &Object::new()).unwrap();
        assert_eq!(
            kept.configuration().as_object().unwrap(),
            &object(r#"{"kind":"mas","agents":[{"name":"a","timeout":1}]}"#)
        );
    }

    #[test]
    fn what_nobody_can_pin_is_not_used_again() {
        for (config, reusable) in [
            (r#"{"kind":"command"}"#, true),
            (r#"{"kind":"scripted"}"#, true),
            (r#"{"kind":"http"}"#, false),
            (r#"{"kind":"http","revision":null}"#, false),
            (r#"{"kind":"openai_chat","revision":"2026-05"}"#, true),
        ] {
            assert_eq!(is_reusable(&object(config)), reusable, "{config}");
        }
    }
}
