//! The rules of the registry: fields, lifecycle, certification, deletion, residency, requirements.

use heldset_core::code::Code;
use heldset_core::json;
use heldset_core::registry::{Declared, Deletion, Facts, Level, Purpose, Requirement, Status, read, resides};

fn problems(text: &str, purpose: Purpose) -> Vec<String> {
    let problems = read(&json::read(text).unwrap(), purpose).err().unwrap_or_default();
    assert!(problems.iter().all(|problem| problem.code == Code::E046));
    let shown = |problem: heldset_core::fault::Problem| {
        let help = problem.help.map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}: {}{help}", problem.path, problem.message)
    };
    problems.into_iter().map(shown).collect()
}

#[test]
fn every_field_has_its_rule() {
    let long = |count: usize| "é".repeat(count);
    for (field, value, fine) in [
        ("name", format!("\"{}\"", long(2)), false),
        ("name", format!("\"{}\"", long(3)), true),
        ("name", format!("\"{}\"", long(200)), true),
        ("name", format!("\"{}\"", long(201)), false),
        ("slug", "\"ab\"".to_owned(), false),
        ("slug", "\"abc-1\"".to_owned(), true),
        ("slug", "\"Abc\"".to_owned(), false),
        ("slug", format!("\"{}\"", "a".repeat(100)), true),
        ("slug", format!("\"{}\"", "a".repeat(101)), false),
        ("description", "\"\"".to_owned(), true),
        ("description", "7".to_owned(), false),
        ("external_id", format!("\"{}\"", long(500)), true),
        ("external_id", format!("\"{}\"", long(501)), false),
        ("team", format!("\"{}\"", long(200)), true),
        ("team", format!("\"{}\"", long(201)), false),
        ("data_residency", format!("\"{}\"", long(50)), true),
        ("data_residency", format!("\"{}\"", long(51)), false),
        ("owner_id", "\"9b2f2f3e-0b1c-4d5e-8f90-a1b2c3d4e5f6\"".to_owned(), true),
        ("owner_id", "\"me\"".to_owned(), false),
        ("owner_id", "\"9b2f2f3e0b1c4d5e8f90a1b2c3d4e5f6\"".to_owned(), false),
        ("status", "\"draft\"".to_owned(), true),
        ("status", "\"retired\"".to_owned(), false),
        ("certification_level", "\"gold\"".to_owned(), true),
        ("certification_level", "\"platinum\"".to_owned(), false),
        ("tags", "[\"a\"]".to_owned(), true),
        ("tags", "[]".to_owned(), true),
        ("tags", "\"a\"".to_owned(), false),
        ("tags", "[1]".to_owned(), false),
        ("categories", "[\"\"]".to_owned(), false),
        ("policy_tags", "[\"pii\"]".to_owned(), true),
        ("retention", "{\"until\":\"2028-01-01\",\"retain_days\":3}".to_owned(), true),
        ("retention", "{\"until\":\"2028-01-01T00:00:00+02:00\"}".to_owned(), true),
        ("retention", "{\"until\":\"2028-02-30\"}".to_owned(), false),
        ("retention", "{\"until\":\"soon\"}".to_owned(), false),
        ("retention", "{\"retain_days\":-1}".to_owned(), false),
        ("retention", "{\"days\":1}".to_owned(), false),
        ("deletion_status", "\"requested\"".to_owned(), true),
        ("deletion_status", "\"gone\"".to_owned(), false),
        ("consent", "{\"by\":\"form\"}".to_owned(), true),
        ("quality_score", "1".to_owned(), false),
        ("nme", "\"x\"".to_owned(), false),
    ] {
        let mut given = vec![("name", "\"Some set\"".to_owned()), ("slug", "\"some-set\"".to_owned())];
        given.retain(|(name, _)| *name != field);
        given.push((field, value.clone()));
        let members: Vec<String> = given.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let found = problems(&format!("{{{}}}", members.join(",")), Purpose::Create);
        assert_eq!(found.is_empty(), fine, "{field} {value}: {found:?}");
        assert!(found.iter().all(|problem| problem.starts_with(field)), "{found:?}");
    }
}

