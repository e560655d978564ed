//! `import`: files become a new version of a dataset, which is made when it is new.
//!
//! *Invariant:* an import that fails leaves the dataset as it was. The other splits are carried over; under another
//! policy they are labelled anew.

mod again;
mod delta;
mod generated;
mod labelling;
mod lines;
mod older;
mod relabel;
mod stage;
mod take;

pub(crate) use delta::change_staged;
pub use delta::{Change, change};
pub use generated::Generation;
pub use labelling::Labelling;
pub(crate) use labelling::check_answers;

use heldset_core::code::Code;
use heldset_core::digest::{CommitKey, Digest};
use heldset_core::fault::Fault;
use heldset_core::manifest::Mode;
use heldset_core::profile::Profile;
use heldset_core::record::name_problem;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Policy;
use heldset_dialect::{Format, ReadOptions, Report};
use heldset_store::catalog::Key;
use heldset_store::documents::{DatasetDoc, SourceDoc, VersionDoc};
use heldset_store::registry::NodeDoc;
use heldset_store::{DatasetKeys, Sealing, StoreError};

use crate::Listener;
use crate::commit::{Committed, Draft, SplitBody, SplitDraft, commit};
use crate::gather::Gathered;
use crate::ports::{Sources, Tree};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{self, mapping};
use crate::session::Session;
pub(crate) use generated::{Derivation, derive};
pub(crate) use relabel::carried;
pub(crate) use stage::{Staging, Stop, unreadable};
pub(crate) use take::{Part, Taken, take_records};

/// What is imported, and how.
pub struct ImportRequest<'i> {
    /// The dataset.
    pub slug: &'i str,
    /// The split that is replaced or new.
    pub split: &'i str,
    /// How the files are read.
    pub reading: &'i ReadOptions,
    /// What is stated about labels.
    pub labelling: &'i Labelling,
    /// What is said of the version and the dataset.
    pub about: &'i About,
    /// Register the valid records although others are refused.
    pub keep_valid: bool,
}

/// What is said of a version and its dataset.
#[derive(Clone, Default)]
pub struct About {
    /// A message.
    pub message: Option<String>,
    /// The license.
    pub license: Option<String>,
    /// Where it comes from; the head's when nothing is said.
    pub provenance: Object<'static>,
    /// How it came to be.
    pub mode: Option<Mode>,
    /// How it was made, if it is generated.
    pub generation: Generation,
    /// Versions it comes from, beside the head.
    pub parents: Vec<Digest>,
    /// The dataset's name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Where it comes from, as canonical text.
    pub source: Option<String>,
    /// How long it is kept, as canonical text.
    pub retention: Option<String>,
    /// All else that is declared of the dataset, as canonical text.
    pub more: Option<String>,
    /// The contract of a mount, as canonical text.
    pub mount: Option<String>,
    /// What it comes from, for lineage: relationship and parent.
    pub edges: Vec<(&'static str, NodeDoc)>,
    /// Where the records come from, if they were merged with those of the head.
    pub merging: Option<Merging>,
}

/// Records that were merged with those of the head, as a sync does.
#[derive(Clone)]
pub struct Merging {
    /// The root of the split they were merged with; another one is a conflict.
    pub base: Option<Digest>,
    /// What they were read from.
    pub sources: Vec<SourceDoc>,
    /// What else is written with the version.
    pub notes: Vec<(Key, Vec<u8>)>,
    /// The verb, for the log.
    pub purpose: &'static str,
}

/// What an import did.
pub struct Imported {
    /// The version; absent when rows were refused.
    pub committed: Option<Committed>,
    /// The report of each file.
    pub reports: Vec<Report>,
}

/// A dataset before an import: as it is, or about to be made.
pub(crate) struct Target {
    pub(crate) dataset: DatasetDoc,
    pub(crate) keys: DatasetKeys,
    pub(crate) head: Option<(VersionDoc, Policy)>,
    /// Whether it is in the catalogue, and its keys are kept.
    pub(crate) kept: bool,
    /// The schema that records are held to, as canonical text.
    pub(crate) schema: Option<String>,
}

/// Imports files into a split of records.
pub fn import(
    session: &Session,
    request: &ImportRequest<'_>,
    sources: &dyn Sources,
    listener: &mut dyn Listener,
) -> Outcome<Imported> {
    let (_held, mut target, about, derivation) = start(session, request)?;
    if about.mode == Some(Mode::Mounted) {
        let message = "records are copied into the store, and mode `mounted` leaves files where they are";
        return Err(Refusal::usage(Code::E103, message, "add `--files` to pin the files as they are"));
    }
    let labelling = target.labelled(request.labelling)?;
    let request = &ImportRequest { about: &about, labelling: &labelling, ..*request };
    let watch = target.head.is_none() && request.labelling.profile.is_none() && request.reading.format.is_none();
    let mut profile = first_profile(request, &target);
    if sources.is_empty() {
        return relabelled(session, request, &mut target, profile);
    }
    loop {
        let guess = watch && profile == Profile::Plain;
        // A wrong guess is made good by reading again, and its faults are told once.
        let mut held = HeldBack { listener: &mut *listener, faults: guess.then(Vec::new) };
        let attempt = attempt(session, request, &mut target, &derivation, (profile, guess), sources, &mut held);
        match attempt {
            Err(Stop::IsCase) => profile = Profile::Case,
            ended => {
                held.tell().map_err(|error| unreadable("the faults", &error))?;
                return ended.map_err(Into::into);
            }
        }
    }
}

/// A listener that hears of faults later, or never.
struct HeldBack<'l> {
    listener: &'l mut dyn Listener,
    faults: Option<Vec<Fault>>,
}

