//! Gates as they are written: every kind reads back, and what is wrong is told with its place.

use heldset_core::code::Code;
use heldset_core::gate::Rule;
use heldset_core::path::Path;
use heldset_core::{canonical, json};

pub(crate) fn rule(text: &str) -> Rule {
    Rule::from_value(&json::read(text).unwrap(), &Path::key("gate"))
        .unwrap_or_else(|problem| panic!("{text}: {problem:?}"))
}

fn written(text: &str) -> String {
    String::from_utf8(canonical::bytes(&rule(text).to_value())).unwrap()
}

#[test]
fn rules_are_written_in_full() {
    for (text, expected) in [
        (
            r#"{"metric_key":"exact","value":0.9}"#,
            r#"{"aggregation":"avg_score","decide":"interval","kind":"simple","metric_key":"exact","op":"gte","pass_threshold":1,"value":0.9}"#,
        ),
        (
            r#"{"metric":"accuracy","metric_key":"exact","op":"gt","value":0.5,"pass_threshold":0.7}"#,
            r#"{"aggregation":"accuracy","decide":"interval","kind":"simple","metric_key":"exact","op":"gt","pass_threshold":0.7,"value":0.5}"#,
        ),
        (
            r#"{"metric":"exact","value":1,"op":"eq","decide":"interval","min_n":30}"#,
            r#"{"aggregation":"avg_score","decide":"point","kind":"simple","metric_key":"exact","min_n":30,"op":"eq","pass_threshold":1,"value":1}"#,
        ),
        (
            r#"{"kind":"simple","aggregation":"p50","op":"lte","value":3}"#,
            r#"{"aggregation":"median","decide":"point","kind":"simple","op":"lte","pass_threshold":1,"value":3}"#,
        ),
        (
            r#"{"kind":"weighted_average","aggregation":"avg_score","weights":{"a":2,"b":0.5},"value":0.6}"#,
            r#"{"aggregation":"avg_score","decide":"interval","kind":"weighted_average","op":"gte","pass_threshold":1,"value":0.6,"weights":{"a":2,"b":0.5}}"#,
        ),
        (
            r#"{"kind":"logical","operator":"or","decide":"point","conditions":[{"metric_key":"a","value":1},{"operator":"and","conditions":[{"value":0,"decide":"interval"}]}]}"#,
            r#"{"conditions":[{"aggregation":"avg_score","decide":"point","kind":"simple","metric_key":"a","op":"gte","pass_threshold":1,"value":1},{"conditions":[{"aggregation":"avg_score","decide":"interval","kind":"simple","op":"gte","pass_threshold":1,"value":0}],"kind":"logical","operator":"and"}],"kind":"logical","operator":"or"}"#,
        ),
        (
            r#"{"kind":"regression","metric_key":"exact","baseline":"r-1","margin":0.02}"#,
            r#"{"aggregation":"avg_score","baseline":"r-1","decide":"interval","kind":"regression","margin":0.02,"metric_key":"exact","op":"gte","pass_threshold":1}"#,
        ),
        (r#"{"kind":"coverage","value":0.95}"#, r#"{"kind":"coverage","min":0.95}"#),
        (
            r#"{"kind":"per_label","label":"level","values":[1,"two"],"rule":{"kind":"coverage","min":1}}"#,
            r#"{"kind":"per_label","label":"level","rule":{"kind":"coverage","min":1},"values":["1","two"]}"#,
        ),
    ] {
        assert_eq!(written(text), expected, "{text}");
        assert_eq!(rule(&written(text)), rule(text), "{text}");
    }
}

fn refused(text: &str, place: &str, message: &str, help: Option<&str>) {
    let problem = Rule::from_value(&json::read(text).unwrap(), &Path::key("gate")).unwrap_err();
    assert_eq!(problem.code, Code::E060, "{text}");
    assert_eq!((problem.path.to_string().as_str(), problem.message.as_str()), (place, message), "{text}");
    assert_eq!(problem.help.as_deref(), help, "{text}");
}

#[test]
fn what_is_no_rule_is_e060_with_its_place() {
    for (text, place, message, help) in [
        ("[]", "gate", "a gate is a mapping, not a list", None),
        (
            r#"{"kind":"simpel","value":1}"#,
            "gate.kind",
            "`simpel` is not a known kind of gate",
            Some("did you mean `simple`?"),
        ),
        (
            r#"{"metric_key":"a","agregation":"min","value":1}"#,
            "gate.agregation",
            "`agregation` is not known in this kind of gate",
            Some("did you mean `aggregation`?"),
        ),
        (
            r#"{"aggregation":"acuracy","value":1}"#,
            "gate.aggregation",
            "`acuracy` is not a known `aggregation`",
            Some("did you mean `accuracy`?"),
        ),
        (r#"{"op":"gtee","value":1}"#, "gate.op", "`gtee` is not a known `op`", Some("did you mean `gte`?")),
        (r#"{"metric_key":"a","op":"gte"}"#, "gate", "`value` is missing in the gate", None),
        (r#"{"value":"0.9"}"#, "gate.value", "`value` is a number, not text", None),
        (
            r#"{"aggregation":"accuracy","value":90}"#,
            "gate.value",
            "`accuracy` is a share from 0 to 1, not 90",
            Some("write 0.9 for 90 %"),
        ),
        (
            r#"{"metric":"a","metric_key":"b","value":1}"#,
            "gate.metric",
            "`metric` and `metric_key` name two metrics",
            Some("keep `metric_key`"),
        ),
        (r#"{"metric_key":"a","value":1,"min_n":-1}"#, "gate.min_n", "`min_n` is a whole number, not a number", None),
    ] {
        refused(text, place, message, help);
    }
}

#[test]
fn what_is_no_rule_of_its_kind_is_told() {
    for (text, place, message, help) in [
        (r#"{"weights":{"a":0},"value":1}"#, "gate.weights", "no metric has a weight above 0", None),
        (r#"{"weights":{"a":-1},"value":1}"#, "gate.weights.a", "the weight of `a` is negative", None),
        (
            r#"{"weights":[1],"value":1}"#,
            "gate.weights",
            "`weights` is a mapping of metrics to numbers, not a list",
            None,
        ),
        (r#"{"conditions":[]}"#, "gate.conditions", "`conditions` is empty", None),
        (
            r#"{"operator":"xor","conditions":[{"value":1}]}"#,
            "gate.operator",
            "`xor` is not a known `operator`",
            Some("did you mean `or`?"),
        ),
        (r#"{"conditions":[{"value":1},{"op":"gte"}]}"#, "gate.conditions[1]", "`value` is missing in the gate", None),
        (
            r#"{"kind":"regression","margin":-1}"#,
            "gate.margin",
            "`margin` is negative",
            Some("it says how much worse is still fine"),
        ),
        (
            r#"{"kind":"regression","aggregation":"p95"}"#,
            "gate.aggregation",
            "`p95` cannot be paired",
            Some("a regression is of `avg_score`, `accuracy` or `pass_rate`"),
        ),
        (
            r#"{"kind":"coverage","min":95}"#,
            "gate.min",
            "`min` is a share from 0 to 1, not 95",
            Some("write 0.9 for 90 %"),
        ),
        (r#"{"kind":"per_label","rule":{"value":1}}"#, "gate", "`label` is missing in the gate", None),
        (
            r#"{"kind":"per_label","label":"x","rule":{"valeu":1}}"#,
            "gate.rule.valeu",
            "`valeu` is not known in this kind of gate",
            Some("did you mean `value`?"),
        ),
    ] {
        refused(text, place, message, help);
    }
}

#[test]
fn a_rule_names_its_metrics_and_its_baseline() {
    let text = r#"{"conditions":[{"metric_key":"a","value":1},{"weights":{"b":1,"c":2},"value":1},{"kind":"per_label","label":"x","rule":{"kind":"regression","metric_key":"d","baseline":"r-7"}}]}"#;
    assert_eq!(rule(text).metrics(), ["a", "b", "c", "d"]);
    assert_eq!(rule(text).baseline(), Some(Some("r-7")));
    assert_eq!(rule(r#"{"kind":"regression"}"#).baseline(), Some(None));
    assert_eq!(rule(r#"{"value":1}"#).baseline(), None);
}
