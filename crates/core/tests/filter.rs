//! Filters: what each operator means, how filters are written, and the laws that hold of all of them.

use heldset_core::code::Code;
use heldset_core::filter::{Filter, Names, Operator, Test, glob};
use heldset_core::json;
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};
use proptest::prelude::*;

use crate::generate::{config, value};

const RECORD: &str = r#"{
    "category": "maths", "count": 3, "share": 0.5, "big": 9007199254740993, "on": true, "nothing": null,
    "tags": ["algebra", "hard", 7], "pair": [1, 2], "none": [], "nested": {"a": {"b": "deep"}, "list": [{"x": 1}, {"x": 2}]},
    "dotted.key": "literal", "dotted": {"key": "inside"}, "when": "2024-05-01T12:00:00+02:00", "day": "2024-05-01",
    "metadata": {"difficulty": 4, "category": "hidden", "nothing": "filled", "both": "m"},
    "labels": {"team": "red", "both": "l"}, "numeric": {"0": "zero"}
}"#;

fn filter(text: &str) -> Filter {
    Filter::from_value(&json::read(text).unwrap(), &Path::root())
        .unwrap_or_else(|problem| panic!("{text}: {problem:?}"))
}

fn found(text: &str, names: Names) -> bool {
    let record = json::read(RECORD).unwrap();
    filter(text).matches("r-1", record.as_object().unwrap(), names)
}

