//! Every form of a report of made-up rows.
#![allow(clippy::unwrap_used, reason = "tests")]

use heldset_core::json;
use heldset_core::value::Object;
use heldset_core::visibility::Viewer;

use super::*;
use crate::results::RowOutcome;
use crate::results::made_up::{doc, numbered, row, session, stored, tally, unscored};

fn rows() -> Vec<Row> {
    let mut labels = Object::new();
    labels.set("topic", "x|y".into());
    let hostile = "<script>alert(1)</script>\u{1b}[31m";
    let mut rows = vec![
        Row { category: Some("hotel".to_owned()), labels, ..row("q1", 1.0) },
        Row { output: Some(hostile.into()), category: Some("flight".to_owned()), ..row("q<script>2", 0.0) },
        Row { cached: Some("run-0".to_owned()), ..row("q3, \"quoted\"\nline", 1.0) },
        Row { failure: Some("timeout: 3 s".to_owned()), ..unscored("q4", RowOutcome::Error, "error: timeout: 3 s") },
    ];
    rows[0].usage = Some(json::read(r#"{"input_tokens":10,"output_tokens":5}"#).unwrap().into_owned());
    numbered(rows)
}

fn written(rows: &[Row], form: Form) -> String {
    let summary = tally(rows).finish(Some("exact"), None, None);
    let each = |take: &mut dyn FnMut(&Row) -> Outcome<()>| rows.iter().try_for_each(take);
    let gate = json::read(r#"{"verdict":"pass","reason":"fine"}"#).unwrap();
    let doc = doc("run-1", rows);
    let sheet = Sheet { doc: &doc, summary: &summary, gate: Some(&gate), each: &each };
    let mut out = Vec::new();
    sheet.write(form, &mut out).map_err(|refusal| refusal.message).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn text_has_failures_first_then_tables() {
    insta::assert_snapshot!(written(&rows(), Form::Text));
}

#[test]
fn markdown_has_tables_and_all_rows() {
    insta::assert_snapshot!(written(&rows(), Form::Markdown));
}

#[test]
fn csv_has_a_line_for_each_session() {
    insta::assert_snapshot!(written(&rows(), Form::Csv));
}

#[test]
fn json_is_one_document_with_all_rows() {
    let text = written(&rows(), Form::Json);
    let value = json::read(&text).unwrap();
    let value = value.as_object().unwrap();
    assert_eq!(value.get("rows").unwrap().as_array().unwrap().len(), 4);
    for name in ["run", "dataset", "version", "digest", "plan_digest", "balance", "scores", "gate"] {
        assert!(value.contains(name), "{name}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn jsonl_has_a_line_for_each_session_that_names_its_data() {
    let text = written(&rows(), Form::Jsonl);
    assert_eq!(text.lines().count(), 4);
    for line in text.lines() {
        let value = json::read(line).unwrap();
        let value = value.as_object().unwrap();
        for name in ["id", "outcome", "scores", "output", "run_ms", "run", "dataset", "version", "digest", "balance"] {
            assert!(value.contains(name), "{name}");
        }
    }
}

#[test]
fn a_page_is_well_formed_escapes_all_text_and_loads_nothing() {
    let page = written(&rows(), Form::Html);
    assert!(!page.contains("<script"), "{page}");
    assert!(page.contains("q&lt;script&gt;2") && page.contains("&lt;script&gt;alert(1)"), "{page}");
    for outside in ["http://", "https://", "src=", "url(", "@import", "<link", "javascript:", "onload"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.matches("<svg").count() >= 3);
    assert_eq!(open_tags(&page), Vec::<String>::new());
    insta::assert_snapshot!(page.split_once("<body>").unwrap().1);
}

/// The tags that are never closed, or closed in another order.
fn open_tags(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let page = page.split_once("</style>").unwrap().1.to_owned();
    let page = format!("<html><head>{}", page);
    for tag in page.split('<').skip(1) {
        let (name, _) = tag.split_once('>').unwrap();
        let word: String = name.split([' ', '\n']).next().unwrap().to_owned();
        match word.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop().as_deref(), Some(closed), "{tag}"),
            None if ["br", "meta"].contains(&word.as_str()) => {}
            None => open.push(word),
        }
    }
    open
}

#[test]
fn many_failures_are_cut_and_counted() {
    let rows = numbered((0..25).map(|index| row(&format!("q{index}"), 0.0)).collect());
    let text = written(&rows, Form::Text);
    assert!(text.contains("not passed: 25") && text.contains("… and 5 more"), "{text}");
    assert_eq!(text.matches("  fail  ").count(), 20);
}

#[test]
fn a_report_that_leaves_is_on_record_and_may_not_go_everywhere() {
    let session = session(Viewer::Owner);
    stored(&session, "run-1", &Value::Object(Object::new()), &rows());
    let request = |place| ReportRequest { run: "run-1", form: Form::Jsonl, place };
    let made = report(&session, &request(None)).map_err(|refusal| refusal.message).unwrap();
    let mut out = Vec::new();
    made.keep("/tmp/report.jsonl").map_err(|refusal| refusal.message).unwrap();
    made.write_to(&mut out).map_err(|refusal| refusal.message).unwrap();
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 4);
    assert_eq!(session.store.catalog().scan("copy", "").unwrap().len(), 1);
    let refused = report(&session, &request(Some(Place::AgentSandbox))).err().unwrap();
    assert_eq!(refused.code, heldset_core::code::Code::E121);
}
