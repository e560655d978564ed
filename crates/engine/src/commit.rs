//! Registering a version: the one place where the head of a dataset moves.
//!
//! *Invariant:* a version appears whole or not at all, with its audit entry, on the head it was made for. Equal
//! content makes no new version.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::digest::Digest;
use heldset_core::manifest::{Mode, SplitEntry, VersionCore, policy_digest, provenance_digest, schema_digest};
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Policy;
use heldset_store::StoreError;
use heldset_store::catalog::{Batch, Key};
use heldset_store::documents::{
    AuditDoc, DatasetDoc, Document, FileAt, FilesDoc, PackDoc, SourceDoc, SourcesDoc, SplitDoc, TagDoc, VersionDoc,
    dataset_key, digest_key, files_key, pack_key, roots_key, tag_key, version_key,
};
use heldset_store::registry::{EdgeDoc, NodeDoc};

use crate::edges;
use crate::log;
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping};
use crate::rows::SplitRows;
use crate::session::Session;
use crate::status;

/// A version to be.
pub struct Draft {
    /// The dataset; as it was when the work began, or new.
    pub dataset: DatasetDoc,
    /// The resolved policy.
    pub policy: Policy,
    /// The policy of the head that it was made from, as it is registered.
    pub policy_before: Option<String>,
    /// Splits that replace those of the head, or are new.
    pub splits: Vec<SplitDraft>,
    /// Whether these are all splits there are; others of the head are not carried over then.
    pub whole: bool,
    /// How it came to be.
    pub mode: Option<Mode>,
    /// What is declared about where it comes from.
    pub provenance: Object<'static>,
    /// Versions it comes from, beside the head.
    pub parents: Vec<Digest>,
    /// What is said of it.
    pub message: Option<String>,
    /// The files it was read from.
    pub sources: Vec<SourceDoc>,
    /// The contract of a mount, as canonical text.
    pub mount: Option<String>,
    /// Why it lets more audiences see something.
    pub declassified: Option<String>,
    /// A tag for it.
    pub tag: Option<String>,
    /// What it comes from, for lineage: relationship and parent.
    pub edges: Vec<(&'static str, NodeDoc)>,
    /// The registered schema, as canonical text.
    pub schema: Option<String>,
    /// What else is written with it.
    pub notes: Vec<(Key, Vec<u8>)>,
    /// The verb, for the log.
    pub purpose: &'static str,
}

/// A split to be.
pub struct SplitDraft {
    /// Its name.
    pub name: String,
    /// How many records or files it has.
    pub rows: u64,
    /// Its root.
    pub root: Digest,
    /// What it holds.
    pub body: SplitBody,
    /// The root it was made from, if it only changes some of its records or their labels.
    pub base: Option<Digest>,
}

/// What a split holds.
pub enum SplitBody {
    /// Records: the chunks in order, and the packs that are new.
    Records {
        /// Root and rows of each.
        chunks: Vec<(Digest, u64)>,
        /// New packs.
        packs: Vec<PackDoc>,
    },
    /// Files.
    Files(FilesDoc),
}

/// A version that is registered.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The dataset.
    pub dataset: DatasetDoc,
    /// The version.
    pub version: VersionDoc,
    /// Whether it is new.
    pub created: bool,
}

/// Registers a version.
pub fn commit(session: &Session, draft: &Draft) -> Outcome<Committed> {
    let mut committed = None;
    log::commit(session, || {
        let head = head_of(session, draft)?;
        let next = next(session, draft, head.as_ref())?;
        let batch = if next.created { batch(session, draft, &next, head.as_ref())? } else { Batch::default() };
        committed = Some(next);
        Ok::<_, Box<Refusal>>(batch)
    })?;
    committed.ok_or_else(|| StoreError::internal("nothing was registered").into())
}

/// A dataset as it is; it may have no version yet.
type Before = (DatasetDoc, Option<VersionDoc>);

