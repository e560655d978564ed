//! Registering what a preparation made, with where it came from.
//!
//! *Invariant:* the version, its edges and the record of the preparation appear together. What is in the clear names
//! no sealed field; the same preparation of the same data makes no new version.

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::leaf::Leaves;
use heldset_core::manifest::Mode;
use heldset_core::number::Number;
use heldset_core::prepare::Preparation;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Policy;
use heldset_core::{lineage::uuid_of, profile::Profile};
use heldset_store::documents::Document;
use heldset_store::pack::Stager;
use heldset_store::registry::{NodeDoc, PreparationDoc, preparation_key};

use super::PrepareRequest;
use super::inherit::{self, Inherited};
use super::lookup::Opened;
use super::recorded::record_of;
use super::rows::{Made, Out};
use crate::commit::{Committed, SplitDraft};
use crate::edges::version_node;
use crate::gather::{Gather, Packing};
use crate::import::{About, Labelling, Target, split_draft};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::Resolved;
use crate::rows::SplitRows;
use crate::schema::Checker;
use crate::session::Session;
use crate::view::{View, digest_of};

/// What is registered, and where it comes from.
pub(super) struct Job<'j> {
    pub(super) session: &'j Session,
    pub(super) request: &'j PrepareRequest<'j>,
    pub(super) view: &'j View<'j>,
    pub(super) lookups: &'j [Opened<'j>],
    pub(super) made: &'j Made,
    /// Whether a stated reason was needed.
    pub(super) let_out: bool,
}

