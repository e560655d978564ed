//! Workers that turn blocks into records side by side, and one taker that sees them in order.
//!
//! *Invariant:* what the taker sees does not depend on how many workers there are.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use heldset_core::code::Code;
use heldset_core::fault::{Fault, Problem};

use crate::blocks::{Block, Container, Look};
use crate::files::Files;
use crate::history::{History, Spot, Verdict};
use crate::ids::IdKey;
use crate::map::{Mapper, Notes};
use crate::read::{Each, Take};
use crate::report::{Report, Tally};

/// What a worker made of a block.
struct Done<B, O> {
    block: B,
    rows: Vec<RowDone<O>>,
    tally: Tally,
    bytes_read: u64,
}

enum RowDone<O> {
    Kept { out: O, key: IdKey, version: Option<u64> },
    Refused { faults: Vec<Fault>, key: Option<IdKey>, version: Option<u64> },
}

/// What comes out of the line: a block, or the fault that ends the reading.
type Parcel<B, O> = (u64, Result<Done<B, O>, Box<Fault>>);

struct Line<C> {
    container: C,
    next: u64,
    ended: bool,
}

/// What every worker needs to know.
pub(crate) struct Job<'j, E> {
    pub(crate) mapper: &'j dyn Mapper,
    pub(crate) each: &'j E,
    pub(crate) file: &'j str,
    pub(crate) files: &'j dyn Files,
    pub(crate) threads: usize,
}

/// Reads a container to its end. A fault that ends the reading is told to the taker like any other.
pub(crate) fn run<C, E>(
    container: C,
    job: &Job<'_, E>,
    take: &mut dyn Take<E::Out>,
    report: &mut Report,
) -> std::io::Result<()>
where
    C: Container,
    E: Each,
{
    let line = Mutex::new(Line { container, next: 0, ended: false });
    let (send, receive) = sync_channel(job.threads * 2);
    std::thread::scope(|scope| {
        for _ in 0..job.threads.max(1) {
            let send = send.clone();
            let line = &line;
            scope.spawn(move || work(line, job, &send));
        }
        drop(send);
        consume(receive, &line, &job.mapper.id_fields(), take, report)
    })
}

fn work<C: Container, E: Each>(line: &Mutex<Line<C>>, job: &Job<'_, E>, send: &SyncSender<Parcel<C::Block, E::Out>>) {
    let mut scratch = E::Scratch::default();
    loop {
        let Ok(mut taking) = line.lock() else { return };
        if taking.ended {
            return;
        }
        let number = taking.next;
        taking.next += 1;
        let block = taking.container.next_block();
        taking.ended = !matches!(block, Ok(Some(_)));
        let bytes_read = taking.container.bytes_read();
        drop(taking);
        let parcel = match block {
            Ok(None) => return,
            Ok(Some(block)) => Ok(finish(block, job, &mut scratch, bytes_read)),
            Err(fault) => Err(fault),
        };
        if send.send((number, parcel)).is_err() {
            return;
        }
    }
}

fn finish<B: Block, E: Each>(
    mut block: B,
    job: &Job<'_, E>,
    scratch: &mut E::Scratch,
    bytes_read: u64,
) -> Done<B, E::Out> {
    block.prepare();
    let mut rows = Vec::with_capacity(block.len());
    let mut notes = Notes {
        row: 0,
        file: job.file,
        files: job.files,
        problems: Vec::new(),
        tally: Tally::default(),
        names: Vec::new(),
    };
    let first = block.first_row();
    let look = |field: &str| job.mapper.looks_into(field);
    let look: Look<'_> = if E::SHALLOW { Some(&look) } else { None };
    block.visit(look, &mut |row, value| {
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                return rows.push(RowDone::Refused { faults: error.locate(&block, row), key: None, version: None });
            }
        };
        notes.row = first + row as u64;
        let record = job.mapper.map(value, &mut notes);
        if let Some(record) = record.as_ref().filter(|_| notes.problems.is_empty()) {
            job.each.check(record, &mut notes.problems);
        }
        let version = record.as_ref().and_then(|record| job.mapper.version(record));
        rows.push(match record {
            Some(record) if notes.problems.is_empty() => {
                RowDone::Kept { key: IdKey::of(record.id.as_str()), version, out: job.each.record(scratch, record) }
            }
            record => RowDone::Refused {
                key: record.map(|record| IdKey::of(record.id.as_str())),
                version,
                faults: notes.problems.drain(..).map(|problem| located(problem, &block, row)).collect(),
            },
        });
    });
    let tally = notes.tally;
    Done { block, rows, tally, bytes_read }
}

