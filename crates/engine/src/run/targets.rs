//! The targets of a run: one for each scenario, checked before the first session.
//!
//! *Invariant:* two targets with the same digest are asked in the same way; no secret is in what is kept of one.

use std::ops::ControlFlow;

use heldset_core::canonical;
use heldset_core::code::Code;
use heldset_core::digest::{Digest, tagged_value};
use heldset_core::plan::Plan;
use heldset_core::run::{SecretError, Target};
use heldset_core::target::{identity, is_reusable, overlaid};
use heldset_core::value::Object;
use heldset_store::run::{RunDoc, RunTargetDoc};

use super::RunRequest;
use crate::agents::{Agents, Ended, Outside, Preparation, TargetFacts, TargetSpec, Task};
use crate::refusal::{Outcome, Refusal};
use crate::resolve::mapping;

/// The target of a scenario.
pub(crate) struct PreparedTarget {
    scenario: String,
    config: Object<'static>,
    /// What of it is in run keys.
    pub(crate) identity: Target<'static>,
    /// The digest of that.
    pub(crate) digest: Digest,
    /// What it says of itself.
    pub(crate) facts: TargetFacts,
}

/// Targets that nothing is asked of.
struct Nobody;

impl Agents for Nobody {
    fn facts(&self) -> &[TargetFacts] {
        &[]
    }

    fn drive(&mut self, next: &mut dyn FnMut() -> Option<Task>, _ended: &mut dyn FnMut(Ended) -> ControlFlow<()>) {
        while next().is_some() {}
    }
}

/// The targets of a run whose outputs are used, as they were.
pub(crate) fn remember(run: &RunDoc) -> Outcome<(Box<dyn Agents>, Vec<PreparedTarget>)> {
    let targets = run.targets.iter().map(PreparedTarget::remembered).collect::<Outcome<Vec<_>>>()?;
    Ok((Box::new(Nobody), targets))
}

/// Prepares the targets of a plan.
pub(crate) fn prepare(
    plan: &Plan,
    request: &RunRequest<'_>,
    outside: &dyn Outside,
) -> Outcome<(Box<dyn Agents>, Vec<PreparedTarget>)> {
    let specs: Vec<TargetSpec> = plan
        .scenarios
        .iter()
        .map(|scenario| TargetSpec { scenario: scenario.id.clone(), config: overlaid(&plan.target, &scenario.overlay) })
        .collect();
    for spec in &specs {
        // A secret is found before anything is started.
        identity(&spec.config, &[], &Object::new()).map_err(secret)?;
    }
    let agents = outside.prepare(&Preparation {
        targets: &specs,
        max_concurrent: usize::try_from(plan.max_concurrent).unwrap_or(usize::MAX).max(1),
        run_timeout: plan.run_timeout,
        setup_script: plan.setup_script.as_deref(),
        hidden: request.hidden,
        base: request.base,
    })?;
    let facts = agents.facts().to_vec();
    let targets = specs.into_iter().zip(facts).map(|(spec, facts)| PreparedTarget::new(spec, facts));
    let targets = targets.collect::<Outcome<Vec<_>>>()?;
    Ok((agents, targets))
}

impl PreparedTarget {
    fn new(spec: TargetSpec, facts: TargetFacts) -> Outcome<Self> {
        let digest = |(name, hex): &(String, String)| hex.parse().map(|digest: Digest| (name.clone(), digest));
        let files: Result<Vec<(String, Digest)>, _> = facts.files.iter().map(digest).collect();
        let files = files.map_err(|_| super::internal("a target told a digest that is none"))?;
        let identity = identity(&spec.config, &files, &Object::new()).map_err(secret)?;
        let digest = tagged_value("target", identity.configuration());
        Ok(PreparedTarget { scenario: spec.scenario, config: spec.config, identity, digest, facts })
    }

    /// What is in the run key of a record that gives something to the runtime.
    pub(crate) fn identity_with(&self, runtime: &Object<'static>) -> Result<Target<'static>, SecretError> {
        let known = self.identity.configuration().as_object().cloned().unwrap_or_default();
        identity(&known, &[], runtime)
    }

    /// A target as a run knew it, whatever became of it since.
    fn remembered(doc: &RunTargetDoc) -> Outcome<Self> {
        let identity = Target::new(mapping(&doc.identity)).map_err(secret)?;
        let digest = tagged_value("target", identity.configuration());
        let facts = TargetFacts { kind: doc.kind.clone(), takes_seeds: true, ..TargetFacts::default() };
        Ok(PreparedTarget { scenario: doc.scenario.clone(), config: mapping(&doc.config), identity, digest, facts })
    }

    /// Whether its results may be used again by other runs.
    pub(crate) fn is_reusable(&self) -> bool {
        is_reusable(&self.config)
    }

    /// What is kept of it.
    pub(crate) fn to_doc(&self) -> RunTargetDoc {
        let mut config = Vec::new();
        canonical::write_object(&self.config, &mut config);
        RunTargetDoc {
            scenario: self.scenario.clone(),
            kind: self.facts.kind.clone(),
            config: String::from_utf8(config).expect("canonical bytes are UTF-8"),
            identity: String::from_utf8(canonical::bytes(self.identity.configuration()))
                .expect("canonical bytes are UTF-8"),
            digest: self.digest.to_string(),
            reported: None,
            isolation: self.facts.isolation.map(str::to_owned),
            reusable: self.is_reusable(),
        }
    }
}

fn secret(error: SecretError) -> Box<Refusal> {
    let help = "write the name of an environment variable, as `${NAME}`: its value is never stored";
    Refusal::usage(Code::E057, error.to_string(), help)
}