impl HeldBack<'_> {
    fn tell(&mut self) -> std::io::Result<()> {
        let faults = self.faults.take().unwrap_or_default();
        faults.iter().try_for_each(|fault| self.listener.fault(fault))
    }
}

impl Listener for HeldBack<'_> {
    fn fault(&mut self, fault: &Fault) -> std::io::Result<()> {
        match &mut self.faults {
            Some(faults) => faults.push(fault.clone()),
            None => return self.listener.fault(fault),
        }
        Ok(())
    }

    fn progress(&mut self, bytes: u64, rows: u64) {
        self.listener.progress(bytes, rows);
    }
}

/// Imports files as they are into a split of files.
pub fn import_files(
    session: &Session,
    request: &ImportRequest<'_>,
    tree: &dyn Tree,
    listener: &mut dyn Listener,
) -> Outcome<Imported> {
    let (_held, mut target, about, derivation) = start(session, request)?;
    let labelling = target.labelled(request.labelling)?;
    let request = &ImportRequest { about: &about, labelling: &labelling, ..*request };
    let profile = first_profile(request, &target);
    target.dataset.profile = profile.name().to_owned();
    let head = target.head.as_ref().map(|(_, policy)| policy);
    let policy = request.labelling.policy(Some(request.split), profile, head)?;
    let pinned = about.mode == Some(Mode::Mounted);
    let (draft, sources) = crate::files::stage(session, &mut target, &policy, (request.split, pinned), tree, listener)?;
    let taken = Taken { draft, reports: Vec::new(), sources, notes: Vec::new(), has_older: false };
    let committed = register_one(session, request, &mut target, &derivation, policy, taken)?;
    Ok(Imported { committed: Some(committed), reports: Vec::new() })
}

type Started = (Option<heldset_store::Held>, Target, About, Derivation);

fn start(session: &Session, request: &ImportRequest<'_>) -> Outcome<Started> {
    session.must_manage("import")?;
    check_name("split", request.split)?;
    let held = session.store.hold()?;
    let (about, derivation) = derive(session, request.about)?;
    let target = Target::find(session, request.slug, &about)?;
    Ok((held, target, about, derivation))
}

fn first_profile(request: &ImportRequest<'_>, target: &Target) -> Profile {
    let known = target.head.as_ref().and_then(|_| Profile::parse(&target.dataset.profile));
    let by_format = match request.reading.format {
        Some(Format::Records) | None => Profile::Plain,
        Some(_) => Profile::Case,
    };
    known.or(request.labelling.profile).unwrap_or(by_format)
}

fn attempt(
    session: &Session,
    request: &ImportRequest<'_>,
    target: &mut Target,
    derivation: &Derivation,
    (profile, watch): (Profile, bool),
    sources: &dyn Sources,
    listener: &mut dyn Listener,
) -> Result<Imported, Stop> {
    target.dataset.profile = profile.name().to_owned();
    let head = target.head.as_ref().map(|(_, policy)| policy);
    let policy = request.labelling.policy(Some(request.split), profile, head)?;
    let part = Part { split: request.split, policy: &policy, profile, watch, reading: request.reading };
    let taken = take_records(session, target, part, sources, listener)?;
    let faulty = taken.reports.iter().any(|report| report.faults > 0);
    if faulty && !(request.keep_valid && taken.draft.rows > 0) {
        return Ok(Imported { committed: None, reports: taken.reports });
    }
    target.describe_from(&taken.reports);
    if taken.has_older {
        older::register(session, request, target, derivation, part, sources)?;
    }
    let reports = taken.reports.clone();
    let committed = register_one(session, request, target, derivation, policy, taken)?;
    Ok(Imported { committed: Some(committed), reports })
}

