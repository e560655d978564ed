//! Moves of a dataset through its life, and what each asks for.
//!
//! *Invariant:* certified is what was looked at now: the digests are computed again at every certification, and the
//! reviews are those of the version that is certified.

use heldset_core::code::Code;
use heldset_core::registry::{Facts, Level, Status, Unmet};
use heldset_core::value::{Object, Value};
use heldset_store::documents::{DatasetDoc, Document, VersionDoc, prefix, version_key};
use heldset_store::registry::LeakDoc;

use super::{Described, find, review::reviews, text, write};
use crate::Listener;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::mapping;
use crate::session::Session;
use crate::verify::{PinnedFiles, verify};
use crate::{schema, status};

/// What is needed to compute digests again.
pub struct Proving<'p> {
    /// Files that stay where they are.
    pub pinned: &'p dyn PinnedFiles,
    /// Who is told how far it is.
    pub listener: &'p mut dyn Listener,
}

/// A move that is asked for.
pub struct MoveRequest<'m> {
    /// The dataset.
    pub slug: &'m str,
    /// What it is to become; it stays what it is when absent.
    pub to: Option<Status>,
    /// How far it is to be certified, if it is said.
    pub level: Option<Level>,
    /// What the dataset must still be, if it is said.
    pub if_match: Option<&'m str>,
}

/// Moves a dataset to another status.
pub fn change_status(session: &Session, request: &MoveRequest<'_>, proving: &mut Proving<'_>) -> Outcome<Described> {
    session.must_manage("dataset status")?;
    let slug = find(session, request.slug)?.slug;
    write(session, &slug, request.if_match, "dataset status", |dataset| {
        moved(session, dataset.clone(), (request.to, request.level), proving)
    })
}

/// The dataset in its new status and level, if it has what they ask for.
pub(super) fn moved(
    session: &Session,
    mut dataset: DatasetDoc,
    (to, level): (Option<Status>, Option<Level>),
    proving: &mut Proving<'_>,
) -> Outcome<DatasetDoc> {
    let (from, known) = (status::of(&dataset), status::level_of(&dataset));
    let to = to.unwrap_or(from);
    check_move(&dataset.slug, from, to)?;
    let moves = from != to;
    // Whoever publishes without a word certifies what there is, and bronze at least.
    let level = level.unwrap_or(if to == Status::Published && moves { known.max(Level::Bronze) } else { known });
    if to == Status::Published && level == Level::None {
        let slug = &dataset.slug;
        let message = format!("dataset `{slug}` is published, and that is certified at bronze at least");
        return Err(Refusal::invalid(
            Code::E048,
            message,
            format!("take it back with `heldset dataset status {slug} active` first"),
        ));
    }
    let certifies = level > Level::None && (level != known || to == Status::Published && moves);
    let unmet = match (moves, to) {
        _ if certifies => {
            let facts = facts(session, &dataset, Some(proving))?;
            let published = to == Status::Published;
            if published { facts.unmet_for_published(level, &dataset.slug) } else { level.unmet(&facts, &dataset.slug) }
        }
        (true, Status::Active) if from == Status::Draft => {
            facts(session, &dataset, None)?.unmet_for_active(&dataset.slug)
        }
        _ => Vec::new(),
    };
    let goal = if certifies { level.name() } else { to.name() };
    check_met(&dataset.slug, goal, &unmet)?;
    if moves {
        status::set(&mut dataset, "status", Some(Value::from(to.name())));
    }
    if level != known {
        status::set(&mut dataset, "certification_level", Some(Value::from(level.name())));
    }
    Ok(dataset)
}

/// What keeps a new dataset from having a status or a level: it begins as a draft, without anything to certify.
pub(super) fn refused_at_birth(given: &Object<'_>) -> [Option<(&'static str, Box<Refusal>)>; 2] {
    let slug = text(given, "slug").unwrap_or_else(|| "SLUG".to_owned());
    let status = text(given, "status").and_then(|name| Status::parse(&name)).and_then(|to| {
        let unmet = if to == Status::Active { Facts::default().unmet_for_active(&slug) } else { Vec::new() };
        check_move(&slug, Status::Draft, to).and_then(|()| check_met(&slug, to.name(), &unmet)).err()
    });
    let level = text(given, "certification_level").and_then(|name| Level::parse(&name));
    let level = level.and_then(|level| check_met(&slug, level.name(), &level.unmet(&Facts::default(), &slug)).err());
    [status.map(|refused| ("status", refused)), level.map(|refused| ("certification_level", refused))]
}

fn check_move(slug: &str, from: Status, to: Status) -> Outcome<()> {
    from.may_become(to).map_err(|refused| {
        let message = format!("dataset `{slug}` is `{}` and cannot become `{}`", from.name(), to.name());
        Refusal::usage(Code::E047, message, refused.allowed())
    })
}

fn check_met(slug: &str, goal: &str, unmet: &[Unmet]) -> Outcome<()> {
    if unmet.is_empty() {
        return Ok(());
    }
    let what: Vec<&str> = unmet.iter().map(|unmet| unmet.what).collect();
    let help: Vec<String> = unmet.iter().map(|unmet| format!("{}: {}", unmet.what, unmet.help)).collect();
    let message = format!("dataset `{slug}` cannot be `{goal}` yet; it lacks {}", what.join(", "));
    Err(Refusal::invalid(Code::E048, message, help.join("; ")))
}

/// What is known of a dataset and its newest version.
fn facts(session: &Session, dataset: &DatasetDoc, proving: Option<&mut Proving<'_>>) -> Outcome<Facts> {
    let store = &session.store;
    let version: Option<VersionDoc> = match dataset.head {
        0 => None,
        head => store.document(&version_key(&dataset.id, head))?,
    };
    let provenance = version.as_ref().map(|version| mapping(&version.provenance)).unwrap_or_default();
    let verified = match (&version, proving) {
        (Some(version), Some(proving)) => Some(verifies(session, dataset, version, proving)?),
        _ => None,
    };
    let reviews = match &version {
        Some(version) => reviews(session, &dataset.id, version.number)?.len(),
        None => 0,
    };
    Ok(Facts {
        // Records have a schema that is inferred from them, files one that all files have.
        schema: version.is_some() || schema::newest(session, &dataset.id)?.is_some(),
        source: !store.catalog().scan("feed", &prefix(&[&dataset.id]))?.is_empty(),
        version: version.is_some(),
        license: dataset.license.is_some() || provenance.contains("license"),
        // The license is put among the provenance by itself, and says nothing of where the data comes from.
        provenance: provenance.iter().any(|(key, _)| key != "license"),
        verified,
        reviews,
        findings: findings(session, dataset)?,
    })
}

fn verifies(session: &Session, dataset: &DatasetDoc, version: &VersionDoc, proving: &mut Proving<'_>) -> Outcome<bool> {
    let cite = format!("{}@{}", dataset.slug, version.number);
    let verified = verify(session, Some(&cite), proving.pinned, proving.listener)?;
    Ok(!verified.is_empty() && verified.iter().all(|one| one.problems.is_empty()))
}

/// How many findings of leaks are open: those of the last scan of each place. What nobody scanned is not known here,
/// and neither is sealed text that somebody wrote in other words.
fn findings(session: &Session, dataset: &DatasetDoc) -> Outcome<u64> {
    let entries = session.store.catalog().scan("leak", &prefix(&[&dataset.id]))?;
    let read = |(_, bytes): &(String, Vec<u8>)| LeakDoc::from_bytes(bytes, "catalog: findings of a scan");
    let all = entries.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(all.iter().map(|leak| leak.findings).sum())
}
