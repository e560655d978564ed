//! `heldset scrub` on stores that are whole and stores that are not.

use crate::Store;

#[test]
fn a_whole_store_has_no_problems_and_orphans_are_counted() {
    let kept = Store::with_questions();
    let out = kept.fine(&["scrub", "--json"]);
    assert!(out.starts_with("{\"objects\":") && out.ends_with("\"problems\":[],\"orphans\":0}\n"), "{out}");
    std::fs::remove_dir_all(kept.path().join("keys")).unwrap();
    kept.fine(&["scrub"]);
    assert_eq!(kept.run(&["scrub", "--as", "evaluator"]).code, 5);
}

#[test]
fn every_byte_of_every_object_is_read() {
    let kept = Store::with_questions();
    for (path, bytes) in kept.files(".heldset/objects") {
        let name = path.file_name().unwrap().to_str().unwrap();
        for (what, damage) in [
            ("it is damaged", Some([&bytes[..bytes.len() - 1], &[!bytes[bytes.len() - 1]]].concat())),
            ("bytes, not", Some(bytes[1..].to_vec())),
            ("it is missing", None),
        ] {
            match damage {
                Some(damage) => std::fs::write(&path, damage).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let ran = kept.run(&["scrub", "--json"]);
            assert_eq!(ran.code, 6, "{what}: {}", ran.out);
            assert!(ran.out.contains(name) && ran.out.contains(what), "{what}: {}", ran.out);
            std::fs::write(&path, &bytes).unwrap();
        }
    }
    kept.fine(&["scrub"]);
}

#[test]
fn damage_is_refused_when_data_is_looked_at() {
    let kept = Store::with_questions();
    let (path, bytes) = kept.largest_object();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let ran = kept.run(&["cat", "questions"]);
    assert_eq!((ran.code, ran.out.as_str()), (6, ""));
    assert!(ran.err.contains("E130") && ran.err.contains(path.file_name().unwrap().to_str().unwrap()), "{}", ran.err);
}

#[test]
fn a_catalogue_that_cannot_be_opened_is_told() {
    let kept = Store::with_questions();
    for (path, _) in kept.files(".heldset").iter().filter(|(path, _)| path.to_string_lossy().contains("catalog.db")) {
        std::fs::remove_file(path).unwrap();
    }
    std::fs::create_dir(kept.path().join(".heldset/catalog.db")).unwrap();
    let ran = kept.run(&["cat", "questions"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("E113"), "{}", ran.err);
    assert_eq!(kept.run(&["doctor"]).code, 1);
}
