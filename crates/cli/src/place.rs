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
    let viewer = viewer(cli)?;
    let path = find(cli)?;
    let folder = StoreFolder::open(&path, Arc::new(NoProbe)).map_err(Box::<Refusal>::from)?;
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
    let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("heldset").join("keys")).ok_or_else(|| {
        let message = "it is not known where keys belong: neither `HELDSET_KEYS` nor `HOME` is set";
        Failure::usage(Code::E114, message, "set `HELDSET_KEYS` to a folder outside the store")
    })
}

/// The name of the user.
pub(crate) fn user() -> String {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    set("USER").or_else(|| set("LOGNAME")).unwrap_or_else(|| "unknown".to_owned())
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
