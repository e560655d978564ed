//! Which members of a configuration hold a secret: by their names, or inside of an address.
//!
//! *Invariant:* pure; what is found is named by its place, never shown. A secret that is only named, as `${NAME}`, is
//! none.

use crate::code::Code;
use crate::fault::Problem;
use crate::path::Path;
use crate::run::Target;
use crate::value::{Object, Value};

/// Names of secrets, in small letters and without `-` and `_`.
const NAMES: [&str; 26] = [
    "accesskey",
    "accesstoken",
    "accountkey",
    "apikey",
    "apitoken",
    "authtoken",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "privatekey",
    "privatetoken",
    "pwd",
    "refreshtoken",
    "sastoken",
    "secret",
    "secretkey",
    "serviceaccountkey",
    "session",
    "sessionid",
    "token",
];
/// How names of secrets end that have something before it.
const ENDS: [&str; 12] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authorization",
    "authtoken",
    "cookie",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "sessiontoken",
];
/// Parameters of an address that are as good as a secret.
const SIGNED: [&str; 3] = ["sig", "signature", "xamzsignature"];
/// Members that name a secret, or how it is sent.
const NAMING: [&str; 4] = ["from", "kind", "name", "prefix"];

/// Secrets that a configuration holds in the clear.
pub fn secrets(config: &Object<'static>, at: &Path, problems: &mut Vec<Problem>) {
    for (key, value) in config.iter() {
        let at = at.then_key(key);
        if is_secret(key, value) {
            let message = format!("`{at}` holds a secret in the clear");
            problems.push(in_the_clear(at, message));
            continue;
        }
        match value {
            Value::Object(inner) => secrets(inner, &at, problems),
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    let inner: Object<'static> = [("item".into(), item.clone())].into_iter().collect();
                    let before = problems.len();
                    secrets(&inner, &at, problems);
                    for problem in &mut problems[before..] {
                        problem.message = format!("`{}` holds a secret in the clear", at.then_index(place));
                    }
                }
            }
            _ => {}
        }
    }
}

/// The problem of a secret at a place.
pub(crate) fn in_the_clear(at: Path, message: String) -> Problem {
    let help = "leave it out, and keep it sealed with `heldset credential set`";
    Problem::new(Code::E057, at, message).help(help)
}

/// Whether what goes by this name, as a member, a header or a parameter, is a secret.
pub fn is_secret_name(name: &str) -> bool {
    let name = plain(name);
    NAMES.contains(&name.as_str()) || ENDS.iter().any(|end| name.ends_with(end)) || is_header(&name)
}

/// Whether a text is an address or a path with a secret in it: before its host, or among its parameters.
pub fn secret_in_address(text: &str) -> bool {
    let before_host = text.split_once("//").is_some_and(|(scheme, rest)| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let user = host.rsplit_once('@').map_or("", |(user, _)| user);
        let password = user.split_once(':').is_some_and(|(_, word)| !word.is_empty());
        // A web address needs no user: what stands there is a token.
        let web = matches!(scheme.to_ascii_lowercase().as_str(), "http:" | "https:");
        (scheme.is_empty() || scheme.ends_with(':')) && (password || web && !user.is_empty())
    });
    let parameters = text.find(['?', '#']).map_or("", |start| &text[start + 1..]);
    let pairs = parameters.split(['?', '&', '#', ';']).filter_map(|pair| pair.split_once('='));
    let mut pairs = pairs.filter(|(name, value)| is_parameter(name) && !value.is_empty() && !value.starts_with("${"));
    before_host || pairs.any(|(name, _)| is_secret_name(name) || SIGNED.contains(&plain(name).as_str()))
}

/// Whether a key and its value hold a secret.
fn is_secret(key: &str, value: &Value<'static>) -> bool {
    if is_secret_name(key) && is_written(value) {
        return true;
    }
    let scalar = !matches!(value, Value::Array(_) | Value::Object(_) | Value::Bool(_));
    let one = || Target::new([(key.to_owned().into(), value.clone())].into_iter().collect());
    (scalar && one().is_err()) || value.as_str().is_some_and(secret_in_address)
}

/// Whether a value, or anything in it, is written out, and does not only name what is meant.
fn is_written(value: &Value<'static>) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !text.is_empty() && !is_named(text),
        Value::Number(_) => true,
        Value::Array(items) => items.iter().any(is_written),
        Value::Object(inner) => inner.iter().any(|(key, value)| !NAMING.contains(&key) && is_written(value)),
    }
}

/// Whether a text is `${NAME}`, maybe after a word such as `Bearer`.
fn is_named(text: &str) -> bool {
    let name = text.split_once(' ').map_or(text, |(_, name)| name);
    name.starts_with("${")
        && name.ends_with('}')
        && name.matches("${").count() == 1
        && name.find('}') == Some(name.len() - 1)
}

fn is_header(plain: &str) -> bool {
    plain.starts_with("xauth")
}

/// Text that only looks like parameters, such as a condition of a query, has other characters.
fn is_parameter(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.%~[]$".contains(&byte))
}

fn plain(name: &str) -> String {
    let kept = name.chars().filter(|letter| !matches!(letter, '-' | '_' | ' '));
    kept.map(|letter| letter.to_ascii_lowercase()).collect()
}
