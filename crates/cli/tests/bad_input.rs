//! The worst files: each gets a clear error, bounded work, and no output.

use std::io::Write;

use crate::{folder_with, heldset, heldset_with};

fn refused(name: &str, bytes: impl AsRef<[u8]>, code: &str) {
    let folder = folder_with(name, bytes);
    let ran = heldset(folder.path(), &["check", name]);
    assert_eq!(ran.code, 3, "{name}: {}{}", ran.out, ran.err);
    assert!(ran.out.contains(&format!("error[{code}]")), "{name}: {}", ran.out);
    let ran = heldset(folder.path(), &["convert", name, "--to", "jsonl", "-o", "out.jsonl"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{name}");
    assert!(!folder.path().join("out.jsonl").exists(), "{name}: partial output");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn each_bad_row_has_its_code() {
    for (row, code) in [
        (&b"{\"id\":\"a\",\"x\":\"\xff\"}"[..], "E001"),
        (b"{\"id\":\"a\",\"x\":NaN}", "E002"),
        (b"{\"id\":\"a\",\"id\":\"b\"}", "E003"),
        (b"{\"id\":\"a\",\"x\":{\"k\":1,\"\\u006b\":2}}", "E003"),
        (b"{\"id\":\"a\",\"x\":12345678901234567890123}", "E004"),
        (b"{\"id\":\"a\",\"x\":1e400}", "E005"),
        (b"{\"id\":\"a\",\"x\":1e-400}", "E005"),
        (b"{\"id\":\"a\",\"x\":\"\\ud800\"}", "E006"),
        (b"{\"id\":\"a\",\"a\\u0001b\":1}", "E033"),
    ] {
        refused("r.jsonl", row, code);
    }
    let deep = format!("{{\"id\":\"a\",\"x\":{}{}}}", "[".repeat(64), "]".repeat(64));
    refused("r.jsonl", deep, "E007");
    let very_deep = format!("{{\"id\":\"a\",\"x\":{}", "[".repeat(1_000_000));
    refused("r.jsonl", very_deep, "E007");
}

#[test]
fn a_line_without_end_stops_at_the_limit() {
    let line = vec![b'x'; 66 << 20];
    let ran = heldset_with(
        std::path::Path::new("."),
        &["check", "--format", "records", "-"],
        [b"{\"id\":\"".to_vec(), line].concat(),
    );
    assert_eq!(ran.code, 3);
    assert!(ran.out.contains("error[E008]"), "{}", &ran.out[..ran.out.len().min(500)]);
    assert!(ran.out.len() < 2000, "the line itself is printed");
}

#[test]
fn compressed_files_expand_within_limits() {
    let rows = b"{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\"}\n";
    let folder = folder_with("r.jsonl.gz", gzip(rows));
    std::fs::write(folder.path().join("r.jsonl.zst"), zstd::encode_all(&rows[..], 3).unwrap()).unwrap();
    for name in ["r.jsonl.gz", "r.jsonl.zst"] {
        let ran = heldset(folder.path(), &["convert", name, "--to", "jsonl"]);
        assert_eq!((ran.code, ran.out.as_bytes()), (0, &rows[..]), "{name}");
    }
    let zeros = vec![b' '; 40 << 20];
    refused("bomb.jsonl.gz", gzip(&zeros), "E009");
    refused("bomb.jsonl.zst", zstd::encode_all(&zeros[..], 3).unwrap(), "E009");
    let whole = gzip(rows);
    refused("cut.jsonl.gz", &whole[..whole.len() - 12], "E010");
}

#[test]
fn paths_do_not_leave_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("data");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(folder.path().join("secret.txt"), "SECRET-TEXT").unwrap();
    std::fs::write(inside.join("fine.txt"), "Score it.").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret.txt"), inside.join("link.txt")).unwrap();
    for path in ["../secret.txt", "link.txt", "/etc/hostname", "nope/../../secret.txt", "../gone.txt"] {
        std::fs::write(inside.join("s.jsonl"), format!("{{\"input\":\"a\",\"rubric_path\":\"{path}\"}}\n")).unwrap();
        let ran = heldset(folder.path(), &["check", "data/s.jsonl"]);
        assert_eq!(ran.code, 3, "{path}");
        assert!(ran.out.contains("error[E020]"), "{path}: {}", ran.out);
        assert!(!ran.out.contains("SECRET-TEXT"));
    }
    std::fs::write(inside.join("s.jsonl"), "{\"input\":\"a\",\"rubric_path\":\"link.txt\"}\n").unwrap();
    let ran = heldset(folder.path(), &["convert", "data/s.jsonl", "--to", "jsonl", "--allow-outside"]);
    assert!(ran.out.contains("SECRET-TEXT"), "{}", ran.err);
    std::fs::write(inside.join("s.jsonl"), "{\"input\":\"a\",\"rubric_path\":\"./fine.txt\"}\n").unwrap();
    assert_eq!(heldset(folder.path(), &["check", "data/s.jsonl"]).code, 0);
}

#[test]
fn empty_and_foreign_files_are_refused() {
    refused("e.jsonl", "", "E023");
    refused("e.json", "[]", "E023");
    refused("e.csv", "id,x\n", "E023");
    refused("e.yaml", "", "E023");
    refused("e.parquet", "hello", "E034");
    refused("k.yaml", "id: network\ncities: [a, b]\n", "E024");
    refused("one.json", "{\"id\": \"a\",\n \"x\": 1}", "E024");
}

#[test]
fn what_a_file_holds_does_not_reach_the_terminal_as_commands() {
    let folder = folder_with(
        "\u{1b}[31m.yaml",
        "- {id: a, prompt: p, turns: [{role: \"\\e[2J\\nerror[E999]: fake\", content: x}]}\n",
    );
    let ran = heldset(folder.path(), &["check", "\u{1b}[31m.yaml"]);
    assert_eq!(ran.code, 3);
    assert!(!ran.out.contains('\u{1b}') && !ran.out.contains("\nerror[E999]"), "{:?}", ran.out);
    let key = "k".repeat(3 << 20);
    let folder =
        folder_with("long.jsonl", format!("{{\"id\":\"a\",\"{key}\":1,\"{key}\":2}}\n{{\"id\":\"b\",\"{key}\":1}}\n"));
    let ran = heldset(folder.path(), &["check", "long.jsonl"]);
    assert!(ran.out.len() < 4000, "{} bytes are printed", ran.out.len());
}

#[test]
fn tables_and_records_have_a_bounded_number_of_fields() {
    let header: Vec<String> = (0..100_000).map(|column| format!("c{column}")).collect();
    refused("wide.csv", format!("{}\n", header.join(",")), "E008");
    refused("same.csv", format!("{}\n", vec!["a"; 16_000].join(",")), "E031");
    refused("row.csv", format!("id,x\n1,a\n2{}\n", ",".repeat(4 << 20)), "E029");
    let fields: String = header.iter().map(|name| format!(",\"{name}\":1")).collect();
    refused("wide.jsonl", format!("{{\"id\":\"a\"{fields}}}\n"), "E008");
}

#[test]
fn a_thousand_faults_are_shown_and_the_rest_is_counted() {
    let folder = folder_with("many.jsonl", "{\"id\":\"a\"}\n".repeat(3001));
    let ran = heldset(folder.path(), &["check", "many.jsonl"]);
    assert_eq!(ran.out.matches("error[E012]").count(), 1000);
    assert!(
        ran.out.contains("(E012: 2000)") && ran.out.contains("3001 read, 1 kept, 3000 refused"),
        "{}",
        &ran.out[ran.out.len() - 300..]
    );
    let ran = heldset(folder.path(), &["check", "many.jsonl", "--json"]);
    assert_eq!(ran.out.matches("\"E012\"").count(), 3000);
}
