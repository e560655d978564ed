//! What splits have in common that they should not: texts that are nearly the same, and groups in two splits.
//!
//! *Invariant:* texts that are equal but for case, spaces and punctuation are always found; others are found by
//! fixed hashes, so the same records give the same report.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::value::{Object, Value};

/// How many pairs are listed; all are counted.
const LISTED: usize = 100;
/// Rows of a band must all agree; with three of them and 21 bands, 7 of 10 common words are found 999 times of 1000.
const ROWS: usize = 3;
const BANDS: usize = 21;
/// In larger buckets each text is compared with this many before it.
const BUCKET: usize = 64;
/// How many texts are looked at for words in common; beyond that only equal ones are found.
const COMPARED: usize = 200_000;
/// A field with this many words on average is prose.
const PROSE: f64 = 3.0;

/// A record with the text that is compared.
#[derive(Clone, Debug)]
pub struct Compared<'c> {
    /// Its id.
    pub id: &'c str,
    /// The number of its split.
    pub split: usize,
    /// Its text.
    pub text: String,
}

/// Two records of different splits that are nearly the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The number of one record among those compared.
    pub first: usize,
    /// The number of the other one.
    pub second: usize,
    /// The share of words and pairs of words that they have in common; one for equal texts.
    pub similarity: f64,
}

/// What was found between splits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leaks {
    /// How many pairs there are.
    pub count: u64,
    /// The first of them, the most similar ones first.
    pub pairs: Vec<Pair>,
    /// Whether there were too many records to compare all by their words.
    pub partial: bool,
}

/// A group that is in several splits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn<'t> {
    /// One record of it in each split: number of the split, id.
    pub records: Vec<(usize, &'t str)>,
}

/// A hash of the letters and digits of some texts, without case, spaces and punctuation: equal for texts that differ
/// in nothing else. Bytes beyond ASCII count as letters.
pub fn letters<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let bytes = texts.into_iter().flat_map(str::bytes).filter(|byte| is_letter(*byte));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte | 0x20)).wrapping_mul(0x0100_0000_01b3))
}

fn is_letter(byte: u8) -> bool {
    ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10) | (byte >= 0x80)
}

/// The fields whose texts are compared, if none is named: `input`, else those that hold prose, else all with text.
pub fn compared_fields<'o>(records: impl IntoIterator<Item = &'o Object<'static>>) -> Vec<String> {
    let mut words: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for fields in records {
        for (name, value) in fields.iter() {
            if let Some(text) = value.as_str() {
                let (records, count) = words.entry(name).or_default();
                *records += 1;
                *count += text.split_whitespace().count() as u64;
            }
        }
    }
    if words.contains_key("input") {
        return vec!["input".to_owned(), "turns".to_owned()];
    }
    let prose = |(_, (records, count)): &(&&str, &(u64, u64))| *count as f64 >= PROSE * *records as f64;
    let found: Vec<String> = words.iter().filter(prose).map(|(name, _)| (*name).to_owned()).collect();
    if found.is_empty() { words.keys().map(|name| (*name).to_owned()).collect() } else { found }
}

/// The text of a record in these fields, nested texts included.
pub fn text_of(fields: &Object<'_>, names: &[String]) -> String {
    let mut text = String::new();
    for name in names {
        if let Some(value) = crate::filter::find(fields, name, crate::filter::Names::Exact) {
            append(value, &mut text);
        }
    }
    text
}

fn append(value: &Value<'_>, text: &mut String) {
    match value {
        Value::String(part) => {
            text.push_str(part);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| append(item, text)),
        Value::Object(object) => object.iter().for_each(|(_, value)| append(value, text)),
        _ => {}
    }
}

