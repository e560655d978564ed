//! `register`: a dataset from its declaration, all splits in one version.
//!
//! *Invariant:* checksums are compared before anything is written. The same declaration over the same files changes
//! nothing; a dry run writes nothing at all.

mod plan;
mod rules;
mod stream;

use heldset_core::canonical;
use heldset_core::chunk::Chunker;
use heldset_core::code::Code;
use heldset_core::declaration::Declaration;
use heldset_core::digest::Digest;
use heldset_core::manifest::Mode;
use heldset_core::profile::Profile;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{AGENT_VISIBLE, Policy, PolicyDraft};
use heldset_dialect::{ReadOptions, Report};
use heldset_store::catalog::Batch;
use heldset_store::documents::{AuditDoc, DatasetDoc, Document, SourceDoc, dataset_key};

use crate::Listener;
use crate::commit::{Committed, SplitBody, SplitDraft, preview};
use crate::companions;
use crate::files::{Keeping, root_of, stage};
use crate::import::{
    About, Derivation, Generation, Labelling, Part, Staging, Stop, Target, carried, check_companions, derive,
    take_records, version_tag,
};
use crate::log;
use crate::ports::Shelf;
use crate::refusal::{Outcome, Refusal};
use crate::resolve;
use crate::session::Session;
use plan::{Plan, plans};

/// What is registered, and how.
pub struct RegisterRequest<'r> {
    /// The declaration.
    pub declaration: &'r Declaration,
    /// The files that it names.
    pub shelf: &'r dyn Shelf,
    /// How records are read.
    pub reading: &'r ReadOptions,
    /// What is said of the version.
    pub message: Option<String>,
    /// Why more may be let out than before.
    pub declassify: Option<String>,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// What a registration changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The dataset is new.
    NewDataset,
    /// It gets a new version.
    NewVersion,
    /// Only what is said of the dataset is another.
    Description,
    /// Nothing.
    Nothing,
}

/// What a registration did, or would do.
pub struct Registered {
    /// The version; absent in a dry run, and when rows were refused.
    pub committed: Option<Committed>,
    /// What changes; absent when rows were refused.
    pub change: Option<Change>,
    /// The number of the version that the declaration is, or would be.
    pub version: Option<u64>,
    /// The declared splits.
    pub splits: Vec<RegisteredSplit>,
    /// The report of each file of records.
    pub reports: Vec<Report>,
}

/// A split that was declared.
pub struct RegisteredSplit {
    /// Its name.
    pub name: String,
    /// Its label.
    pub label: String,
    /// How many records or files it has.
    pub rows: u64,
    /// Whether it is a split of files.
    pub files: bool,
}

/// What was read of all splits.
#[derive(Default)]
struct Read {
    drafts: Vec<SplitDraft>,
    reports: Vec<Report>,
    sources: Vec<SourceDoc>,
    /// In a dry run, the ids of each split of records.
    ids: Vec<(String, Vec<String>)>,
}

/// Registers a dataset as it is declared.
pub fn register(session: &Session, request: &RegisterRequest<'_>, listener: &mut dyn Listener) -> Outcome<Registered> {
    session.must_manage("register")?;
    let plans = plans(request.declaration, request.shelf)?;
    plan::check_sums(request.declaration, request.shelf)?;
    let _held = if request.dry_run { None } else { session.store.hold()? };
    let (about, derivation) = derive(session, &about(request)?)?;
    let mut target = Target::find(session, &request.declaration.slug, &about)?;
    rules::check_metadata(session, request.declaration, &target.dataset)?;
    rules::check(session, request.declaration, &plans, &target)?;
    let new = target.head.is_none();
    let mut profile = if new { Profile::Plain } else { target.profile() };
    loop {
        let work = Work { session, request, plans: &plans, about: &about, derivation: &derivation, profile };
        match work.attempt(&mut target, new && profile == Profile::Plain, listener) {
            Err(Stop::IsCase) => profile = Profile::Case,
            done => return Ok(done?),
        }
    }
}

