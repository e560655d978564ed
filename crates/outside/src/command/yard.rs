//! Where processes of agents are started, and what they may not reach.
//!
//! *Invariant:* everything that is made for agents lies in one private folder, which is removed with this; no agent
//! reaches the folder of another.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::launch::{self, Launcher};

/// Where processes of agents are started.
pub(crate) struct Yard {
    root: TempDir,
    launcher: Option<Launcher>,
    isolation: &'static str,
    hidden: Vec<PathBuf>,
    scratch: PathBuf,
    base: PathBuf,
    path: String,
}

impl Yard {
    /// A yard for the agents of a plan in `base`; `path` is where programs are found.
    pub(crate) fn new(
        launcher: Option<Launcher>,
        hidden: &[PathBuf],
        base: &Path,
        scratch: &Path,
        path: String,
    ) -> std::io::Result<Yard> {
        let scratch = launch::real(scratch);
        let root = tempfile::Builder::new().prefix(".heldset-run-").tempdir_in(&scratch)?;
        let base = launch::real(base);
        let isolation = if launcher.is_some() { launch::isolation() } else { "none" };
        let always = [root.path().to_owned(), base.join(".heldset")];
        let of_launcher = launcher.iter().flat_map(|launcher| &launcher.hidden);
        let hidden = hidden.iter().chain(of_launcher).chain(&always).map(|path| launch::real(path)).collect();
        Ok(Yard { root, launcher, isolation, hidden, scratch, base, path })
    }

    /// A new empty folder.
    pub(crate) fn folder(&self) -> std::io::Result<TempDir> {
        tempfile::Builder::new().prefix("agent-").tempdir_in(self.root.path())
    }

    /// A folder that lasts as long as the yard.
    pub(crate) fn lasting(&self) -> std::io::Result<PathBuf> {
        Ok(tempfile::Builder::new().prefix("kept-").tempdir_in(self.root.path())?.keep())
    }

    /// Who starts processes; absent when they are started as they are.
    pub(crate) fn launcher(&self) -> Option<&Launcher> {
        self.launcher.as_ref()
    }

    /// `landlock` or `none`.
    pub(crate) fn isolation(&self) -> &'static str {
        self.isolation
    }

    /// What no agent may reach, as the kernel sees it.
    pub(crate) fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    /// The folder of temporary files.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The folder of the plan.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Where programs are found.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Where a program is, by its name or path.
    pub(crate) fn find(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(self.base.join(program)).filter(|path| path.is_file());
        }
        self.path.split(':').map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
    }
}
