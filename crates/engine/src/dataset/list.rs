//! The datasets that somebody looks for.

use heldset_core::registry::Status;
use heldset_store::documents::DatasetDoc;

use super::{Described, describe, describe::stated, texts};
use crate::refusal::Outcome;
use crate::resolve::datasets;
use crate::session::Session;
use crate::status;

/// What is looked for; nothing that is stated leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// In this status.
    pub status: Option<Status>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// In this category.
    pub category: Option<String>,
    /// Of this team.
    pub team: Option<String>,
    /// With this text in slug, name or description, in any case.
    pub text: Option<String>,
}

impl Wanted {
    /// Whether a dataset is looked for.
    pub fn matches(&self, dataset: &DatasetDoc) -> bool {
        let fields = stated(dataset);
        let of = |name: &str| fields.get(name).map(texts).unwrap_or_default();
        let is = |name: &str, wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| fields.get(name).and_then(|value| value.as_str()) == Some(wanted))
        };
        let has_text = |wanted: &String| {
            let description = dataset.description.as_deref().unwrap_or_default();
            let all = format!("{}\n{}\n{description}", dataset.slug, dataset.name);
            all.to_lowercase().contains(&wanted.to_lowercase())
        };
        self.status.is_none_or(|wanted| status::of(dataset) == wanted)
            && self.tags.iter().all(|tag| dataset.tags.contains(tag))
            && self.category.as_ref().is_none_or(|wanted| of("categories").contains(wanted))
            && is("team", &self.team)
            && self.text.as_ref().is_none_or(has_text)
    }
}

/// The datasets that are looked for, by slug.
pub fn list(session: &Session, wanted: &Wanted) -> Outcome<Vec<Described>> {
    let found = datasets(&session.store)?.into_iter().filter(|dataset| wanted.matches(dataset));
    found.map(|dataset| describe(session, &dataset)).collect()
}
