//! Compressed files: gzip and zstd, with a limit on what they may expand to.
//!
//! *Invariant:* a reader made here never yields more than a hundred times what it read, nor more than 8 GiB.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};
use heldset_core::path::Path;
use thiserror::Error;

const RATIO: u64 = 100;
const MOST: u64 = 8 << 30;
/// Small files may expand more: a kilobyte of zeros harms nobody.
const ALWAYS: u64 = 16 << 20;

/// The ways of compression that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

#[derive(Debug, Error)]
#[error("the file expands more than a hundredfold, or beyond 8 GiB")]
struct ExpandsTooMuch;

#[derive(Debug, Error)]
#[error("the compressed data is damaged: {0}")]
struct Damaged(String);

impl Compression {
    /// By the first bytes.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// A reader of the expanded bytes.
    pub(crate) fn expand(self, reader: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        let consumed = Arc::new(AtomicU64::new(0));
        let counted = Counted { reader, count: Arc::clone(&consumed) };
        let inner: Box<dyn Read + Send> = match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(counted)),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(counted)?;
                decoder.window_log_max(27)?;
                Box::new(decoder)
            }
        };
        Ok(Box::new(Limited { inner, consumed, yielded: 0 }))
    }
}

/// The fault that an error of such a reader stands for.
pub(crate) fn fault_of(error: &io::Error) -> Option<Fault> {
    let inner = error.get_ref()?;
    if inner.is::<ExpandsTooMuch>() {
        let problem = Problem::new(Code::E009, Path::root(), inner.to_string());
        return Some(problem.help("expand it yourself if you trust it, and pass the result").of_file());
    }
    inner.downcast_ref::<Damaged>().map(|damaged| {
        let problem = Problem::new(Code::E010, Path::root(), damaged.to_string());
        problem.help("compress the file again from its original").of_file()
    })
}

struct Counted<R> {
    reader: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.reader.read(buffer)?;
        self.count.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

struct Limited {
    inner: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
    yielded: u64,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer).map_err(|error| io::Error::other(Damaged(error.to_string())))?;
        self.yielded += got as u64;
        let allowed = (self.consumed.load(Ordering::Relaxed) * RATIO).clamp(ALWAYS, MOST);
        if self.yielded > allowed {
            return Err(io::Error::other(ExpandsTooMuch));
        }
        Ok(got)
    }
}
