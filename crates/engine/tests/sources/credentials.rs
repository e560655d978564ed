//! Connectors and credentials: who may use which, and that no secret is anywhere.

use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::mapping::{Scope, secrets};
use heldset_core::path::Path;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Viewer;
use heldset_engine::source::sync;
use heldset_engine::{connector, credential, principal};
use heldset_store::catalog::Batch;
use heldset_store::documents::{AuditDoc, Document};
use heldset_store::registry::principal_key;
use heldset_testkit::{MadeUpFeeds, Quiet};

use super::{World, code, request};

const SECRET: &str = "canary-secret-4711";

fn world(scope: &str) -> World {
    let world = World::new(MadeUpFeeds::of("a", &[&[r#"{"id":1}"#]]));
    world.add(&format!(r#"{{"connector_instance_id":"api","operation_id":"a","display_name":"A"{scope}}}"#)).unwrap();
    world
}

fn secret() -> Object<'static> {
    [("token".into(), Value::from(SECRET))].into_iter().collect()
}

/// Gives a user a team and an organisation.
fn member(world: &World, user: &str, team: &str, organization: &str) {
    let session = world.session_of(user, Viewer::Owner);
    let mut doc = principal::current(&session).unwrap();
    doc.teams = vec![team.to_owned()];
    doc.organization = Some(organization.to_owned());
    let mut batch = Batch::durable();
    batch.put(principal_key(user), doc.to_bytes().unwrap());
    session.store.commit(&batch).unwrap();
}

#[test]
fn a_credential_is_for_its_scope_only_and_is_checked_at_each_use() {
    for (scope, id) in [(Scope::User, None), (Scope::Team, Some("red")), (Scope::Organization, Some("acme"))] {
        let declared = match id {
            Some(id) => format!(r#","credential_scope_type":"{}","credential_scope_id":"{id}""#, scope.name()),
            None => r#","credential_scope_type":"user","credential_scope_id":"tester""#.to_owned(),
        };
        let world = world("");
        member(&world, "tester", "red", "acme");
        member(&world, "other", "blue", "elsewhere");
        heldset_engine::source::rm(&world.session(), "tickets", "A").unwrap();
        world
            .add(&format!(r#"{{"connector_instance_id":"api","operation_id":"a","display_name":"A"{declared}}}"#))
            .unwrap();
        let (name, words) = code(world.sync());
        assert!(name == "E102" && words.contains("credential set"), "{words}");
        credential::set(&world.session(), "api", (scope, id), &secret()).unwrap();
        world.sync().unwrap();
        assert_eq!(world.feeds.asked.lock().unwrap()[0].2, Some(secret()));
        let other = world.session_of("other", Viewer::Owner);
        let refused = sync(&other, world.reach(), &request(), &mut Quiet::default());
        let (name, words) = code(refused);
        assert!(name == "E074" && !words.contains(SECRET), "{name} {words}");
        let log = other.store.catalog().scan("audit", "").unwrap();
        let denied =
            log.iter().filter_map(|(_, bytes)| AuditDoc::from_bytes(bytes, "log").ok()).filter(|entry| !entry.allowed);
        assert_eq!(denied.count(), 1);
        let bytes = world.bytes();
        assert!(
            !bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()),
            "the secret is at rest in the clear"
        );
        let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(!bytes.windows(hex.len()).any(|window| window == hex.as_bytes()));
        credential::rm(&world.session(), "api", (scope, id)).unwrap();
        assert_eq!(code(world.sync()).0, "E102");
    }
}

#[test]
fn without_a_declared_scope_the_callers_own_credential_is_used() {
    let world = world("");
    world.sync().unwrap();
    assert_eq!(world.feeds.asked.lock().unwrap()[0].2, None);
    credential::set(&world.session(), "api", (Scope::User, None), &secret()).unwrap();
    world.sync().unwrap();
    assert_eq!(world.feeds.asked.lock().unwrap()[1].2, Some(secret()));
    let other = world.session_of("other", Viewer::Owner);
    sync(&other, world.reach(), &request(), &mut Quiet::default()).unwrap();
    assert_eq!(world.feeds.asked.lock().unwrap()[2].2, None);
}

#[test]
fn what_cannot_be_a_credential_is_refused_without_quoting_it() {
    let world = world("");
    let session = world.session();
    for text in ["{}", r#"{"token":7}"#, r#"{"token":""}"#, r#"{"token":{"a":"canary"}}"#] {
        let value = json::read(text).unwrap().into_owned();
        let (name, words) = code(credential::set(&session, "api", (Scope::User, None), value.as_object().unwrap()));
        assert!(name == "E105" && !words.contains("canary"), "{words}");
    }
    assert_eq!(code(credential::set(&session, "nowhere", (Scope::User, None), &secret())).0, "E102");
    assert_eq!(code(credential::set(&session, "api", (Scope::Team, None), &secret())).0, "E105");
    assert_eq!(code(credential::set(&session, "api", (Scope::User, Some("nobody")), &secret())).0, "E102");
    assert_eq!(code(credential::rm(&session, "api", (Scope::User, None))).0, "E102");
}

#[test]
fn a_connector_holds_no_secret_and_stays_while_it_is_used() {
    let world = world("");
    let session = world.session();
    for config in [
        r#"{"api_key":"canary"}"#,
        r#"{"headers":{"Authorization":"Bearer canary"}}"#,
        r#"{"url":"https://me:canary@example.org/"}"#,
        r#"{"url":"https://example.org/?token=canary"}"#,
        r#"{"password":"canary"}"#,
        r#"{"token":"canary"}"#,
    ] {
        let config = json::read(config).unwrap().into_owned();
        let (name, words) = code(connector::add(&session, "other", "http", config.as_object().unwrap()));
        assert!(name == "E057" && !words.contains("canary"), "{words}");
    }
    assert_eq!(code(connector::add(&session, "other", "htp", &Object::new())).0, "E067");
    assert_eq!(code(connector::add(&session, "api", "http", &Object::new())).0, "E116");
    assert_eq!(code(connector::add(&session, " ", "http", &Object::new())).0, "E067");
    let (name, words) = code(connector::rm(&session, "api"));
    assert!(name == "E103" && words.contains("source `A` of `tickets`"), "{words}");
    heldset_engine::source::rm(&session, "tickets", "A").unwrap();
    credential::set(&session, "api", (Scope::User, None), &secret()).unwrap();
    connector::rm(&session, "api").unwrap();
    assert!(session.store.catalog().scan("credential", "").unwrap().is_empty());
    assert!(connector::ls(&session).unwrap().is_empty());
}

#[test]
fn a_declaration_that_cannot_work_is_not_kept() {
    let world = world("");
    for (declared, name) in [
        (r#"{"connector_instance_id":"nowhere"}"#, "E102"),
        (r#"{"connector_instance_id":"api","display_name":"A"}"#, "E116"),
        (r#"{"connector_instance_id":"api","display_name":"B","operation_config":{"bad":1}}"#, "E067"),
        (r#"{"connector_instance_id":"api","display_name":"B","split":"a/b"}"#, "E105"),
        (r#"{"connector_instance_id":"api","display_name":"B","field_mappings":{"a":"x","b":"x"}}"#, "E068"),
    ] {
        assert_eq!(code(world.add(declared)).0, name, "{declared}");
    }
    assert_eq!(heldset_engine::source::ls(&world.session(), "tickets").unwrap().len(), 1);
}

fn found(config: &str) -> usize {
    let config = json::read(config).unwrap().into_owned();
    let mut problems = Vec::new();
    secrets(config.as_object().unwrap(), &Path::key("config"), &mut problems);
    assert!(problems.iter().all(|problem| problem.code == Code::E057 && !problem.message.contains("canary")));
    problems.len()
}

#[test]
fn a_secret_is_known_by_its_name_wherever_it_is() {
    for name in "secret secret_access_key access_key service_account_key private_key password passwd pwd token \
                 access_token accessToken apikey api_key api-key bearer pat cookie Set-Cookie authorization \
                 Proxy-Authorization credential credentials X-Access-Key X-Auth X-Auth-User session client_secret \
                 OPENAI_API_KEY Private-Token"
        .split_whitespace()
    {
        for config in [
            format!(r#"{{"{name}":"canary"}}"#),
            format!(r#"{{"a":[{{"headers":{{"{name}":"Bearer canary"}}}}]}}"#),
            format!(r#"{{"path":"/x?a=1&{name}=canary"}}"#),
            format!(r#"{{"url":"https://h/x?{name}=canary#top"}}"#),
            format!(r#"{{"{name}":{{"value":"canary"}}}}"#),
            format!(r#"{{"{name}":4711}}"#),
        ] {
            assert_eq!(found(&config), 1, "{config}");
        }
    }
    for url in ["https://me:canary@h/", "https://canary@h/", "postgres://me:canary@h/db", "//me:canary@h/"] {
        assert_eq!(found(&format!(r#"{{"list":["{url}"]}}"#)), 1, "{url}");
    }
}

#[test]
fn what_is_no_secret_is_let_through() {
    for config in [
        r#"{"auth":{"kind":"header","name":"X-Api-Key","from":"token","prefix":"Bearer"}}"#,
        r#"{"url":"postgres://me@h/db?sslmode=require","path":"/x?page=1&tokens=3"}"#,
        r#"{"url":"ssh://git@h/x.git","key":["id"],"max_tokens":5,"pagination":{"cursor":"next.token","param":"token"}}"#,
        r#"{"query":"select * from t where a = ? and token='x' -- // me:x@h"}"#,
        r#"{"token":"${TOKEN}","headers":{"Authorization":"Bearer ${TOKEN}"},"password":null}"#,
        r#"{"password":{"from":"password"},"path":"/a?token=${TOKEN}","note":"see the token"}"#,
    ] {
        assert_eq!(found(config), 0, "{config}");
    }
}
