//! Registering a schema.
//!
//! *Invariant:* whether a change breaks anybody is computed, never believed: a claim may only be more careful.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::registry::Status;
use heldset_core::schema::{Change, ChangeKind, Registration, Schema, change};
use heldset_core::value::Value;
use heldset_core::visibility::{Label, Policy};
use heldset_grade::Conform;
use heldset_store::catalog::Batch;
use heldset_store::documents::{Document, dataset_key};
use heldset_store::registry::{SchemaDoc, schema_key};

use super::{Eyes, newest, schema_of};
use crate::log;
use crate::refusal::{BUILT_IN, Outcome, Refusal};
use crate::resolve;
use crate::session::Session;
use crate::status::{self, Gained};

/// What is registered.
pub struct RegisterRequest<'r> {
    /// The dataset.
    pub slug: &'r str,
    /// What was handed in.
    pub value: &'r Value<'r>,
    /// What the change is claimed to be, instead of what is claimed there.
    pub claim: Option<ChangeKind>,
    /// What is said of it, instead of what is said there.
    pub summary: Option<String>,
}

/// A schema that was registered.
pub struct Registered {
    /// The dataset.
    pub slug: String,
    /// What is kept of it.
    pub doc: SchemaDoc,
    /// What changed, as far as the caller sees it.
    pub change: Change,
    /// Whether the dataset was published, and is active again.
    pub reopened: bool,
}

/// Registers a schema. What is wrong with it is told by all its problems.
pub fn register(session: &Session, request: &RegisterRequest<'_>) -> Outcome<Result<Registered, Vec<Problem>>> {
    session.must_manage("schema register")?;
    let _held = session.store.hold()?;
    let dataset = resolve::dataset(&session.store, &slug_of(request.slug)?)?;
    let policy = match dataset.head {
        0 => None,
        head => Some(resolve::policy_of(&resolve::version(&session.store, &dataset, head)?)?),
    };
    if let Some(policy) = &policy {
        session.must_see_all(policy)?;
    }
    let registration = match Registration::read(request.value) {
        Ok(registration) => registration,
        Err(problems) => return Ok(Err(problems)),
    };
    if let Err(problem) = Conform::to(&registration.schema) {
        return Ok(Err(vec![problem]));
    }
    let unknown = unknown_labels(&registration.schema, policy.as_ref());
    if !unknown.is_empty() {
        return Ok(Err(unknown));
    }
    let claim = request.claim.or(registration.claim);
    let summary = request.summary.clone().or(registration.summary);
    write(session, &dataset.slug, &registration.schema, claim, summary).map(Ok)
}

fn slug_of(text: &str) -> Outcome<String> {
    let cite = resolve::parse(text)?;
    if cite.at != heldset_core::cite::At::Head {
        let message = format!("`{text}` names a version, and a schema belongs to the dataset");
        return Err(Refusal::usage(Code::E105, message, format!("write `{}`", cite.slug)));
    }
    Ok(cite.slug)
}

fn write(
    session: &Session,
    slug: &str,
    schema: &Schema,
    claim: Option<ChangeKind>,
    summary: Option<String>,
) -> Outcome<Registered> {
    let text = String::from_utf8_lossy(&canonical::bytes(&schema.to_value())).into_owned();
    let mut done = None;
    log::commit(session, || {
        let dataset = resolve::dataset(&session.store, slug)?;
        let before = newest(session, &dataset.id)?;
        let change = match &before {
            Some(before) => change(&schema_of(&before.schema)?, schema),
            None => Change { kind: ChangeKind::NonBreaking, fields: Vec::new() },
        };
        let eyes = Eyes::of(session, &dataset, schema)?;
        let told = match &before {
            Some(before) => heldset_core::schema::change(&eyes.only(&schema_of(&before.schema)?), &eyes.only(schema)),
            None => change.clone(),
        };
        check_claim(&told, claim)?;
        let doc = SchemaDoc {
            number: before.map_or(0, |before| before.number) + 1,
            schema: text.clone(),
            change_type: claim.unwrap_or(change.kind).max(change.kind).name().to_owned(),
            change_summary: summary.clone(),
            created_at: session.clock.now(),
            created_by: session.user.clone(),
        };
        let key = schema_key(&dataset.id, doc.number);
        let mut batch = Batch { durable: true, ..Batch::default() };
        batch.expect.push((key.clone(), None));
        batch.put.push((key, doc.to_bytes()?));
        let known = resolve::dataset(&session.store, slug)?;
        let renewed = status::gained(session, known.clone(), Gained::Schema)?;
        let reopened = status::of(&known) == Status::Published;
        if renewed != known {
            let key = dataset_key(&known.slug);
            batch.expect.push((key.clone(), Some(known.to_bytes()?)));
            batch.put.push((key, renewed.to_bytes()?));
        }
        let note = format!("schema {} is {}", doc.number, doc.change_type);
        let entry = log::upkeep_entry(session, "schema register", slug, note);
        done = Some(Registered { slug: slug.to_owned(), doc, change: told, reopened });
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
    })?;
    Ok(done.expect("what was committed was made before"))
}

/// Refuses the claim that a change breaks nobody when it does.
fn check_claim(change: &Change, claim: Option<ChangeKind>) -> Outcome<()> {
    if claim != Some(ChangeKind::NonBreaking) || change.kind == ChangeKind::NonBreaking {
        return Ok(());
    }
    let told = |change: &heldset_core::schema::FieldChange| match change.field.as_str() {
        "" => format!("the schema ({}: {})", change.what, change.detail),
        field => format!("`{field}` ({}: {})", change.what, change.detail),
    };
    let fields: Vec<String> = change.breaking().map(told).collect();
    Err(Refusal::usage(
        Code::E061,
        format!("the change is claimed to be non_breaking, and it breaks {}", fields.join("; ")),
        "claim `breaking`, or leave the claim out: it is computed",
    ))
}

/// Labels that are neither built in nor defined by the policy.
fn unknown_labels(schema: &Schema, policy: Option<&Policy>) -> Vec<Problem> {
    let known = |label: &str| match policy {
        Some(policy) => policy.label(label).is_some(),
        None => Label::built_in(label).is_some(),
    };
    let names: Vec<String> = match policy {
        Some(policy) => policy.labels().map(|label| label.name().to_owned()).collect(),
        None => BUILT_IN.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut problems = Vec::new();
    for (index, field) in schema.fields().iter().enumerate() {
        let Some(label) = field.visibility.as_deref().filter(|label| !known(label)) else { continue };
        let path = match schema.given() {
            Some(_) => Path::key("properties").then_key(&field.name).then_key("x-visibility"),
            None => Path::key("fields").then_index(index).then_key("visibility"),
        };
        let near = heldset_core::fault::nearest(label, names.iter().map(String::as_str));
        let help = near
            .map_or_else(|| format!("use one of `{}`", names.join("`, `")), |near| format!("did you mean `{near}`?"));
        problems.push(
            Problem::new(Code::E037, path, format!("`{}` has the unknown label `{label}`", field.name)).help(help),
        );
    }
    problems
}