/// Finds records of different splits that are nearly the same.
pub fn find_leaks(records: &[Compared<'_>], similarity: f64) -> Leaks {
    let words: Vec<Vec<String>> = records.iter().map(|record| words_of(&record.text)).collect();
    let mut found: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut count = equal_pairs(records, &words, &mut found);
    let compared = records.len().min(COMPARED);
    let shingles: Vec<Vec<u64>> = words[..compared].iter().map(|words| shingles(words)).collect();
    let mut looked: BTreeSet<(usize, usize)> = BTreeSet::new();
    for bucket in buckets(&shingles) {
        for (at, second) in bucket.iter().enumerate() {
            for first in &bucket[at.saturating_sub(BUCKET)..at] {
                let (first, second) = (*first.min(second), *first.max(second));
                let apart = records[first].split != records[second].split && words[first] != words[second];
                if !apart || !looked.insert((first, second)) {
                    continue;
                }
                let alike = jaccard(&shingles[first], &shingles[second]);
                if alike >= similarity {
                    count += 1;
                    found.insert((first, second), alike);
                }
            }
        }
    }
    let mut pairs: Vec<Pair> =
        found.into_iter().map(|((first, second), similarity)| Pair { first, second, similarity }).collect();
    let ids = |pair: &Pair| (records[pair.first].id, records[pair.second].id);
    pairs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| ids(a).cmp(&ids(b))));
    pairs.truncate(LISTED);
    Leaks { count, pairs, partial: records.len() > compared }
}

/// Pairs of equal texts: all counted, of each text so many listed as there are splits.
fn equal_pairs(records: &[Compared<'_>], words: &[Vec<String>], found: &mut BTreeMap<(usize, usize), f64>) -> u64 {
    let mut same: HashMap<u64, Vec<usize>> = HashMap::new();
    for (index, words) in words.iter().enumerate().filter(|(_, words)| !words.is_empty()) {
        same.entry(letters(words.iter().map(String::as_str))).or_default().push(index);
    }
    let mut count = 0;
    for members in same.into_values().filter(|members| members.len() > 1) {
        let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
        members.iter().for_each(|member| *sizes.entry(records[*member].split).or_default() += 1);
        let all: u64 = sizes.values().sum();
        count += sizes.values().map(|size| size * (all - size)).sum::<u64>() / 2;
        let first = members[0];
        let others = members.iter().filter(|other| records[**other].split != records[first].split);
        found.extend(others.take(LISTED).map(|other| ((first, *other), 1.0)));
    }
    count
}

fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The hashes of all words and of all pairs of neighbours, sorted, each once.
fn shingles(words: &[String]) -> Vec<u64> {
    let hash = |text: &str, start: u64| {
        text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let single = words.iter().map(|word| mixed(hash(word, 0xcbf2_9ce4_8422_2325)));
    let pairs = words.windows(2).map(|pair| mixed(hash(&pair[1], hash(&pair[0], 0x9e37_79b9_7f4a_7c15) ^ 0xff)));
    let mut shingles: Vec<u64> = single.chain(pairs).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// Spreads a hash over all its bits.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Texts whose smallest hashes agree in all rows of a band, band by band.
fn buckets(shingles: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let mut buckets = Vec::new();
    for band in 0..BANDS {
        let mut same: HashMap<[u64; ROWS], Vec<usize>> = HashMap::new();
        for (index, shingles) in shingles.iter().enumerate().filter(|(_, shingles)| !shingles.is_empty()) {
            let row = |row: usize| {
                let salt = mixed((band * ROWS + row + 1) as u64);
                shingles.iter().map(|shingle| mixed(shingle ^ salt)).min().unwrap_or(u64::MAX)
            };
            same.entry(std::array::from_fn(row)).or_default().push(index);
        }
        buckets.extend(same.into_values().filter(|bucket| bucket.len() > 1));
    }
    buckets
}

fn jaccard(left: &[u64], right: &[u64]) -> f64 {
    let common = left.iter().filter(|shingle| right.binary_search(shingle).is_ok()).count();
    common as f64 / (left.len() + right.len() - common).max(1) as f64
}

/// Groups that are in several splits: `(split, group, id)` of every record that has a group.
pub fn torn_groups<'t>(records: impl IntoIterator<Item = (usize, &'t [u8], &'t str)>) -> Vec<Torn<'t>> {
    let mut groups: BTreeMap<&[u8], BTreeMap<usize, &str>> = BTreeMap::new();
    for (split, group, id) in records {
        let first = groups.entry(group).or_default().entry(split).or_insert(id);
        *first = (*first).min(id);
    }
    let torn = groups.into_values().filter(|splits| splits.len() > 1);
    torn.map(|splits| Torn { records: splits.into_iter().collect() }).collect()
}
