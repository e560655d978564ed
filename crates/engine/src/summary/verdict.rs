//! What a gate says of a run, with its evidence.
//!
//! *Invariant:* every row is evidence, with a score or without; rows of another run are paired by record and content.

use heldset_core::gate::{Case, Evidence, Rule, Score, Verdict, decide};

use super::Tally;
use super::tally::{CATEGORY, Kept, LABEL};

impl Tally {
    /// What a gate says of the rows; against those of another run, if the rule asks for it. `primary` is the metric that
    /// a rule means when it names none.
    pub fn judge(&self, rule: &Rule, primary: Option<&str>, baseline: Option<&Tally>) -> Verdict {
        let apart = self.scenarios.all().len() > 1 && baseline.is_none_or(|other| other.scenarios.all().len() > 1);
        let mut metrics: Vec<String> = self.metrics.iter().map(|metric| metric.name.clone()).collect();
        metrics.sort_by_key(|name| Some(name.as_str()) != primary);
        decide(
            rule,
            &Evidence {
                metrics,
                planned: self.rows.len(),
                cases: self.cases(apart),
                baseline: baseline.map(|other| other.cases(apart)),
            },
        )
    }

    fn cases(&self, apart: bool) -> Vec<Case> {
        let mut cases: Vec<Case> = self.rows.iter().map(|row| self.case(row, apart)).collect();
        for metric in &self.metrics {
            for (row, score, pass) in metric.scores() {
                if let Some(case) = cases.get_mut(row) {
                    case.scores.insert(metric.name.clone(), Score { score: Some(score), pass: Some(pass) });
                }
            }
        }
        cases
    }

    fn case(&self, row: &Kept, apart: bool) -> Case {
        let (record, scenario) = (row.record as usize, row.scenario as usize);
        let mut key = format!("{}\n{:032x}", self.records.all()[record], self.leaf(row));
        if apart {
            key.push('\n');
            key.push_str(&self.scenarios.all()[scenario]);
        }
        let named = self.groups_of(row).iter().map(|group| self.groups.all()[*group as usize].as_ref());
        let label = |name: &str| {
            let category = name.strip_prefix(CATEGORY).map(|category| ("category", category));
            let (label, value) = category.or_else(|| name.strip_prefix(LABEL)?.split_once('='))?;
            Some((label.to_owned(), value.to_owned()))
        };
        Case { key, cluster: record, labels: named.filter_map(label).collect(), ..Case::default() }
    }
}
