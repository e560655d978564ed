//! Queries over a store, as the bench asks them: one process, the same queries again and again.
//!
//! Arguments: a store, a dataset, a file of queries, how often. Prints one JSON object, times in milliseconds.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    reason = "a measurement"
)]

use std::sync::Arc;
use std::time::Instant;

use heldset_core::filter::Filter;
use heldset_core::path::Path;
use heldset_core::query::{Query, Sort};
use heldset_core::value::Value;
use heldset_core::visibility::Viewer;
use heldset_core::{digest, json};
use heldset_engine::ports::Clock;
use heldset_engine::query::{Answered, Desk, Memory};
use heldset_engine::session::Session;
use heldset_store::{DiskKeys, Entropy, NoProbe, Store, StoreFolder};

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> String {
        "2026-01-01T00:00:00Z".to_owned()
    }
}

impl Entropy for Fixed {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let mut next = || args.next().unwrap_or_default();
    let (dir, slug, file, reps) = (next(), next(), next(), next());
    if dir.is_empty() {
        println!("usage: query STORE DATASET QUERIES REPS");
        return;
    }
    let reps: usize = reps.parse().unwrap_or(3);
    let keys = std::env::var("HELDSET_KEYS").unwrap();
    let folder = StoreFolder::open(std::path::Path::new(&dir), Arc::new(NoProbe)).unwrap();
    let disk = DiskKeys::new(std::path::Path::new(&keys), &folder.head().id, Arc::new(NoProbe));
    let store = Store::on_disk(folder, Arc::new(disk), Arc::new(Fixed));
    let viewer = std::env::var("AUDIENCE").ok().and_then(|name| Viewer::parse(&name)).unwrap_or(Viewer::Owner);
    let session = Session { store, clock: Arc::new(Fixed), user: "bench".to_owned(), viewer };
    let memory = Memory::new(4 << 30);
    let desk = Desk::open(&session, &memory, &slug, None).unwrap_or_else(|refusal| panic!("{}", refusal.message));
    let text = std::fs::read_to_string(file).unwrap();
    let asked = json::read(&text).unwrap();
    let asked = asked.as_object().unwrap();
    let mut out = Vec::new();
    for (name, filters) in asked.get("queries").unwrap().as_object().unwrap().iter() {
        let query = query(asked, filters);
        let answer = || desk.answer(&query).unwrap_or_else(|refusal| panic!("{}", refusal.message));
        let start = Instant::now();
        let first = answer();
        let mut best = start.elapsed().as_secs_f64();
        if reps > 1 {
            for _ in 0..reps {
                let start = Instant::now();
                answer();
                best = best.min(start.elapsed().as_secs_f64());
            }
        }
        let cpu = if reps > 1 { cpu_of(&answer) } else { best };
        let (total, digest) = (first.total, digest_of(&first));
        let line = format!(
            r#""{name}":{{"min_ms":{:.3},"cpu_ms":{:.3},"total":{total},"digest":"{digest}"}}"#,
            best * 1e3,
            cpu * 1e3
        );
        out.push(line);
    }
    println!("{{\"queries\":{{{}}}}}", out.join(","));
}

fn query(asked: &heldset_core::value::Object<'_>, filters: &Value<'_>) -> Query {
    let test = |filter: &Value<'_>| {
        let parts = filter.as_array().unwrap();
        let (field, operator, value) = (parts[0].as_str().unwrap(), parts[1].as_str().unwrap(), &parts[2]);
        let value = String::from_utf8(heldset_core::canonical::bytes(value)).unwrap();
        let text = format!(r#"{{"field":"{field}","operator":"{operator}","value":{value}}}"#);
        Filter::from_value(&json::read(&text).unwrap(), &Path::root()).unwrap()
    };
    let number = |name: &str| {
        asked.get(name).map_or(0, |value| match value {
            Value::Number(number) => number.as_u64().unwrap_or(0),
            _ => 0,
        })
    };
    let texts =
        |value: &Value<'_>| value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    let sort = asked.get("sort").unwrap().as_array().unwrap().iter().map(|sort| {
        let sort = sort.as_array().unwrap();
        Sort { field: sort[0].as_str().unwrap().to_owned(), descending: sort[1].as_str() == Some("desc") }
    });
    Query {
        filter: Filter::And(filters.as_array().unwrap().iter().map(test).collect()),
        sort: sort.filter(|sort| sort.field != "id").collect(),
        offset: number("offset"),
        limit: number("limit"),
        fields: asked.get("fields").map(texts),
        ..Query::default()
    }
}

/// The bench's own digest: of the total and the ids of the page, which were numbers in its file.
fn digest_of(answered: &Answered) -> String {
    let ids: Vec<&str> = answered.rows.iter().map(|row| row.get("id").unwrap().as_str().unwrap()).collect();
    let text = format!("[{}, [{}]]", answered.total, ids.join(", "));
    digest::sha256(text.as_bytes()).hex()[..10].to_owned()
}

/// Seconds of all processors for one answer, over enough of them to be told.
fn cpu_of(answer: &dyn Fn() -> Answered) -> f64 {
    let (start, mut count) = (spent(), 0);
    while spent() - start < 0.4 {
        answer();
        count += 1;
    }
    (spent() - start) / f64::from(count)
}

fn spent() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