/// Registers a version with one split that was read; the others are carried over.
fn register_one(
    session: &Session,
    request: &ImportRequest<'_>,
    target: &mut Target,
    derivation: &Derivation,
    policy: Policy,
    taken: Taken,
) -> Outcome<Committed> {
    let declassify = request.labelling.declassify.as_deref();
    let let_out = derivation.check(&policy, [request.split].into_iter(), declassify)?;
    let mut splits = relabel::carried(session, target, &policy, &[request.split])?;
    splits.push(taken.draft);
    let mut draft = target.draft(policy, splits, request.labelling, request.about, "import");
    draft.declassified = draft.declassified.or_else(|| request.labelling.declassify.clone().filter(|_| let_out));
    draft.sources = taken.sources;
    draft.tag = version_tag(&taken.reports);
    draft.notes = taken.notes;
    if let Some(Merging { base, sources, notes, purpose }) = &request.about.merging {
        if let Some(split) = draft.splits.iter_mut().find(|split| split.name == request.split) {
            split.base = *base;
        }
        draft.sources.clone_from(sources);
        draft.notes.extend(notes.iter().cloned());
        draft.purpose = purpose;
    }
    check_companions(session, target, &draft)?;
    target.register(session, &draft)
}

/// A version that only has another policy, or says something else of itself.
fn relabelled(
    session: &Session,
    request: &ImportRequest<'_>,
    target: &mut Target,
    profile: Profile,
) -> Outcome<Imported> {
    let Some((_, head)) = &target.head.clone() else {
        return Err(Refusal::usage(Code::E105, "there is no file to import", "name at least one file"));
    };
    let labelling = request.labelling;
    let states = labelling.policy.is_some() || !labelling.labels.is_empty() || labelling.visibility.is_some();
    let says = request.about.license.is_some() || !request.about.provenance.is_empty() || request.about.mode.is_some();
    if !states && !says {
        return Err(Refusal::usage(Code::E105, "there is nothing to import", "name a file, or what is to change"));
    }
    let named = head.splits().any(|(split, _)| split == request.split).then_some(request.split);
    let policy = request.labelling.policy(named, profile, Some(head))?;
    let splits = relabel::carried(session, target, &policy, &[])?;
    let draft = target.draft(policy, splits, request.labelling, request.about, "import");
    check_companions(session, target, &draft)?;
    Ok(Imported { committed: Some(commit(session, &draft)?), reports: Vec::new() })
}

impl Target {
    /// The dataset of that name with its keys, or a new one.
    pub(crate) fn find(session: &Session, slug: &str, about: &About) -> Outcome<Target> {
        if let Some(why) = heldset_core::cite::slug_problem(slug) {
            let help = "a slug has 3 to 100 lowercase letters, digits and hyphens";
            return Err(Refusal::usage(Code::E105, format!("`{slug}` cannot be a slug: it {why}"), help));
        }
        let Some(dataset) = resolve::find_dataset(&session.store, slug)? else {
            let target = Target::new(session, slug, about)?;
            crate::status::writable(session, &target.dataset)?;
            return Ok(target);
        };
        crate::status::writable(session, &dataset)?;
        let head = match dataset.head {
            0 => None,
            head => {
                let version = resolve::version(&session.store, &dataset, head)?;
                let policy = resolve::policy_of(&version)?;
                session.must_see_all(&policy)?;
                Some((version, policy))
            }
        };
        let schema = crate::schema::newest(session, &dataset.id)?.map(|doc| doc.schema);
        let keys = resolve::keys_of(&session.store, &dataset)?;
        let keys = keys.ok_or_else(|| StoreError::NoKey { dataset: dataset.slug.clone() })?;
        Ok(Target { dataset, keys, head, kept: true, schema })
    }

    fn new(session: &Session, slug: &str, about: &About) -> Outcome<Target> {
        let keys = DatasetKeys::generate(session.store.entropy());
        let dataset = DatasetDoc {
            id: session.new_id(),
            slug: slug.to_owned(),
            name: about.name.clone().unwrap_or_else(|| slug.to_owned()),
            description: about.description.clone(),
            created_at: session.clock.now(),
            profile: Profile::Plain.name().to_owned(),
            head: 0,
            license: about.license.clone(),
            tags: about.tags.clone(),
            source: about.source.clone(),
            retention: about.retention.clone(),
            deletion_status: "none".to_owned(),
            canaries: Default::default(),
            more: about.more.clone(),
            key_check: None,
        };
        let dataset = DatasetDoc { key_check: Some(keys.check(&dataset.id)), ..dataset };
        Ok(Target { dataset, keys, head: None, kept: false, schema: None })
    }

    /// Registers a version of it. The keys of a new dataset are kept before, and not if somebody else made it.
    pub(crate) fn register(&self, session: &Session, draft: &Draft) -> Outcome<Committed> {
        if self.kept {
            return commit(session, draft);
        }
        session.store.keys().save(&self.dataset.id, &self.keys)?;
        let done = commit(session, draft);
        // A conflict is sure to have written nothing; after any other failure the keys might be needed.
        if done.as_ref().is_err_and(|refusal| refusal.code == Code::E115) {
            session.store.keys().forget(&self.dataset.id)?;
        }
        done
    }

