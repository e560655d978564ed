//! Field mappings: what a row becomes, what is refused (E068), what is only warned of (H006).

use heldset_core::canonical;
use heldset_core::json;
use heldset_core::mapping::{FieldPath, Mapping, Matches, Scope, Seen, SourceDeclaration};
use heldset_core::value::{Object, Value};

fn object(text: &str) -> Object<'static> {
    json::read(text).unwrap().into_owned().as_object().unwrap().clone()
}

fn shown(fields: &Object<'static>) -> String {
    String::from_utf8(canonical::bytes(&Value::Object(fields.clone()))).unwrap()
}

const ROW: &str = r#"{"id":7,"key":"P-1","fields":{"summary":"broken","status":{"name":"Open"},"labels":["a","b"],
 "people":[{"name":"Ann","mail":"a@b.c"},{"name":"Bo"}],"none":null,"empty":[]},"a.b":{"c":1},"x":[[1,2],[3]]}"#;

#[test]
fn what_a_row_becomes() {
    // mappings, id_from, keep_unmapped: id and fields
    let table = [
        (r#"{"key":"ticket","fields.summary":"title"}"#, None, false, "7", r#"{"ticket":"P-1","title":"broken"}"#),
        (r#"{"key":"id"}"#, None, false, "P-1", "{}"),
        (r#"{"fields.status.name":"status"}"#, Some("key"), false, "P-1", r#"{"status":"Open"}"#),
        (r#"{"fields.labels[0]":"first","fields.labels[9]":"tenth"}"#, None, false, "7", r#"{"first":"a"}"#),
        (r#"{"fields.people[*].name":"names"}"#, None, false, "7", r#"{"names":["Ann","Bo"]}"#),
        (r#"{"fields.people[*].mail":"mails"}"#, None, false, "7", r#"{"mails":["a@b.c"]}"#),
        (r#"{"fields.people[*].none":"nobody"}"#, None, false, "7", "{}"),
        (r#"{"fields.empty[*]":"all","fields.empty[*].name":"names"}"#, None, false, "7", r#"{"all":[],"names":[]}"#),
        (r#"{"x[*][*]":"flat","x[1][0]":"three"}"#, None, false, "7", r#"{"flat":[1,2,3],"three":3}"#),
        (r#"{"[\"a.b\"].c":"one"}"#, None, false, "7", r#"{"one":1}"#),
        (r#"{"fields.none":"null"}"#, None, false, "7", r#"{"null":null}"#),
        (
            r#"{"fields.summary":"text.title","fields.labels":"text.labels"}"#,
            None,
            false,
            "7",
            r#"{"text":{"labels":["a","b"],"title":"broken"}}"#,
        ),
        (r#"{"key":"[\"a.b\"]"}"#, None, false, "7", r#"{"a.b":"P-1"}"#),
        (
            r#"{"fields":"f","a.b":"no","fields.people":"people"}"#,
            None,
            false,
            "7",
            r#"{"f":{"empty":[],"labels":["a","b"],"none":null,"people":[{"mail":"a@b.c","name":"Ann"},{"name":"Bo"}],"status":{"name":"Open"},"summary":"broken"},"people":[{"mail":"a@b.c","name":"Ann"},{"name":"Bo"}]}"#,
        ),
        (
            r#"{"fields.people[*].mail":"mails","fields.status.name":"status","x[0]":"x0"}"#,
            None,
            true,
            "7",
            r#"{"a.b":{"c":1},"fields":{"empty":[],"labels":["a","b"],"none":null,"people":[{"name":"Ann"},{"name":"Bo"}],"summary":"broken"},"key":"P-1","mails":["a@b.c"],"status":"Open","x":[[3]],"x0":[1,2]}"#,
        ),
    ];
    for (mappings, id_from, keep, id, fields) in table {
        let mapping = Mapping::new(&object(mappings), id_from, keep).unwrap();
        let mapped = mapping.apply(json::read(ROW).unwrap().into_owned(), &mut Matches::default()).unwrap();
        assert_eq!((mapped.id.as_str(), shown(&mapped.fields).as_str()), (id, fields), "{mappings}");
    }
}

#[test]
fn without_mappings_everything_stays() {
    let mapping = Mapping::new(&Object::new(), None, false).unwrap();
    let mapped =
        mapping.apply(json::read(r#"{"b":1,"id":"x"}"#).unwrap().into_owned(), &mut Matches::default()).unwrap();
    assert_eq!((mapped.id.as_str(), shown(&mapped.fields).as_str()), ("x", r#"{"b":1}"#));
}

#[test]
fn a_row_that_cannot_be_a_record_is_refused() {
    for (row, id_from, code) in [
        ("[1]", None, "E032"),
        (r#"{"a":1}"#, None, "E011"),
        (r#"{"id":{}}"#, None, "E013"),
        (r#"{"id":""}"#, None, "E013"),
        (r#"{"a":[1,2]}"#, Some("a[*]"), "E013"),
        (r#"{"id":1,"_source":{"x":1}}"#, None, "E068"),
    ] {
        let mapping = Mapping::new(&Object::new(), id_from, false).unwrap();
        let problem = mapping.apply(json::read(row).unwrap().into_owned(), &mut Matches::default()).unwrap_err();
        assert_eq!(problem.code.name(), code, "{row}: {}", problem.message);
    }
}

#[test]
fn mappings_that_cannot_work_are_refused() {
    for (mappings, id_from, part) in [
        (r#"{"a":"x","b":"x"}"#, None, "`a` and `b` are both mapped to `x`"),
        (r#"{"a":"x","b":"x.y"}"#, None, "one lies in the other"),
        (r#"{"a":"x[0]"}"#, None, "leads into a list"),
        (r#"{"a":"_source"}"#, None, "kept for the id of the source"),
        (r#"{"a":"id.x"}"#, None, "leads into the id"),
        (r#"{"a":1}"#, None, "not to the name of a field"),
        (r#"{"a":""}"#, None, "it is empty"),
        (r#"{"":"a"}"#, None, "it is empty"),
        (r#"{"a..b":"c"}"#, None, "between two dots"),
        (r#"{"a.":"c"}"#, None, "ends with a dot"),
        (r#"{"a[x]":"c"}"#, None, "neither a place"),
        (r#"{"a[-1]":"c"}"#, None, "neither a place"),
        (r#"{"a[0":"c"}"#, None, "not closed"),
        (r#"{"[\"a":"c"}"#, None, "no closing"),
        (r#"{"a[0]b":"c"}"#, None, "followed by neither"),
        (r#"{"a":"id"}"#, Some("key"), "is mapped to `id` too"),
        (r"{}", Some("a..b"), "between two dots"),
    ] {
        let problems = Mapping::new(&object(mappings), id_from, false).unwrap_err();
        assert_eq!(problems[0].code.name(), "E068", "{mappings}");
        assert!(problems[0].message.contains(part), "{mappings}: {}", problems[0].message);
    }
}

#[test]
fn a_path_reads_back_as_it_is_written() {
    for text in ["a", "a.b[0].c", "a[*].b", "[\"a.b\"].c", "x[0][1]", "['say \"hi.\"']", "a b.ü"] {
        assert_eq!(FieldPath::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_path_that_matches_nothing_is_told_with_what_is_near() {
    for (path, help) in [
        ("fields.sumary", "did you mean `fields.summary`?"),
        ("summary", "did you mean `fields.summary`?"),
        ("fields.people.name", "did you mean `fields.people[*].name`?"),
        ("a.b.c", "did you mean `[\"a.b\"].c`?"),
        ("nowhere", "there is `[\"a.b\"]`, `[\"a.b\"].c`, `fields`, `fields.empty`, `fields.labels`, `fields.none`, …"),
    ] {
        let mappings: Object<'static> = [(path.into(), Value::from("out"))].into_iter().collect();
        let mapping = Mapping::new(&mappings, None, false).unwrap();
        let (mut matches, mut seen) = (Matches::default(), Seen::default());
        let row = json::read(ROW).unwrap().into_owned();
        seen.note(&row);
        mapping.apply(row, &mut matches).unwrap();
        let told = mapping.unmatched(&matches, &seen);
        assert_eq!(told.len(), 1, "{path}");
        assert_eq!(told[0].code.name(), "H006");
        assert_eq!(told[0].help.as_deref(), Some(help), "{path}");
    }
}

#[test]
fn a_path_that_matches_in_some_rows_is_fine() {
    let mapping = Mapping::new(&object(r#"{"a":"x","b":"y"}"#), None, false).unwrap();
    let mut matches = Matches::default();
    for row in [r#"{"id":1,"a":1}"#, r#"{"id":2,"b":1}"#] {
        mapping.apply(json::read(row).unwrap().into_owned(), &mut matches).unwrap();
    }
    assert_eq!(matches, Matches { rows: 2, matched: vec![1, 1] });
    assert!(mapping.unmatched(&matches, &Seen::default()).is_empty());
    assert_eq!(mapping.describe(), ["a → x", "b → y"]);
}

#[test]
fn a_declaration_tells_all_its_problems() {
    let declared = r#"{"conector_instance_id":"x","operation_config":{"api_key":"abc","url":"https://me:pw@host/x","list":["https://h/?token=1"]},
        "credential_scope_type":"usr","field_mappings":{"a":"x","b":"x"},"keep_unmapped":1,"privacy":[{"field":"a"}],"split":""}"#;
    let problems = SourceDeclaration::from_value(&json::read(declared).unwrap()).unwrap_err();
    let told: Vec<String> =
        problems.iter().map(|problem| format!("{} {}", problem.code.name(), problem.path)).collect();
    for expected in [
        "E067 conector_instance_id",
        "E067 connector_instance_id",
        "E067 keep_unmapped",
        "E068 field_mappings.b",
        "E067 privacy[0].action",
        "E057 operation_config.api_key",
        "E057 operation_config.url",
        "E057 operation_config.list.item",
        "E067 credential_scope_type",
        "E067 split",
    ] {
        assert!(told.iter().any(|told| told == expected), "{expected} in {told:?}");
    }
    assert!(problems.iter().all(|problem| !problem.message.contains("abc") && !problem.message.contains("pw")));
}

#[test]
fn a_declaration_of_the_seed_document_is_taken() {
    let declared = r#"{"connector_instance_id":"uuid-of-jira-instance","operation_id":"list_issues","display_name":"Jira Open Tickets",
        "operation_config":{"jql":"status = Open","maxResults":100},"credential_scope_type":"organization","credential_scope_id":"uuid-of-org",
        "field_mappings":{"key":"ticket_id","fields.summary":"title"}}"#;
    let source = SourceDeclaration::from_value(&json::read(declared).unwrap()).unwrap();
    assert_eq!(source.scope, Some((Scope::Organization, Some("uuid-of-org".to_owned()))));
    assert_eq!((source.operation.as_str(), source.split.as_str()), ("list_issues", "default"));
    assert_eq!(source.describe(), ["key → ticket_id", "fields.summary → title"]);
}

#[test]
fn a_filter_that_misses_the_id_is_refused() {
    for (declared, fine) in [
        (r#"{"connector_instance_id":"c","id_from":"mail","privacy":[{"field":"mail","action":"hash"}]}"#, false),
        (
            r#"{"connector_instance_id":"c","id_from":"mail","field_mappings":{"mail":"contact"},"privacy":[{"field":"contact","action":"mask"}]}"#,
            false,
        ),
        (
            r#"{"connector_instance_id":"c","id_from":"mail","field_mappings":{"key":"k"},"privacy":[{"field":"mail","action":"mask"}]}"#,
            true,
        ),
        (
            r#"{"connector_instance_id":"c","id_from":"mail","privacy":[{"field":"mail","action":"hash"},{"field":"id","action":"hash"}]}"#,
            true,
        ),
        (
            r#"{"connector_instance_id":"c","id_from":"mail","privacy":[{"field":"*","action":"redact","pattern":"email"}]}"#,
            true,
        ),
    ] {
        assert_eq!(SourceDeclaration::from_value(&json::read(declared).unwrap()).is_ok(), fine, "{declared}");
    }
}
