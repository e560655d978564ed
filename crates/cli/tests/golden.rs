//! Stores that earlier versions wrote: they open, verify and say the same for ever.
//!
//! `golden/store-1` is what the first formats look like, with its keys and the commands that wrote it (`make.sh`).
//! When a format on disk changes, it stays as it is, so that what is out there can still be read: the new version
//! writes another folder, `golden/store-2`, with the same commands and some for what is new, and [`STORES`] gets a
//! line with its digests.

use std::fs;
use std::path::Path;

use crate::Store;

/// Each store with its versions.
const STORES: &[(&str, &[&str])] = &[(
    "store-1",
    &[
        "trips@1 sha256:ec9f724a9e1ff4053666fdc7d36b6a44a80104b4876cd1e4124bfff8dc0871fd",
        "trips@2 sha256:0ef117a2376afcae7fbe02e1cd7bade10fb534fa91d63bb87dd37e01ab65493d",
        "trips@3 sha256:ec2caa6219721e596c74ac36fffecf1bac6c8ce47a227f720be83a6051e807e0",
        "words@1 sha256:bc22fc0d145c5b42d6e51e54fb54a3f5a0d2ab53e0967f6a29e68f15e4343acd",
    ],
)];

#[test]
fn stores_of_earlier_versions_are_read_and_go_on() {
    for (name, versions) in STORES {
        let kept = Store { folder: tempfile::tempdir().unwrap() };
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name), kept.path());
        fs::rename(kept.path().join("store"), kept.path().join(".heldset")).unwrap();
        let verified = kept.fine(&["verify"]);
        let found: Vec<&str> = verified.lines().map(|line| line.split_once(" ok").unwrap().0).collect();
        assert_eq!(found, *versions, "{name}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(kept.fine(&["cat", "trips@baseline"]), @r#"
            {"id":"q1","input":"how long is the nile","expected_output":"6650 km","tags":["river"]}
            {"id":"q2","input":"how high is the eiger","expected_output":"3967 metres"}
            "#);
            insta::assert_snapshot!(kept.fine(&["cat", "trips", "--as", "agent"]), @r#"
            {"id":"q1","input":"how long is the nile"}
            {"id":"q2","input":"how high is the eiger"}
            "#);
            insta::assert_snapshot!(kept.fine(&["cat", "trips@3", "--split", "pictures"]), @r#"
            {"path":"empty.txt","size":0,"sha256":"sha256:af3447231339654d82bfac107b73021ce2ae47d3bd222f921e185a6d9d3a37cc"}
            {"path":"one.txt","size":7,"sha256":"sha256:2475db3d8fe7eb05b5284e2e22908e06042c92a2d125998dc08b6ac3c0347f15"}
            "#);
            insta::assert_snapshot!(kept.fine(&["cat", "words"]), @r#"
            {"id":"a","text":"ä","n":1}
            {"id":"b","n":2.5,"text":null}
            "#);
        }
        kept.fine(&["scrub"]);
        kept.fine(&["audit", "verify"]);
        kept.write("more.jsonl", "{\"id\":\"q9\",\"input\":\"how far\",\"expected_output\":\"very\"}\n");
        kept.fine(&["import", "trips", "more.jsonl", "-q"]);
        kept.fine(&["verify"]);
        kept.fine(&["gc"]);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &copied) } else { fs::copy(&path, &copied).map(|_| ()).unwrap() }
    }
}
