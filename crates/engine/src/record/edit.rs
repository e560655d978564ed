//! Changing single records: each change is a new version.
//!
//! *Invariant:* an id never changes. Nobody changes what they may not see, so that no answer here says what it holds.

use heldset_core::case;
use heldset_core::code::Code;
use heldset_core::profile::Profile;
use heldset_core::record::{Record, name_problem};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{SplitLabels, upkeep};
use heldset_store::StoreError;

use crate::commit::Committed;
use crate::import::{About, Target, change_staged, check_answers};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, Resolved, policy_of};
use crate::rows::{Reading, SplitRows};
use crate::session::Session;
use crate::view::{Batch, VisibleSplit, visible_splits};

/// What changes in a record.
pub struct EditRequest<'e> {
    /// The dataset.
    pub slug: &'e str,
    /// The record.
    pub id: &'e str,
    /// Its split; the first that has it when absent.
    pub split: Option<&'e str>,
    /// Fields that get a value.
    pub set: &'e [(String, Value<'static>)],
    /// Fields that are taken out.
    pub unset: &'e [String],
    /// What is said of the version.
    pub message: Option<&'e str>,
}

/// Which records are taken out.
pub struct RemoveRequest<'e> {
    /// The dataset.
    pub slug: &'e str,
    /// The records, all of one split.
    pub ids: &'e [String],
    /// Their split; the first that has the first of them when absent.
    pub split: Option<&'e str>,
    /// What is said of the version.
    pub message: Option<&'e str>,
}

/// Registers a version with one record changed.
pub fn edit(session: &Session, request: &EditRequest<'_>) -> Outcome<Committed> {
    session.must_manage("record edit")?;
    let names = || request.set.iter().map(|(name, _)| name).chain(request.unset);
    names().try_for_each(|name| check_field(name))?;
    let split = split_with(session, request.slug, request.split, request.id)?;
    request.set.iter().try_for_each(|(name, _)| check_seen(session, &split.labels, name))?;
    change_staged(session, request.slug, &split.doc.name, &about(request.message), |target, staging| {
        let known = stored(session, target, staging.labels, &split.doc.name, request.id)?;
        let mut record = known.ok_or_else(|| unknown(&split.doc.name, request.id))?;
        let is_case = staging.profile == Profile::Case && record.fields.contains("input");
        let seen = |name: &str| session.viewer.sees(staging.labels.of(name));
        apply(&mut record, request, &seen)?;
        if is_case || staging.profile == Profile::Case && record.fields.contains("input") {
            check_shape(&record, &seen)?;
        }
        if staging.profile == Profile::Plain {
            check_answers(record.fields.iter().map(|(name, _)| name), request.id, staging.policy)?;
        }
        if let Some(schema) = staging.schema {
            schema.refuse(&record, &seen)?;
        }
        Ok((vec![staging.stager().stage(&record)], Vec::new()))
    })
}

/// Registers a version without some records.
pub fn remove(session: &Session, request: &RemoveRequest<'_>) -> Outcome<Committed> {
    session.must_manage("record rm")?;
    let first = request.ids.first().map_or("", String::as_str);
    let split = split_with(session, request.slug, request.split, first)?;
    let ids = request.ids.to_vec();
    change_staged(session, request.slug, &split.doc.name, &about(request.message), |_, _| Ok((Vec::new(), ids.clone())))
}

fn about(message: Option<&str>) -> About {
    About { message: message.map(str::to_owned), ..About::default() }
}

fn unknown(split: &str, id: &str) -> Box<Refusal> {
    let help = "list the ids with `heldset cat`";
    Refusal::usage(Code::E102, format!("split `{split}` has no record `{id}`"), help)
}

fn check_field(name: &str) -> Outcome<()> {
    if name == "id" {
        let help = "take the record out with `heldset record rm`, and import it under its new id";
        return Err(Refusal::usage(Code::E103, "the id of a record cannot change", help));
    }
    let why = if name.is_empty() { Some("is empty") } else { name_problem(name) };
    why.map_or(Ok(()), |why| {
        Err(Refusal::usage(Code::E033, format!("the field name `{name}` {why}"), "choose another field name"))
    })
}

