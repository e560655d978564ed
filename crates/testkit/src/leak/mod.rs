//! The search for tokens that must not be there: in every form a value may take on its way out.
//!
//! *Invariant:* what is packed is unpacked and searched as well, a few levels deep.

mod forms;
mod unpack;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;

/// How deep packed bytes are unpacked.
const DEEPEST: usize = 3;

/// A search for many tokens at once.
pub struct Search {
    patterns: AhoCorasick,
    /// Of each pattern, the token and the form.
    meaning: Vec<(usize, &'static str)>,
}

/// A token that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Which token.
    pub token: usize,
    /// In which form.
    pub form: &'static str,
    /// What it was packed in, outermost first.
    pub within: Vec<&'static str>,
}

impl Search {
    /// A search for these tokens, each long enough not to appear by chance.
    pub fn new<'t>(tokens: impl IntoIterator<Item = &'t str>) -> Search {
        let (mut patterns, mut meaning) = (Vec::new(), Vec::new());
        for (token, text) in tokens.into_iter().enumerate() {
            assert!(text.len() >= 12, "`{text}` may appear by chance");
            for (form, bytes) in forms::of(text) {
                patterns.push(bytes);
                meaning.push((token, form));
            }
        }
        let patterns = AhoCorasick::builder().ascii_case_insensitive(true).build(patterns);
        Search { patterns: patterns.expect("the patterns are few"), meaning }
    }

    /// The tokens in these bytes, and in what is packed in them.
    pub fn hits(&self, bytes: &[u8]) -> BTreeSet<Hit> {
        let mut hits = BTreeSet::new();
        self.look(bytes, &mut Vec::new(), &mut hits);
        hits
    }

    fn look(&self, bytes: &[u8], within: &mut Vec<&'static str>, hits: &mut BTreeSet<Hit>) {
        for found in self.patterns.find_overlapping_iter(bytes) {
            let (token, form) = self.meaning[found.pattern().as_usize()];
            hits.insert(Hit { token, form, within: within.clone() });
        }
        if within.len() == DEEPEST {
            return;
        }
        for (kind, inner) in unpack::all(bytes) {
            within.push(kind);
            self.look(&inner, within, hits);
            within.pop();
        }
    }
}

/// Every file under a folder with its bytes, by path.
pub fn files_under(folder: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path)?;
                found.push((path, bytes));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Write;

    use super::*;

    const TOKEN: &str = "zq7f3k9wv2m8x4c6";

    fn check(bytes: &[u8], form: &str, within: &[&str]) {
        let hits = Search::new(["nothingofthekind", TOKEN]).hits(bytes);
        assert!(hits.iter().any(|hit| (hit.token, hit.form, &hit.within[..]) == (1, form, within)), "{form}: {hits:?}");
        assert!(hits.iter().all(|hit| hit.token == 1), "{hits:?}");
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn every_form_of_a_token_is_found() {
        use base64::Engine as _;
        use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
        let hex: String = TOKEN.bytes().map(|byte| format!("{byte:02x}")).collect();
        check(format!("before {TOKEN} after").as_bytes(), "raw", &[]);
        check(TOKEN.to_uppercase().as_bytes(), "raw", &[]);
        check(hex.as_bytes(), "hex", &[]);
        check(hex.to_uppercase().as_bytes(), "hex", &[]);
        for before in ["", "a", "ab", "abc"] {
            for after in ["", "x", "xy"] {
                let text = format!("{before}{TOKEN}{after}");
                check(STANDARD.encode(&text).as_bytes(), "base64", &[]);
                check(URL_SAFE_NO_PAD.encode(&text).as_bytes(), "base64", &[]);
            }
        }
        let escaped: String = TOKEN.chars().map(|letter| format!("\\u{:04X}", u32::from(letter))).collect();
        check(escaped.as_bytes(), "escaped", &[]);
        let wide: Vec<u8> = TOKEN.encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&wide, "utf-16", &[]);
        let wide: Vec<u8> = TOKEN.encode_utf16().flat_map(u16::to_be_bytes).collect();
        check(&wide, "utf-16", &[]);
        let digest = heldset_core::digest::sha256(TOKEN.as_bytes());
        check(digest.to_string().as_bytes(), "sha-256", &[]);
        check(&[b"..", &digest.as_bytes()[..]].concat(), "sha-256", &[]);
        let quoted = heldset_core::digest::sha256(format!("\"{TOKEN}\"").as_bytes());
        check(quoted.hex().as_bytes(), "sha-256", &[]);
    }

    #[test]
    fn packed_tokens_are_found() {
        check(&[b"head", &gzip(TOKEN.as_bytes())[..]].concat(), "raw", &["gzip"]);
        check(&zstd::encode_all(TOKEN.as_bytes(), 3).unwrap(), "raw", &["zstd"]);
        check(&gzip(&zstd::encode_all(TOKEN.as_bytes(), 3).unwrap()), "raw", &["gzip", "zstd"]);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(TOKEN.repeat(9).as_bytes()).unwrap();
        check(&zlib.finish().unwrap(), "raw", &["zlib"]);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let noise: Vec<u8> =
            (0..200_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        assert_eq!(Search::new([TOKEN]).hits(&noise), BTreeSet::new());
    }
}
