//! A disk without room: a clear error, nothing lost, and the same command works when there is room again.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Store;
use crate::crash::{Numbers, rows};

/// A small disk in memory, taken away at the end.
pub(crate) struct Disk {
    path: PathBuf,
}

impl Disk {
    /// Mounts one, where that is allowed.
    pub(crate) fn mount(path: &Path, size: &str) -> Option<Disk> {
        std::fs::create_dir(path).unwrap();
        let size = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).output();
        if mounted.is_ok_and(|mounted| mounted.status.success()) {
            return Some(Disk { path: path.to_owned() });
        }
        eprintln!("skipped: a small disk cannot be mounted here, which needs the right to mount");
        None
    }

    /// Lets nobody write to it any more.
    pub(crate) fn read_only(&self) {
        let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.path).status().unwrap();
        assert!(mounted.success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.path).output());
    }
}

#[test]
fn a_full_disk_is_told_and_costs_nothing_that_was_acknowledged() {
    let kept = Store { folder: tempfile::tempdir().unwrap() };
    let Some(_disk) = Disk::mount(&kept.path().join("disk"), "1m") else { return };
    kept.write("disk/ballast", &"x".repeat(150 << 10));
    let run = |args: &[&str]| kept.run(&[&["--store", "disk/store", "-q"], args].concat());
    let fine = |args: &[&str]| {
        let ran = run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.out, ran.err);
        ran.out
    };
    fine(&["init", "disk/store"]);
    let mut random = Numbers(2);
    let mut acknowledged = Vec::new();
    let full = loop {
        kept.write("rows.jsonl", &rows(1500, &mut random));
        let ran = run(&["import", "quiz", "rows.jsonl"]);
        if ran.code != 0 {
            break ran;
        }
        acknowledged.push(ran.out.trim().split_once(' ').unwrap().1.to_owned());
        assert!(acknowledged.len() < 50, "the disk is never full");
    };
    assert_eq!(full.code, 2, "{}{}", full.out, full.err);
    for words in ["E104", "disk/store/", "make room on the disk"] {
        assert!(full.err.contains(words), "{words}: {}", full.err);
    }
    assert!(!acknowledged.is_empty(), "the first import filled the disk");
    std::fs::remove_file(kept.path().join("disk/ballast")).unwrap();
    let verified = fine(&["verify", "--json"]);
    assert!(!verified.contains("\"ok\":false"), "{verified}");
    acknowledged.iter().for_each(|digest| assert!(verified.contains(digest), "{digest}: {verified}"));
    fine(&["gc"]);
    fine(&["import", "quiz", "rows.jsonl"]);
    fine(&["verify"]);
    let scrubbed = fine(&["scrub", "--json"]);
    assert!(scrubbed.contains("\"problems\":[]") && scrubbed.contains("\"orphans\":0"), "{scrubbed}");
}
