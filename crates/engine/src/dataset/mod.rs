//! `dataset`: what is said of a dataset: validated, created, shown, listed, updated, moved through its life, reviewed.
//!
//! *Invariant:* nothing is written that breaks a rule of `core::registry`; what was changed meanwhile by somebody else is
//! never overwritten unseen. Versions are made elsewhere.

mod describe;
mod lifecycle;
mod list;
mod review;

use heldset_core::cite::At;
use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_core::profile::Profile;
use heldset_core::registry::{Deletion, Level, Purpose, Status, read};
use heldset_core::value::{Object, Value};
use heldset_store::catalog::Batch;
use heldset_store::documents::{DatasetDoc, Document, dataset_key};
use heldset_store::{DatasetKeys, StoreError};

use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, versions};
use crate::session::Session;
use crate::status::{self, text_of};
use crate::{log, principal, store_rules};

pub use describe::{Described, describe};
pub use lifecycle::{MoveRequest, Proving, change_status};
pub use list::{Wanted, list};
pub use review::{Reviewed, review};

/// What rules of fields a request breaks; all of them.
pub type Faulty = Vec<Problem>;

/// A change of some fields.
pub struct UpdateRequest<'u> {
    /// The dataset.
    pub slug: &'u str,
    /// The fields and their new values; `null` takes an optional one away.
    pub fields: &'u Value<'u>,
    /// What the dataset must still be, if it is said.
    pub if_match: Option<&'u str>,
}

/// Tells everything that is wrong with the fields of a dataset to be; with a store, also whether it could be made there.
/// Writes nothing.
pub fn validate(session: Option<&Session>, fields: &Value<'_>, purpose: Purpose) -> Outcome<Faulty> {
    let mut problems = read(fields, purpose).err().unwrap_or_default();
    let (Some(session), Some(given), Purpose::Create) = (session, fields.as_object(), purpose) else {
        return Ok(problems);
    };
    for (field, refused) in refusals(session, given) {
        if problems.iter().all(|problem| problem.path.to_string() != field) {
            problems.push(Problem::new(refused.code, Path::root().then_key(field), refused.message).help(refused.help));
        }
    }
    Ok(problems)
}

/// Makes a dataset without a version.
pub fn create(session: &Session, fields: &Value<'_>) -> Outcome<Result<Described, Faulty>> {
    session.must_manage("dataset create")?;
    let given = match read(fields, Purpose::Create) {
        Ok(given) => given,
        Err(problems) => return Ok(Err(problems)),
    };
    if let Some((_, refused)) = refusals(session, &given).into_iter().next() {
        return Err(refused);
    }
    let keys = DatasetKeys::generate(session.store.entropy());
    let mut dataset = new(session, &keys);
    dataset.slug = text(&given, "slug").unwrap_or_default();
    apply(&mut dataset, &given);
    if !given.contains("owner_id") {
        let owner = principal::current(session)?.id;
        status::set(&mut dataset, "owner_id", Some(Value::from(owner)));
    }
    session.store.keys().save(&dataset.id, &keys)?;
    let written = log::commit(session, || {
        let key = dataset_key(&dataset.slug);
        let mut batch = Batch::durable();
        batch.expect(key.clone(), None);
        batch.put(key.clone(), dataset.to_bytes()?);
        // A name that somebody else took meanwhile never becomes free by trying again.
        if session.store.catalog().get(&key)?.is_some() {
            return Err(taken(&dataset.slug));
        }
        let entry = log::upkeep_entry(session, "dataset create", &dataset.slug, "it has no version yet".to_owned());
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &entry, batch)?)
    });
    if let Err(refused) = written {
        session.store.keys().forget(&dataset.id)?;
        return Err(refused);
    }
    describe(session, &dataset).map(Ok)
}

/// The dataset with that slug, or that id.
pub fn get(session: &Session, name: &str) -> Outcome<Described> {
    describe(session, &find(session, name)?)
}