/// The head as it is now. Another policy than the one the draft was made from is a conflict, and so is a dataset
/// that somebody else made meanwhile.
fn head_of(session: &Session, draft: &Draft) -> Outcome<Option<Before>> {
    let found = resolve::find_dataset(&session.store, &draft.dataset.slug)?;
    let Some(dataset) = found else { return Ok(None) };
    if dataset.id != draft.dataset.id {
        return Err(StoreError::Conflict.into());
    }
    let version = match dataset.head {
        0 => None,
        head => Some(resolve::version(&session.store, &dataset, head)?),
    };
    if draft.policy_before.as_ref() != version.as_ref().map(|version| &version.policy) {
        return Err(StoreError::Conflict.into());
    }
    for split in &draft.splits {
        let known = version.as_ref().and_then(|version| resolve::split(version, &split.name));
        let root = known.map(|known| known.root.clone());
        if split.base.is_some_and(|base| root != Some(base.hex())) {
            return Err(StoreError::Conflict.into());
        }
    }
    Ok(Some((dataset, version)))
}

/// The version that a draft would become, without registering it: its number, and whether it would be new.
pub(crate) fn preview(session: &Session, draft: &Draft) -> Outcome<(u64, bool)> {
    let head = head_of(session, draft)?;
    let version = head.as_ref().and_then(|(_, version)| version.as_ref());
    let splits = splits_of(draft, version)?;
    let core = core_for(draft, &splits, version)?;
    let (Some((dataset, _)), Some(version)) = (&head, version) else { return Ok((1, true)) };
    let new = !core.repeats(&core_of(&dataset.slug, version)?);
    Ok((version.number + u64::from(new), new))
}

fn core_for(draft: &Draft, splits: &[SplitDoc], head: Option<&VersionDoc>) -> Outcome<VersionCore> {
    let entries = splits.iter().map(|split| {
        Ok(SplitEntry {
            name: split.name.clone(),
            visibility: split.label.clone(),
            rows: split.rows,
            root: split.root.parse().map_err(|_| StoreError::damaged("catalog: the root of a split"))?,
        })
    });
    let mut parents: Vec<Digest> = head.and_then(|version| version.digest.parse().ok()).into_iter().collect();
    parents.extend(&draft.parents);
    let schema = draft.schema.as_deref().and_then(|text| heldset_core::json::read(text).ok());
    Ok(VersionCore {
        dataset: draft.dataset.slug.clone(),
        mode: mode_of(draft, splits)?,
        schema: schema_digest(schema.as_ref()),
        policy: policy_digest(&draft.policy),
        provenance: provenance_digest(&draft.provenance),
        parents,
        splits: entries.collect::<Result<_, StoreError>>()?,
    })
}

fn next(session: &Session, draft: &Draft, head: Option<&Before>) -> Outcome<Committed> {
    let before = head.and_then(|(_, version)| version.as_ref());
    let splits = splits_of(draft, before)?;
    let core = core_for(draft, &splits, before)?;
    if let Some((dataset, Some(version))) = head
        && core.repeats(&core_of(&dataset.slug, version)?)
    {
        return Ok(Committed { dataset: dataset.clone(), version: version.clone(), created: false });
    }
    let mut dataset = match head {
        None => draft.dataset.clone(),
        Some((dataset, Some(_))) => dataset.clone(),
        // Of one that was only described so far, the first version says what nobody did.
        Some((dataset, None)) => DatasetDoc {
            profile: draft.dataset.profile.clone(),
            description: dataset.description.clone().or_else(|| draft.dataset.description.clone()),
            ..dataset.clone()
        },
    };
    dataset.license = dataset.license.or_else(|| draft.dataset.license.clone());
    dataset.head = head.map_or(1, |(dataset, _)| dataset.head + 1);
    dataset.canaries.extend(draft.dataset.canaries.clone());
    let dataset = status::inheriting(session, status::renewed(dataset), draft)?;
    let version = VersionDoc {
        number: dataset.head,
        digest: core.digest().to_string(),
        mode: core.mode.name().to_owned(),
        created_at: session.clock.now(),
        created_by: session.user.clone(),
        message: draft.message.clone(),
        policy: text_of(&draft.policy.to_value()),
        schema: draft.schema.clone().unwrap_or_else(|| "{}".to_owned()),
        provenance: text_of(&Value::Object(draft.provenance.clone())),
        parents: core.parents.iter().map(Digest::to_string).collect(),
        splits,
        sources: sources_of(session, draft)?,
        mount: draft.mount.clone(),
        declassified: draft.declassified.clone(),
    };
    Ok(Committed { dataset, version, created: true })
}

