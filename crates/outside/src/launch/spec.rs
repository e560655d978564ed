//! What is taken from an agent's process and what is left to it, as it travels to the launcher.
//!
//! *Invariant:* reads back to itself; holds paths and numbers, never a secret.

use std::path::PathBuf;

use heldset_core::number::Number;
use heldset_core::value::{Object, Value};
use heldset_core::{canonical, json};

/// What is taken away and what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spec {
    /// Whether the process must be isolated; else only limits are set.
    pub(crate) isolate: bool,
    /// What it must not reach.
    pub(crate) hidden: Vec<PathBuf>,
    /// What it may read although it lies in something hidden.
    pub(crate) read: Vec<PathBuf>,
    /// What it may also write, its own folder among it.
    pub(crate) write: Vec<PathBuf>,
    /// The folder of temporary files, where what is not hidden may be written.
    pub(crate) scratch: PathBuf,
    /// Whom it may call.
    pub(crate) network: Network,
    /// Limits by name.
    pub(crate) limits: Vec<(String, u64)>,
}

/// Whom an agent may call over TCP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Network {
    /// Everybody.
    #[default]
    All,
    /// Those who listen on these ports.
    Ports(Vec<u16>),
}

impl Spec {
    /// The text that travels.
    pub(crate) fn to_text(&self) -> String {
        let paths = |paths: &[PathBuf]| {
            Value::Array(paths.iter().map(|path| Value::from(path.to_string_lossy().into_owned())).collect())
        };
        let number = |number: u64| Value::Number(Number::from_u64(number));
        let mut spec = Object::new();
        spec.set("isolate", self.isolate.into());
        spec.set("hidden", paths(&self.hidden));
        spec.set("read", paths(&self.read));
        spec.set("write", paths(&self.write));
        spec.set("scratch", self.scratch.to_string_lossy().into_owned().into());
        if let Network::Ports(ports) = &self.network {
            spec.set("ports", Value::Array(ports.iter().map(|port| number((*port).into())).collect()));
        }
        let limits = self.limits.iter().map(|(name, limit)| (name.clone().into(), number(*limit)));
        spec.set("limits", Value::Object(limits.collect()));
        String::from_utf8_lossy(&canonical::bytes(&spec.into())).into_owned()
    }

    /// The specification that a text is.
    pub(crate) fn from_text(text: &str) -> Result<Spec, String> {
        let value = json::read(text).map_err(|error| error.to_string())?;
        let spec = value.as_object().ok_or("it is not a mapping")?;
        let list = |key: &str| spec.get(key).and_then(Value::as_array).ok_or_else(|| format!("it has no `{key}`"));
        let paths = |key: &str| {
            list(key)?
                .iter()
                .map(|path| path.as_str().map(PathBuf::from).ok_or_else(|| format!("`{key}` has no path")))
                .collect::<Result<Vec<_>, String>>()
        };
        let number = |value: &Value<'_>| match value {
            Value::Number(number) => number.as_u64().ok_or("a number is out of range"),
            _ => Err("a number is missing"),
        };
        let network = match spec.get("ports").and_then(Value::as_array) {
            None => Network::All,
            Some(ports) => {
                let port = |value| number(value).and_then(|port| u16::try_from(port).map_err(|_| "no such port"));
                Network::Ports(ports.iter().map(port).collect::<Result<_, _>>()?)
            }
        };
        let limits = spec.get("limits").and_then(Value::as_object).ok_or("it has no `limits`")?;
        let limit = |(name, value): (&str, &Value<'_>)| Ok((name.to_owned(), number(value)?));
        Ok(Spec {
            isolate: matches!(spec.get("isolate"), Some(Value::Bool(true))),
            hidden: paths("hidden")?,
            read: paths("read")?,
            write: paths("write")?,
            scratch: spec.get("scratch").and_then(Value::as_str).ok_or("it has no `scratch`")?.into(),
            network,
            limits: limits.iter().map(limit).collect::<Result<_, &str>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specification_reads_back_to_itself() {
        let spec = Spec {
            isolate: true,
            hidden: vec!["/a b/\"c".into()],
            read: vec!["/d".into()],
            write: vec!["/e".into(), "/f".into()],
            scratch: "/tmp".into(),
            network: Network::Ports(vec![443, 8283]),
            limits: vec![("core".to_owned(), 0)],
        };
        assert_eq!(Spec::from_text(&spec.to_text()), Ok(spec));
        assert_eq!(Spec::from_text(&Spec::default().to_text()), Ok(Spec::default()));
        assert!(Spec::from_text("{}").is_err());
        assert!(Spec::from_text("").is_err());
    }
}