    /// How the sealed objects of a split are sealed; a new split gets its mark here.
    pub(crate) fn sealing(&mut self, session: &Session, split: &str) -> Sealing {
        let canary = self.dataset.canaries.entry(split.to_owned()).or_insert_with(|| session.new_id()).clone();
        Sealing { dataset: self.dataset.id.clone(), canary, key: self.keys.newest() }
    }

    /// What its records are taken for.
    pub(crate) fn profile(&self) -> Profile {
        Profile::parse(&self.dataset.profile).unwrap_or(Profile::Case)
    }

    /// The key that sealed groups are committed under.
    pub(crate) fn commit_key(&self) -> CommitKey {
        self.keys.commit_key()
    }

    /// A version of this dataset.
    pub(crate) fn draft(
        &self,
        policy: Policy,
        splits: Vec<SplitDraft>,
        labelling: &Labelling,
        about: &About,
        purpose: &'static str,
    ) -> Draft {
        let mut dataset = self.dataset.clone();
        dataset.license = about.license.clone().or(dataset.license);
        let widened = self.head.as_ref().is_some_and(|(_, head)| !policy.wider_than(head).is_empty());
        Draft {
            dataset,
            policy,
            policy_before: self.head.as_ref().map(|(version, _)| version.policy.clone()),
            splits,
            whole: false,
            mode: about.mode,
            provenance: self.provenance(about),
            parents: about.parents.clone(),
            message: about.message.clone(),
            sources: Vec::new(),
            mount: about.mount.clone(),
            declassified: labelling.declassify.clone().filter(|_| widened),
            tag: None,
            edges: about.edges.clone(),
            schema: self.schema.clone(),
            notes: Vec::new(),
            purpose,
        }
    }

    fn provenance(&self, about: &About) -> Object<'static> {
        let head = self.head.as_ref().filter(|_| about.mode != Some(Mode::Generated));
        let inherited = head.map_or_else(Object::new, |(version, _)| mapping(&version.provenance));
        let mut provenance = if about.provenance.is_empty() { inherited } else { about.provenance.clone() };
        if let Some(license) = about.license.as_ref().or(self.dataset.license.as_ref()) {
            provenance.set("license", Value::from(license.clone()));
        }
        provenance
    }

    /// What the files say about the dataset as a whole, where nothing is said yet.
    pub(crate) fn describe_from(&mut self, reports: &[Report]) {
        let Some(info) = reports.first().map(|report| &report.dataset).filter(|_| self.head.is_none()) else { return };
        if self.dataset.description.is_none() {
            self.dataset.description.clone_from(&info.description);
        }
        let fits = |name: &&String| (3..=200).contains(&name.chars().count());
        if let Some(name) = info.name.as_ref().filter(fits).filter(|_| self.dataset.name == self.dataset.slug) {
            self.dataset.name.clone_from(name);
        }
    }
}

/// A split of records that was gathered.
pub(crate) fn split_draft(name: &str, gathered: Gathered) -> SplitDraft {
    let Gathered { root, rows, chunks, packs } = gathered;
    SplitDraft { name: name.to_owned(), rows, root, body: SplitBody::Records { chunks, packs }, base: None }
}

/// The version that a file names becomes a tag, if it can be one.
pub(crate) fn version_tag(reports: &[Report]) -> Option<String> {
    let version = reports.first()?.dataset.version.clone()?;
    heldset_core::cite::tag_problem(&version).is_none().then_some(version)
}

fn with_files_along(mut sources: Vec<SourceDoc>, reports: &[Report], split: &str, time: &str) -> Vec<SourceDoc> {
    for file in reports.iter().flat_map(|report| &report.files) {
        sources.push(SourceDoc {
            name: file.name.clone(),
            split: split.to_owned(),
            size: 0,
            sha256: file.sha256.clone(),
            time: time.to_owned(),
            state: "copied".to_owned(),
        });
    }
    sources
}

/// Refuses an answer without a prompt, in splits that belong together.
pub(crate) fn check_companions(session: &Session, target: &Target, draft: &Draft) -> Outcome<()> {
    crate::companions::check(session, target, draft)
}

/// Refuses a name that cannot be one.
pub(crate) fn check_name(what: &str, name: &str) -> Outcome<()> {
    let why = match name {
        "" => Some("is empty"),
        "." | ".." => Some("means a folder"),
        _ if name.contains('/') => Some("has a `/` in it"),
        _ => name_problem(name),
    };
    why.map_or(Ok(()), |why| {
        Err(Refusal::usage(
            Code::E105,
            format!("the {what} name `{name}` {why}"),
            format!("choose another {what} name"),
        ))
    })
}