/// The head's splits with those of the draft in their place, new ones at the end.
fn splits_of(draft: &Draft, head: Option<&VersionDoc>) -> Outcome<Vec<SplitDoc>> {
    let carried = head.filter(|_| !draft.whole);
    let mut splits = carried.map_or_else(Vec::new, |head| head.splits.clone());
    for split in &draft.splits {
        let doc = SplitDoc {
            name: split.name.clone(),
            label: String::new(),
            rows: split.rows,
            root: split.root.hex(),
            files: matches!(split.body, SplitBody::Files(_)),
        };
        match splits.iter_mut().find(|known| known.name == split.name) {
            Some(known) => *known = doc,
            None => splits.push(doc),
        }
    }
    for split in &mut splits {
        split.label = draft.policy.in_split(&split.name)?.own().name().to_owned();
    }
    Ok(splits)
}

fn mode_of(draft: &Draft, splits: &[SplitDoc]) -> Outcome<Mode> {
    let open = |split: &&SplitDoc| draft.policy.label(&split.label).is_some_and(|label| label.is_open());
    let first_open = splits.iter().find(open);
    match (draft.mode, first_open) {
        (None, None) => Ok(Mode::Hidden),
        (None, Some(_)) => Ok(Mode::Synced),
        (Some(Mode::Hidden), Some(split)) => Err(Refusal::usage(
            Code::E103,
            format!("mode `hidden` means that every split is sealed, and `{}` is `{}`", split.name, split.label),
            "give it a sealed label with `--visibility evaluator_only`, or leave the mode out",
        )),
        (Some(Mode::Mounted), _) => mounted(draft, splits),
        (Some(mode), _) => Ok(mode),
    }
}

/// Mounted files lie in the clear, so nothing in a mounted version is sealed.
fn mounted(draft: &Draft, splits: &[SplitDoc]) -> Outcome<Mode> {
    for split in splits {
        let labels = draft.policy.in_split(&split.name)?;
        let fields = if split.files { None } else { labels.sealed().next() };
        if let Some(label) = Some(labels.own()).filter(|own| !own.is_open()).or(fields) {
            return Err(Refusal::usage(
                Code::E103,
                format!(
                    "split `{}` has the label `{}`, and a mounted version lies in the clear",
                    split.name,
                    label.name()
                ),
                "leave `--mode mounted` out, so that the files are copied into the store and sealed there",
            ));
        }
    }
    Ok(Mode::Mounted)
}

/// What the digest of a registered version covers.
pub(crate) fn core_of(slug: &str, version: &VersionDoc) -> Outcome<VersionCore> {
    let damaged = || StoreError::damaged(format!("catalog: version {} of {slug}", version.number));
    let digest = |text: &String| text.parse::<Digest>().map_err(|_| damaged());
    let entry = |split: &SplitDoc| {
        let (name, visibility) = (split.name.clone(), split.label.clone());
        Ok(SplitEntry { name, visibility, rows: split.rows, root: digest(&split.root)? })
    };
    let schema = heldset_core::json::read(&version.schema).map_err(|_| damaged())?;
    Ok(VersionCore {
        dataset: slug.to_owned(),
        mode: Mode::parse(&version.mode).ok_or_else(damaged)?,
        schema: schema_digest(Some(&schema)),
        policy: policy_digest(&resolve::policy_of(version)?),
        provenance: provenance_digest(&mapping(&version.provenance)),
        parents: version.parents.iter().map(digest).collect::<Result<_, _>>()?,
        splits: version.splits.iter().map(entry).collect::<Result<_, StoreError>>()?,
    })
}