fn test(field: &str, operator: &str, value: &str) -> bool {
    found(&format!(r#"{{"field": "{field}", "operator": "{operator}", "value": {value}}}"#), Names::Exact)
}

#[test]
fn operators_mean_what_the_reference_says() {
    for (field, operator, value, expected) in [
        ("category", "eq", r#""maths""#, true),
        ("category", "eq", r#""Maths""#, false),
        ("count", "eq", "3.0", true),
        ("count", "eq", r#""3""#, false),
        ("count", "ne", r#""3""#, true),
        ("big", "eq", "9007199254740992", false),
        ("big", "gt", "9007199254740992", true),
        ("on", "eq", "true", true),
        ("on", "eq", "1", false),
        ("nothing", "eq", "null", true),
        ("absent", "eq", "null", true),
        ("count", "eq", "null", false),
        ("count", "ne", "null", true),
        ("nothing", "ne", "null", false),
        ("nothing", "ne", "1", true),
        ("absent", "ne", "1", true),
        ("absent", "nin", "[1]", true),
        ("absent", "in", "[1]", false),
        ("absent", "in", "[1, null]", true),
        ("absent", "nin", "[1, null]", false),
        ("absent", "gt", "0", false),
        ("absent", "lte", "0", false),
        ("nothing", "lt", r#""z""#, false),
        ("absent", "contains", r#""a""#, false),
        ("count", "gt", "2", true),
        ("count", "gte", "3", true),
        ("count", "lt", "3", false),
        ("count", "lte", "2.5", false),
        ("count", "gt", r#""2""#, false),
        ("category", "gt", r#""algebra""#, true),
        ("category", "lt", r#""z""#, true),
        ("category", "in", r#"["art", "maths"]"#, true),
        ("category", "nin", r#"["art", "maths"]"#, false),
        ("category", "in", "[]", false),
        ("category", "nin", "[]", true),
        ("category", "contains", r#""ath""#, true),
        ("category", "contains", r#""""#, true),
        ("category", "startswith", r#""ma""#, true),
        ("category", "startswith", r#""th""#, false),
        ("category", "endswith", r#""ths""#, true),
        ("count", "contains", "3", false),
        ("count", "startswith", r#""3""#, false),
        ("tags", "eq", r#""hard""#, true),
        ("tags", "eq", "7.0", true),
        ("tags", "eq", r#"["algebra", "hard", 7]"#, true),
        ("tags", "eq", r#"["algebra"]"#, false),
        ("tags", "ne", r#""hard""#, false),
        ("tags", "in", r#"["easy", "hard"]"#, true),
        ("tags", "nin", r#"["easy"]"#, true),
        ("tags", "contains", r#""hard""#, true),
        ("tags", "contains", r#""har""#, false),
        ("tags", "contains", "7", true),
        ("tags", "startswith", r#""alg""#, false),
        ("pair", "gt", "0", false),
        ("none", "eq", "null", false),
        ("none", "eq", "[]", true),
        ("nested", "eq", r#"{"list": [{"x": 1}, {"x": 2}], "a": {"b": "deep"}}"#, true),
    ] {
        assert_eq!(test(field, operator, value), expected, "{field} {operator} {value}");
    }
}

#[test]
fn paths_lead_into_mappings_and_lists() {
    for (field, value, expected) in [
        ("nested.a.b", r#""deep""#, true),
        ("nested.list.1.x", "2", true),
        ("nested.list.2.x", "null", true),
        ("nested.list.x", "null", true),
        ("nested.a.b.c", "null", true),
        ("tags.0", r#""algebra""#, true),
        ("numeric.0", r#""zero""#, true),
        ("dotted.key", r#""literal""#, true),
        ("dotted.key", r#""inside""#, false),
        ("id", r#""r-1""#, true),
        ("metadata.difficulty", "4", true),
        ("difficulty", "4", false),
    ] {
        assert_eq!(test(field, "eq", value), expected, "{field} {value}");
    }
}

#[test]
fn timestamps_compare_as_instants_whatever_their_offset() {
    for (operator, value, expected) in [
        ("eq", "2024-05-01T10:00:00Z", true),
        ("ne", "2024-05-01T10:00:00Z", false),
        ("gt", "2024-05-01T11:00:00Z", false),
        ("gt", "2024-05-01T09:59:59.999Z", true),
        ("lt", "2024-05-01T10:00:00.001Z", true),
        ("lte", "2024-05-01T05:00:00-05:00", true),
        ("eq", "2024-05-01T12:00:00Z", false),
    ] {
        assert_eq!(test("when", operator, &format!("{value:?}")), expected, "{operator} {value}");
    }
    assert!(test("day", "gte", r#""2024-04-30""#), "a day is text, and text of one form is in order");
}

#[test]
fn a_bare_name_is_looked_for_in_metadata_and_labels() {
    for (text, exact, loose) in [
        (r#"{"difficulty": 4}"#, false, true),
        (r#"{"team": "red"}"#, false, true),
        (r#"{"category": "maths"}"#, true, true),
        (r#"{"category": "hidden"}"#, false, false),
        (r#"{"nothing": "filled"}"#, false, true),
        (r#"{"nothing": null}"#, true, false),
        (r#"{"both": "m"}"#, false, true),
        (r#"{"both": "l"}"#, false, false),
        (r#"{"id": "r-1"}"#, true, true),
        (r#"{"nowhere": null}"#, true, true),
    ] {
        assert_eq!((found(text, Names::Exact), found(text, Names::Loose)), (exact, loose), "{text}");
    }
}

#[test]
fn filters_are_written_in_several_ways() {
    for (text, expected) in [
        (r#"{"category": "maths", "count": 3}"#, true),
        (r#"{"category": "maths", "count": 4}"#, false),
        (r#"{"category": ["art", "maths"]}"#, true),
        (r#"{"tags": ["hard"]}"#, true),
        ("{}", true),
        ("[]", true),
        (r#"{"and": []}"#, true),
        (r#"{"or": []}"#, false),
        (r#"[{"category": "maths"}, {"field": "count", "operator": "gt", "value": 5}]"#, false),
        (r#"{"or": [{"category": "art"}, {"not": {"on": false}}]}"#, true),
        (r#"{"not": [{"category": "maths"}, {"count": 4}]}"#, true),
        (r#"{"field": "maths"}"#, false),
    ] {
        assert_eq!(found(text, Names::Exact), expected, "{text}");
        assert_eq!(Filter::from_value(&filter(text).to_value(), &Path::root()), Ok(filter(text)), "{text}");
    }
}

#[test]
fn what_is_no_filter_is_e052_with_its_place() {
    for (text, place, message, help) in [
        ("3", "", "a filter is a mapping or a list, not a number", None),
        (r#"[{"a": 1}, "b"]"#, "[1]", "a filter is a mapping or a list, not text", None),
        (r#"{"and": {"a": 1}}"#, "and", "`and` takes a list of filters, not a mapping", None),
        (r#"{"or": [], "a": 1}"#, "", "`or` stands alone in its mapping", Some("write a list of both to ask for both")),
        (
            r#"{"field": "a", "operator": "eqq", "value": 1}"#,
            "operator",
            "`eqq` is not an operator",
            Some("did you mean `eq`?"),
        ),
        (
            r#"{"not": {"field": "a", "operator": ">=", "value": 1}}"#,
            "not.operator",
            "`>=` is not an operator",
            Some("did you mean `gte`?"),
        ),
        (r#"{"field": "a", "operator": "eq"}"#, "", "`value` is missing in a filter", None),
        (r#"{"field": "a", "value": 1}"#, "", "`operator` is missing in a filter", None),
        (r#"{"operator": "eq", "value": 1}"#, "", "`field` is missing in a filter", None),
        (r#"{"field": 1, "operator": "eq", "value": 1}"#, "field", "`field` is a name, not a number", None),
        (
            r#"{"field": "a", "op": "eq", "value": 1}"#,
            "op",
            "`op` is not known in a filter",
            Some("a test has `field`, `operator` and `value`"),
        ),
        (r#"{"field": "a", "operator": "in", "value": 1}"#, "value", "`in` takes a list, not a number", None),
        (
            r#"{"field": "a", "operator": "gt", "value": true}"#,
            "value",
            "`gt` takes a number or text, not a boolean",
            None,
        ),
        (
            r#"{"field": "a", "operator": "lt", "value": null}"#,
            "value",
            "`lt` takes a number or text, not null",
            Some("`eq` finds null and missing values, `ne` others"),
        ),
        (
            r#"{"field": "a", "operator": "startswith", "value": 1}"#,
            "value",
            "`startswith` takes text, not a number",
            None,
        ),
        (
            r#"{"field": "a", "operator": "contains", "value": [1]}"#,
            "value",
            "`contains` takes text, a number or a boolean, not a list",
            None,
        ),
    ] {
        let problem = Filter::from_value(&json::read(text).unwrap(), &Path::root()).unwrap_err();
        assert_eq!(problem.code, Code::E052, "{text}");
        assert_eq!((problem.path.to_string().as_str(), problem.message.as_str()), (place, message), "{text}");
        assert_eq!(problem.help.as_deref(), help, "{text}");
    }
}

#[test]
fn a_filter_names_its_fields() {
    let filter = filter(r#"{"or": [{"a": 1, "b.c": 2}, {"not": {"d": [3]}}]}"#);
    assert_eq!(filter.fields().collect::<Vec<_>>(), ["a", "b.c", "d"]);
}

#[test]
fn globs_know_star_and_question_mark() {
    for (pattern, text, expected) in [
        ("", "", true),
        ("", "a", false),
        ("*", "", true),
        ("**", "abc", true),
        ("a*c", "abbc", true),
        ("a*c", "abcd", false),
        ("a?c", "aéc", true),
        ("a?c", "ac", false),
        ("*b*", "abc", true),
        ("*ab", "aab", true),
        ("case-*-[1]", "case-x-[1]", true),
        ("case-[12]", "case-1", false),
        ("a.c", "abc", false),
        ("?", "😀", true),
    ] {
        assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
    }
    let hostile = format!("{}b", "a*".repeat(50));
    assert!(!glob(&hostile, &"a".repeat(5_000)));
}

fn tests() -> impl Strategy<Value = Filter> {
    let field = prop_oneof!["[a-c]", "[a-c]\\.[a-c]", Just("id".to_owned()), Just("a.0".to_owned())];
    (field, 0..Operator::ALL.len(), value()).prop_map(|(field, operator, value)| {
        let operator = Operator::ALL[operator];
        let value = match operator {
            Operator::In | Operator::Nin => Value::Array(vec![value, Value::Null, 1.into()]),
            Operator::Contains | Operator::StartsWith | Operator::EndsWith => Value::text("a"),
            Operator::Eq | Operator::Ne => value,
            _ => 1.into(),
        };
        Filter::Test(Test { field, operator, value })
    })
}

fn filters() -> impl Strategy<Value = Filter> {
    tests().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

fn records() -> impl Strategy<Value = Object<'static>> {
    prop::collection::btree_map("[a-c]|metadata|labels", value(), 0..5)
        .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn not(filter: &Filter) -> Filter {
    Filter::Not(Box::new(filter.clone()))
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_written_filter_reads_back(filter in filters()) {
        prop_assert_eq!(Filter::from_value(&filter.to_value(), &Path::root()), Ok(filter));
    }

    #[test]
    fn not_of_all_is_one_of_nots(parts in prop::collection::vec(filters(), 0..4), record in records()) {
        let holds = |filter: &Filter| filter.matches("a", &record, Names::Loose);
        let nots: Vec<_> = parts.iter().map(not).collect();
        prop_assert_eq!(holds(&not(&Filter::And(parts.clone()))), holds(&Filter::Or(nots.clone())));
        prop_assert_eq!(holds(&not(&Filter::Or(parts))), holds(&Filter::And(nots)));
    }

    #[test]
    fn ne_is_not_eq_and_nin_is_not_in(field in "[a-c]", value in value(), record in records()) {
        let holds = |operator, value: Value<'static>| {
            Filter::Test(Test { field: field.clone(), operator, value }).matches("a", &record, Names::Exact)
        };
        prop_assert_eq!(holds(Operator::Ne, value.clone()), !holds(Operator::Eq, value.clone()));
        let list = Value::Array(vec![value.clone(), 1.into()]);
        prop_assert_eq!(holds(Operator::Nin, list.clone()), !holds(Operator::In, list.clone()));
        prop_assert_eq!(holds(Operator::In, list), holds(Operator::Eq, value) || holds(Operator::Eq, 1.into()));
    }

    #[test]
    fn a_value_is_found_by_itself(name in "[a-c]", record in records()) {
        if let Some(value) = record.get(&name) {
            let test = Test { field: name, operator: Operator::Eq, value: value.clone() };
            prop_assert!(Filter::Test(test).matches("a", &record, Names::Exact));
        }
    }
}
