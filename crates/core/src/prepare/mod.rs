//! Preparations: how records become those of another dataset, and into which splits they go.
//!
//! *Invariant:* what comes out depends on the records and the request alone: no clock, no randomness but the stated
//! seed, and not on the order that records are read in.

mod clean;
mod near;
mod read;
mod split;
mod write;

use crate::filter::Filter;

pub use clean::{Cleaner, Counts, Replace, key_of};
pub use near::{Compared, Leaks, Pair, Torn, compared_fields, find_leaks, letters, text_of, torn_groups};
pub use read::read;
pub use split::{Assigned, SplitError, Unit, assign};

/// What is put in the place of what is redacted, if nothing is said.
pub const REDACTED: &str = "[REDACTED]";

/// From which share of common words two texts are near-duplicates, if nothing is said.
pub const SIMILAR: f64 = 0.7;

/// A preparation as it was asked for, checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preparation {
    /// What the output file is, if there is one.
    pub target_format: Option<TargetFormat>,
    /// What is done to each record.
    pub cleaning: Cleaning,
    /// Where more fields come from.
    pub lookups: Vec<Lookup>,
    /// Which records are meant; all when absent.
    pub filters: Option<Filter>,
    /// How records are put into splits; as they are when absent.
    pub split: Option<SplitPlan>,
    /// The only split that is read; all that can be seen when absent.
    pub from_split: Option<String>,
    /// How splits are compared with each other.
    pub leaks: LeakCheck,
}

/// Formats of the output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum TargetFormat {
    Json,
    Jsonl,
    Csv,
    Parquet,
}

/// What is done to each record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cleaning {
    /// Takes members that are null out of mappings; elements of lists stay.
    pub remove_nulls: bool,
    /// Takes white space off both ends of every text.
    pub trim_whitespace: bool,
    /// Of records with the same values here only the first stays.
    pub deduplicate_by: Vec<String>,
    /// Fields that are left out.
    pub drop_fields: Vec<String>,
    /// Old names of fields with their new ones.
    pub rename: Vec<(String, String)>,
    /// What is taken out of texts.
    pub redact: Vec<Redaction>,
}

/// Something that is taken out of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Only in this field; in all when absent.
    pub field: Option<String>,
    /// A regular expression; the whole value when absent.
    pub pattern: Option<String>,
    /// What stands there instead.
    pub replacement: String,
}

/// Where more fields come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The dataset and version, as it is cited.
    pub dataset: String,
    /// Its split; all that can be seen when absent.
    pub split: Option<String>,
    /// The field here and the field there that must be equal.
    pub on: (String, String),
    /// The fields that are taken, with the names that they get here.
    pub fields: Vec<(String, String)>,
}

/// How records are put into splits.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitPlan {
    /// The splits with their shares, which sum to one.
    pub shares: Vec<(String, f64)>,
    /// What the choice depends on, beside the ids.
    pub seed: String,
    /// A field whose values keep their shares in every split.
    pub stratify_by: Option<String>,
    /// A field whose values are never in two splits.
    pub group_by: Option<String>,
}

/// How splits are compared with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct LeakCheck {
    /// The fields whose texts are compared; those with the most words when none is named.
    pub fields: Vec<String>,
    /// From which share of common words on.
    pub similarity: f64,
    /// A field whose values should not be in two splits.
    pub group_by: Option<String>,
}

impl Default for LeakCheck {
    fn default() -> Self {
        LeakCheck { fields: Vec::new(), similarity: SIMILAR, group_by: None }
    }
}

impl TargetFormat {
    /// Every format with its name.
    pub const ALL: [(TargetFormat, &'static str); 4] = [
        (TargetFormat::Json, "json"),
        (TargetFormat::Jsonl, "jsonl"),
        (TargetFormat::Csv, "csv"),
        (TargetFormat::Parquet, "parquet"),
    ];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<TargetFormat> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
    }
}

impl Preparation {
    /// The name that a field has before it is renamed: the request may use either.
    pub fn original<'n>(&'n self, name: &'n str, known: impl Fn(&str) -> bool) -> &'n str {
        if known(name) {
            return name;
        }
        let renamed = self.cleaning.rename.iter().find(|(_, new)| new == name);
        renamed.map_or(name, |(old, _)| old)
    }

    /// The name that a field has in the end, if it is still there.
    pub fn final_name<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        if self.cleaning.drop_fields.iter().any(|dropped| dropped == name) {
            return None;
        }
        let renamed = self.cleaning.rename.iter().find(|(old, _)| old == name);
        Some(renamed.map_or(name, |(_, new)| new))
    }

    /// The fields that decide which records there are, and in which split each is.
    pub fn deciding(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.filters.iter().flat_map(Filter::fields).collect();
        names.extend(self.cleaning.deduplicate_by.iter().map(String::as_str));
        if let Some(split) = &self.split {
            names.extend(split.stratify_by.as_deref());
            names.extend(split.group_by.as_deref());
        }
        names
    }

    /// Every field that the request names, each with its place in the request.
    pub fn named_fields(&self) -> Vec<(String, &str)> {
        let mut named: Vec<(String, &str)> = Vec::new();
        let cleaning = &self.cleaning;
        let place = |name: &str| format!("cleaning_config.{name}");
        named.extend(self.filters.iter().flat_map(Filter::fields).map(|field| ("filters".to_owned(), field)));
        named.extend(cleaning.deduplicate_by.iter().map(|field| (place("deduplicate_by"), field.as_str())));
        named.extend(cleaning.drop_fields.iter().map(|field| (place("drop_fields"), field.as_str())));
        named.extend(cleaning.rename.iter().map(|(old, _)| (place("rename"), old.as_str())));
        named.extend(cleaning.redact.iter().filter_map(|rule| Some((place("redact"), rule.field.as_deref()?))));
        named.extend(self.lookups.iter().map(|lookup| ("lookup.on".to_owned(), lookup.on.0.as_str())));
        if let Some(split) = &self.split {
            named.extend(split.stratify_by.as_deref().map(|field| ("split.stratify_by".to_owned(), field)));
            named.extend(split.group_by.as_deref().map(|field| ("split.group_by".to_owned(), field)));
        }
        named.extend(self.leaks.fields.iter().map(|field| ("leaks.fields".to_owned(), field.as_str())));
        named.extend(self.leaks.group_by.as_deref().map(|field| ("leaks.group_by".to_owned(), field)));
        named
    }
}