fn batch(session: &Session, draft: &Draft, next: &Committed, head: Option<&Before>) -> Outcome<Batch> {
    let Committed { dataset, version, .. } = next;
    let mut batch = Batch { durable: true, ..Batch::default() };
    let before = head.map(|(dataset, _)| dataset.to_bytes()).transpose()?;
    batch.expect.push((dataset_key(&dataset.slug), before));
    batch.put.push((dataset_key(&dataset.slug), dataset.to_bytes()?));
    batch.put.push((version_key(&dataset.id, version.number), version.to_bytes()?));
    let hex = version.digest.trim_start_matches("sha256:");
    batch.put.push((digest_key(&dataset.id, hex), version.number.to_string().into_bytes()));
    for split in &draft.splits {
        let root = split.root.hex();
        match &split.body {
            SplitBody::Files(files) => {
                let key = files_key(&dataset.id, &split.name, &root);
                let mut files = still_stored(files, session.store.files(&dataset.id, &key)?);
                if !draft.policy.in_split(&split.name)?.own().is_open() {
                    files = session.store.seal_paths(&dataset.id, files)?;
                }
                batch.put.push((key, files.to_bytes()?));
            }
            SplitBody::Records { chunks, packs } => {
                batch.put.push((roots_key(&dataset.id, &split.name, &root), SplitRows::roots_bytes(chunks)));
                for pack in packs {
                    batch.put.push((pack_key(&dataset.id, &split.name, &pack.name()?), pack.to_bytes()?));
                }
            }
        }
    }
    batch.put.extend(draft.notes.clone());
    let child = edges::version_node(dataset, version);
    let edge = |(relationship, parent): &(&'static str, NodeDoc)| EdgeDoc {
        child: child.clone(),
        parent: parent.clone(),
        relationship: (*relationship).to_owned(),
        time: version.created_at.clone(),
    };
    edges::put(&mut batch, &draft.edges.iter().map(edge).collect::<Vec<_>>())?;
    if let Some(tag) = &draft.tag {
        let doc = TagDoc { version: version.number, set_at: version.created_at.clone() };
        batch.put.push((tag_key(&dataset.id, tag), doc.to_bytes()?));
    }
    Ok(log::logged(&session.store, &entry_of(session, draft, version), batch)?)
}

/// The files, each where another version with the same root has it stored if these only pin it: what is stored is
/// not given up.
fn still_stored(files: &FilesDoc, known: Option<FilesDoc>) -> FilesDoc {
    let mut files = files.clone();
    for (file, known) in files.files.iter_mut().zip(known.into_iter().flat_map(|known| known.files)) {
        if matches!((&file.at, &known.at), (FileAt::Pinned(_), FileAt::Objects(_))) && file.path == known.path {
            file.at = known.at;
        }
    }
    files
}

fn entry_of(session: &Session, draft: &Draft, version: &VersionDoc) -> AuditDoc {
    let note = draft.declassified.as_ref().map(|reason| format!("declassified: {reason}"));
    AuditDoc {
        time: version.created_at.clone(),
        who: session.user.clone(),
        audience: session.viewer.name().to_owned(),
        place: session.viewer.place().name().to_owned(),
        purpose: draft.purpose.to_owned(),
        dataset: draft.dataset.slug.clone(),
        version: version.digest.clone(),
        splits: draft.splits.iter().map(|split| split.name.clone()).collect(),
        labels: Vec::new(),
        rows: draft.splits.iter().map(|split| split.rows).sum(),
        allowed: true,
        note,
    }
}

/// The files it was read from, sealed if anything in the version is.
fn sources_of(session: &Session, draft: &Draft) -> Outcome<SourcesDoc> {
    let mut sealed = false;
    for (split, _) in draft.policy.splits() {
        let labels = draft.policy.in_split(split)?;
        sealed |= labels.sealed().next().is_some() || !labels.own().is_open();
    }
    if !sealed {
        return Ok(SourcesDoc::Open(draft.sources.clone()));
    }
    Ok(SourcesDoc::Sealed(session.store.seal_note(&draft.dataset.id, &draft.sources)?))
}

fn text_of(value: &Value<'_>) -> String {
    String::from_utf8(canonical::bytes(value)).expect("canonical bytes are UTF-8")
}
