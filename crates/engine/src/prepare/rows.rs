//! The records of a preparation: read from a view, and made into those that come out.
//!
//! *Invariant:* a record keeps its id; in each split records stay in the order they were in.

use std::collections::{BTreeSet, HashMap, HashSet};

use heldset_core::code::Code;
use heldset_core::filter::Names;
use heldset_core::prepare::{
    Cleaner, Compared, Preparation, Replace, SplitPlan, Unit, assign, compared_fields, find_leaks, key_of, text_of,
    torn_groups,
};
use heldset_core::record::Record;
use heldset_core::visibility::SplitLabels;

use super::lookup::Opened;
use super::{Dropped, LeakReport, Tally};
use crate::Listener;
use crate::refusal::{Outcome, Refusal};
use crate::view::{View, cited};

/// The records of a split that can be seen.
pub(super) struct Part {
    pub(super) split: String,
    pub(super) labels: SplitLabels,
    pub(super) records: Vec<Record<'static>>,
}

/// A split that comes out.
pub(super) struct Out {
    pub(super) split: String,
    /// The splits that its records come from.
    pub(super) from: Vec<SplitLabels>,
    /// Whether it holds the answers to another one, and so the same ids.
    pub(super) answers: bool,
    pub(super) records: Vec<Record<'static>>,
}

/// All that comes out.
pub(super) struct Made {
    pub(super) outs: Vec<Out>,
    pub(super) tally: Tally,
    pub(super) dropped: Vec<Dropped>,
    /// The fields that records had before they were dropped or renamed, looked-up ones among them.
    pub(super) names: BTreeSet<String>,
    pub(super) notes: Vec<String>,
}

/// A record on its way.
struct Row {
    record: Record<'static>,
    stratum: Option<Vec<u8>>,
    group: Option<Vec<u8>>,
}

impl Part {
    /// The names of all fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.records.iter().flat_map(|record| record.fields.iter().map(|(name, _)| name))
    }
}

/// Reads the splits of records that can be seen.
pub(super) fn read(view: &View<'_>, listener: &mut dyn Listener) -> Outcome<Vec<Part>> {
    let (mut parts, mut count) = (Vec::new(), 0);
    for split in view.splits.iter().filter(|split| !split.doc.files) {
        let mut records = Vec::new();
        view.each_batch(split, |batch| {
            for row in 0..batch.len() {
                records.push(batch.record(row)?.into_owned());
            }
            count += batch.len() as u64;
            listener.progress(0, count);
            Ok(())
        })?;
        parts.push(Part { split: split.doc.name.clone(), labels: split.labels.clone(), records });
    }
    if parts.is_empty() {
        let message = format!("{} has no records to prepare here", cited(&view.resolved));
        return Err(Refusal::usage(Code::E103, message, "a preparation is made of splits of records"));
    }
    Ok(parts)
}

