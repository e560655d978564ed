//! Requests that look, and their answers as text.

use std::fmt::Write;
use std::io::{self, Cursor};

use heldset_core::digest::{Digest, sha256};
use heldset_core::query::{Query, Sort, parse_where};
use heldset_core::visibility::{Place, Viewer};
use heldset_dialect::write::{Target, WriteOptions};
use heldset_engine::cat::{CatRequest, cat};
use heldset_engine::diff::{DiffRequest, diff};
use heldset_engine::export::{ExportRequest, export};
use heldset_engine::history::history;
use heldset_engine::ls::ls;
use heldset_engine::mount::{MountRequest, mount};
use heldset_engine::query::{Memory, query};
use heldset_engine::record::{self, RecordRequest};
use heldset_engine::refusal::Outcome;
use heldset_engine::session::Session;
use heldset_engine::show::show;
use heldset_engine::sql::sql;
use heldset_engine::verify::{PinnedFiles, verify};
use heldset_engine::{audit, copies};
use heldset_testkit::{MemoryLayout, Quiet, Seeded};

/// A request.
#[derive(Debug)]
pub(crate) enum Request {
    Ls,
    Show(String),
    History,
    Cat(String, Option<String>, Vec<String>, Option<Place>),
    Record(String, String, Option<String>),
    RecordHistory(String, String, Option<String>),
    Proof(String, String),
    Diff(String, String, Option<String>),
    Export(String, Option<String>, Target),
    Mount(String),
    Verify(String),
    Audit,
    Copies,
    Query(String, Query),
    Sql(String),
}

impl Request {
    /// Some request; what it names may be there or not, and may be seen or not.
    pub(crate) fn random(choices: &Seeded) -> Request {
        let cite = || choices.one(&["trips", "trips@1", "trips@2", "trips@5", "trips@tag-0", "trips@9", "nowhere"]);
        let cite = || (*cite()).to_owned();
        let split = || match choices.below(3) {
            0 => Some((*choices.one(&["default", "answers", "vault", "missing"])).to_owned()),
            _ => None,
        };
        let id = || {
            let row = choices.below(9);
            let split = choices.one(&["default", "default", "answers", "elsewhere", "missing"]);
            let own = *choices.one(&["", "", "@1", "@2", "@9"]);
            format!("{split}-{row}{own}")
        };
        match choices.below(16) {
            13 | 14 => Request::Query(cite(), random_query(choices, split())),
            15 => Request::Sql(random_statement(choices)),
            0 => Request::Ls,
            1 => Request::Show(cite()),
            2 => Request::History,
            3 | 4 => {
                let ids = (0..choices.below(3)).map(|_| id()).collect();
                let place = (choices.below(4) == 0).then(|| *choices.one(Place::ALL));
                Request::Cat(cite(), split(), ids, place)
            }
            5 => Request::Record(cite(), id(), split()),
            6 => Request::RecordHistory(cite(), id(), split()),
            7 => Request::Proof(cite(), id()),
            8 | 9 => Request::Diff(cite(), cite(), split()),
            10 => Request::Export(cite(), split(), choices.one(Target::ALL).0),
            11 => Request::Mount(cite()),
            _ => match choices.below(3) {
                0 => Request::Verify(cite()),
                1 => Request::Audit,
                _ => Request::Copies,
            },
        }
    }
}

/// The names of fields that there are, that there are not, and that lead inside.
const NAMES: &[&str] = &["input", "category", "expected_output", "pin", "deal", "verdict", "missing", "pin.0", "id"];

/// Some query; what it names may be there or not, and may be seen or not.
fn random_query(choices: &Seeded, split: Option<String>) -> Query {
    let name = || *choices.one(NAMES);
    let test = || match choices.below(5) {
        0 => format!("{} is null", name()),
        1 => format!("{} contains \"of 3\"", name()),
        2 => format!("{} > \"d\"", name()),
        3 => format!("{} = {}", name(), choices.below(3)),
        _ => format!("not {} startswith \"quite\"", name()),
    };
    let text = match choices.below(3) {
        0 => test(),
        1 => format!("{} or {}", test(), test()),
        _ => format!("{} and not ({})", test(), test()),
    };
    Query {
        filter: parse_where(&text).unwrap(),
        sort: (0..choices.below(3)).map(|at| Sort { field: name().to_owned(), descending: at == 0 }).collect(),
        limit: choices.below(5) as u64,
        offset: choices.below(3) as u64,
        fields: (choices.below(2) == 0).then(|| vec!["id".to_owned(), name().to_owned()]),
        split,
        ..Query::default()
    }
}

