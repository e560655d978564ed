//! `heldset demo`.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use heldset_core::code::Code;
use heldset_engine::demo::{DemoStep, FILES, STEPS};

use crate::args::Cli;
use crate::exit::{Exit, Failure};

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Where the tour takes place (default: a new temporary folder)
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Takes the tour: writes files, runs commands, prints both.
pub(crate) fn run(cli: &Cli, args: &DemoArgs) -> Result<Exit, Failure> {
    let folder = make_folder(args.folder.clone())?;
    for file in FILES {
        let path = folder.join(file.name);
        fs::write(&path, file.text).map_err(|error| Failure::write(&path, &error))?;
    }
    let mut out = io::stdout().lock();
    let say = |out: &mut io::StdoutLock<'_>, text: &str| writeln!(out, "{text}").map_err(|error| super::broken(&error));
    if !cli.json {
        let again = format!("cd {} && export HELDSET_KEYS=$PWD/keys", folder.display());
        say(&mut out, &format!("A tour of Heldset. To repeat any step: {again}\n"))?;
    }
    let mut steps = Vec::new();
    for (number, step) in (1..).zip(STEPS) {
        if !cli.json {
            say(&mut out, &format!("{number}. {}\n$ heldset {}", step.why, shown(step)))?;
            out.flush().map_err(|error| super::broken(&error))?;
        }
        let exit = execute(&folder, step, cli.json)?;
        if exit != step.exit {
            let message = format!("`heldset {}` ended with {exit} instead of {}", shown(step), step.exit);
            return Err(Failure::usage(Code::E105, message, "run `heldset doctor` in the folder of the tour"));
        }
        if !cli.json {
            say(&mut out, if exit == 0 { "" } else { "(exit code says so)\n" })?;
        }
        steps.push((shown(step), exit));
    }
    if cli.json {
        use crate::print::json;
        use heldset_core::value::Value;
        let step = |(command, exit): (String, i32)| {
            Value::Object(json::object([
                ("command", format!("heldset {command}").into()),
                ("exit", Value::from(i64::from(exit))),
            ]))
        };
        let steps = Value::Array(steps.into_iter().map(step).collect());
        let answer = json::object([("folder", folder.display().to_string().into()), ("steps", steps)]);
        say(&mut out, &json::text(&answer))?;
    }
    Ok(Exit::Fine)
}

fn make_folder(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let Some(folder) = named else {
        let temporary = std::env::temp_dir();
        let made = tempfile::Builder::new().prefix("heldset-demo-").tempdir_in(&temporary);
        return made.map(tempfile::TempDir::keep).map_err(|error| Failure::write(&temporary, &error));
    };
    let empty = !folder.exists() || fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none());
    if !empty {
        let message = format!("`{}` has other files in it", folder.display());
        return Err(Failure::usage(Code::E116, message, "name a folder that is new or empty"));
    }
    fs::create_dir_all(&folder).map_err(|error| Failure::write(&folder, &error))?;
    folder.canonicalize().map_err(|error| Failure::open(&folder, &error))
}

/// Runs a command as a user would, with the keys in the folder of the tour.
fn execute(folder: &std::path::Path, step: &DemoStep, quiet: bool) -> Result<i32, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::open(std::path::Path::new("heldset"), &error))?;
    let mut command = Command::new(&program);
    command.args(step.arguments).current_dir(folder);
    command.env("HELDSET_STORE", folder.join(".heldset")).env("HELDSET_KEYS", folder.join("keys"));
    let output = command.output().map_err(|error| Failure::open(&program, &error))?;
    if !quiet {
        let shown = io::stdout().write_all(&output.stdout).and_then(|()| io::stdout().write_all(&output.stderr));
        shown.map_err(|error| super::broken(&error))?;
    }
    Ok(output.status.code().unwrap_or(-1))
}

/// The arguments as they are typed.
fn shown(step: &DemoStep) -> String {
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./@,=".contains(&byte));
    let quoted = |text: &&str| if plain(text) { (*text).to_owned() } else { format!("'{text}'") };
    step.arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
