//! `heldset explain` and `heldset completions`.

use heldset_core::code::Code;

use crate::{examples, heldset};

#[test]
fn every_code_is_explained() {
    for code in Code::ALL {
        let ran = heldset(&examples(), &["explain", code.name()]);
        assert_eq!(ran.code, 0);
        assert!(ran.out.starts_with(&format!("# {code}: {}", code.title())), "{}", ran.out);
    }
}

#[test]
fn an_unknown_code_names_the_nearest() {
    let ran = heldset(&examples(), &["explain", "E12"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error[E102]") && ran.err.contains("did you mean `E012`?"), "{}", ran.err);
    assert!(
        heldset(&examples(), &["explain", "e012", "--json"])
            .out
            .starts_with("{\"code\":\"E012\",\"title\":\"duplicate id\"")
    );
}

#[test]
fn completions_know_the_commands() {
    let ran = heldset(&examples(), &["completions", "bash"]);
    assert_eq!(ran.code, 0);
    for command in ["check", "convert", "explain"] {
        assert!(ran.out.contains(command));
    }
}
