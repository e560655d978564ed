//! One process of an agent: its pipes, its folder, its end.
//!
//! *Invariant:* a process and all it started end when this is dropped, and its folder is removed; no pipe is left to
//! fill while another is waited for; what is kept of a flood is bounded.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use heldset_core::value::Value;
use heldset_engine::agents::AgentFailure;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::groups;
use super::tail::Tail;
use super::yard::Yard;
use crate::agent::failure;
use crate::launch::{Network, Spec, VARIABLE};

/// The longest line.
const LONGEST_LINE: usize = 8 << 20;
/// The most that a session may print.
const MOST: u64 = 64 << 20;
/// How long a process may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// What is started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The program and its arguments.
    pub(crate) argv: Vec<OsString>,
    /// Variables beside those that every agent has.
    pub(crate) env: Vec<(String, String)>,
    /// Whom it may call.
    pub(crate) network: Network,
    /// Limits by name.
    pub(crate) limits: Vec<(String, u64)>,
    /// What it may read although it lies in something hidden.
    pub(crate) read: Vec<std::path::PathBuf>,
}

/// A process that is under way.
pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    searched: usize,
    received: u64,
    tail: Tail,
    // Removed after the process has ended.
    _folder: TempDir,
}

impl Process {
    /// Starts a program in an empty folder of its own.
    pub(crate) fn start(yard: &Yard, program: &Program, more: &[(String, String)]) -> Result<Process, AgentFailure> {
        let unable = |error: std::io::Error| {
            let name = program.argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            failure("setup", format!("cannot start `{name}`: {error}"))
        };
        let folder = yard.folder().map_err(unable)?;
        let mut command = self::command(yard, program, folder.path()).map_err(unable)?;
        command.env_clear().env("PATH", yard.path()).env("LANG", "C.UTF-8");
        command.env("HOME", folder.path()).env("TMPDIR", folder.path());
        command.envs(program.env.iter().chain(more).map(|(name, value)| (name, value)));
        if let Some(spec) = spec(yard, program, folder.path()) {
            command.env(VARIABLE, spec.to_text());
        }
        command.current_dir(folder.path()).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(unable)?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        group.into_iter().for_each(groups::note);
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let Some(stdout) = child.stdout.take() else { return Err(failure("setup", "the process has no output")) };
        Ok(Process {
            child,
            group,
            stdin,
            stdout,
            stderr,
            outgoing: Vec::new(),
            incoming: Vec::new(),
            searched: 0,
            received: 0,
            tail: Tail::default(),
            _folder: folder,
        })
    }

    /// Sends a line, as soon as the process reads.
    pub(crate) fn send(&mut self, line: &Value<'_>) {
        heldset_core::canonical::write(line, &mut self.outgoing);
        self.outgoing.push(b'\n');
    }

    /// Sends bytes and then the end of the input.
    pub(crate) async fn send_all(&mut self, bytes: &[u8], log: &mut Option<String>) -> Result<Vec<u8>, AgentFailure> {
        self.outgoing.extend_from_slice(bytes);
        while self.step(log, true).await? {
            self.check()?;
        }
        Ok(std::mem::take(&mut self.incoming))
    }

    /// The next line that it prints; absent when it prints no more.
    pub(crate) async fn line(&mut self, log: &mut Option<String>) -> Result<Option<Vec<u8>>, AgentFailure> {
        loop {
            if let Some(line) = self.buffered() {
                return Ok(Some(line));
            }
            if self.incoming.len() > LONGEST_LINE {
                return Err(self.flood(format!("a line of more than {} MiB", LONGEST_LINE >> 20)));
            }
            self.check()?;
            if !self.step(log, false).await? {
                let rest = std::mem::take(&mut self.incoming);
                self.searched = 0;
                return Ok((!rest.is_empty()).then_some(rest));
            }
        }
    }

    /// A line that has already come.
    pub(crate) fn buffered(&mut self) -> Option<Vec<u8>> {
        let Some(at) = self.incoming[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.incoming.len();
            return None;
        };
        let end = self.searched + at;
        self.searched = 0;
        let mut line: Vec<u8> = self.incoming.drain(..=end).collect();
        line.pop();
        Some(line)
    }

