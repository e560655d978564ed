//! Packed bytes inside of others: gzip, zstd, zlib and zip entries wherever they start, and tables with their cells.

use std::io::Read;

use crate::reading::read_bytes;

/// The most bytes that are unpacked at one place.
const MOST: u64 = 32 << 20;

/// Everything that can be unpacked of these bytes.
pub(super) fn all(bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut found = Vec::new();
    for at in 0..bytes.len() {
        let rest = &bytes[at..];
        match rest {
            [0x1f, 0x8b, 0x08, ..] => take("gzip", flate2::read::GzDecoder::new(rest), &mut found),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                if let Ok(reader) = zstd::Decoder::new(rest) {
                    take("zstd", reader.single_frame(), &mut found);
                }
            }
            [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => take("zlib", flate2::read::ZlibDecoder::new(rest), &mut found),
            [b'P', b'K', 3, 4, ..] => {
                if let Some(body) = zip_entry(rest) {
                    take("zip", flate2::read::DeflateDecoder::new(body), &mut found);
                }
            }
            _ => {}
        }
    }
    for (magic, name) in [(&b"PAR1"[..], "table.parquet"), (b"ARROW1", "table.arrow")] {
        if bytes.starts_with(magic) {
            found.push(("table", read_bytes(name, bytes).lines().join("\n").into_bytes()));
        }
    }
    found
}

/// Keeps what a reader gives until it ends or fails.
fn take(kind: &'static str, reader: impl Read, found: &mut Vec<(&'static str, Vec<u8>)>) {
    let mut out = Vec::new();
    // What came out before a failure is searched as well.
    drop(reader.take(MOST).read_to_end(&mut out));
    if !out.is_empty() {
        found.push((kind, out));
    }
}

/// The packed bytes of a zip entry, from its local header on.
fn zip_entry(header: &[u8]) -> Option<&[u8]> {
    let length = |at: usize| Some(usize::from(u16::from_le_bytes([*header.get(at)?, *header.get(at + 1)?])));
    header.get(30 + length(26)? + length(28)?..)
}