fn random_statement(choices: &Seeded) -> String {
    let (name, other) = (choices.one(NAMES), choices.one(NAMES));
    let table = choices.one(&["trips", "\"trips@1\"", "\"trips#default\"", "\"trips#answers\"", "nowhere"]);
    match choices.below(4) {
        0 => format!("select * from {table} order by id"),
        1 => format!("select count(*), count(\"{name}\"), min(\"{name}\") from {table}"),
        2 => format!("select id from {table} where \"{name}\" is not null order by \"{other}\", id"),
        _ => format!("select a.id, b.\"{name}\" from {table} a join trips b on a.id = b.id order by 1, 2"),
    }
}

/// The answer to a request as text, with digests and commitments masked.
pub(crate) fn answer(session: &mut Session, viewer: Viewer, request: &Request) -> String {
    session.viewer = viewer;
    let mut out = String::new();
    let done = fill(session, request, &mut out);
    session.viewer = Viewer::Owner;
    if let Err(refusal) = done {
        write!(out, "{refusal:?}").unwrap();
    }
    masked(&out)
}

fn fill(session: &Session, request: &Request, out: &mut String) -> Outcome<()> {
    match request {
        Request::Ls => {
            for listed in ls(session)? {
                let heldset_engine::ls::Listed { dataset, digest, mode, rows, updated_at } = listed;
                writeln!(out, "{dataset:?} {digest} {mode} {rows} {updated_at}").unwrap();
            }
        }
        Request::Show(cite) => {
            let shown = show(session, cite)?;
            let version = &shown.resolved.version;
            let digests = &shown.digests;
            writeln!(out, "{:?} {:?} {:?}", shown.splits, shown.tags, shown.sources).unwrap();
            writeln!(out, "{} {:?} {:?}", version.number, version.message, version.parents).unwrap();
            writeln!(out, "{:?} {:?} {:?}", digests.records, digests.policy, digests.version).unwrap();
        }
        Request::History => {
            for entry in history(session, "trips")? {
                let version = &entry.version;
                let (number, message, parents) = (version.number, &version.message, &version.parents);
                writeln!(out, "{number} {message:?} {parents:?} {} {:?}", entry.rows, entry.tags).unwrap();
            }
        }
        Request::Cat(cite, split, ids, place) => {
            let mut bytes = Vec::new();
            let done = cat(session, &CatRequest { cite, split: split.as_deref(), ids, place: *place }, &mut bytes);
            out.push_str(&String::from_utf8(bytes).unwrap());
            done?;
        }
        Request::Diff(a, b, split) => difference(session, (a, b), split.as_deref(), out)?,
        Request::Export(cite, split, target) => exported(session, cite, split.as_deref(), *target, out)?,
        Request::Mount(cite) => {
            let mut layout = MemoryLayout::default();
            let mounted = mount(session, &MountRequest { cite, place: None, at: "somewhere" }, &mut layout)?;
            write!(out, "{:?}", mounted.splits).unwrap();
            layout.0.iter().for_each(|(path, bytes)| {
                writeln!(out, "{path}: {}", String::from_utf8_lossy(bytes)).unwrap();
            });
        }
        Request::Verify(cite) => {
            for verified in verify(session, Some(cite), &Nothing, &mut Quiet::default())? {
                writeln!(out, "{} {} {:?}", verified.version, verified.rows, verified.problems).unwrap();
            }
        }
        Request::Audit => {
            for entry in audit::entries(session, None, Some(9))? {
                writeln!(out, "{} {:?}", entry.number, entry.entry).unwrap();
            }
        }
        Request::Copies => {
            for copy in copies::copies(session, "trips")? {
                writeln!(out, "{:?}", copy.doc).unwrap();
            }
        }
        Request::Query(cite, asked) => {
            let answered = query(session, &Memory::new(1 << 20), cite, asked)?;
            let rows = String::from_utf8(answered.lines()).unwrap();
            write!(out, "{} {}\n{rows}", answered.total, answered.next_cursor.is_some()).unwrap();
        }
        Request::Sql(statement) => {
            let answer = sql(session, &Memory::new(1 << 20), statement)?;
            writeln!(out, "{:?}", answer.columns().collect::<Vec<_>>()).unwrap();
            answer.rows().for_each(|row| writeln!(out, "{row:?}").unwrap());
        }
        Request::Record(..) | Request::RecordHistory(..) | Request::Proof(..) => one_record(session, request, out)?,
    }
    Ok(())
}

