//! Which records a plan means: what must hold of each, and how the rest is narrowed.
//!
//! *Invariant:* the same seed chooses the same records, whatever their order; what is chosen keeps its order.

use super::{Sample, Selection};
use crate::canonical;
use crate::digest::{Digest, tagged};
use crate::filter::{Names, glob};
use crate::value::{Object, Value};

/// A record that was admitted, as far as narrowing needs it.
#[derive(Clone, Copy, Debug)]
pub struct Admitted<'a> {
    /// Its id.
    pub id: &'a str,
    /// What [`Selection::stratum`] said of it.
    pub stratum: &'a str,
}

impl Selection {
    /// Whether a record is meant, as far as it alone can tell: filter, group, labels, tags and ids. Whether it failed
    /// in another run is for those to say who know that run.
    pub fn admits(&self, id: &str, fields: &Object<'_>) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.matches(id, fields, Names::Loose))
            && self.group.as_deref().is_none_or(|group| is_of_group(fields, group))
            && self.labels.as_ref().is_none_or(|labels| has_labels(fields, labels))
            && self.has_tags(fields)
            && (self.ids.is_empty() || self.ids.iter().any(|pattern| glob(pattern, id)))
    }

    /// Which stratum a record is in; all are in one without `sample.stratify_by`.
    pub fn stratum(&self, fields: &Object<'_>) -> String {
        let field = self.sample.as_ref().and_then(|sample| sample.stratify_by.as_deref());
        let value = field.and_then(|field| look_up(fields, field)).unwrap_or(&Value::Null);
        String::from_utf8_lossy(&canonical::bytes(value)).into_owned()
    }

    /// Which of the admitted records stay, by their places: shard, then sample, then limit.
    pub fn narrow(&self, admitted: &[Admitted<'_>]) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..admitted.len()).collect();
        if let Some((part, parts)) = self.shard {
            kept.retain(|place| *place as u64 % parts.max(1) + 1 == part);
        }
        if let Some(sample) = &self.sample {
            kept = choose(sample, admitted, &kept);
        }
        if let Some(limit) = self.limit {
            kept.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        kept
    }

    fn has_tags(&self, fields: &Object<'_>) -> bool {
        if self.tags_all.is_empty() && self.tags_any.is_empty() && self.tags_none.is_empty() {
            return true;
        }
        let tags = look_up(fields, "tags");
        let has = |tag: &String| tags.is_some_and(|tags| holds(tags, &Value::from(tag.as_str())));
        self.tags_all.iter().all(has)
            && (self.tags_any.is_empty() || self.tags_any.iter().any(has))
            && !self.tags_none.iter().any(has)
    }
}

fn is_of_group(fields: &Object<'_>, group: &str) -> bool {
    let group = Value::from(group);
    ["category", "group"].iter().any(|name| look_up(fields, name).is_some_and(|found| holds(found, &group)))
}

fn has_labels(fields: &Object<'_>, wanted: &Object<'_>) -> bool {
    let labels = fields.get("labels").and_then(Value::as_object);
    wanted.iter().all(|(key, wanted)| {
        let Some(found) = labels.and_then(|labels| labels.get(key)) else { return false };
        match wanted {
            Value::Array(any) => any.iter().any(|wanted| holds(found, wanted)),
            one => holds(found, one),
        }
    })
}

/// Whether a value is another, or a list that has it.
fn holds(found: &Value<'_>, wanted: &Value<'_>) -> bool {
    match found {
        Value::Array(items) => items.iter().any(|item| is_same(item, wanted)),
        one => is_same(one, wanted),
    }
}

/// Equal, or written alike: a label `3` in a plan means the text `3` too.
fn is_same(found: &Value<'_>, wanted: &Value<'_>) -> bool {
    let text = |value: &Value<'_>| match value {
        Value::String(text) => Some(text.clone().into_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    found == wanted || text(found).is_some_and(|found| text(wanted) == Some(found))
}

/// The value at a dotted path from the top; a bare name also in `metadata`, then in `labels`.
fn look_up<'f>(fields: &'f Object<'_>, path: &str) -> Option<&'f Value<'f>> {
    let down = |path: &str| {
        let mut steps = path.split('.');
        let first = fields.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.as_object()?.get(step))
    };
    let found = down(path).filter(|value| !value.is_null());
    if path.contains('.') {
        return found;
    }
    found.or_else(|| down(&format!("metadata.{path}"))).or_else(|| down(&format!("labels.{path}")))
}

/// The places of a random choice among `kept`, in order.
fn choose(sample: &Sample, admitted: &[Admitted<'_>], kept: &[usize]) -> Vec<usize> {
    if sample.n >= kept.len() as u64 {
        return kept.to_vec();
    }
    let mut strata: std::collections::BTreeMap<&str, Vec<usize>> = std::collections::BTreeMap::new();
    for place in kept {
        strata.entry(admitted[*place].stratum).or_default().push(*place);
    }
    let sizes: Vec<u64> = strata.values().map(|places| places.len() as u64).collect();
    let mut chosen = Vec::new();
    for (mut places, share) in strata.into_values().zip(shares(sample.n, &sizes)) {
        places.sort_by_cached_key(|place| rank(sample.seed, admitted[*place].id));
        chosen.extend(places.into_iter().take(share));
    }
    chosen.sort_unstable();
    chosen
}

/// Where a record stands in the order that a seed makes.
fn rank(seed: u64, id: &str) -> Digest {
    tagged("sample", &[seed.to_string().as_bytes(), id.as_bytes()])
}

/// How many of each stratum, in proportion, the largest remainders rounded up.
fn shares(n: u64, sizes: &[u64]) -> Vec<usize> {
    let total: u128 = sizes.iter().map(|size| u128::from(*size)).sum();
    let quota = |size: &u64| u128::from(n) * u128::from(*size);
    let mut shares: Vec<u128> = sizes.iter().map(|size| quota(size) / total.max(1)).collect();
    let mut by_remainder: Vec<usize> = (0..sizes.len()).collect();
    by_remainder.sort_by_key(|place| std::cmp::Reverse(quota(&sizes[*place]) % total.max(1)));
    let missing = u128::from(n).saturating_sub(shares.iter().sum());
    for place in by_remainder.into_iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
        shares[place] += 1;
    }
    shares.into_iter().map(|share| usize::try_from(share).unwrap_or(usize::MAX)).collect()
}
