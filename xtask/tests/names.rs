//! One verb, one name: the command, the engine's file and the page in the reference are called alike.

use std::fs;

use crate::sources::root;

/// Commands that only the shell knows.
const SHELL_ONLY: &[&str] = &["completions", "launch"];

#[test]
fn every_command_has_a_verb_and_a_page_of_its_name() {
    let root = root();
    let mut commands = 0;
    for entry in fs::read_dir(root.join("crates/cli/src/commands")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "mod" {
            continue;
        }
        commands += 1;
        let page = root.join(format!("docs/reference/{name}.md"));
        assert!(page.exists(), "`{name}` has no page {}", page.display());
        if !SHELL_ONLY.contains(&name.as_str()) {
            let verb = root.join(format!("crates/engine/src/{name}.rs"));
            let folder = root.join(format!("crates/engine/src/{name}/mod.rs"));
            assert!(verb.exists() || folder.exists(), "`{name}` has no verb {}", verb.display());
        }
    }
    assert!(commands >= 4, "the commands were not found");
}
