//! Leaves and roots: what changes them, and what does not.

use heldset_core::chunk::{Chunk, Chunker, MAX_CHUNK_ROWS, SplitSum, ends_chunk, split_root};
use heldset_core::digest::{CommitKey, Digest, sha256};
use heldset_core::leaf::{Leaves, leaf_of_groups};
use heldset_core::merkle::Tree;
use heldset_core::value::{Object, Value};
use heldset_core::{canonical, json};
use proptest::prelude::*;

use crate::generate::{config, fields, policy, record, reversed_object};

pub(crate) fn committed() -> Leaves {
    Leaves::committed(policy().in_split("test").unwrap(), &CommitKey::new([3; 32]))
}

/// The chunks and the sum of a split, leaf by leaf.
pub(crate) fn chunks(leaves: &[Digest]) -> (Vec<Chunk>, SplitSum) {
    let mut chunker = Chunker::new();
    let mut chunks: Vec<Chunk> = leaves.iter().filter_map(|leaf| chunker.push(*leaf)).collect();
    let (last, sum) = chunker.finish();
    chunks.extend(last);
    (chunks, sum)
}

/// Random leaves, some of which end a chunk.
pub(crate) fn leaves() -> impl Strategy<Value = Vec<Digest>> {
    let leaf = (any::<[u8; 32]>(), 0..20_u8).prop_map(|(mut bytes, end)| {
        if end == 0 {
            bytes[30..].copy_from_slice(&[0xfc, 0]);
        }
        Digest::from_bytes(bytes)
    });
    proptest::collection::vec(leaf, 0..120)
}

/// Every value that has one bit of the canonical text of `value` turned and is still a value.
fn bit_flips(value: &Value<'_>) -> Vec<Value<'static>> {
    let bytes = canonical::bytes(value);
    let flip = |bit: usize| {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let text = String::from_utf8(bytes).ok()?;
        json::read(&text).ok().map(Value::into_owned)
    };
    (0..bytes.len() * 8).filter_map(flip).filter(|flipped| flipped != value).take(12).collect()
}

fn root_with(leaf: Digest) -> Digest {
    chunks(&[sha256(b"before"), leaf, sha256(b"after")]).1.root
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn the_order_of_fields_does_not_change_the_leaf(fields in fields()) {
        let leaf = committed().leaf(&record("1", fields.clone()));
        prop_assert_eq!(committed().leaf(&record("1", reversed_object(&fields))), leaf);
    }

    #[test]
    fn leaves_do_not_depend_on_the_records_before(a in fields(), b in fields()) {
        let mut one = committed();
        for fields in [&a, &b, &b, &reversed_object(&b), &a] {
            let record = record("1", fields.clone());
            prop_assert_eq!(one.leaf(&record), committed().leaf(&record));
        }
    }

    #[test]
    fn one_bit_of_any_field_changes_the_leaf_and_the_root(fields in fields()) {
        let mut leaves = committed();
        let leaf = leaves.leaf(&record("1", fields.clone()));
        for (name, value) in fields.iter() {
            for flipped in bit_flips(value) {
                let mut changed = fields.clone();
                changed.set(name.to_owned(), flipped);
                let other = leaves.leaf(&record("1", changed));
                prop_assert_ne!(other, leaf);
                prop_assert_ne!(root_with(other), root_with(leaf));
            }
        }
    }

    #[test]
    fn an_absent_field_differs_from_null(fields in fields()) {
        let mut with_null = fields.clone();
        with_null.set("added", Value::Null);
        prop_assert_ne!(committed().leaf(&record("1", with_null)), committed().leaf(&record("1", fields)));
    }

    #[test]
    fn any_batches_and_the_chunk_roots_alone_give_the_same_root(leaves in leaves(), batch in 1..40_usize) {
        let (whole, sum) = chunks(&leaves);
        let mut chunker = Chunker::new();
        for batch in leaves.chunks(batch) {
            chunker = batch.iter().fold(chunker.clone(), |mut chunker, leaf| { chunker.push(*leaf); chunker });
        }
        prop_assert_eq!(chunker.finish().1, sum);
        prop_assert_eq!(split_root(whole.iter().map(|chunk| chunk.root)), sum.root);
        prop_assert_eq!(sum, slow_sum(&leaves));
        let rows: u64 = whole.iter().map(|chunk| chunk.rows).sum();
        prop_assert_eq!((rows, whole.len() as u64), (leaves.len() as u64, sum.chunks));
    }

    #[test]
    fn an_edit_keeps_the_chunks_that_it_does_not_touch(leaves in leaves(), at in any::<prop::sample::Index>()) {
        prop_assume!(!leaves.is_empty());
        let mut edited = leaves.clone();
        edited[at.index(leaves.len())] = sha256(b"edited");
        let (before, after) = (chunks(&leaves).0, chunks(&edited).0);
        let new = after.iter().filter(|chunk| before.iter().all(|known| known.root != chunk.root)).count();
        prop_assert!((1..=2).contains(&new), "{new} new chunks");
    }
}

/// The split as the definition has it: cut first, then a recursive tree head.
fn slow_sum(leaves: &[Digest]) -> SplitSum {
    let cut = leaves.split_inclusive(ends_chunk).map(slow_head);
    let entries: Vec<_> = cut.map(|root| sha256(&[&[0], &root.as_bytes()[..]].concat())).collect();
    SplitSum { rows: leaves.len() as u64, chunks: entries.len() as u64, root: slow_head(&entries) }
}

fn slow_head(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => sha256(b""),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            sha256(&[&[1], &slow_head(left).as_bytes()[..], slow_head(right).as_bytes()].concat())
        }
    }
}

