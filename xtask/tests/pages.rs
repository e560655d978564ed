//! Every code has a page that says when it appears and what to do, and a test that makes it appear.

use std::fs;

use crate::sources::{root, sources};

fn codes() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("crates/core/src/code.rs")).unwrap();
    let code = |line: &str| {
        let (name, title) = line.trim().strip_suffix("\",")?.split_once(" \"")?;
        let is_code =
            name.len() == 4 && name.starts_with(['E', 'H']) && name[1..].bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| (name.to_owned(), title.to_owned()))
    };
    let codes: Vec<_> = text.lines().filter_map(code).collect();
    assert!(codes.len() > 40, "the codes were not found");
    codes
}

#[test]
fn every_code_has_a_page() {
    for (code, title) in codes() {
        let page = fs::read_to_string(root().join(format!("docs/codes/{code}.md"))).unwrap_or_default();
        assert!(page.starts_with(&format!("# {code}: {title}\n")), "docs/codes/{code}.md does not open with its title");
        for part in ["**Example.**", "**What to do.**"] {
            assert!(page.contains(part), "docs/codes/{code}.md lacks {part}");
        }
    }
}

#[test]
fn every_code_has_a_test() {
    let tests: String = sources()
        .into_iter()
        .filter(|(path, _)| path.to_string_lossy().replace('\\', "/").contains("/tests/"))
        .filter(|(path, _)| !path.ends_with("pages.rs"))
        .map(|(_, text)| text)
        .collect();
    for (code, _) in codes() {
        assert!(tests.contains(&code), "no test makes {code} appear");
    }
}

#[test]
fn every_page_is_of_a_code() {
    let codes = codes();
    for entry in fs::read_dir(root().join("docs/codes")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(codes.iter().any(|(code, _)| name == format!("{code}.md")), "docs/codes/{name} is of no code");
    }
}
