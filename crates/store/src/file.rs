//! The bytes of a file of a split, piece by piece, from objects or from where the file is pinned.
//!
//! *Invariant:* comes out as [`Sealed`]; what is in objects is checked piece by piece, what is pinned is for the
//! caller to compare with its digest.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use heldset_core::visibility::{Label, Sealed};

use crate::documents::{FileAt, ObjectDoc};
use crate::error::StoreError;
use crate::keys::DatasetKeys;
use crate::pack::Source;
use crate::store::Store;

/// How much is read at once.
const STEP: u64 = 1 << 20;

/// The bytes of one file.
pub struct FileBytes<'f> {
    from: From<'f>,
}

enum From<'f> {
    Objects {
        store: &'f Store,
        dataset: &'f str,
        keys: Option<&'f DatasetKeys>,
        rest: &'f [ObjectDoc],
        /// The object that is being read, and how far.
        open: Option<(Source, u64)>,
    },
    Pinned {
        path: &'f str,
        file: File,
    },
}

impl Store {
    /// The bytes of a file under its label.
    pub fn file<'f>(
        &'f self,
        at: &'f FileAt,
        dataset: &'f str,
        keys: Option<&'f DatasetKeys>,
        label: &Label,
    ) -> Result<Sealed<FileBytes<'f>>, StoreError> {
        let from = match at {
            FileAt::Objects(objects) => From::Objects { store: self, dataset, keys, rest: objects, open: None },
            FileAt::Pinned(path) => {
                let file = File::open(path).map_err(|error| StoreError::read(Path::new(path), error))?;
                From::Pinned { path, file }
            }
        };
        Ok(Sealed::new(label.clone(), FileBytes { from }))
    }
}

impl FileBytes<'_> {
    /// The next piece; nothing at the end.
    pub fn next_piece(&mut self) -> Result<Option<Bytes>, StoreError> {
        match &mut self.from {
            From::Pinned { path, file } => {
                let mut piece = Vec::with_capacity(STEP as usize);
                let read = file.by_ref().take(STEP).read_to_end(&mut piece);
                read.map_err(|error| StoreError::read(Path::new(path), error))?;
                Ok((!piece.is_empty()).then(|| piece.into()))
            }
            From::Objects { store, dataset, keys, rest, open } => loop {
                if let Some((source, at)) = open {
                    let piece = source.fetch(*at..*at + STEP)?;
                    *at += piece.len() as u64;
                    if !piece.is_empty() {
                        return Ok(Some(piece));
                    }
                    *open = None;
                }
                let Some((next, others)) = rest.split_first() else { return Ok(None) };
                *rest = others;
                *open = Some((store.source(next, dataset, *keys, false)?, 0));
            },
        }
    }
}