#[test]
fn everything_wrong_is_told_at_once_with_its_field() {
    insta::assert_snapshot!(problems(r#"{"slug":"S","desciption":"x","tags":"a","owner_id":3,"record_count":4,"team":"",
        "retention":{"until":"later"}}"#, Purpose::Create).join("\n"), @r"
    desciption: `desciption` is not known here (did you mean `description`?)
    record_count: `record_count` is computed, and a new dataset has nothing to count (give it in an update, with `heldset dataset update`)
    name: `name` is missing
    slug: slug `S` has other characters than lowercase letters, digits and hyphens
    tags: `tags` is a list of texts, not text (put it in a list)
    owner_id: `owner_id` is a UUID, not a number (put it in quotes)
    team: `team` is text of at most 200 characters, not empty
    retention.until: `until` is a day such as `2028-01-01` or a time such as `2028-01-01T00:00:00Z`, not `later`
    ");
    insta::assert_snapshot!(problems(r#"{"name":null,"status":null,"record_count":-1,"quality_score":"high","tags":null}"#,
        Purpose::Update).join("\n"), @r"
    name: `name` is text, not null
    status: `status` is one of `draft`, `active`, `published`, `deprecated`, `archived`, not null
    quality_score: `quality_score` is a number, not `high`
    record_count: `record_count` is a whole number, not `-1`
    ");
    assert_eq!(problems("[]", Purpose::Create), [": a dataset is described by a mapping of fields, not a list"]);
    let fields = read(&json::read(r#"{"team":null,"quality_score":0.5}"#).unwrap(), Purpose::Update).unwrap();
    assert!(fields.get("team").is_some_and(heldset_core::value::Value::is_null) && fields.len() == 2);
    let made = r#"{"name":"Some set","slug":"some-set","description":null}"#;
    assert_eq!(read(&json::read(made).unwrap(), Purpose::Create).unwrap().len(), 2);
}

#[test]
fn the_lifecycle_has_six_moves_and_no_other() {
    use Status::{Active, Archived, Deprecated, Draft, Published};
    let allowed = [
        (Draft, Active),
        (Active, Published),
        (Active, Archived),
        (Published, Active),
        (Published, Deprecated),
        (Deprecated, Archived),
    ];
    for from in Status::ALL {
        for to in Status::ALL {
            let fine = from == to || allowed.contains(&(from, to));
            assert_eq!(from.may_become(to).is_ok(), fine, "{from:?} {to:?}");
        }
        assert_eq!(Status::parse(from.name()), Some(from));
    }
    let refused = Active.may_become(Draft).unwrap_err();
    assert_eq!(refused.to_string(), "a dataset that is `active` cannot become `draft`");
    assert_eq!(refused.allowed(), "from `active` it can become `published` or `archived`");
    assert!(Archived.may_become(Active).unwrap_err().allowed().contains("nothing follows"));
    let renewed: Vec<Status> = Status::ALL.into_iter().map(Status::renewed).collect();
    assert_eq!(renewed, [Active, Active, Active, Deprecated, Archived]);
}

#[test]
fn each_level_asks_for_more() {
    let what = |level: Level, facts: &Facts| {
        level.unmet(facts, "trips").into_iter().map(|unmet| unmet.what).collect::<Vec<_>>()
    };
    let nothing = Facts::default();
    assert!(what(Level::None, &nothing).is_empty());
    assert_eq!(what(Level::Bronze, &nothing), ["a schema", "labels", "a license"]);
    assert_eq!(what(Level::Silver, &nothing)[3..], ["provenance", "a passing verify"]);
    assert_eq!(what(Level::Gold, &nothing)[5..], ["a review by two principals"]);
    let leaked = Facts { findings: 2, reviews: 2, ..nothing.clone() };
    assert_eq!(what(Level::Gold, &leaked)[5..], ["a clean scan"]);
    let bronze = Facts { schema: true, version: true, license: true, ..nothing.clone() };
    assert!(what(Level::Bronze, &bronze).is_empty());
    // A published dataset says where it comes from and verifies, whatever its level.
    let lacking: Vec<_> =
        bronze.unmet_for_published(Level::Bronze, "trips").into_iter().map(|unmet| unmet.what).collect();
    assert_eq!(lacking, ["provenance", "a passing verify"]);
    let failed = Facts { provenance: true, verified: Some(false), ..bronze.clone() };
    assert_eq!(failed.unmet_for_published(Level::Bronze, "trips").len(), 1);
    let fine = Facts { verified: Some(true), ..failed };
    assert!(fine.unmet_for_published(Level::Silver, "trips").is_empty());
    assert_eq!(fine.unmet_for_published(Level::Gold, "trips").len(), 1);
    let draft =
        |schema, source, version| Facts { schema, source, version, ..nothing.clone() }.unmet_for_active("trips").len();
    assert_eq!(
        [draft(false, false, false), draft(true, false, false), draft(true, true, false), draft(true, false, true)],
        [2, 1, 0, 0]
    );
}

#[test]
fn deletion_goes_one_way() {
    use Deletion::{Erased, None, Partial, Requested};
    let allowed = [(None, Requested), (Requested, None), (Requested, Partial), (Requested, Erased), (Partial, Erased)];
    for from in [None, Requested, Partial, Erased] {
        for to in [None, Requested, Partial, Erased] {
            assert_eq!(from.may_become(to), from == to || allowed.contains(&(from, to)), "{from:?} {to:?}");
        }
    }
}

#[test]
fn a_part_of_a_region_is_in_the_region() {
    for (residency, region, fine) in [
        ("eu", Some("eu"), true),
        ("EU", Some("eu-west-1"), true),
        ("eu", Some("europe"), false),
        ("eu-west-1", Some("eu"), false),
        ("us", Some("eu"), false),
        ("us", None, true),
    ] {
        assert_eq!(resides(residency, region), fine, "{residency} {region:?}");
    }
}

#[test]
fn a_store_asks_for_what_it_names() {
    let lacking = Declared {
        without_digest: vec!["a.bin".into()],
        without_pin: vec!["a.bin".into(), "b.jsonl".into()],
        license: false,
        provenance: false,
        without_label: vec!["papers".into()],
    };
    for name in Requirement::NAMES {
        let one = Requirement::parse(name).unwrap();
        assert_eq!(one.unmet(&lacking).unwrap().what, *name);
        let whole = Declared { license: true, provenance: true, ..Declared::default() };
        assert_eq!(one.unmet(&whole), None);
    }
    assert!(Requirement::Manifest.unmet(&lacking).unwrap().help.contains("`a.bin`, `b.jsonl`"));
    assert_eq!(Requirement::DEFAULT.map(Requirement::name), ["visibility", "checksum"]);
}
