//! The slug of a dataset that a plan names by a path.
//!
//! *Invariant:* the same path has the same slug, another path another one.

use crate::digest::sha256;

/// The most letters of a stem in a slug.
const LONGEST: usize = 80;

/// `file-<stem>-<8 hex>`, from the absolute path of a file.
pub fn file_slug(absolute: &str) -> String {
    let name = absolute.rsplit('/').next().unwrap_or(absolute);
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or("data");
    let mut slug = String::from("file-");
    for letter in stem.chars().take(LONGEST) {
        let letter = letter.to_ascii_lowercase();
        let fits = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        if fits || !slug.ends_with('-') {
            slug.push(if fits { letter } else { '-' });
        }
    }
    if !slug.ends_with('-') {
        slug.push('-');
    }
    slug.push_str(&sha256(absolute.as_bytes()).hex()[..8]);
    slug
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cite::slug_problem;

    #[test]
    fn a_path_becomes_a_slug() {
        for (path, expected) in [
            ("/a/Trip Queries.yaml", "file-trip-queries-"),
            ("/a/d.jsonl", "file-d-"),
            ("/a/ü", "file-"),
            ("/a/x.jsonl.gz", "file-x-"),
        ] {
            let slug = file_slug(path);
            assert!(slug.starts_with(expected), "{path}: {slug}");
            assert_eq!(slug_problem(&slug), None, "{slug}");
        }
        assert_ne!(file_slug("/a/d.jsonl"), file_slug("/b/d.jsonl"));
    }
}
