//! Which of many names are meant: one by its name, those of a pattern, or those under a prefix.
//!
//! *Invariant:* pure; a `*` never crosses a folder, `**` does.

use heldset_core::filter::glob;

/// What is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// All of them.
    All,
    /// The one of this name, or all in the folder of this name.
    Name(String),
    /// Those of a pattern.
    Pattern(String),
}

impl Choice {
    /// Reads a choice: a name, or a pattern with `*`, `?` or `{a,b}`.
    pub(super) fn read(text: Option<&str>) -> Choice {
        let text = text.map(|text| text.trim_start_matches("./").trim_matches('/'));
        match text {
            None | Some("" | ".") => Choice::All,
            Some(text) if is_pattern(text) => Choice::Pattern(text.to_owned()),
            Some(text) => Choice::Name(text.to_owned()),
        }
    }

    /// Whether a name is chosen.
    pub(super) fn takes(&self, name: &str) -> bool {
        match self {
            Choice::All => true,
            Choice::Name(exact) => {
                name == exact || name.strip_prefix(exact.as_str()).is_some_and(|rest| rest.starts_with('/'))
            }
            Choice::Pattern(pattern) => alternatives(pattern).iter().any(|pattern| matches(pattern, name)),
        }
    }

    /// Whether the name was given as it is: then it must be read, whatever it is.
    pub(super) fn is_exactly(&self, name: &str) -> bool {
        matches!(self, Choice::Name(exact) if exact == name)
    }

    /// Whether a name that starts with a dot is asked for: else such files and folders are left alone.
    pub(super) fn names_hidden(&self) -> bool {
        match self {
            Choice::All => false,
            Choice::Name(text) | Choice::Pattern(text) => text.starts_with('.') || text.contains("/."),
        }
    }

    /// The folder that everything chosen is in.
    pub(super) fn folder(&self) -> &str {
        match self {
            Choice::All => "",
            Choice::Name(name) => name,
            Choice::Pattern(pattern) => {
                let plain = pattern.find(['*', '?', '{']).unwrap_or(pattern.len());
                pattern[..plain].rsplit_once('/').map_or("", |(folder, _)| folder)
            }
        }
    }
}

/// Whether a text is a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '{'])
}

/// The patterns that one with `{a,b}` stands for.
fn alternatives(pattern: &str) -> Vec<String> {
    let braces = pattern.find('{').and_then(|open| Some((open, open + pattern[open..].find('}')?)));
    let Some((open, close)) = braces else { return vec![pattern.to_owned()] };
    let inside = pattern[open + 1..close].split(',');
    let whole = inside.map(|one| format!("{}{one}{}", &pattern[..open], &pattern[close + 1..]));
    whole.flat_map(|pattern| alternatives(&pattern)).take(256).collect()
}

/// Whether the folders and the name are those of a pattern, step by step. Tables, not recursion: a hostile pattern
/// costs at most steps × steps.
fn matches(pattern: &str, name: &str) -> bool {
    let names: Vec<&str> = name.split('/').collect();
    let mut fits = vec![false; names.len() + 1];
    fits[0] = true;
    for step in pattern.split('/') {
        let mut next = vec![false; names.len() + 1];
        if step == "**" {
            let first = fits.iter().position(|fit| *fit).unwrap_or(fits.len());
            next.iter_mut().skip(first).for_each(|fit| *fit = true);
        } else {
            for at in (0..names.len()).filter(|at| fits[*at]) {
                next[at + 1] = glob(step, names[at]);
            }
        }
        fits = next;
    }
    fits[names.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_folders_and_patterns_choose() {
        for (choice, name, expected) in [
            ("", "a/b.csv", true),
            ("a/b.csv", "a/b.csv", true),
            ("a", "a/b.csv", true),
            ("a", "ab/c.csv", false),
            ("./a/", "a/b.csv", true),
            ("*.csv", "b.csv", true),
            ("*.csv", "a/b.csv", false),
            ("**/*.csv", "b.csv", true),
            ("**/*.csv", "a/b/c.csv", true),
            ("a/**", "a/b/c", true),
            ("a/**/c", "a/c", true),
            ("a/**/c", "a/b/b/c", true),
            ("a/**/c", "b/c", false),
            ("data/*-?.{json,csv}", "data/x-1.csv", true),
            ("data/*-?.{json,csv}", "data/x-1.yaml", false),
            ("**/**/**/**/x", "a/a/a/a/a/y", false),
        ] {
            assert_eq!(Choice::read(Some(choice)).takes(name), expected, "{choice} {name}");
        }
        assert_eq!(Choice::read(Some("a/b/*.csv")).folder(), "a/b");
        assert_eq!(Choice::read(Some("a*/b")).folder(), "");
    }
}
