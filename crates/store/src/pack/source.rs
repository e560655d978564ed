//! The bytes of an object, read whole or by range, as the columnar reader wants them.
//!
//! *Invariant:* every byte that comes out was verified by whoever made the source.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::error::StoreError;

type Fetch = dyn Fn(Range<u64>) -> Result<Bytes, StoreError> + Send + Sync;

/// The bytes of an object.
#[derive(Clone)]
pub struct Source {
    fetch: Arc<Fetch>,
    len: u64,
}

/// How much a sequential read fetches at once.
const STEP: u64 = 64 << 10;

impl Source {
    /// Bytes that are all there.
    pub fn whole(bytes: Bytes) -> Self {
        let len = bytes.len() as u64;
        Source { fetch: Arc::new(move |range| Ok(bytes.slice(range.start as usize..range.end as usize))), len }
    }

    /// Bytes that are fetched when they are needed.
    pub fn ranged(len: u64, fetch: impl Fn(Range<u64>) -> Result<Bytes, StoreError> + Send + Sync + 'static) -> Self {
        Source { fetch: Arc::new(fetch), len }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of them.
    pub fn fetch(&self, range: Range<u64>) -> Result<Bytes, StoreError> {
        (self.fetch)(range.start.min(self.len)..range.end.min(self.len))
    }
}

/// Reads on from a place.
pub struct Reading {
    source: Source,
    at: u64,
    held: Bytes,
}

impl Read for Reading {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.held.is_empty() {
            self.held = self.source.fetch(self.at..self.at + STEP).map_err(io::Error::other)?;
            self.at += self.held.len() as u64;
        }
        let count = out.len().min(self.held.len());
        out[..count].copy_from_slice(&self.held.split_to(count));
        Ok(count)
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Source {
    type T = Reading;

    fn get_read(&self, start: u64) -> Result<Reading, ParquetError> {
        Ok(Reading { source: self.clone(), at: start, held: Bytes::new() })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes =
            self.fetch(start..start + length as u64).map_err(|error| ParquetError::External(Box::new(error)))?;
        if bytes.len() == length { Ok(bytes) } else { Err(ParquetError::EOF("the object ends early".to_owned())) }
    }
}