/// All that one attempt needs.
struct Work<'w> {
    session: &'w Session,
    request: &'w RegisterRequest<'w>,
    plans: &'w [Plan<'w>],
    about: &'w About,
    derivation: &'w Derivation,
    profile: Profile,
}

impl Work<'_> {
    fn attempt(&self, target: &mut Target, watch: bool, listener: &mut dyn Listener) -> Result<Registered, Stop> {
        target.dataset.profile = self.profile.name().to_owned();
        let labelling = target.labelled(&self.labelling(target)?)?;
        let policy = labelling.policy(None, self.profile, target.head.as_ref().map(|(_, policy)| policy))?;
        let names = || self.plans.iter().map(|plan| plan.split.name.as_str());
        let let_out = self.derivation.check(&policy, names(), self.request.declassify.as_deref())?;
        let mut read = Read::default();
        for plan in self.plans {
            self.read(target, &policy, (plan, watch), &mut read, listener)?;
        }
        let splits = self.registered(&policy, &read.drafts)?;
        if read.reports.iter().any(|report| report.faults > 0) {
            return Ok(Registered { committed: None, change: None, version: None, splits, reports: read.reports });
        }
        if !self.request.dry_run {
            let declared: Vec<&str> = names().collect();
            let mut all = carried(self.session, target, &policy, &declared)?;
            all.append(&mut read.drafts);
            read.drafts = all;
        }
        let mut draft = target.draft(policy, read.drafts, &labelling, self.about, "register");
        draft.declassified = draft.declassified.or_else(|| self.request.declassify.clone().filter(|_| let_out));
        draft.sources = read.sources;
        draft.tag = version_tag(&read.reports);
        if self.request.dry_run {
            self.check_ids(&draft.policy, &read.ids)?;
            let (version, new) = preview(self.session, &draft)?;
            let change = change(target.head.is_none(), new, self.described(&target.dataset) != target.dataset);
            return Ok(Registered {
                committed: None,
                change: Some(change),
                version: Some(version),
                splits,
                reports: read.reports,
            });
        }
        check_companions(self.session, target, &draft)?;
        let committed = target.register(self.session, &draft)?;
        let described = self.describe(&committed)?;
        let change = change(target.head.is_none(), committed.created, described);
        let version = Some(committed.version.number);
        Ok(Registered { committed: Some(committed), change: Some(change), version, splits, reports: read.reports })
    }

    /// What the declaration states about labels; a new split that it says nothing of is open.
    fn labelling(&self, target: &Target) -> Outcome<Labelling> {
        let mut stated = self.request.declaration.policy_over(PolicyDraft::default());
        let known = |split: &str| {
            target.head.as_ref().is_some_and(|(_, policy)| policy.splits().any(|(known, _)| known == split))
        };
        for plan in self.plans {
            let name = &plan.split.name;
            if stated.splits.contains_key(name) || known(name) {
                continue;
            }
            if stated.answers_for.contains_key(name) {
                let message = format!("split `{name}` holds answers, and nothing says who may see them");
                let help = format!("state it: `{name}: {{visibility: evaluator_only, …}}`");
                return Err(Refusal::invalid(Code::E040, message, help));
            }
            stated.splits.insert(name.clone(), AGENT_VISIBLE.to_owned());
        }
        Ok(Labelling { policy: Some(stated), declassify: self.request.declassify.clone(), ..Labelling::default() })
    }

    fn read(
        &self,
        target: &mut Target,
        policy: &Policy,
        (plan, watch): (&Plan<'_>, bool),
        read: &mut Read,
        listener: &mut dyn Listener,
    ) -> Result<(), Stop> {
        let (shelf, split) = (self.request.shelf, plan.split.name.as_str());
        if plan.files {
            let tree = shelf.tree(&plan.names)?;
            if self.request.dry_run {
                let (labels, key) = (policy.in_split(split).map_err(Box::<Refusal>::from)?, target.commit_key());
                let keeping = Keeping { split, label: labels.own(), key: &key, pinned: plan.pinned };
                let entries = keeping.entries(&*tree, listener)?;
                read.drafts.push(weighed(split, entries.len() as u64, root_of(&entries)?, true));
                return Ok(());
            }
            let staged = stage(self.session, target, policy, (split, plan.pinned), &*tree, listener)?;
            read.drafts.push(staged.0);
            read.sources.extend(staged.1);
            return Ok(());
        }
        let unreadable = |error| crate::import::unreadable(&plan.names.join("`, `"), &error);
        let sources = shelf.sources(&plan.names).map_err(unreadable)?;
        let part = Part { split, policy, profile: self.profile, watch, reading: self.request.reading };
        if self.request.dry_run {
            let labels = policy.in_split(split).map_err(Box::<Refusal>::from)?;
            let key = target.commit_key();
            let (profile, checker) = (self.profile, target.checker()?);
            let staging = Staging { labels: &labels, key: &key, policy, profile, watch, schema: checker.as_ref() };
            let (mut chunker, mut ids) = (Chunker::new(), Vec::new());
            let (reports, _) = staging.read(&*sources, part.reading, listener, &mut |staged| {
                chunker.push(staged.leaf);
                ids.push(staged.id.to_string());
                Ok(())
            })?;
            let sum = chunker.finish().1;
            read.drafts.push(weighed(split, sum.rows, sum.root, false));
            read.ids.push((split.to_owned(), ids));
            read.reports.extend(reports);
            return Ok(());
        }
        let taken = take_records(self.session, target, part, &*sources, listener)?;
        plan::check_read(self.request.declaration, &plan.names, &taken.sources)?;
        read.drafts.push(taken.draft);
        read.reports.extend(taken.reports);
        read.sources.extend(taken.sources);
        Ok(())
    }

    fn registered(&self, policy: &Policy, drafts: &[SplitDraft]) -> Outcome<Vec<RegisteredSplit>> {
        let registered = |draft: &SplitDraft| {
            let label = policy.in_split(&draft.name)?.own().name().to_owned();
            let files = matches!(draft.body, SplitBody::Files(_));
            Ok(RegisteredSplit { name: draft.name.clone(), label, rows: draft.rows, files })
        };
        drafts.iter().map(registered).collect()
    }

    fn check_ids(&self, policy: &Policy, ids: &[(String, Vec<String>)]) -> Outcome<()> {
        let of = |split: &str| ids.iter().find(|(name, _)| name == split).map(|(_, ids)| ids.as_slice());
        for (answers, given) in ids {
            let Some(prompts) = policy.prompts_of(answers) else { continue };
            if let Some(known) = of(prompts) {
                companions::check_ids((answers, given), (prompts, known))?;
            }
        }
        Ok(())
    }

    /// The dataset as the declaration describes it.
    fn described(&self, dataset: &DatasetDoc) -> DatasetDoc {
        let (about, mut dataset) = (self.about, dataset.clone());
        dataset.name = about.name.clone().unwrap_or(dataset.name);
        dataset.description = about.description.clone().or(dataset.description);
        dataset.license = about.license.clone().or(dataset.license);
        dataset.source = about.source.clone().or(dataset.source);
        dataset.retention = about.retention.clone().or(dataset.retention);
        dataset.more = rules::more(self.request.declaration, &dataset);
        if let Some(deletion) = self.request.declaration.metadata.get("deletion_status").and_then(Value::as_str) {
            deletion.clone_into(&mut dataset.deletion_status);
        }
        if !about.tags.is_empty() {
            dataset.tags.clone_from(&about.tags);
        }
        dataset
    }

    /// Writes what the declaration says of the dataset, if it says something else than before.
    fn describe(&self, committed: &Committed) -> Outcome<bool> {
        let (session, slug) = (self.session, &committed.dataset.slug);
        let mut changed = false;
        log::commit(session, || {
            let dataset = resolve::dataset(&session.store, slug)?;
            let mut described = self.described(&dataset);
            if !described.more.as_deref().is_some_and(|more| resolve::mapping(more).contains("owner_id")) {
                let owner = crate::principal::current(session)?.id;
                crate::status::set(&mut described, "owner_id", Some(Value::from(owner)));
            }
            changed = described != dataset;
            let mut batch = Batch { durable: true, ..Batch::default() };
            if !changed {
                return Ok(batch);
            }
            batch.expect.push((dataset_key(slug), Some(dataset.to_bytes()?)));
            batch.put.push((dataset_key(slug), described.to_bytes()?));
            Ok::<_, Box<Refusal>>(log::logged(&session.store, &self.entry(committed), batch)?)
        })?;
        Ok(changed)
    }

    fn entry(&self, committed: &Committed) -> AuditDoc {
        AuditDoc {
            time: self.session.clock.now(),
            who: self.session.user.clone(),
            audience: self.session.viewer.name().to_owned(),
            place: self.session.viewer.place().name().to_owned(),
            purpose: "register".to_owned(),
            dataset: committed.dataset.slug.clone(),
            version: committed.version.digest.clone(),
            splits: Vec::new(),
            labels: Vec::new(),
            rows: 0,
            allowed: true,
            note: Some("described anew".to_owned()),
        }
    }
}

