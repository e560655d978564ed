//! What a user states about labels, wherever records come in.

use std::path::PathBuf;

use clap::Args;
use heldset_core::profile::Profile;
use heldset_core::visibility::PolicyDraft;
use heldset_engine::import::Labelling;

use crate::commands::import::pair;
use crate::exit::Failure;

/// Labels of a split and its fields.
#[derive(Args)]
pub(crate) struct LabelArgs {
    /// The label of the split
    #[arg(long, value_name = "LABEL")]
    visibility: Option<String>,
    /// The label of a field, or of a family such as `expected*`
    #[arg(long = "label", value_name = "FIELD=LABEL")]
    labels: Vec<String>,
    /// A policy file (YAML or JSON), laid over the labels there are
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// What the records are taken for
    #[arg(long, value_name = "PROFILE", value_parser = ["case", "plain"])]
    profile: Option<String>,
    /// Why more audiences may see something than before
    #[arg(long, value_name = "REASON")]
    declassify: Option<String>,
}

impl LabelArgs {
    /// What is stated.
    pub(crate) fn labelling(&self) -> Result<Labelling, Failure> {
        Ok(Labelling {
            profile: self.profile.as_deref().and_then(Profile::parse),
            labels: self.labels.iter().map(|label| pair(label, "--label", "FIELD=LABEL")).collect::<Result<_, _>>()?,
            visibility: self.visibility.clone(),
            policy: self.policy.as_deref().map(load_policy).transpose()?,
            declassify: self.declassify.clone(),
        })
    }
}

fn load_policy(path: &std::path::Path) -> Result<PolicyDraft, Failure> {
    let value = crate::commands::load_document(path)?;
    let mut inner = &value;
    if let Some(visibility) = value.as_object().and_then(|object| object.get("visibility")) {
        inner = visibility;
    }
    PolicyDraft::from_value(inner).map_err(|error| Failure::refused(&Box::from(error)))
}
