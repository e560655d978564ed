//! Files that were read before: stretches whose bytes are known are not read again.
//!
//! *Invariant:* what comes out is what a full reading gives; where that is not sure, a full reading is done. Bytes are
//! known by keyed digests, so that nobody without the key can test a guess of a line.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, SeekFrom};

use heldset_core::digest::{CommitKey, Digest, RowKey};
use heldset_dialect::{Format, IdRule, ReadOptions, ReadSeek, Report};

/// The tag of the format.
const MAGIC: &str = "heldset/lines/1";
/// Bytes of one entry: root, rows, length, digest, digest of its first line.
const ENTRY: usize = 32 + 4 + 4 + 16 + 8;
/// A file must begin as before for so long that it is surely of the same kind.
const SAME_HEAD: u64 = 256 << 10;
/// More stretches than these that are not known are read as one.
const MAX_STRETCHES: usize = 64;
/// Longer chunks are not remembered.
const MAX_BYTES: usize = 64 << 20;
/// How much is read at once.
const STEP: usize = 1 << 20;

/// What is remembered of the file that a split was read from.
pub(super) struct Lines {
    reading: String,
    known: Vec<Known>,
}

/// A chunk and the lines it was read from.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) root: Digest,
    pub(super) rows: u32,
    length: u32,
    digest: [u8; 16],
    head: [u8; 8],
}

/// A part of a file.
pub(super) enum Stretch {
    /// The lines of a chunk that is at rest.
    Known { chunk: Known, start: u64 },
    /// Lines that must be read.
    Unknown { start: u64, end: u64 },
}

impl Stretch {
    /// The chunk and where it starts, if it is known.
    fn known(&self) -> Option<(u64, Known)> {
        if let Stretch::Known { chunk, start } = self { Some((*start, *chunk)) } else { None }
    }

    /// Where it lies in the file.
    pub(super) fn range(&self) -> (u64, u64) {
        match self {
            Stretch::Known { chunk, start } => (*start, *start + u64::from(chunk.length)),
            Stretch::Unknown { start, end } => (*start, *end),
        }
    }
}

/// The key that lines of a split are known under. No split and no record has a line break in its name.
pub(super) fn key_of(key: &CommitKey, split: &str) -> RowKey {
    key.row_key("lines\n", split)
}

impl Lines {
    /// Remembers the lines of a file that was just read into these chunks, of which some stretches were seen to be known;
    /// nothing if rows are not lines.
    pub(super) fn note(
        file: &mut dyn ReadSeek,
        chunks: &[(Digest, u64)],
        report: &Report,
        options: &ReadOptions,
        key: &RowKey,
        seen: &[Stretch],
    ) -> io::Result<Option<Lines>> {
        let plain = matches!(report.format, Format::Letta | Format::Records) && report.files.is_empty();
        let pure = report.ids_given == 0 && report.read == report.kept && report.faults == 0;
        if !plain || !pure || chunks.len() < 2 {
            return Ok(None);
        }
        let seen: HashMap<u64, Known> = seen.iter().filter_map(Stretch::known).collect();
        file.seek(SeekFrom::Start(0))?;
        let mut window = Window { file, bytes: Vec::new(), at: 0, start: 0, ended: false };
        if window.peek(1)?.first() != Some(&b'{') {
            return Ok(None);
        }
        let mut known = Vec::new();
        // The last chunk may go on when lines are added.
        for (root, rows) in &chunks[..chunks.len() - 1] {
            if let Some(same) = seen.get(&window.place()).filter(|same| same.root == *root) {
                window.take(same.length as usize)?;
                known.push(*same);
                continue;
            }
            let Some(length) = window.rows(*rows)? else { return Ok(None) };
            let lines = window.peek(length)?;
            if length <= MAX_BYTES {
                known.push(Known::of(*root, *rows as u32, lines, key));
            }
            window.take(length)?;
        }
        Ok(Some(Lines { reading: reading_of(report.format, options), known }))
    }