fn located(problem: Problem, block: &impl Block, row: usize) -> Fault {
    let (place, excerpt) = block.locate(row, &problem.path);
    problem.at(place, excerpt).in_file(block.file())
}

fn consume<C: Container, O>(
    receive: Receiver<Parcel<C::Block, O>>,
    line: &Mutex<Line<C>>,
    id_fields: &[&str],
    take: &mut dyn Take<O>,
    report: &mut Report,
) -> std::io::Result<()> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    let mut history = History::default();
    for (number, parcel) in receive {
        early.insert(number, parcel);
        while let Some(parcel) = early.remove(&next) {
            next += 1;
            match parcel {
                Ok(done) => {
                    let block = settle(done, id_fields, &mut history, take, report)?;
                    if let Ok(mut line) = line.lock() {
                        line.container.recycle(block);
                    }
                }
                Err(fault) => {
                    report.faults += 1;
                    take.fault(&fault, None)?;
                }
            }
        }
    }
    history.close(take, report)
}

fn settle<B: Block, O>(
    done: Done<B, O>,
    id_fields: &[&str],
    history: &mut History<O>,
    take: &mut dyn Take<O>,
    report: &mut Report,
) -> std::io::Result<B> {
    let Done { block, rows, tally, bytes_read } = done;
    report.add(tally);
    for (row, made) in rows.into_iter().enumerate() {
        report.read += 1;
        let spot = Spot { file: block.file().map(str::to_owned), line: block.line(row) };
        let faults = match made {
            RowDone::Refused { mut faults, key, version } => {
                let field = || id_field_of(&block, row, id_fields);
                let repeated = key.and_then(|key| history.refused(key, version, spot, field));
                faults.extend(repeated.map(|problem| named(located(problem, &block, row))));
                faults
            }
            RowDone::Kept { out, key, version } => {
                match history.add(key, version, spot, || id_field_of(&block, row, id_fields), out) {
                    Verdict::Now(out) => {
                        report.kept += 1;
                        take.record(out)?;
                        continue;
                    }
                    Verdict::Waits => continue,
                    Verdict::Repeated(problem) => vec![named(located(problem, &block, row))],
                }
            }
        };
        report.refused += 1;
        report.faults += faults.len() as u64;
        let source = block.source(row);
        for (index, fault) in faults.iter().enumerate() {
            take.fault(fault, (index == 0).then_some(source.as_slice()))?;
        }
    }
    take.progress(bytes_read, report.read)?;
    Ok(block)
}

/// The field that a row's id stands in.
fn id_field_of<'f>(block: &impl Block, row: usize, fields: &[&'f str]) -> &'f str {
    fields.iter().copied().find(|field| block.has(row, field)).or(fields.last().copied()).unwrap_or("id")
}

/// A repeated id or version, with the id as it stands in the file.
fn named(fault: Fault) -> Fault {
    let marked = fault.excerpt.as_ref().and_then(|excerpt| excerpt.text.get(excerpt.start..excerpt.end)).unwrap_or("");
    match marked.trim_matches(['"', '\'']) {
        id if id.is_empty() || id.starts_with('{') || fault.code != Code::E012 => fault,
        id => Fault { message: fault.message.replacen("duplicate id", &format!("duplicate id `{id}`"), 1), ..fault },
    }
}