/// Changes some fields.
pub fn update(
    session: &Session,
    request: &UpdateRequest<'_>,
    proving: &mut Proving<'_>,
) -> Outcome<Result<Described, Faulty>> {
    session.must_manage("dataset update")?;
    let given = match read(request.fields, Purpose::Update) {
        Ok(given) => given,
        Err(problems) => return Ok(Err(problems)),
    };
    let slug = find(session, request.slug)?.slug;
    if let Some(other) = text(&given, "slug").filter(|other| *other != slug) {
        let message = format!("the slug of `{slug}` cannot become `{other}`: citations and digests name it");
        let problem = Problem::new(Code::E046, Path::root().then_key("slug"), message);
        return Ok(Err(vec![problem.help("create a dataset with the other slug, and import into it")]));
    }
    write(session, &slug, request.if_match, "dataset update", |dataset| {
        check_fields(session, dataset, &given)?;
        let status = text(&given, "status").and_then(|name| Status::parse(&name));
        let level = match given.get("certification_level") {
            Some(Value::Null) => Some(Level::None),
            _ => text(&given, "certification_level").and_then(|name| Level::parse(&name)),
        };
        let mut changed = dataset.clone();
        apply(&mut changed, &given);
        lifecycle::moved(session, changed, (status, level), proving)
    })
    .map(Ok)
}

/// Changes a dataset as a function says, unless it is not what it must still be; the change is logged.
fn write(
    session: &Session,
    slug: &str,
    if_match: Option<&str>,
    purpose: &str,
    mut change: impl FnMut(&DatasetDoc) -> Outcome<DatasetDoc>,
) -> Outcome<Described> {
    let mut written = None;
    log::commit(session, || {
        let dataset = resolve::dataset(&session.store, slug)?;
        check_fresh(&dataset, if_match)?;
        let changed = change(&dataset)?;
        let same = changed == dataset;
        let mut batch = Batch::durable();
        batch.expect(dataset_key(slug), Some(dataset.to_bytes()?));
        batch.put(dataset_key(slug), changed.to_bytes()?);
        let note = note_of(&dataset, &changed);
        written = Some(changed);
        if same {
            return Ok(Batch::default());
        }
        Ok::<_, Box<Refusal>>(log::logged(&session.store, &log::upkeep_entry(session, purpose, slug, note), batch)?)
    })?;
    let written = written.ok_or_else(|| StoreError::internal("nothing was changed"))?;
    describe(session, &written)
}

/// What changed, in the words of the log.
fn note_of(before: &DatasetDoc, after: &DatasetDoc) -> String {
    let (was, is) = (describe::stated(before), describe::stated(after));
    let changed: Vec<&str> =
        is.iter().filter(|(name, value)| was.get(name) != Some(value)).map(|(name, _)| name).collect();
    let mut note = format!("changed: {}", changed.join(", "));
    if status::of(before) != status::of(after) {
        note.push_str(&format!("; {} → {}", status::of(before).name(), status::of(after).name()));
    }
    note
}

/// The dataset with that slug, or that id.
fn find(session: &Session, name: &str) -> Outcome<DatasetDoc> {
    if let Some(found) = resolve::datasets(&session.store)?.into_iter().find(|dataset| dataset.id == name) {
        return Ok(found);
    }
    let cite = resolve::parse(name)?;
    if cite.at != At::Head {
        let message = format!("`{name}` is a version, and this is about the whole dataset");
        return Err(Refusal::usage(Code::E105, message, format!("write `{}`", cite.slug)));
    }
    resolve::dataset(&session.store, &cite.slug)
}

/// Refuses to change what is not what the caller has seen.
fn check_fresh(dataset: &DatasetDoc, if_match: Option<&str>) -> Outcome<()> {
    let Some(expected) = if_match.map(|tag| tag.trim_start_matches("W/").trim_matches('"')) else { return Ok(()) };
    let etag = describe::etag(dataset);
    if expected == "*" || expected == etag {
        return Ok(());
    }
    let message = format!("dataset `{}` is not what it was: its etag is `{etag}`, not `{expected}`", dataset.slug);
    let help = format!("look at it again with `heldset dataset show {}`, and repeat the change", dataset.slug);
    Err(Refusal::usage(Code::E078, message, help))
}