    /// The stretches of a file, if enough of it is known.
    pub(super) fn stretches(
        &self,
        file: &mut dyn ReadSeek,
        options: &ReadOptions,
        key: &RowKey,
    ) -> io::Result<Option<(Vec<Stretch>, Format)>> {
        let Some(format) = self.format(options) else { return Ok(None) };
        let heads: HashMap<[u8; 8], usize> =
            self.known.iter().enumerate().map(|(at, known)| (known.head, at)).collect();
        file.seek(SeekFrom::Start(0))?;
        let mut window = Window { file, bytes: Vec::new(), at: 0, start: 0, ended: false };
        let (mut stretches, mut used, mut unknown, mut expected) = (Vec::new(), HashSet::new(), None, 0);
        loop {
            let next = match unknown {
                None => Some(expected),
                Some(_) => window.line()?.and_then(|line| heads.get(&head_of(line, key)).copied()),
            };
            let place = window.place();
            if let Some(at) = next.filter(|at| !used.contains(at))
                && let Some(chunk) = self.known.get(at)
                && chunk.is(window.peek(chunk.length as usize)?, key)
            {
                stretches.extend(unknown.take().map(|start| Stretch::Unknown { start, end: place }));
                stretches.push(Stretch::Known { chunk: *chunk, start: place });
                window.take(chunk.length as usize)?;
                used.insert(at);
                expected = at + 1;
                continue;
            }
            let Some(length) = window.line()?.map(<[u8]>::len) else { break };
            unknown.get_or_insert(place);
            window.take(length)?;
            if stretches.len() > MAX_STRETCHES + used.len() || (used.is_empty() && window.place() > SAME_HEAD) {
                return Ok(None);
            }
        }
        stretches.extend(unknown.map(|start| Stretch::Unknown { start, end: window.place() }));
        let same: u64 = stretches
            .iter()
            .map_while(|stretch| match stretch {
                Stretch::Known { chunk, .. } => Some(u64::from(chunk.length)),
                Stretch::Unknown { .. } => None,
            })
            .sum();
        Ok((same >= SAME_HEAD || options.format.is_some() && same > 0).then_some((stretches, format)))
    }

    /// As the catalogue keeps it.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = format!("{MAGIC}\n{}\n", self.reading).into_bytes();
        for known in &self.known {
            out.extend_from_slice(known.root.as_bytes());
            out.extend_from_slice(&known.rows.to_be_bytes());
            out.extend_from_slice(&known.length.to_be_bytes());
            out.extend_from_slice(&known.digest);
            out.extend_from_slice(&known.head);
        }
        out
    }

    /// What the catalogue keeps; nothing if it is not understood: then the file is read.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Lines> {
        let rest = bytes.strip_prefix(MAGIC.as_bytes())?.strip_prefix(b"\n")?;
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let reading = String::from_utf8(rest[..end].to_vec()).ok()?;
        let entries = &rest[end + 1..];
        if entries.len() % ENTRY != 0 {
            return None;
        }
        let known = entries.chunks_exact(ENTRY).map(|entry| {
            Some(Known {
                root: Digest::from_bytes(entry[..32].try_into().ok()?),
                rows: u32::from_be_bytes(entry[32..36].try_into().ok()?),
                length: u32::from_be_bytes(entry[36..40].try_into().ok()?),
                digest: entry[40..56].try_into().ok()?,
                head: entry[56..64].try_into().ok()?,
            })
        });
        Some(Lines { reading, known: known.collect::<Option<_>>()? })
    }

    /// The dialect, if the file is read in the same way as before.
    fn format(&self, options: &ReadOptions) -> Option<Format> {
        let format =
            Format::ALL.iter().copied().find(|format| self.reading.starts_with(&format!("{} ", format.name())))?;
        let same = options.format.is_none_or(|asked| asked == format) && self.reading == reading_of(format, options);
        same.then_some(format)
    }
}