fn one_record(session: &Session, request: &Request, out: &mut String) -> Outcome<()> {
    let wanted = |cite, id, split| RecordRequest { cite, id, split, place: None };
    match request {
        Request::Record(cite, id, split) => {
            let found = record::record(session, &wanted(cite, id, split.as_deref()), true)?;
            let json = String::from_utf8(found.json).unwrap();
            write!(out, "{} {} {json} {:?}", found.split, found.id, found.own).unwrap();
        }
        Request::RecordHistory(cite, id, split) => {
            let versions = record::history(session, &wanted(cite, id, split.as_deref()))?;
            write!(out, "{versions:?}").unwrap();
        }
        Request::Proof(cite, id) => {
            let proven = record::prove(session, &wanted(cite, id, None))?;
            write!(out, "{} {:?} {:?} {:?}", proven.split, proven.leaf, proven.groups, proven.proof).unwrap();
        }
        _ => {}
    }
    Ok(())
}

fn difference(session: &Session, (a, b): (&str, &str), split: Option<&str>, out: &mut String) -> Outcome<()> {
    let found = diff(session, &DiffRequest { a, b, split, place: None, values: true })?;
    for (kind, listed) in [("added", &found.added), ("removed", &found.removed)] {
        listed.iter().for_each(|one| writeln!(out, "{kind} {} {}", one.split, one.id).unwrap());
    }
    for changed in &found.changed {
        writeln!(out, "changed {} {}", changed.split, changed.id).unwrap();
        for field in &changed.fields {
            writeln!(out, "  {} {:?} {:?}", field.name, field.before, field.after).unwrap();
        }
    }
    found.moved.iter().for_each(|one| writeln!(out, "moved {} {} {}", one.id, one.from, one.to).unwrap());
    writeln!(out, "{:?}", found.schema).unwrap();
    Ok(())
}

fn exported(session: &Session, cite: &str, split: Option<&str>, target: Target, out: &mut String) -> Outcome<()> {
    let write = WriteOptions { typed: true, for_spreadsheet: false };
    let request = ExportRequest { cite, split, place: None, target, write, lossy: true };
    let mut quiet = Quiet::default();
    let mut made = export(session, &request, Box::new(Cursor::new(Vec::new())), &mut quiet)?;
    let mut bytes = Vec::new();
    let sidecar = made.write_to(&mut bytes).unwrap();
    let schema = sidecar.schema.map(|schema| String::from_utf8(schema).unwrap());
    let beside = made.keep("somewhere")?;
    writeln!(out, "{} {} {} {quiet:?} {schema:?} {beside:?}", made.split, made.rows, made.dropped).unwrap();
    // Two equal digests of bytes are two equal files.
    let digest = sha256(&bytes).hex();
    out.push_str(&digest.replace('a', "x").replace('0', "z"));
    Ok(())
}

/// The text with a mark in the place of every digest and commitment, and of signatures over them.
fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let is_hex = |letter: char| letter.is_ascii_digit() || ('a'..='f').contains(&letter);
    let mut rest = text;
    while let Some(start) = rest.find(is_hex) {
        let length = rest[start..].find(|letter| !is_hex(letter)).unwrap_or(rest.len() - start);
        let end = start + length;
        out.push_str(&rest[..start]);
        out.push_str(if length == 64 || length == 128 { "#" } else { &rest[start..end] });
        rest = &rest[end..];
    }
    out + rest
}

/// No file stays where it is.
struct Nothing;

impl PinnedFiles for Nothing {
    fn digest(&self, _path: &str) -> io::Result<(u64, Digest)> {
        Err(io::ErrorKind::NotFound.into())
    }
}