impl Job<'_> {
    /// Registers the version; gives the id of the preparation.
    pub(super) fn register(
        &self,
        mut target: Target,
        policy: Policy,
        inherited: &Inherited,
    ) -> Outcome<(String, Committed)> {
        let session = self.session;
        let parents: Vec<&Resolved> = self.parents().collect();
        let rules = Preparation { target_format: None, ..self.request.preparation.clone() };
        let rules = rules.to_value();
        let id = self.id(&target, &rules, &parents);
        target.dataset.profile.clone_from(&self.view.resolved.dataset.profile);
        if Profile::parse(&target.dataset.profile).is_none() {
            target.dataset.profile = Profile::Plain.name().to_owned();
        }
        let splits = self.made.outs.iter().map(|out| self.stage(&mut target, &policy, out));
        let splits = splits.collect::<Outcome<Vec<SplitDraft>>>()?;
        let mut edges: Vec<(&'static str, NodeDoc)> = Vec::new();
        for (index, parent) in parents.iter().enumerate() {
            let relationship = if index == 0 { "prepared_from" } else { "looked_up_in" };
            edges.push((relationship, version_node(&parent.dataset, &parent.version)));
        }
        let about = About {
            message: self.request.message.clone(),
            mode: Some(Mode::Generated),
            provenance: self.provenance(&id, &rules, &parents),
            parents: parents.iter().map(|parent| digest_of(parent)).collect::<Outcome<_>>()?,
            edges,
            ..About::default()
        };
        let labelling = Labelling { declassify: self.request.declassify.clone(), ..Labelling::default() };
        let mut draft = target.draft(policy, splits, &labelling, &about, "prepare");
        draft.whole = true;
        let reason = self.request.declassify.clone().filter(|_| self.let_out);
        draft.declassified = draft.declassified.or(reason);
        if !target.kept {
            // The record is sealed with them. Who is not registered in the end leaves them behind, and nothing else.
            session.store.keys().save(&target.dataset.id, &target.keys)?;
        }
        let cites: Vec<String> =
            parents.iter().map(|parent| format!("{}@{}", parent.dataset.slug, parent.version.number)).collect();
        let record = String::from_utf8(canonical::bytes(&record_of(&cites, rules, &self.made.dropped)))
            .expect("canonical bytes are UTF-8");
        let doc = PreparationDoc {
            id: id.clone(),
            dataset: target.dataset.slug.clone(),
            audience: session.viewer.name().to_owned(),
            record: session.store.seal_note(&target.dataset.id, &record)?,
            time: session.clock.now(),
            who: session.user.clone(),
        };
        draft.notes.push((preparation_key(&target.dataset.id, &id), doc.to_bytes()?));
        crate::import::check_companions(session, &target, &draft)?;
        let committed = target.register(session, &draft)?;
        if target.kept {
            inherit::hand_down(session, &target.dataset.slug, inherited)?;
        }
        Ok((id, committed))
    }

    /// The version that is prepared, then those that are looked up in.
    fn parents(&self) -> impl Iterator<Item = &Resolved> {
        std::iter::once(&self.view.resolved).chain(self.lookups.iter().map(|lookup| &lookup.view.resolved))
    }

    /// An id that the same preparation of the same data has again, and that tests no guess about its rules.
    fn id(&self, target: &Target, rules: &Value<'_>, parents: &[&Resolved]) -> String {
        let mut parts: Vec<Vec<u8>> = vec![canonical::bytes(rules), self.session.viewer.name().as_bytes().to_vec()];
        parts.extend(parents.iter().map(|parent| parent.version.digest.clone().into_bytes()));
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        uuid_of(&target.commit_key().row_key("preparation", "").commit("preparation", &parts))
    }

    /// What the version says of itself: the rules only if nothing sealed decides about their words.
    fn provenance(&self, id: &str, rules: &Value<'static>, parents: &[&Resolved]) -> Object<'static> {
        let count = |count: u64| Value::Number(Number::from_u64(count));
        let parent = |parent: &&Resolved| {
            let mut entry = Object::new();
            entry.set("cited", Value::from(format!("dataset:{}@{}", parent.dataset.slug, parent.version.number)));
            entry.set("digest", Value::from(parent.version.digest.clone()));
            Value::Object(entry)
        };
        let tally = &self.made.tally;
        let mut counts = Object::new();
        for (name, number) in [
            ("read", tally.read),
            ("filtered", tally.filtered),
            ("deduplicated", tally.deduplicated),
            ("kept", tally.kept),
        ] {
            counts.set(name, count(number));
        }
        let mut provenance = Object::new();
        provenance.set("preparation", Value::from(id.to_owned()));
        provenance.set("parents", Value::Array(parents.iter().map(parent).collect()));
        provenance.set("code", Value::from(format!("heldset {}", self.request.product)));
        if let Some(plan) = &self.request.preparation.split {
            provenance.set("seed", Value::from(plan.seed.clone()));
        }
        let (counts, rules) = match self.all_open() {
            true => (Value::Object(counts), rules.clone()),
            false => (Value::from("sealed"), Value::from("sealed")),
        };
        provenance.set("counts", counts);
        provenance.set("rules", rules);
        provenance
    }

    /// Whether nothing that the preparation reads is sealed.
    fn all_open(&self) -> bool {
        let views = std::iter::once(self.view).chain(self.lookups.iter().map(|lookup| &lookup.view));
        let mut labels = views.flat_map(|view| {
            view.resolved.version.splits.iter().map(|split| view.resolved.policy.in_split(&split.name))
        });
        labels.all(|labels| labels.is_ok_and(|labels| labels.own().is_open() && labels.sealed().next().is_none()))
    }

    /// Writes the records of a split; nothing is registered yet.
    fn stage(&self, target: &mut Target, policy: &Policy, out: &Out) -> Outcome<SplitDraft> {
        let store = &self.session.store;
        let labels = policy.in_split(&out.split)?;
        let known = SplitRows::known_under(store, &target.dataset.id, &out.split, labels.own().name())?;
        let erased = known.erased_leaves();
        let sealing = target.sealing(self.session, &out.split);
        let mut stager = Stager::new(Leaves::committed(labels.clone(), &target.commit_key()));
        let packing = Packing { store, labels: &labels, sealing: &sealing };
        if let Some(text) = &target.schema {
            let checker = Checker::of(text)?;
            out.records
                .iter()
                .try_for_each(|record| checker.refuse(record, &|field| self.session.viewer.sees(labels.of(field))))?;
        }
        let gathered = std::thread::scope(|scope| {
            let mut gather = Gather::start(scope, packing, &known);
            for record in &out.records {
                let staged = stager.stage(record);
                if erased.contains(&staged.leaf) {
                    gather.abandon()?;
                    let message = format!("record `{}` was erased from `{}`", staged.id, target.dataset.slug);
                    let help = "filter it out: what was erased does not come back";
                    return Err(Refusal::invalid(Code::E045, message, help));
                }
                if gather.push(staged).is_err() {
                    break;
                }
            }
            Ok(gather.finish()?)
        })?;
        Ok(split_draft(&out.split, gathered))
    }
}
