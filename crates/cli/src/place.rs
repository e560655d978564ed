//! Where the store and its keys are, and who asks.
//!
//! *Invariant:* keys never lie in the store.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::visibility::Viewer;
use heldset_engine::ports::Clock;
use heldset_engine::refusal::Refusal;
use heldset_engine::session::Session;
use heldset_store::{DiskKeys, Entropy, NoProbe, Store, StoreFolder};

use crate::args::Cli;
use crate::exit::Failure;

/// The name of a store's folder in a project.
pub(crate) const FOLDER: &str = ".heldset";

/// The session of a command at the store.
pub(crate) fn session(cli: &Cli) -> Result<Session, Failure> {
    session_at(cli, &find(cli)?)
}

/// The session of a command at the store in a folder.
pub(crate) fn session_at(cli: &Cli, path: &Path) -> Result<Session, Failure> {
    let viewer = viewer(cli)?;
    let folder = StoreFolder::open(path, Arc::new(NoProbe)).map_err(Box::<Refusal>::from)?;
    let keys = DiskKeys::new(&keys_folder()?, &folder.head().id, Arc::new(NoProbe));
    let store = Store::on_disk(folder, Arc::new(keys), Arc::new(System));
    Ok(Session { store, clock: Arc::new(System), user: user(), viewer })
}

/// For whom the command acts.
pub(crate) fn viewer(cli: &Cli) -> Result<Viewer, Failure> {
    let Some(name) = cli.audience.as_deref() else { return Ok(Viewer::Owner) };
    Viewer::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Viewer::all().map(Viewer::name).collect();
        Refusal::unknown(format!("there is no audience `{name}`"), name, known).into()
    })
}

/// The store that was named, or the nearest one upwards.
pub(crate) fn find(cli: &Cli) -> Result<PathBuf, Failure> {
    let named =
        cli.store.clone().or_else(|| env::var_os("HELDSET_STORE").filter(|dir| !dir.is_empty()).map(PathBuf::from));
    if let Some(path) = named {
        return Ok(path);
    }
    let here = env::current_dir().map_err(|error| Failure::open(Path::new("."), &error))?;
    let found = here.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
    found.ok_or_else(|| {
        let message = "there is no store here or in a folder above";
        Failure::usage(Code::E110, message, "make one with `heldset init`, or name one with `--store DIR`")
    })
}

/// Where keys are: `$HELDSET_KEYS`, else the user's data folder.
pub(crate) fn keys_folder() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("HELDSET_KEYS") {
        return Ok(folder);
    }
    usual_keys().ok_or_else(|| {
        let message = "it is not known where keys belong: neither `HELDSET_KEYS` nor `HOME` is set";
        Failure::usage(Code::E114, message, "set `HELDSET_KEYS` to a folder outside the store")
    })
}

/// Where keys are when nothing else is said: those of other stores may lie there.
pub(crate) fn usual_keys() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("heldset").join("keys"))
}

/// The name of the user.
pub(crate) fn user() -> String {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    set("USER").or_else(|| set("LOGNAME")).unwrap_or_else(|| "unknown".to_owned())
}

/// Who reaches agents and judges: secrets are looked up in the environment by name, agents start through the launcher.
pub(crate) fn outside(scratch: &tempfile::TempDir) -> heldset_outside::Dialler {
    let launcher = env::current_exe().ok().map(|program| heldset_outside::launch::Launcher {
        program,
        arguments: vec!["launch".into(), "--".into()],
        hidden: Vec::new(),
    });
    heldset_outside::Dialler::new(Arc::new(|name: &str| env::var(name).ok()), launcher, scratch.path())
}

/// A folder for what agents leave, which is gone when the command ends, also when it is interrupted.
pub(crate) fn scratch() -> Result<tempfile::TempDir, Failure> {
    let made = tempfile::Builder::new().prefix("heldset-run-").tempdir();
    let scratch = made.map_err(|error| Failure::write(&env::temp_dir(), &error))?;
    crate::whole::note_unfinished(scratch.path());
    Ok(scratch)
}

/// The clock and the randomness of the system.
pub(crate) struct System;

impl Clock for System {
    fn now(&self) -> String {
        jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

impl Entropy for System {
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}
