//! A private copy of a repository, made and read by the `git` program.
//!
//! *Invariant:* `git` sees no settings of the machine, runs no hooks, asks nobody, and reaches only admitted addresses;
//! user text comes after `--` and never starts with `-`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use base64::Engine as _;
use heldset_core::code::Code;
use heldset_engine::refusal::{Outcome, Refusal};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::Place;
use crate::requests::excerpt;
use crate::source::guard::Guard;
use crate::source::secret::Secret;

/// A private copy.
pub(super) struct Repository {
    folder: TempDir,
    path: String,
    from: String,
    secret: Secret,
    /// Settings that go in by the environment, where nobody else on the machine reads them.
    settings: Vec<(String, String)>,
    ssh: Option<String>,
}

/// A file of a commit.
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) id: String,
    pub(super) size: u64,
    mode: String,
}

/// Reads the content of files.
pub(super) struct Blobs {
    _child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Entry {
    /// Why it is no file with rows.
    pub(super) fn skips(&self) -> Option<&'static str> {
        match self.mode.as_str() {
            "120000" => Some("a link"),
            "160000" => Some("a repository inside the repository"),
            _ => None,
        }
    }
}

impl Repository {
    /// Makes an empty one that fetches from a place.
    pub(super) async fn make(
        place: &Place,
        secret: &Secret,
        guard: &Arc<Guard>,
        path: String,
        scratch: &Path,
    ) -> Outcome<Repository> {
        let folder = tempfile::Builder::new().prefix("git-").tempdir_in(scratch).map_err(|error| {
            Refusal::incomplete(
                Code::E070,
                format!("no folder for the repository can be made: {error}"),
                "see whether there is room",
            )
        })?;
        let mut repository =
            Repository { folder, path, from: String::new(), secret: secret.clone(), settings: Vec::new(), ssh: None };
        repository.reach(place, guard).await?;
        repository.run(&["init", "--quiet", "--bare", "."]).await?;
        Ok(repository)
    }

    /// The commit that a revision is.
    pub(super) async fn commit(&self, revision: &str) -> Outcome<String> {
        let is_id = revision.len() >= 7 && revision.chars().all(|letter| letter.is_ascii_hexdigit());
        if !is_id {
            let wanted = format!("+{revision}:refs/heldset/wanted");
            let shallow = ["fetch", "--quiet", "--depth=1", "--no-tags", "--", &self.from, &wanted];
            if self.run(&shallow).await.is_ok() {
                return self.resolved("refs/heldset/wanted").await;
            }
        }
        let all = ["fetch", "--quiet", "--no-tags", "--", &self.from, "+refs/*:refs/from/*"];
        self.run(&all).await?;
        for name in [
            revision.to_owned(),
            format!("refs/from/heads/{revision}"),
            format!("refs/from/tags/{revision}"),
            format!("refs/from/{revision}"),
        ] {
            if let Ok(commit) = self.resolved(&name).await {
                return Ok(commit);
            }
        }
        let message = format!("the repository has no commit, tag or branch `{revision}`");
        Err(Refusal::incomplete(Code::E070, message, "see `revision` of the source"))
    }

