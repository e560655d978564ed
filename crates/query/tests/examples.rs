//! The examples of the reference: rows, queries and their answers, as text files that are read here.

use std::fs;
use std::path::Path;

use heldset_core::filter::Filter;
use heldset_core::json;
use heldset_core::query::{Sort, parse_where, with_text_ids};
use heldset_core::value::Value;

use crate::twins::{Record, by_engine, by_meaning};

#[test]
fn every_example_is_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/queries");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut asked = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "txt")) {
        asked += run(&fs::read_to_string(file).unwrap(), &file.display().to_string());
    }
    assert!(asked >= 60, "{asked} examples were found");
}

/// Lines that begin with `{` are rows, `?` asks, `=` answers with ids in order, `!` with an error.
fn run(text: &str, file: &str) -> usize {
    let (mut records, mut asked, mut count): (Vec<Record>, Option<&str>, usize) = (Vec::new(), None, 0);
    let mut fresh = true;
    for (number, line) in text.lines().enumerate() {
        let at = format!("{file}:{}", number + 1);
        match line.chars().next() {
            Some('{') => {
                if fresh {
                    records.clear();
                    fresh = false;
                }
                let Value::Object(mut row) = json::read(line).unwrap().into_owned() else { panic!("{at}") };
                let id = row.remove("id").unwrap();
                records.push((id.as_str().unwrap().to_owned(), row));
            }
            Some('?') => asked = Some(line[1..].trim()),
            Some('=') => {
                fresh = true;
                count += 1;
                let (filter, sort) = parse(asked.unwrap()).unwrap_or_else(|error| panic!("{at}: {error}"));
                let expected: Vec<&str> = line[1..].split_whitespace().collect();
                assert_eq!(by_meaning(&records, &filter, &sort), expected, "{at}, by meaning");
                assert_eq!(by_engine(&records, &filter, &sort, 3), expected, "{at}, by the engine");
            }
            Some('!') => {
                fresh = true;
                count += 1;
                let error = parse(asked.unwrap()).expect_err(&at);
                assert_eq!(error, line[1..].trim(), "{at}");
            }
            _ => {}
        }
    }
    count
}

fn parse(text: &str) -> Result<(Filter, Vec<Sort>), String> {
    let (filter, sort) = text.split_once(" order by ").map_or((text, ""), |(filter, sort)| (filter, sort));
    let filter = match filter.trim() {
        "all" => Filter::And(Vec::new()),
        text if text.starts_with('{') || text.starts_with('[') => {
            let value = json::read(text).map_err(|error| error.to_string())?;
            Filter::from_value(&value, &heldset_core::path::Path::root()).map_err(|problem| problem.message)?
        }
        text => parse_where(text).map_err(|error| format!("{} {}", error.start + 1, error.message))?,
    };
    let sort = sort.split(',').map(str::trim).filter(|field| !field.is_empty()).map(Sort::parse).collect();
    Ok((with_text_ids(&filter), sort))
}