impl Known {
    fn of(root: Digest, rows: u32, lines: &[u8], key: &RowKey) -> Known {
        let first = lines.iter().position(|byte| *byte == b'\n').map_or(lines, |at| &lines[..=at]);
        Known { root, rows, length: lines.len() as u32, digest: digest_of(lines, key), head: head_of(first, key) }
    }

    fn is(&self, lines: &[u8], key: &RowKey) -> bool {
        lines.len() == self.length as usize && digest_of(lines, key) == self.digest
    }
}

/// How lines became records: a line means the same only if that is the same.
fn reading_of(format: Format, options: &ReadOptions) -> String {
    let id = match &options.id {
        IdRule::Auto => "auto".to_owned(),
        IdRule::Row => "row".to_owned(),
        IdRule::Later => "later".to_owned(),
        IdRule::Field(field) => format!("field {}", field.replace('\n', " ")),
    };
    format!("{} {id}", format.name())
}

fn digest_of(lines: &[u8], key: &RowKey) -> [u8; 16] {
    let digest = key.commit("lines", &[lines]);
    std::array::from_fn(|at| digest.as_bytes()[at])
}

fn head_of(line: &[u8], key: &RowKey) -> [u8; 8] {
    let digest = key.commit("line", &[line]);
    std::array::from_fn(|at| digest.as_bytes()[at])
}

/// A file read from front to back, with a look ahead.
struct Window<'w> {
    file: &'w mut dyn ReadSeek,
    bytes: Vec<u8>,
    /// What was taken of the bytes.
    at: usize,
    /// Where in the file the bytes begin.
    start: u64,
    ended: bool,
}

impl Window<'_> {
    fn place(&self) -> u64 {
        self.start + self.at as u64
    }

    /// The next bytes, so many if there are.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.bytes.len() - self.at < count && !self.ended {
            if self.at > STEP {
                self.bytes.drain(..self.at);
                self.start += self.at as u64;
                self.at = 0;
            }
            let before = self.bytes.len();
            let wanted = (count - (before - self.at)).max(STEP) as u64;
            self.ended = (&mut self.file).take(wanted).read_to_end(&mut self.bytes)? < wanted as usize;
        }
        let end = (self.at + count).min(self.bytes.len());
        Ok(&self.bytes[self.at..end])
    }

    fn take(&mut self, count: usize) -> io::Result<()> {
        let had = self.peek(count)?.len();
        self.at += had;
        if had == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// The next line with its end; nothing at the end of the file.
    fn line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = 0;
        loop {
            let have = self.peek(searched + 1)?.len();
            if have <= searched {
                let line = &self.bytes[self.at..];
                return Ok((!line.is_empty()).then_some(line));
            }
            let rest = &self.bytes[self.at + searched..];
            if let Some(at) = memchr::memchr(b'\n', rest) {
                let end = self.at + searched + at + 1;
                return Ok(Some(&self.bytes[self.at..end]));
            }
            searched += rest.len();
        }
    }

    /// The length of the lines of so many rows, blank lines before each included; nothing if there are not so many,
    /// or if lines end in another way.
    fn rows(&mut self, rows: u64) -> io::Result<Option<usize>> {
        let (mut length, mut left) = (0, rows);
        while left > 0 {
            let have = self.peek(length + 1)?.len();
            if have <= length {
                return Ok(None);
            }
            let rest = &self.bytes[self.at + length..];
            let Some(end) = memchr::memchr(b'\n', rest) else {
                let more = rest.len() + STEP;
                if self.ended || self.peek(length + more)?.len() <= have {
                    return Ok(None);
                }
                continue;
            };
            let line = &rest[..end];
            if memchr::memchr(b'\r', line).is_some() {
                return Ok(None);
            }
            left -= u64::from(!line.trim_ascii().is_empty());
            length += end + 1;
        }
        Ok(Some(length))
    }
}