    /// The files of a commit, sorted.
    pub(super) async fn entries(&self, commit: &str) -> Outcome<Vec<Entry>> {
        let listed = self.run(&["ls-tree", "-r", "-z", "--long", "--full-tree", commit]).await?;
        let mut entries: Vec<Entry> = listed.split(|byte| *byte == 0).filter_map(entry).collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// Starts reading contents.
    pub(super) fn blobs(&self) -> Outcome<Blobs> {
        let mut command = self.command(&["cat-file", "--batch"]);
        let mut child = command.stdin(Stdio::piped()).spawn().map_err(|error| missing(&error))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(asks), Some(answers)) => Ok(Blobs { _child: child, asks, answers: BufReader::new(answers) }),
            _ => Err(failed("it cannot be talked to")),
        }
    }

    async fn resolved(&self, name: &str) -> Outcome<String> {
        let wanted = format!("{name}^{{commit}}");
        let found = self.run(&["rev-parse", "--quiet", "--verify", "--end-of-options", &wanted]).await?;
        Ok(String::from_utf8_lossy(&found).trim().to_owned())
    }

    /// Finds out how the place is reached, and whether it may be.
    async fn reach(&mut self, place: &Place, guard: &Arc<Guard>) -> Outcome<()> {
        match place {
            Place::Here(path) => {
                let real = path.canonicalize().map_err(|_| {
                    let message = format!("there is no repository `{}`", path.display());
                    Refusal::incomplete(Code::E070, message, "see `url` or `path` of the connector")
                })?;
                self.from = real.to_string_lossy().into_owned();
            }
            Place::Https(url) => {
                let addresses = guard.admit_url(url).await?;
                let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(443));
                let listed: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                self.set("http.curloptResolve", &format!("{host}:{port}:{}", listed.join(",")));
                let word = self.secret.text(&["password", "token", "api_key"]).map(str::to_owned);
                if let Some(word) = word {
                    let user = self.secret.text(&["username", "user"]).unwrap_or("x-access-token");
                    let code = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{word}"));
                    self.set("http.extraHeader", &format!("Authorization: Basic {code}"));
                }
                self.from = url.to_string();
            }
            Place::Ssh { user, host, port, path } => {
                let plain =
                    |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':'));
                if host.starts_with('-') || !plain(host) || !user.as_deref().is_none_or(plain) {
                    return Err(Refusal::usage(
                        Code::E067,
                        format!("`{host}` is no host"),
                        "see `url` of the connector",
                    ));
                }
                let addresses = guard.admit(host).await?;
                let address = addresses.first().map(ToString::to_string).unwrap_or_default();
                self.ssh = Some(format!("ssh -oBatchMode=yes -oHostName={address} -oHostKeyAlias={host}"));
                let user = user.as_ref().map_or(String::new(), |user| format!("{user}@"));
                let port = port.map_or(String::new(), |port| format!(":{port}"));
                self.from = format!("ssh://{user}{host}{port}/{}", path.trim_start_matches('/'));
            }
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) {
        self.settings.push((key.to_owned(), value.to_owned()));
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.folder.path()).env_clear().env("PATH", &self.path);
        command.env("HOME", self.folder.path()).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_ASKPASS", "true");
        command.env("GIT_ALLOW_PROTOCOL", "https:ssh:file").env("GIT_DIR", self.folder.path());
        command.env("GIT_SSH_COMMAND", self.ssh.as_deref().unwrap_or("ssh -oBatchMode=yes"));
        let fixed = [
            ("core.hooksPath", "/dev/null"),
            ("http.followRedirects", "false"),
            ("http.proxy", ""),
            ("credential.helper", ""),
            ("safe.directory", "*"),
            ("gc.auto", "0"),
        ];
        let own = self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let all: Vec<(&str, &str)> = fixed.into_iter().chain(own).collect();
        command.env("GIT_CONFIG_COUNT", all.len().to_string());
        for (number, (key, value)) in all.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    async fn run(&self, arguments: &[&str]) -> Outcome<Vec<u8>> {
        let done = self.command(arguments).output().await.map_err(|error| missing(&error))?;
        if done.status.success() {
            return Ok(done.stdout);
        }
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let folder: PathBuf = self.folder.path().to_path_buf();
        let said = self.secret.hidden(&said).replace(folder.to_string_lossy().as_ref(), "");
        Err(failed(&excerpt(&said)))
    }
}

impl Blobs {
    /// The content of a file.
    pub(super) async fn read(&mut self, id: &str) -> Outcome<Vec<u8>> {
        let io = |error: std::io::Error| failed(&error.to_string());
        self.asks.write_all(format!("{id}\n").as_bytes()).await.map_err(io)?;
        self.asks.flush().await.map_err(io)?;
        let mut head = String::new();
        self.answers.read_line(&mut head).await.map_err(io)?;
        let size = head.trim().rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.filter(|_| head.contains(" blob ")).ok_or_else(|| failed("a file is missing in it"))?;
        let mut bytes = vec![0; size + 1];
        self.answers.read_exact(&mut bytes).await.map_err(io)?;
        bytes.truncate(size);
        Ok(bytes)
    }
}

/// One line of a listing: mode, type, id, size, path.
fn entry(line: &[u8]) -> Option<Entry> {
    let line = std::str::from_utf8(line).ok()?;
    let (facts, path) = line.split_once('\t')?;
    let mut facts = facts.split_whitespace();
    let (mode, _, id, size) = (facts.next()?, facts.next()?, facts.next()?, facts.next()?);
    let size = size.parse().unwrap_or(0);
    Some(Entry { path: path.to_owned(), id: id.to_owned(), size, mode: mode.to_owned() })
}

fn missing(error: &std::io::Error) -> Box<Refusal> {
    if error.kind() == std::io::ErrorKind::NotFound {
        return Refusal::usage(
            Code::E070,
            "the program `git` is not there",
            "install git, and see whether it is on the PATH",
        );
    }
    failed(&error.to_string())
}

fn failed(why: &str) -> Box<Refusal> {
    Refusal::incomplete(
        Code::E070,
        format!("git failed: {why}"),
        "see `url` and `revision`, and whether it may be read",
    )
}
