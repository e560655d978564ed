//! The isolating launcher: takes from a process what an agent may not reach, then becomes the agent.
//!
//! *Invariant:* the agent starts only after everything that was asked for is in force; a secret is never in an argument.

mod allow;
mod fence;
mod shadow;
mod spec;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use shadow::{is_unlisted, lay_out};
pub(crate) use spec::{Network, Spec};

/// The variable that tells the launcher what to take away; the agent does not get it.
pub const VARIABLE: &str = "HELDSET_LAUNCH";

/// The first file descriptor after standard input, output and error.
const FIRST_OF_OURS: std::os::fd::RawFd = 3;

/// How an agent's process is started.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The program that becomes the agent.
    pub program: PathBuf,
    /// Its arguments before the command line of the agent.
    pub arguments: Vec<OsString>,
    /// What no agent may reach: the store and the keys.
    pub hidden: Vec<PathBuf>,
}

/// `landlock` when the kernel can keep agents from files, else `none`.
pub fn isolation() -> &'static str {
    if fence::is_available() { "landlock" } else { "none" }
}

/// Carries out a specification and becomes the program. Comes back only with the reason why not.
pub fn become_agent(spec: &str, argv: &[OsString]) -> String {
    let spec = match Spec::from_text(spec) {
        Ok(spec) => spec,
        Err(reason) => return format!("cannot read what to take away: {reason}"),
    };
    let Some((program, arguments)) = argv.split_first() else { return "there is no program to start".to_owned() };
    // An agent does not outlive the one who started it.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    if let Err(reason) = fence::limit(&spec) {
        return format!("cannot set limits: {reason}");
    }
    if spec.isolate
        && let Err(reason) = fence::restrict(&spec)
    {
        return format!("cannot isolate the agent: {reason}");
    }
    // What the caller left open, such as a file with answers, is not for the agent.
    close_fds::set_fds_cloexec(FIRST_OF_OURS, &[]);
    let error = Command::new(program).args(arguments).env_remove(VARIABLE).exec();
    format!("cannot start `{}`: {error}", program.to_string_lossy())
}

/// The path as the kernel sees it: symbolic links resolved as far as it exists.
pub(crate) fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    for ancestor in absolute.ancestors() {
        if let Ok(found) = ancestor.canonicalize() {
            return missing.iter().rev().fold(found, |path, name: &&std::ffi::OsStr| path.join(name));
        }
        missing.extend(ancestor.file_name());
    }
    absolute
}
