//! Questions to judges, embedders and graders outside.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value as Json, json};

use super::*;
use crate::servers::{Reply as Does, Say, Server, openai};
use crate::turns::trial::{net, object, value};

struct Nobody;

impl Programs for Nobody {
    fn command<'p>(&'p self, argv: &'p [String], _: &'p Object<'static>, payload: &'p Value<'static>) -> Asked<'p> {
        Box::pin(async move { Ok(Value::Array(vec![argv[0].clone().into(), payload.clone()])) })
    }

    fn python<'p>(&'p self, function: &'p str, role: &'static str, _: &'p Value<'static>) -> Asked<'p> {
        Box::pin(async move { Err(format!("{function} as {role}")) })
    }
}

fn asker(base: &Path) -> Asker {
    Asker::new(&net(), base, 3, Box::new(Nobody)).unwrap()
}

fn chat(endpoint: Json, question: &str) -> Ask {
    let messages = vec![("user".to_owned(), question.to_owned())];
    Ask::Chat { endpoint: object(endpoint), messages, schema: value(json!({"type": "object"})) }
}

#[test]
fn all_are_asked_and_answers_keep_their_order() {
    let model = openai(vec![Say::Text("```json\n{\"score\": 0.5}\n```")]);
    let grader = Server::start(|_, request| Does::Body(200, json!({"got": request.json()}).to_string()));
    let asks = vec![
        chat(json!({"base_url": model.url("/v1"), "model": "j", "temperature": 0.0}), "q"),
        Ask::Http { config: object(json!({"url": grader.url("/g")})), payload: value(json!({"a": 1})) },
        Ask::Embed { endpoint: object(json!({"base_url": model.url("/v1")})), texts: vec!["a".into(), "bb".into()] },
        Ask::Command { argv: vec!["p".into()], config: Object::new(), payload: Value::Null },
        Ask::Python { function: "f".into(), role: "grader", payload: Value::Null },
    ];
    let answers = asker(Path::new(".")).ask(asks);
    assert_eq!(answers[0], Ok(value(json!({"score": 0.5}))));
    assert_eq!(answers[1], Ok(value(json!({"got": {"a": 1}}))));
    assert_eq!(answers[2], Ok(value(json!([[1.01, 0.01, 0.01], [0.01, 2.01, 0.01]]))));
    assert_eq!(answers[3], Ok(value(json!(["p", null]))));
    assert_eq!(answers[4], Err("f as grader".to_owned()));
    let chat = model.seen().into_iter().find(|request| request.path.ends_with("completions")).unwrap().json();
    assert_eq!(chat["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
}

#[test]
fn a_server_without_schemas_is_asked_in_simpler_words() {
    let refuse = || Say::Fault(Does::Body(400, "unknown response_format".into()));
    let model = openai(vec![refuse(), refuse(), Say::Text("{}")]);
    let endpoint = json!({"base_url": model.url("/v1"), "model": "j"});
    assert_eq!(asker(Path::new(".")).ask(vec![chat(endpoint.clone(), "q")]), [Ok(value(json!({})))]);
    let formats: Vec<Json> =
        model.seen().iter().map(|request| request.json()["response_format"]["type"].clone()).collect();
    assert_eq!(formats, [json!("json_schema"), json!("json_object"), Json::Null]);
    let model =
        openai(vec![Say::Fault(Does::Body(400, "too long".into())), Say::Text("not so"), Say::Fault(Does::Hang)]);
    let endpoint = json!({"base_url": model.url("/v1"), "timeout": 0.2});
    let mut asker = asker(Path::new("."));
    let mut next = || asker.ask(vec![chat(endpoint.clone(), "q")]).remove(0);
    assert_eq!(next().unwrap_err(), "answered with status 400: `too long`");
    assert_eq!(next().unwrap().as_str(), Some("not so"));
    assert_eq!(next().unwrap_err(), "no answer within 0.2 s");
}

#[test]
fn recorded_answers_replay_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let model = openai(vec![Say::Text("{\"n\":1}"), Say::Text("{\"n\":2}")]);
    let mut asker = asker(folder.path());
    let online = json!({"base_url": model.url("/v1"), "model": "j", "record": "judge.jsonl"});
    for expected in [1, 2] {
        assert_eq!(asker.ask(vec![chat(online.clone(), "q")]), [Ok(value(json!({"n": expected})))]);
    }
    drop(model);
    let offline = json!({"base_url": "http://127.0.0.1:1/v1", "model": "j", "replay": "judge.jsonl", "timeout": 1});
    let asks = ["q", "q", "q", "other"].map(|question| chat(offline.clone(), question));
    let answers = asker.ask(asks.into());
    assert_eq!(answers[..3], [1, 2, 2].map(|n| Ok(value(json!({"n": n})))));
    assert_eq!(answers[3], Err("`judge.jsonl` has no answer to this question".to_owned()));
    let gone = chat(json!({"model": "j", "replay": "none.jsonl"}), "q");
    assert!(asker.ask(vec![gone]).remove(0).unwrap_err().starts_with("`none.jsonl` cannot be read"));
}