    /// Moves bytes through any of the pipes; tells whether more can come.
    async fn step(&mut self, log: &mut Option<String>, closing: bool) -> Result<bool, AgentFailure> {
        let Process { stdin, stdout, stderr, outgoing, incoming, received, tail, .. } = self;
        if closing && outgoing.is_empty() {
            *stdin = None;
        }
        let mut chunk = [0; 8192];
        tokio::select! {
            written = async { match stdin { Some(stdin) => stdin.write(outgoing).await, None => Ok(0) } },
                if stdin.is_some() && !outgoing.is_empty() =>
            {
                match written {
                    Ok(count) if count > 0 => drop(outgoing.drain(..count)),
                    // It does not read: whether that is a fault is seen by what it prints.
                    _ => { outgoing.clear(); *stdin = None; }
                }
                Ok(true)
            }
            read = stdout.read_buf(incoming) => {
                let count = read.map_err(|error| failure("crashed", format!("its output cannot be read: {error}")))?;
                *received += count as u64;
                Ok(count > 0)
            }
            read = async { match stderr { Some(stderr) => stderr.read(&mut chunk).await, None => Ok(0) } },
                if stderr.is_some() =>
            {
                match read {
                    Ok(count) if count > 0 => { tail.push(&chunk[..count]); *log = tail.text(); }
                    _ => *stderr = None,
                }
                Ok(true)
            }
        }
    }

    fn check(&mut self) -> Result<(), AgentFailure> {
        match self.received > MOST {
            true => Err(self.flood(format!("more than {} MiB", MOST >> 20))),
            false => Ok(()),
        }
    }

    fn flood(&mut self, what: String) -> AgentFailure {
        self.kill();
        failure("protocol", format!("the agent printed {what}"))
    }

    /// A new session: what the one before printed is not its own.
    pub(crate) fn renew(&mut self) {
        self.received = 0;
        self.tail = Tail::default();
    }

    /// Whether it has ended, or prints without being asked.
    pub(crate) fn is_spent(&mut self) -> bool {
        !self.incoming.is_empty() || self.stdin.is_none() || !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the input and waits for the end of the process, for a while; gives what it still printed, and how it
    /// ended when it did so by itself.
    pub(crate) async fn finish(&mut self, log: &mut Option<String>) -> (Vec<u8>, Option<ExitStatus>) {
        let drained = async {
            while self.received <= MOST && self.step(log, true).await.unwrap_or(false) {}
            let status = self.child.wait().await.ok();
            self.drain_errors(log).await;
            status
        };
        let status = tokio::time::timeout(GRACE, drained).await.unwrap_or(None);
        self.kill();
        (std::mem::take(&mut self.incoming), status)
    }

    /// Takes what is left of its messages; a child of its own may hold the pipe open, so only what is there counts.
    async fn drain_errors(&mut self, log: &mut Option<String>) {
        let Process { stderr: Some(stderr), tail, .. } = self else { return };
        let mut chunk = [0; 8192];
        while let Ok(Ok(count @ 1..)) = tokio::time::timeout(Duration::from_millis(50), stderr.read(&mut chunk)).await {
            tail.push(&chunk[..count]);
            *log = tail.text();
        }
    }

    /// Why it ended before it answered.
    pub(crate) async fn crash(&mut self, log: &mut Option<String>, when: &str) -> AgentFailure {
        let (_, status) = self.finish(log).await;
        let how = match status {
            Some(status) => format!("the agent ended {when} ({status})"),
            None => format!("the agent closed its output {when}"),
        };
        let last = log.as_deref().and_then(|log| log.lines().rev().find(|line| !line.trim().is_empty()));
        failure("crashed", last.map_or(how.clone(), |last| format!("{how}: {}", last.trim())))
    }

    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            groups::forget(group);
            // Those who have already ended are the only ones who cannot be told.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(yard: &Yard, program: &Program, folder: &std::path::Path) -> std::io::Result<Command> {
    let Some((name, arguments)) = program.argv.split_first() else {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "there is no program"));
    };
    let mut command = match spec(yard, program, folder).and(yard.launcher()) {
        Some(launcher) => {
            let mut command = Command::new(&launcher.program);
            command.args(&launcher.arguments).arg(name);
            command
        }
        None => Command::new(name),
    };
    command.args(arguments);
    Ok(command)
}

/// What is taken from the process; absent when there is no launcher.
fn spec(yard: &Yard, program: &Program, folder: &std::path::Path) -> Option<Spec> {
    yard.launcher()?;
    Some(Spec {
        isolate: yard.isolation() == "landlock",
        hidden: yard.hidden().to_vec(),
        read: program.read.clone(),
        write: vec![folder.to_owned()],
        scratch: yard.scratch().to_owned(),
        network: program.network.clone(),
        limits: program.limits.clone(),
    })
}