/// What keeps a dataset with these fields from being made here, by field.
fn refusals(session: &Session, given: &Object<'_>) -> Vec<(&'static str, Box<Refusal>)> {
    let of = |name: &'static str, check: &dyn Fn(&str) -> Outcome<()>| {
        let found = given.get(name).and_then(Value::as_str).and_then(|text| check(text).err());
        found.map(|refused| (name, refused))
    };
    let slug = of("slug", &|slug| match resolve::find_dataset(&session.store, slug)? {
        Some(_) => Err(taken(slug)),
        None => Ok(()),
    });
    let residency = of("data_residency", &|residency| store_rules::check_region(&session.store, residency));
    let [status, level] = lifecycle::refused_at_birth(given);
    let deletion = of("deletion_status", &|name| check_deletion(Deletion::None, name, false));
    [slug, residency, status, level, deletion].into_iter().flatten().collect()
}

/// What keeps fields of a dataset from being changed here.
fn check_fields(session: &Session, dataset: &DatasetDoc, given: &Object<'_>) -> Outcome<()> {
    if let Some(residency) = text(given, "data_residency") {
        store_rules::check_region(&session.store, &residency)?;
    }
    text(given, "deletion_status").map_or(Ok(()), |name| check_deletion_of(session, dataset, &name))
}

/// What keeps the deletion of a dataset from being said to be so far.
pub(crate) fn check_deletion_of(session: &Session, dataset: &DatasetDoc, to: &str) -> Outcome<()> {
    let before = Deletion::parse(&dataset.deletion_status).unwrap_or(Deletion::Partial);
    check_deletion(before, to, versions(&session.store, dataset)?.is_empty())
}

fn check_deletion(before: Deletion, to: &str, empty: bool) -> Outcome<()> {
    let Some(to) = Deletion::parse(to) else { return Ok(()) };
    if !before.may_become(to) {
        let message = format!("a deletion that is `{}` cannot become `{}`", before.name(), to.name());
        let allowed: Vec<String> = before.moves().iter().map(|to| format!("`{}`", to.name())).collect();
        let help = match allowed.as_slice() {
            [] => "nothing follows it".to_owned(),
            allowed => format!("from `{}` it can become {}", before.name(), allowed.join(" or ")),
        };
        return Err(Refusal::usage(Code::E047, message, help));
    }
    if to == Deletion::Erased && before != to && !empty {
        let message = "it is not erased: versions of it are still here";
        let help = "set `retention` and run `heldset gc`, or take records out with `heldset erase`";
        return Err(Refusal::invalid(Code::E048, message, help));
    }
    Ok(())
}

fn taken(slug: &str) -> Box<Refusal> {
    let help = format!("choose another slug, or change it with `heldset dataset update {slug}`");
    Refusal::usage(Code::E116, format!("there is a dataset `{slug}` already"), help)
}

fn new(session: &Session, keys: &DatasetKeys) -> DatasetDoc {
    let id = session.new_id();
    DatasetDoc {
        key_check: Some(keys.check(&id)),
        id,
        slug: String::new(),
        name: String::new(),
        description: None,
        created_at: session.clock.now(),
        profile: Profile::Plain.name().to_owned(),
        head: 0,
        license: None,
        tags: Vec::new(),
        source: None,
        retention: None,
        deletion_status: Deletion::None.name().to_owned(),
        canaries: Default::default(),
        more: None,
    }
}

/// Puts fields where the document has them; `null` takes one away. Slug, status and certification are not set so.
pub(crate) fn apply(dataset: &mut DatasetDoc, given: &Object<'static>) {
    for name in heldset_core::registry::NAMES {
        let Some(value) = given.get(name) else { continue };
        let as_text = || value.as_str().map(str::to_owned);
        match name {
            "slug" | "status" | "certification_level" => {}
            "name" => dataset.name = as_text().unwrap_or_default(),
            "description" => dataset.description = as_text(),
            "license" => dataset.license = as_text(),
            "deletion_status" => dataset.deletion_status = as_text().unwrap_or_default(),
            "tags" => dataset.tags = texts(value),
            "retention" => dataset.retention = value.as_object().cloned().map(text_of),
            _ => status::set(dataset, name, Some(value.clone()).filter(|value| !value.is_null())),
        }
    }
}

fn text(given: &Object<'_>, name: &str) -> Option<String> {
    given.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn texts(value: &Value<'_>) -> Vec<String> {
    value.as_array().unwrap_or_default().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
