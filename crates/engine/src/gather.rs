//! Gathering staged records into chunks and packs: what is at rest already is not written again.
//!
//! *Invariant:* a pack holds whole chunks; the root depends on the records alone, not on what is at rest.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use heldset_core::chunk::{Chunk, Chunker};
use heldset_core::digest::Digest;
use heldset_core::visibility::SplitLabels;
use heldset_store::documents::{ChunkDoc, PackDoc};
use heldset_store::pack::{PACK_BYTES, PACK_ROWS, PackDraft, Staged, encode, id_index};
use heldset_store::{Sealing, Store, StoreError};

use crate::rows::SplitRows;

/// A split that was gathered: its chunks, and the packs that are new.
pub(crate) struct Gathered {
    /// The split's root.
    pub(crate) root: Digest,
    /// How many records it has.
    pub(crate) rows: u64,
    /// Its chunks in order.
    pub(crate) chunks: Vec<(Digest, u64)>,
    /// New packs, without names yet.
    pub(crate) packs: Vec<PackDoc>,
}

/// How packs are written.
#[derive(Clone, Copy)]
pub(crate) struct Packing<'p> {
    /// The store.
    pub(crate) store: &'p Store,
    /// The labels of the split.
    pub(crate) labels: &'p SplitLabels,
    /// How sealed labels are sealed.
    pub(crate) sealing: &'p Sealing,
}

/// Gathers records in order; packs are written beside.
pub(crate) struct Gather<'g, 'scope> {
    known: &'g SplitRows,
    /// The label that the ids lie under.
    own: String,
    chunker: Chunker,
    chunks: Vec<(Digest, u64)>,
    /// The rows of the chunk that is still open.
    open: Vec<Staged>,
    pack: Parcel,
    send: Option<SyncSender<Parcel>>,
    /// Written packs, emptied to be filled again.
    emptied: Receiver<Parcel>,
    writer: Option<ScopedJoinHandle<'scope, Result<Vec<PackDoc>, StoreError>>>,
}

/// Rows that become one pack.
#[derive(Default)]
struct Parcel {
    rows: PackDraft,
    chunks: Vec<ChunkDoc>,
}

impl<'g, 'scope> Gather<'g, 'scope> {
    /// Starts to gather a split; `known` says what is at rest.
    pub(crate) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        packing: Packing<'env>,
        known: &'g SplitRows,
    ) -> Gather<'g, 'scope> {
        let (send, receive) = sync_channel(0);
        let (give_back, emptied) = channel();
        let writer = scope.spawn(move || write_all(packing, receive, &give_back));
        Gather {
            known,
            own: packing.labels.own().name().to_owned(),
            chunker: Chunker::new(),
            chunks: Vec::new(),
            open: Vec::new(),
            pack: Parcel::default(),
            send: Some(send),
            emptied,
            writer: Some(writer),
        }
    }

    /// Takes the next record. Fails only when the writer has failed; [`finish`](Self::finish) says why.
    pub(crate) fn push(&mut self, staged: Staged) -> Result<(), Stopped> {
        let chunk = self.chunker.push(staged.leaf);
        self.open.push(staged);
        chunk.map_or(Ok(()), |chunk| self.close(chunk))
    }

    /// Takes a whole chunk that is at rest; refused while another one is open.
    pub(crate) fn push_chunk(&mut self, root: Digest, rows: u64) -> bool {
        let taken = self.chunker.push_chunk(root, rows);
        if taken {
            self.chunks.push((root, rows));
        }
        taken
    }

    fn close(&mut self, chunk: Chunk) -> Result<(), Stopped> {
        self.chunks.push((chunk.root, chunk.rows));
        let rows = std::mem::take(&mut self.open);
        let at_rest = self.known.place(&chunk.root);
        if at_rest.is_some_and(|place| self.known.packs[place.pack].1.ids.label == self.own) {
            return Ok(());
        }
        self.pack.chunks.push(ChunkDoc { root: chunk.root.hex(), rows: chunk.rows, erased: Default::default() });
        rows.iter().for_each(|row| self.pack.rows.push(row));
        if self.pack.rows.len() >= PACK_ROWS || self.pack.rows.weight() >= PACK_BYTES {
            return self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Stopped> {
        if self.pack.rows.is_empty() {
            return Ok(());
        }
        let empty = self.emptied.try_recv().unwrap_or_default();
        let parcel = std::mem::replace(&mut self.pack, empty);
        let send = self.send.as_ref().ok_or(Stopped)?;
        send.send(parcel).map_err(|_| Stopped)
    }

    /// Ends the split and waits until its packs are written.
    pub(crate) fn finish(mut self) -> Result<Gathered, StoreError> {
        let chunker = std::mem::take(&mut self.chunker);
        let (last, sum) = chunker.finish();
        let sent = last.map_or(Ok(()), |chunk| self.close(chunk)).and_then(|()| self.flush());
        let packs = self.wait()?;
        if sent.is_err() {
            return Err(StoreError::internal("the writer of packs stopped"));
        }
        Ok(Gathered { root: sum.root, rows: sum.rows, chunks: std::mem::take(&mut self.chunks), packs })
    }

    /// Gives up: waits for the writer and says why it failed, if it did.
    pub(crate) fn abandon(mut self) -> Result<(), StoreError> {
        self.wait().map(drop)
    }

    fn wait(&mut self) -> Result<Vec<PackDoc>, StoreError> {
        drop(self.send.take());
        let written = self.writer.take().map(ScopedJoinHandle::join);
        match written {
            Some(Ok(packs)) => packs,
            _ => Err(StoreError::internal("the writer of packs stopped")),
        }
    }
}

/// The writer of packs has stopped.
#[derive(Debug)]
pub(crate) struct Stopped;

fn write_all(
    packing: Packing<'_>,
    receive: Receiver<Parcel>,
    give_back: &Sender<Parcel>,
) -> Result<Vec<PackDoc>, StoreError> {
    let mut packs = Vec::new();
    for mut parcel in receive {
        packs.push(write_pack(packing, &parcel.rows, std::mem::take(&mut parcel.chunks))?);
        parcel.rows.clear();
        // Nobody wants it back when the last pack was sent.
        drop(give_back.send(parcel));
    }
    Ok(packs)
}

/// Writes a pack: one object for each label, and the index of ids.
pub(crate) fn write_pack(packing: Packing<'_>, rows: &PackDraft, chunks: Vec<ChunkDoc>) -> Result<PackDoc, StoreError> {
    let Packing { store, labels, sealing } = packing;
    let ids = store.put_object(labels.own(), id_index(rows), sealing)?;
    let objects = encode(rows, labels, |label, bytes| store.put_object(label, bytes, sealing))?;
    Ok(PackDoc { rows: rows.len() as u64, chunks, objects, ids })
}
