//! Proofs: each one verifies, and none does once anything in it is changed.

use heldset_core::chunk::{MAX_CHUNK_ROWS, RecordProof, split_root};
use heldset_core::digest::{Digest, sha256};
use heldset_core::merkle::{Inclusion, Tree};
use proptest::prelude::*;

use crate::generate::config;
use crate::leaf::{chunks, leaves};

fn head(leaves: &[Digest]) -> Digest {
    leaves.iter().copied().collect::<Tree>().head()
}

/// On which side the sibling is at each level: two sizes in which an index has the same turns share its path.
fn turns(index: u64, size: u64) -> Vec<bool> {
    if size <= 1 {
        return Vec::new();
    }
    let left = size.next_power_of_two() / 2;
    let (mut below, side) =
        if index < left { (turns(index, left), false) } else { (turns(index - left, size - left), true) };
    below.push(side);
    below
}

fn flip(digest: &Digest, bit: usize) -> Digest {
    let mut bytes = *digest.as_bytes();
    bytes[bit / 8] ^= 1 << (bit % 8);
    Digest::from_bytes(bytes)
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn an_inclusion_verifies_and_a_changed_one_does_not(size in 1..90_u64, bit in 0..256_usize) {
        let leaves: Vec<_> = (0..size).map(|leaf| sha256(&leaf.to_be_bytes())).collect();
        let head = head(&leaves);
        for (index, leaf) in leaves.iter().enumerate() {
            let proof = Inclusion::of(&leaves, index).unwrap();
            prop_assert!(proof.proves(*leaf, size, head));
            prop_assert!(!proof.proves(flip(leaf, bit), size, head));
            prop_assert!(!proof.proves(*leaf, size, flip(&head, bit)));
            for other in (0..size + 2).filter(|other| *other != proof.index) {
                let moved = Inclusion { index: other, ..proof.clone() };
                prop_assert!(!moved.proves(*leaf, size, head));
            }
            for other in (0..2 * size + 2).chain([1 << 62]) {
                let same = other > proof.index && turns(proof.index, other) == turns(proof.index, size);
                prop_assert_eq!(proof.proves(*leaf, other, head), same, "{} of {} as {}", index, size, other);
            }
        }
        prop_assert_eq!(Inclusion::of(&leaves, leaves.len()), None);
    }

    #[test]
    fn a_tree_goes_on_from_its_peaks(size in 0..90_u64, stop in 0..90_u64) {
        let leaves: Vec<_> = (0..size).map(|leaf| sha256(&leaf.to_be_bytes())).collect();
        let (first, rest) = leaves.split_at(stop.min(size) as usize);
        let part: Tree = first.iter().copied().collect();
        let peaks = part.peaks().to_vec();
        let mut tree = Tree::from_peaks(part.size(), peaks.clone()).unwrap();
        prop_assert_eq!(tree.head(), part.head());
        tree.extend(rest.iter().copied());
        prop_assert_eq!((tree.size(), tree.head()), (size, head(&leaves)));
        let longer = [peaks, vec![sha256(b"")]].concat();
        prop_assert!(Tree::from_peaks(part.size(), longer).is_none());
    }

    #[test]
    fn a_changed_path_does_not_verify(size in 2..90_u64, at in any::<prop::sample::Index>(), bit in 0..256_usize) {
        let leaves: Vec<_> = (0..size).map(|leaf| sha256(&leaf.to_be_bytes())).collect();
        let index = at.index(leaves.len());
        let proof = Inclusion::of(&leaves, index).unwrap();
        let verifies = |path| Inclusion { path, ..proof.clone() }.proves(leaves[index], size, head(&leaves));
        for step in 0..proof.path.len() {
            let mut flipped = proof.path.clone();
            flipped[step] = flip(&flipped[step], bit);
            prop_assert!(!verifies(flipped));
            let mut shorter = proof.path.clone();
            shorter.remove(step);
            prop_assert!(!verifies(shorter));
        }
        let mut longer = proof.path.clone();
        longer.push(leaves[0]);
        prop_assert!(!verifies(longer));
    }

    #[test]
    fn every_record_of_a_split_is_proved_through_its_chunk(leaves in leaves(), bit in 0..256_usize) {
        let (chunks, sum) = chunks(&leaves);
        let roots: Vec<_> = chunks.iter().map(|chunk| chunk.root).collect();
        for (at, chunk) in chunks.iter().enumerate() {
            let from = chunk.first_row as usize;
            let inside = &leaves[from..from + chunk.rows as usize];
            for (index, leaf) in inside.iter().enumerate() {
                let proof = RecordProof::of(inside, index, &roots, at).unwrap();
                prop_assert!(proof.proves(*leaf, sum.root));
                prop_assert!(!proof.proves(flip(leaf, bit), sum.root));
                prop_assert!(!proof.proves(*leaf, flip(&sum.root, bit)));
                for tampered in tampered(&proof, bit) {
                    prop_assert!(!tampered.proves(*leaf, sum.root), "{:?}", tampered);
                }
            }
        }
        prop_assert_eq!(RecordProof::of(&leaves, 0, &roots, roots.len()), None);
    }
}