#[test]
fn a_chunk_ends_at_its_most_rows() {
    let leaf = sha256(b"no boundary");
    assert!(!ends_chunk(&leaf));
    let (chunks, sum) = chunks(&vec![leaf; MAX_CHUNK_ROWS as usize * 2 + 5]);
    let shape: Vec<_> = chunks.iter().map(|chunk| (chunk.first_row, chunk.rows)).collect();
    assert_eq!(shape, [(0, 8192), (8192, 8192), (16384, 5)]);
    assert_eq!((sum.rows, sum.chunks), (16389, 3));
}

#[test]
fn a_chunk_ends_where_the_last_ten_bits_are_zero() {
    for (last, ends) in [([0, 0], true), ([0xfc, 0], true), ([0, 1], false), ([1, 0], false), ([2, 0], false)] {
        let mut bytes = [0xff; 32];
        bytes[30..].copy_from_slice(&last);
        assert_eq!(ends_chunk(&Digest::from_bytes(bytes)), ends, "{last:?}");
    }
}

#[test]
fn the_head_of_every_size_is_the_recursive_one() {
    let leaves: Vec<_> = (0..70_u8).map(|byte| sha256(&[byte])).collect();
    let mut tree = Tree::new();
    assert_eq!(tree.head(), slow_head(&[]));
    for size in 1..=leaves.len() {
        tree.push(leaves[size - 1]);
        assert_eq!((tree.head(), tree.size()), (slow_head(&leaves[..size]), size as u64));
    }
}

#[test]
fn presence_of_a_sealed_field_says_nothing() {
    let labels = |fields| {
        let mut leaves = committed();
        let record = record("1", fields);
        leaves.groups(&record).map(|(label, _)| label.to_owned()).collect::<Vec<_>>()
    };
    let answer: Object<'_> = [("expected_a".into(), Value::Null)].into_iter().collect();
    assert_eq!(labels(answer), ["evaluator_only", "internal"]);
    assert_eq!(labels(Object::new()), ["evaluator_only", "internal"]);
    let prompt: Object<'_> = [("input".into(), Value::Null)].into_iter().collect();
    assert_eq!(labels(prompt), ["agent_visible", "evaluator_only", "internal"]);
}

#[test]
fn sealed_groups_depend_on_the_key_and_the_id_and_open_ones_on_neither() {
    let labels = policy().in_split("test").unwrap();
    let groups = |leaves: &mut Leaves, id: &str| {
        let fields = [("input".into(), Value::from("q")), ("expected".into(), Value::from("a"))];
        let record = record(id, fields.into_iter().collect());
        let leaf = leaves.leaf(&record);
        let groups: Vec<_> = leaves.groups(&record).map(|(label, digest)| (label.to_owned(), digest)).collect();
        let borrowed: Vec<_> = groups.iter().rev().map(|(label, digest)| (label.as_str(), *digest)).collect();
        assert_eq!(leaf_of_groups(id, &borrowed), leaf);
        groups.into_iter().map(|(_, digest)| digest).collect::<Vec<_>>()
    };
    let one = groups(&mut committed(), "1");
    let other_id = groups(&mut committed(), "2");
    let other_key = groups(&mut Leaves::committed(labels.clone(), &CommitKey::new([4; 32])), "1");
    let content = groups(&mut Leaves::content(labels.clone()), "1");
    let other_content = groups(&mut Leaves::content(labels), "2");
    for other in [&other_id, &other_key, &content] {
        assert_eq!(other[0], one[0]);
        assert!(other[1] != one[1] && other[2] != one[2]);
    }
    assert_eq!(content, other_content);
}
