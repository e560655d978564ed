//! `heldset scan`.

use std::fs;
use std::io::Write;

use crate::{Store, store};

const SECRET: &str = "the answer is blue-whale-4711";
const UMLAUT: &str = "Größe und\nzweite Zeile";

fn cases() -> Store {
    let kept = store();
    let rows = format!(
        "{{\"id\":\"t1\",\"input\":\"which animal is the largest?\",\"expected_output\":\"{SECRET}\"}}\n\
         {{\"id\":\"t2\",\"input\":\"and the rest\",\"expected_output\":\"Größe und\\nzweite Zeile\",\"note\":\"animal is the largest\"}}\n"
    );
    kept.file("cases.jsonl", rows).fine(&["import", "cases", "cases.jsonl", "-q"]);
    fs::create_dir(kept.path().join("work")).unwrap();
    kept
}

fn tar(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, name, bytes).unwrap();
    archive.into_inner().unwrap()
}

fn zip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file(name, options).unwrap();
    archive.write_all(bytes).unwrap();
    archive.finish().unwrap().into_inner()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// A pack of git with one object and a delta on it that puts a text in the middle.
fn pack(base: &[u8], text: &[u8]) -> Vec<u8> {
    let half = base.len() / 2;
    assert!(base.len() < 16 && text.len() < 100, "sizes are of one byte each");
    let mut out = b"PACK\0\0\0\x02\0\0\0\x02".to_vec();
    let first = out.len();
    out.push(0x30 | base.len() as u8);
    out.extend(zlib(base));
    let mut delta = vec![base.len() as u8, (base.len() + text.len()) as u8];
    delta.extend([0x90, half as u8, text.len() as u8]);
    delta.extend(text);
    delta.extend([0x91, half as u8, (base.len() - half) as u8]);
    let second = out.len();
    out.extend([0xe0 | (delta.len() & 15) as u8, (delta.len() >> 4) as u8, (second - first) as u8]);
    out.extend(zlib(&delta));
    out
}

#[test]
fn sealed_text_is_found_wherever_it_lies_and_is_never_printed() {
    let plain = format!("log: {SECRET}!").into_bytes();
    for (name, bytes) in [
        ("plain.txt", plain.clone()),
        ("escaped.json", UMLAUT.replace('\n', "\\n").into_bytes()),
        ("ascii.json", b"Gr\\u00f6\\u00dfe und\\nzweite Zeile".to_vec()),
        ("a.gz", gzip(&plain)),
        ("a.zst", zstd::encode_all(&plain[..], 3).unwrap()),
        ("a.zip", zip("x", &plain)),
        ("a.tar", tar("x", &plain)),
        ("a.tar.gz", gzip(&tar("x", &plain))),
        ("three.zip", zip("b.tar", &tar("c.zip", &zip("d", &plain)))),
        ("loose", zlib(&[b"blob 9\0", &plain[..]].concat())),
        ("x.pack", pack(b"base object", SECRET.as_bytes())),
        ("not-a.gz", [&[0x1f, 0x8b][..], &plain].concat()),
        ("x^2.txt", format!("x^2: {SECRET}").into_bytes()),
        ("late.bin", [vec![0; 3 << 20], plain.clone()].concat()),
    ] {
        let kept = cases();
        assert_eq!(kept.run(&["scan", "work"]).code, 0);
        kept.file(&format!("work/{name}"), bytes);
        let ran = kept.run(&["scan", "work"]);
        assert_eq!(ran.code, 1, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(name) && ran.out.contains("the expected_output of record t"), "{name}: {}", ran.out);
        let json = kept.run(&["scan", "work", "--json", "--as", "evaluator"]);
        assert!(json.code == 1 && json.out.contains("\"dataset\":\"cases\""), "{name}: {}", json.out);
        for out in [ran.out, ran.err, json.out, json.err] {
            assert!(!out.contains("blue-whale") && !out.contains("zweite"), "{name}: {out}");
        }
    }
}

#[test]
fn archives_are_opened_three_levels_deep() {
    let kept = cases();
    let three = tar("3", &zip("2", &tar("1", SECRET.as_bytes())));
    kept.file("work/four.zip", zip("4", &zip("deflated", &three)));
    assert_eq!(kept.run(&["scan", "work"]).code, 0);
    kept.file("work/three.tar", three);
    let ran = kept.run(&["scan", "work"]);
    assert!(ran.code == 1 && ran.out.contains("three.tar!3!2!1"), "{}", ran.out);
}

#[test]
fn text_that_is_open_too_is_no_finding() {
    let kept = cases();
    kept.file("work/notes.txt", "which animal is the largest? and the rest");
    assert_eq!(kept.run(&["scan", "work"]).code, 0);
    kept.fine(&["mount", "cases", "work/view", "--as", "agent"]);
    kept.fine(&["export", "cases", "--to", "parquet", "-o", "work/out.parquet", "--as", "agent"]);
    assert_eq!(kept.run(&["scan", "work"]).code, 0);
    kept.fine(&["export", "cases", "--to", "jsonl", "-o", "work/out.jsonl"]);
    let ran = kept.run(&["scan", "work"]);
    assert!(ran.code == 1 && ran.out.lines().count() == 2, "{}", ran.out);
}

#[test]
fn copies_of_sealed_objects_and_files_are_found_and_the_store_itself_is_passed_over() {
    let kept = cases();
    kept.file("rubric.txt", "full marks for whales").fine(&[
        "import",
        "rubrics",
        "rubric.txt",
        "--files",
        "--visibility",
        "evaluator_only",
    ]);
    kept.file("work/copy.txt", "full marks for whales");
    fs::remove_file(kept.path().join("rubric.txt")).unwrap();
    fs::remove_file(kept.path().join("cases.jsonl")).unwrap();
    let ran = kept.run(&["scan", "."]);
    assert!(ran.code == 1 && ran.out.contains("the file rubric.txt in rubrics"), "{}", ran.out);
    assert!(!ran.out.contains(".heldset"), "{}", ran.out);
    let sealed = |(_, bytes): &(std::path::PathBuf, Vec<u8>)| bytes.starts_with(b"heldset/sealed/1");
    let (_, object) = kept.files(".heldset/objects").into_iter().find(sealed).unwrap();
    kept.file("work/stolen.bin", gzip(&object));
    let ran = kept.run(&["scan", "work"]);
    assert!(ran.out.lines().any(|line| line.contains("stolen.bin") && line.contains("the canary")), "{}", ran.out);
}

#[test]
fn scan_is_for_those_who_may_see_what_is_sealed() {
    let kept = cases();
    for audience in ["agent", "operator", "dashboard"] {
        let ran = kept.run(&["scan", "work", "--as", audience]);
        assert!(ran.code == 5 && ran.err.contains("E120"), "{audience}: {}", ran.err);
    }
    assert_eq!(kept.run(&["scan", "absent"]).code, 2);
}
