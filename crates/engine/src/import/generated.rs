//! Versions that were made: by which run, from which versions, with which code.
//!
//! *Invariant:* nothing made is registered without its run, its parents and its code; and it lets out no more than its
//! parents do, unless somebody says why.

use heldset_core::code::Code;
use heldset_core::declaration::Parent;
use heldset_core::manifest::Mode;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::{Derived, Label, Policy};

use super::About;
use crate::edges::{run_node, version_node};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::{Resolved, resolve};
use crate::session::Session;
use crate::view::{cited, digest_of};

/// How a version was made, as it is stated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generation {
    /// What it is made of.
    pub parents: Vec<Parent>,
    /// The run.
    pub run: Option<String>,
    /// The snapshot of the code.
    pub code: Option<String>,
    /// The agent or model.
    pub agent: Option<String>,
    /// The seed, or the seeds.
    pub seed: Option<Value<'static>>,
    /// The policy of the generation.
    pub policy: Option<Value<'static>>,
    /// What was filtered.
    pub filters: Option<Value<'static>>,
    /// What was redacted.
    pub redaction: Option<Value<'static>>,
}

/// The versions that something is made of.
#[derive(Default)]
pub(crate) struct Derivation {
    parents: Vec<Resolved>,
}

/// What is said of a version, with what it is made of in its provenance.
pub(crate) fn derive(session: &Session, about: &About) -> Outcome<(About, Derivation)> {
    let made = &about.generation;
    if about.mode != Some(Mode::Generated) {
        if *made == Generation::default() {
            return Ok((about.clone(), Derivation::default()));
        }
        let message = "parents, run, code, agent, seed, policy, filters and redaction are of a generated version";
        return Err(Refusal::usage(Code::E103, message, "say `--mode generated`, or leave them out"));
    }
    let run = made.run.clone().or_else(|| made.parents.iter().find_map(run_of));
    let cites: Vec<&Parent> = made.parents.iter().filter(|parent| matches!(parent, Parent::Dataset(_))).collect();
    check_complete(run.is_some(), !cites.is_empty(), made.code.is_some())?;
    let (mut about, mut derivation) = (about.clone(), Derivation::default());
    let mut parents = Vec::new();
    // Who derives may say how; else it is told by what is stated.
    let mut edges = Vec::new();
    for parent in &made.parents {
        let mut entry = Object::with_capacity(2);
        entry.set("cited", Value::from(parent.to_string()));
        if let Parent::Dataset(cite) = parent {
            let resolved = resolve(&session.store, &cite.to_string())?;
            let digest = digest_of(&resolved)?;
            entry.set("digest", Value::from(digest.to_string()));
            about.parents.push(digest);
            edges.push(("derived_from", version_node(&resolved.dataset, &resolved.version)));
            derivation.parents.push(resolved);
        }
        parents.push(Value::Object(entry));
    }
    edges.extend(run.iter().map(|run| ("generated_by", run_node(run))));
    if about.edges.is_empty() {
        about.edges = edges;
    }
    let text = |text: &Option<String>| text.clone().map(Value::from);
    let mut set = |key: &'static str, value: Option<Value<'static>>| {
        if let Some(value) = value {
            about.provenance.set(key, value);
        }
    };
    set("run", run.map(Value::from));
    set("parents", Some(Value::Array(parents)));
    set("code", text(&made.code));
    set("agent", text(&made.agent));
    set("seed", made.seed.clone());
    set("policy", made.policy.clone());
    set("filters", made.filters.clone());
    set("redaction", made.redaction.clone());
    Ok((about, derivation))
}

fn run_of(parent: &Parent) -> Option<String> {
    match parent {
        Parent::Run(run) => Some(run.clone()),
        Parent::Dataset(_) => None,
    }
}

fn check_complete(run: bool, parents: bool, code: bool) -> Outcome<()> {
    let needed = [("the run (`--run`)", run), ("a parent (`--parent`)", parents), ("the code (`--code`)", code)];
    let missing: Vec<&str> = needed.iter().filter(|(_, there)| !there).map(|(what, _)| *what).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Refusal::usage(
        Code::E044,
        format!("a generated version says what made it, and this is missing: {}", missing.join(", ")),
        "without it nobody can tell later what the data comes from",
    ))
}

impl Derivation {
    /// Checks that splits let out no more than the parents allow. Says whether a stated reason was needed.
    pub(crate) fn check<'n>(
        &self,
        policy: &Policy,
        splits: impl Iterator<Item = &'n str>,
        declassify: Option<&str>,
    ) -> Outcome<bool> {
        let found = self.check_parents(policy, splits);
        match (found, declassify) {
            (Ok(()), _) => Ok(false),
            (Err(_), Some(_)) => Ok(true),
            (Err(refusal), None) => Err(refusal),
        }
    }

    fn check_parents<'n>(&self, policy: &Policy, splits: impl Iterator<Item = &'n str>) -> Outcome<()> {
        for parent in &self.parents {
            let closed: Vec<String> = labels_of(parent)?
                .iter()
                .filter(|label| !parent.policy.movement(label).derived.allows(Derived::Records))
                .map(|label| format!("`{}`", label.name()))
                .collect();
            if !closed.is_empty() {
                let message = format!("{} of {} may not be in derived records", closed.join(", "), cited(parent));
                let help = "say why they are not, or may be, with `--declassify REASON`, or allow `derived: records` under `movement` of the parent";
                return Err(Refusal::denied(Code::E121, message, help));
            }
        }
        for split in splits {
            let own = policy.in_split(split)?.own().clone();
            for parent in &self.parents {
                let exceeded = |label: &&Label| !own.audiences().is_subset(label.audiences());
                if let Some(label) = labels_of(parent)?.iter().find(exceeded) {
                    return Err(Refusal::denied(
                        Code::E122,
                        format!(
                            "split `{split}` is `{}`, and {} is `{}`, which fewer audiences see",
                            own.name(),
                            cited(parent),
                            label.name()
                        ),
                        format!("use `--visibility {}`, or say why with `--declassify REASON`", label.name()),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Every label that something in a version can have.
fn labels_of(resolved: &Resolved) -> Outcome<Vec<Label>> {
    let mut labels: Vec<Label> = Vec::new();
    for split in &resolved.version.splits {
        let of_split = resolved.policy.in_split(&split.name)?;
        let fields = if split.files { &[] } else { of_split.labels() };
        for label in std::iter::once(of_split.own()).chain(fields) {
            if !labels.contains(label) {
                labels.push(label.clone());
            }
        }
    }
    Ok(labels)
}
