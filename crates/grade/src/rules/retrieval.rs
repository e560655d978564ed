//! Retrieval: which of the expected sources an agent found in its memory.
//!
//! *Invariant:* a source counts once, where it was found first.

use heldset_core::fault::Problem;

use super::Verdict;
use crate::case::Case;
use crate::settings::{Settings, suggest, texts_of};

const METRICS: &[&str] = &["recall", "precision", "hit"];

/// A measure of retrieval over the first `k` sources that were found, or over all.
#[derive(Debug)]
pub(crate) struct Retrieval {
    sources: Option<Vec<String>>,
    metric: &'static str,
    k: Option<usize>,
}

impl Retrieval {
    pub(super) fn read(settings: &Settings<'_>) -> Result<Self, Problem> {
        let (sources, expected) = (settings.texts("sources")?, settings.texts("expected_sources")?);
        let written = settings.text("metric")?.unwrap_or_else(|| "recall".to_owned());
        let (name, at) = match written.split_once('@') {
            Some((name, at)) => (name, Some(at)),
            None => (written.as_str(), None),
        };
        let Some(metric) = METRICS.iter().find(|metric| **metric == name) else {
            return Err(settings.fault("metric", format!("unknown metric `{written}`")).help(suggest(name, METRICS)));
        };
        let k = match at {
            None | Some("k") => settings.count("k")?,
            Some(number) => {
                settings.any("k");
                let number = number.parse::<u64>().ok();
                Some(number.ok_or_else(|| settings.fault("metric", format!("unknown metric `{written}`")))?)
            }
        };
        if k == Some(0) {
            return Err(settings.fault("k", "`k` must be at least 1"));
        }
        let k = k.map(|k| usize::try_from(k).unwrap_or(usize::MAX));
        Ok(Retrieval { sources: sources.or(expected), metric, k })
    }

    pub(super) fn takes_reference(&self) -> bool {
        self.sources.is_none()
    }

    pub(super) fn score(&self, case: &Case<'_>) -> Verdict {
        let wanted = match self.sources.clone().or_else(|| texts_of(case.reference?)) {
            Some(wanted) if wanted.is_empty() => return Verdict::Unscored("no reference".to_owned()),
            Some(wanted) => wanted,
            None => return Verdict::Error("the expected sources are no list of texts".to_owned()),
        };
        let mut found: Vec<&str> = Vec::new();
        for source in case.turns.iter().flat_map(|turn| &turn.steps).flat_map(|step| &step.sources) {
            if !found.contains(&source.as_str()) {
                found.push(source);
            }
        }
        found.truncate(self.k.unwrap_or(usize::MAX));
        let mut distinct = wanted.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let hits = distinct.iter().filter(|source| found.contains(&source.as_str())).count();
        let share = |of: usize| if of == 0 { 0.0 } else { hits as f64 / of as f64 };
        let score = match self.metric {
            "precision" => share(found.len()),
            "hit" => f64::from(u8::from(hits > 0)),
            _ => share(distinct.len()),
        };
        Verdict::score(score, format!("{hits} of {} expected among {} found", distinct.len(), found.len()))
    }
}