/// Refuses a field that the caller may not see; whether the record has it makes no difference.
fn check_seen(session: &Session, labels: &SplitLabels, name: &str) -> Outcome<()> {
    let label = labels.of(name);
    if session.viewer.sees(label) {
        return Ok(());
    }
    let message = format!("the audience `{}` may not change what is `{}`", session.viewer.name(), label.name());
    Err(Refusal::denied(Code::E120, message, "run it as the owner, without `--as`"))
}

/// The split of the head that is named, or the first that has the record.
fn split_with(session: &Session, slug: &str, name: Option<&str>, id: &str) -> Outcome<VisibleSplit> {
    let dataset = resolve::dataset(&session.store, slug)?;
    let version = resolve::version(&session.store, &dataset, dataset.head)?;
    let policy = policy_of(&version)?;
    let resolved = Resolved { dataset, version, policy };
    let mut splits = visible_splits(session, &resolved)?;
    splits.retain(|split| !split.doc.files);
    if let Some(name) = name {
        let known: Vec<String> = splits.iter().map(|split| split.doc.name.clone()).collect();
        let message = format!("dataset `{slug}` has no split of records `{name}`");
        let found = splits.into_iter().find(|split| split.doc.name == name);
        return found.ok_or_else(|| Refusal::unknown(message, name, known.iter().map(String::as_str)));
    }
    let keys = session.store.keys().load(&resolved.dataset.id)?;
    let grant = upkeep();
    for split in splits {
        let (store, dataset) = (&session.store, resolved.dataset.id.as_str());
        let reading = Reading { store, keys: keys.as_ref(), dataset, labels: &split.labels, grant: &grant };
        if SplitRows::load(store, dataset, &split.doc)?.locate(&reading, id)?.is_some() {
            return Ok(split);
        }
    }
    let message = format!("{} has no record `{id}`", crate::view::cited(&resolved));
    Err(Refusal::usage(Code::E102, message, format!("list the records with `heldset cat {slug}`")))
}

/// The record as the head has it.
fn stored(
    session: &Session,
    target: &Target,
    labels: &SplitLabels,
    split: &str,
    id: &str,
) -> Outcome<Option<Record<'static>>> {
    let doc = target.head.as_ref().and_then(|(version, _)| resolve::split(version, split));
    let rows = SplitRows::load(&session.store, &target.dataset.id, doc.ok_or(StoreError::Conflict)?)?;
    let grant = upkeep();
    let (store, keys) = (&session.store, Some(&target.keys));
    let reading = Reading { store, keys, dataset: &target.dataset.id, labels, grant: &grant };
    let Some((_, place, row)) = rows.locate(&reading, id)? else { return Ok(None) };
    let groups = reading.groups(&rows.packs[place.pack].1, std::slice::from_ref(&(row..row + 1)))?;
    Ok(Some(Batch::of(groups).record(0)?.into_owned()))
}

fn apply(record: &mut Record<'static>, request: &EditRequest<'_>, seen: &dyn Fn(&str) -> bool) -> Outcome<()> {
    for name in request.unset {
        // A field that the caller may not see is not there.
        if !seen(name) || record.fields.remove(name).is_none() {
            let message = format!("record `{}` has no field `{name}`", request.id);
            let known = record.fields.iter().map(|(name, _)| name).filter(|name| seen(name));
            return Err(Refusal::unknown(message, name, known));
        }
    }
    for (name, value) in request.set {
        record.fields.set(name.clone(), value.clone());
    }
    Ok(())
}

/// Refuses a case that has lost its shape, as far as the caller can see it.
fn check_shape(record: &Record<'_>, seen: &dyn Fn(&str) -> bool) -> Outcome<()> {
    let fields = record.fields.iter().filter(|(name, _)| seen(name));
    let fields: Object<'_> = fields.map(|(name, value)| (name.into(), value.clone())).collect();
    let mut problems = Vec::new();
    case::problems(&fields, &mut problems);
    problems.into_iter().next().map_or(Ok(()), |problem| {
        let message = format!("record `{}`: {}", record.id.as_str(), problem.message);
        let help = problem.help.unwrap_or_else(|| format!("see `heldset explain {}`", problem.code.name()));
        Err(Refusal::invalid(problem.code, message, help))
    })
}
