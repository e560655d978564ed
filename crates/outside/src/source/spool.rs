//! Bytes that come from outside: measured and hashed as they come, in memory while they are few, else in a file.
//!
//! *Invariant:* never more bytes than the limit.

use std::io::{self, Read, Seek, SeekFrom, Write};

use heldset_core::digest::Hashing;
use tempfile::SpooledTempFile;

/// Up to here bytes stay in memory.
const IN_MEMORY: usize = 16 << 20;

/// Bytes that are coming.
pub(super) struct Spool {
    hashing: Hashing,
    size: u64,
    limit: u64,
    file: SpooledTempFile,
}

/// Bytes that have all come.
pub(super) struct Spooled {
    /// How many.
    pub(super) size: u64,
    /// Their SHA-256 in hex.
    pub(super) sha256: String,
    /// The bytes, from the first on.
    pub(super) file: SpooledTempFile,
}

/// Why a piece is not taken.
pub(super) enum Full {
    /// It would be more than the limit.
    TooMany(u64),
    /// It cannot be written.
    Io(io::Error),
}

impl Spool {
    /// An empty one with a limit.
    pub(super) fn new(limit: u64) -> Self {
        Spool { hashing: Hashing::default(), size: 0, limit, file: SpooledTempFile::new(IN_MEMORY) }
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<(), Full> {
        self.size += piece.len() as u64;
        if self.size > self.limit {
            return Err(Full::TooMany(self.limit));
        }
        self.hashing.update(piece);
        self.file.write_all(piece).map_err(Full::Io)
    }

    /// All of it.
    pub(super) fn finish(mut self) -> io::Result<Spooled> {
        self.file.seek(SeekFrom::Start(0))?;
        Ok(Spooled { size: self.size, sha256: self.hashing.finish().hex(), file: self.file })
    }
}

impl Spooled {
    /// The bytes in memory.
    pub(super) fn bytes(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.size as usize);
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// How many bytes a reader has, and their SHA-256 in hex.
pub(super) fn measure(mut reader: impl Read) -> io::Result<(u64, String)> {
    let mut hashing = Hashing::default();
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok((size, hashing.finish().hex())),
            read => {
                size += read as u64;
                hashing.update(&buffer[..read]);
            }
        }
    }
}

/// A size in words.
pub(super) fn bytes_told(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{bytes} bytes"),
        _ => format!("{} MiB", bytes >> 20),
    }
}