fn change(new_dataset: bool, new_version: bool, described: bool) -> Change {
    match (new_dataset, new_version, described) {
        (true, ..) => Change::NewDataset,
        (_, true, _) => Change::NewVersion,
        (.., true) => Change::Description,
        _ => Change::Nothing,
    }
}

/// A split of which only the root is known.
fn weighed(name: &str, rows: u64, root: Digest, files: bool) -> SplitDraft {
    let body = match files {
        true => SplitBody::Files(heldset_store::documents::FilesDoc { files: Vec::new(), paths: None }),
        false => SplitBody::Records { chunks: Vec::new(), packs: Vec::new() },
    };
    SplitDraft { name: name.to_owned(), rows, root, body, base: None }
}

/// What the declaration says of the version and the dataset.
fn about(request: &RegisterRequest<'_>) -> Outcome<About> {
    let declared = request.declaration;
    let made = &declared.generation;
    let source = declared.source.as_ref().map(|source| {
        let mut object = Object::new();
        object.set("uri", Value::from(source.uri.clone()));
        if let Some(revision) = &source.revision {
            object.set("revision", Value::from(revision.clone()));
        }
        object
    });
    let pinned = (declared.mode == Mode::Mounted).then(|| {
        let mut contract = Object::new();
        contract.set("access", Value::from("read_only"));
        contract.set("on_unavailable", Value::from("fail"));
        contract.set("path", Value::from(request.shelf.place()));
        contract
    });
    Ok(About {
        message: request.message.clone(),
        license: declared.license.clone(),
        provenance: stream::provenance(declared, request.shelf)?,
        mode: Some(declared.mode).filter(|mode| *mode != Mode::Synced),
        generation: Generation {
            parents: declared.parents.clone(),
            run: made.run.clone(),
            code: made.code.clone(),
            agent: made.agent.clone(),
            seed: made.seed.clone(),
            policy: made.policy.clone(),
            filters: made.filters.clone(),
            redaction: made.redaction.clone(),
        },
        parents: Vec::new(),
        name: Some(declared.name.clone()),
        description: declared.description.clone(),
        tags: declared.tags.clone(),
        source: source.map(text_of),
        retention: declared.retention.clone().map(text_of),
        more: rules::declared_more(declared),
        mount: declared.mount.clone().or(pinned).map(text_of),
        edges: Vec::new(),
        merging: None,
    })
}

fn text_of(object: Object<'static>) -> String {
    String::from_utf8(canonical::bytes(&Value::Object(object))).expect("canonical bytes are UTF-8")
}