/// Makes the records that come out.
pub(super) fn make(
    view: &View<'_>,
    parts: Vec<Part>,
    lookups: &[Opened<'_>],
    preparation: &Preparation,
) -> Outcome<Made> {
    let cleaner = Cleaner::new(&preparation.cleaning, compile)?;
    let names: BTreeSet<String> = parts.iter().flat_map(Part::names).map(str::to_owned).collect();
    let tally = Tally { read: parts.iter().map(|part| part.records.len() as u64).sum(), ..Tally::default() };
    let (outs, dropped, notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut made = Made { outs, tally, dropped, names, notes };
    made.names.extend(lookups.iter().flat_map(|lookup| &lookup.asked.fields).map(|(_, here)| here.clone()));
    let making = Making { view, cleaner: &cleaner, lookups, preparation };
    let pools = match preparation.split {
        Some(_) => vec![making.pool(parts)?],
        None => parts.into_iter().map(|part| (vec![part.labels], vec![(part.split, part.records)])).collect(),
    };
    let mut kept: HashMap<String, HashSet<String>> = HashMap::new();
    for (labels, parts) in in_order(view, pools) {
        let split = parts.first().map(|(split, _)| split.clone()).unwrap_or_default();
        let prompts = view.resolved.policy.prompts_of(&split).and_then(|prompts| kept.get(prompts)).cloned();
        let answers = preparation.split.is_none() && view.resolved.policy.prompts_of(&split).is_some();
        let rows = making.rows(parts, prompts.as_ref(), &mut made)?;
        kept.insert(split.clone(), rows.iter().map(|row| row.record.id.as_str().to_owned()).collect());
        let divided = match &preparation.split {
            Some(plan) => divide(plan, rows, &mut made.notes)?,
            None => vec![(split, rows)],
        };
        for (split, rows) in divided {
            let mut records = Vec::with_capacity(rows.len());
            for row in rows {
                records.push(making.shaped(row.record, &mut made)?);
            }
            made.tally.kept += records.len() as u64;
            made.outs.push(Out { split, from: labels.clone(), answers, records });
        }
    }
    if made.tally.kept == 0 && made.tally.read > 0 {
        let message = "no record is left".to_owned();
        return Err(Refusal::usage(Code::E069, message, "look at `filters`, and at what they mean"));
    }
    Ok(made)
}

type Pool = (Vec<SplitLabels>, Vec<(String, Vec<Record<'static>>)>);

/// Splits of prompts before the splits of their answers.
fn in_order(view: &View<'_>, mut pools: Vec<Pool>) -> Vec<Pool> {
    let is_answers = |pool: &Pool| pool.1.iter().any(|(split, _)| view.resolved.policy.prompts_of(split).is_some());
    pools.sort_by_key(is_answers);
    pools
}

struct Making<'m> {
    view: &'m View<'m>,
    cleaner: &'m Cleaner<'m>,
    lookups: &'m [Opened<'m>],
    preparation: &'m Preparation,
}

impl Making<'_> {
    /// All splits as one, if no id is in two of them.
    fn pool(&self, parts: Vec<Part>) -> Outcome<Pool> {
        let mut seen: HashMap<&str, &str> = HashMap::new();
        for part in &parts {
            for record in &part.records {
                if let Some(other) = seen.insert(record.id.as_str(), &part.split) {
                    let id = record.id.as_str();
                    let message = format!("record `{id}` is in the splits `{other}` and `{}`", part.split);
                    let help = "name the one that is split anew: `from_split`, or `--from-split NAME`";
                    return Err(Refusal::usage(Code::E069, message, help));
                }
            }
        }
        let labels = parts.iter().map(|part| part.labels.clone()).collect();
        Ok((labels, parts.into_iter().map(|part| (part.split, part.records)).collect()))
    }

    /// The records that stay, completed and with clean values. Of answers those whose prompts stay.
    fn rows(
        &self,
        parts: Vec<(String, Vec<Record<'static>>)>,
        prompts: Option<&HashSet<String>>,
        made: &mut Made,
    ) -> Outcome<Vec<Row>> {
        let known = made.names.clone();
        let is_known = |name: &str| name == "id" || known.contains(name) || known.contains(super::first(name));
        let original = |name: &String| self.preparation.original(name, is_known).to_owned();
        let by: Vec<String> = self.preparation.cleaning.deduplicate_by.iter().map(original).collect();
        let by: Vec<&str> = by.iter().map(String::as_str).collect();
        let plan = self.preparation.split.as_ref();
        let stratify = plan.and_then(|plan| plan.stratify_by.as_ref()).map(original);
        let group = plan.and_then(|plan| plan.group_by.as_ref()).map(original);
        let (mut first, mut rows) = (HashMap::new(), Vec::new());
        for (split, records) in parts {
            for mut record in records {
                let id = record.id.as_str().to_owned();
                let mut unmatched = 0;
                for lookup in self.lookups {
                    unmatched += u64::from(!lookup.complete(&id, &mut record.fields)?);
                }
                let meant = match (prompts, &self.preparation.filters) {
                    (Some(prompts), _) => prompts.contains(&id),
                    (None, Some(filter)) => filter.matches(&id, &record.fields, Names::Exact),
                    (None, None) => true,
                };
                if !meant {
                    made.tally.filtered += 1;
                    made.dropped.push(Dropped { split: split.clone(), id, duplicate_of: None });
                    continue;
                }
                let mut cleaned = made.tally.cleaned;
                self.cleaner.trim(&mut record.fields, &mut cleaned);
                let key = if prompts.is_some() { None } else { key_of(&id, &record.fields, &by) };
                if let Some(key) = key.filter(|_| !by.is_empty()) {
                    if let Some(earlier) = first.get(&key) {
                        made.tally.deduplicated += 1;
                        let duplicate_of = Some(String::clone(earlier));
                        made.dropped.push(Dropped { split: split.clone(), id, duplicate_of });
                        continue;
                    }
                    first.insert(key, id.clone());
                }
                made.tally.unmatched += unmatched;
                let value = |field: &Option<String>| key_of(&id, &record.fields, &[field.as_deref()?]);
                let (stratum, group) = (value(&stratify), value(&group));
                self.cleaner.tidy(&mut record.fields, &mut cleaned);
                made.tally.cleaned = cleaned;
                rows.push(Row { record, stratum, group });
            }
        }
        Ok(rows)
    }

    /// The record with the fields that stay, by the names that they get.
    fn shaped(&self, record: Record<'static>, made: &mut Made) -> Outcome<Record<'static>> {
        let Record { id, fields } = record;
        let fields = self.cleaner.shape(fields, &mut made.tally.cleaned).map_err(|name| {
            let message =
                format!("record `{}` of {} would have two fields `{name}`", id.as_str(), cited(&self.view.resolved));
            Refusal::invalid(Code::E069, message, format!("drop the other `{name}`, or rename to another name"))
        })?;
        Ok(Record { id, fields })
    }
}

/// Puts rows into the splits of a plan.
fn divide(plan: &SplitPlan, rows: Vec<Row>, notes: &mut Vec<String>) -> Outcome<Vec<(String, Vec<Row>)>> {
    let unit = |row: &Row| -> (String, Option<Vec<u8>>, Option<Vec<u8>>) {
        (row.record.id.as_str().to_owned(), row.stratum.clone(), row.group.clone())
    };
    let held: Vec<_> = rows.iter().map(unit).collect();
    let units: Vec<Unit<'_>> = held
        .iter()
        .map(|(id, stratum, group)| Unit { id, stratum: stratum.as_deref(), group: group.as_deref() })
        .collect();
    let assigned = assign(plan, &units).map_err(|error| {
        let help = "split by groups alone, or stratify by a field that is the same in all records of a group";
        Refusal::invalid(Code::E069, error.to_string(), help)
    })?;
    let mut splits: Vec<(String, Vec<Row>)> = plan.shares.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    for (row, split) in rows.into_iter().zip(assigned) {
        if let Some((_, rows)) = splits.get_mut(split) {
            rows.push(row);
        }
    }
    let empty = splits.iter().filter(|(_, rows)| rows.is_empty());
    notes.extend(empty.map(|(name, _)| format!("split `{name}` has no record: there are too few to share out")));
    Ok(splits)
}

/// What the splits that come out have in common.
pub(super) fn leaks(made: &Made, preparation: &Preparation) -> Option<LeakReport> {
    let outs: Vec<&Out> = made.outs.iter().filter(|out| !out.answers).collect();
    if outs.len() < 2 {
        return None;
    }
    let check = &preparation.leaks;
    let renamed = |name: &String| preparation.final_name(name).unwrap_or(name).to_owned();
    let all = || outs.iter().flat_map(|out| &out.records);
    let fields: Vec<String> = match check.fields.is_empty() {
        true => compared_fields(all().map(|record| &record.fields)),
        false => check.fields.iter().map(renamed).collect(),
    };
    let each =
        || outs.iter().enumerate().flat_map(|(split, out)| out.records.iter().map(move |record| (split, record)));
    let compared: Vec<Compared<'_>> = each()
        .map(|(split, record)| Compared { id: record.id.as_str(), split, text: text_of(&record.fields, &fields) })
        .collect();
    let found = find_leaks(&compared, check.similarity);
    let at = |split: usize, id: &str| (outs[split].split.clone(), id.to_owned());
    let place = |index: usize| at(compared[index].split, compared[index].id);
    let pairs = found.pairs.iter().map(|pair| (place(pair.first), place(pair.second), pair.similarity));
    let group = check.group_by.as_ref().map(renamed);
    let groups: Vec<(usize, Vec<u8>, &str)> = each()
        .filter_map(|(split, record)| {
            let id = record.id.as_str();
            Some((split, key_of(id, &record.fields, &[group.as_deref()?])?, id))
        })
        .collect();
    let torn = torn_groups(groups.iter().map(|(split, group, id)| (*split, group.as_slice(), *id)));
    let torn = torn.iter().map(|torn| torn.records.iter().map(|(split, id)| at(*split, id)).collect());
    Some(LeakReport {
        fields,
        near_duplicates: found.count,
        pairs: pairs.collect(),
        torn_groups: torn.collect(),
        partial: found.partial,
    })
}

struct Pattern(regex::Regex);

impl Replace for Pattern {
    fn replace(&self, text: &str, replacement: &str) -> Option<String> {
        self.0.is_match(text).then(|| self.0.replace_all(text, regex::NoExpand(replacement)).into_owned())
    }
}

fn compile<'c>(pattern: &str) -> Result<Box<dyn Replace + 'c>, Box<Refusal>> {
    match regex::Regex::new(pattern) {
        Ok(regex) => Ok(Box::new(Pattern(regex))),
        Err(error) => {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            let message = format!("`cleaning_config.redact` has a pattern that is none: {why}");
            Err(Refusal::usage(Code::E069, message, "escape what is meant as it stands with a backslash"))
        }
    }
}