/// The proof with one thing changed: each index, each count in a way that changes the turns, and each step.
fn tampered(proof: &RecordProof, bit: usize) -> Vec<RecordProof> {
    let mut all = Vec::new();
    let (chunk_rows, chunks) = (proof.chunk_rows, proof.chunks);
    let in_chunk = |inclusion| RecordProof { in_chunk: inclusion, ..proof.clone() };
    let in_split = |inclusion| RecordProof { in_split: inclusion, ..proof.clone() };
    for other in changed(&proof.in_chunk, bit) {
        all.push(in_chunk(other));
    }
    for other in changed(&proof.in_split, bit) {
        all.push(in_split(other));
    }
    for rows in [0, chunk_rows * 2 + 1, chunk_rows * 8 + 1] {
        all.push(RecordProof { chunk_rows: rows, ..proof.clone() });
    }
    for count in [0, chunks * 2 + 1, chunks * 8 + 1] {
        all.push(RecordProof { chunks: count, ..proof.clone() });
    }
    all
}

fn changed(inclusion: &Inclusion, bit: usize) -> Vec<Inclusion> {
    let mut all = vec![Inclusion { index: inclusion.index ^ 1, ..inclusion.clone() }];
    all.push(Inclusion { index: inclusion.index + (1 << 40), ..inclusion.clone() });
    for step in 0..inclusion.path.len() {
        let mut other = inclusion.clone();
        other.path[step] = flip(&other.path[step], bit);
        all.push(other);
    }
    all
}

#[test]
fn a_proof_for_one_record_of_many_is_small() {
    let leaves: Vec<_> = (0..20_000_u64).map(|row| sha256(&row.to_be_bytes())).collect();
    let (chunks, sum) = chunks(&leaves);
    let roots: Vec<_> = chunks.iter().map(|chunk| chunk.root).collect();
    let chunk = &chunks[roots.len() / 2];
    let inside = &leaves[chunk.first_row as usize..(chunk.first_row + chunk.rows) as usize];
    let proof = RecordProof::of(inside, 0, &roots, roots.len() / 2).unwrap();
    assert!(proof.proves(inside[0], sum.root));
    assert!(proof.in_chunk.path.len() <= 13 && proof.in_split.path.len() <= 6);
}

#[test]
fn a_chunk_larger_than_chunks_can_be_proves_nothing() {
    let verifies = |rows: usize| {
        let leaves = vec![sha256(b"no boundary"); rows];
        let roots = [head(&leaves)];
        RecordProof::of(&leaves, 0, &roots, 0).unwrap().proves(leaves[0], split_root(roots))
    };
    assert!(verifies(MAX_CHUNK_ROWS as usize));
    assert!(!verifies(MAX_CHUNK_ROWS as usize + 1));
}
