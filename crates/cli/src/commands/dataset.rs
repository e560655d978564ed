//! `heldset dataset`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use heldset_core::code::Code;
use heldset_core::declaration::Declaration;
use heldset_core::fault::Problem;
use heldset_core::registry::{Level, Purpose, Status};
use heldset_core::value::{Object, Value};
use heldset_engine::dataset::{
    Described, MoveRequest, Proving, UpdateRequest, Wanted, change_status, create, get, list, review, update, validate,
};
use heldset_engine::refusal::Refusal;
use heldset_engine::session::Session;

use super::import::pair;
use super::verify::OnDisk;
use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::place;
use crate::print::dataset as print;
use crate::print::json;
use crate::print::progress::{Bar, Progress};

/// What others that came from a dataset must know when it changes, and the change it is.
const TOUCHING: &[(&str, &str)] =
    &[("license", "license"), ("policy_tags", "policy"), ("consent", "consent"), ("deletion_status", "deletion")];

#[derive(Args)]
pub(crate) struct DatasetArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Make a dataset without a version
    #[command(
        after_help = "Example:\n  heldset dataset create --name \"Support tickets\" --slug support-tickets --tag support\n  heldset dataset create dataset.json"
    )]
    Create(Box<FieldArgs>),
    /// Tell everything that is wrong with the fields of a dataset, and write nothing
    #[command(
        after_help = "Example:\n  heldset dataset validate dataset.json\n  heldset dataset validate --name \"Support tickets\" --slug support-tickets --json"
    )]
    Validate {
        /// Judge the fields as a change of a dataset that exists
        #[arg(long)]
        update: bool,
        #[command(flatten)]
        given: Box<FieldArgs>,
    },
    /// Change some fields
    #[command(
        after_help = "Example:\n  heldset dataset update support-tickets --set license=CC-BY-4.0 --tag support --tag 2026\n  heldset dataset update support-tickets --set team=null --if-match 3f0c…"
    )]
    Update {
        /// The dataset
        #[arg(value_name = "SLUG")]
        slug: String,
        #[command(flatten)]
        given: Box<FieldArgs>,
        /// Change it only if this is still its etag
        #[arg(long, value_name = "ETAG")]
        if_match: Option<String>,
    },
    /// Show where a dataset is in its life, or move it: draft, active, published, deprecated, archived
    #[command(
        after_help = "Example:\n  heldset dataset status support-tickets\n  heldset dataset status support-tickets published --certification silver"
    )]
    Status(StatusArgs),
    /// Write down that you reviewed a version
    #[command(after_help = "Example:\n  heldset dataset review support-tickets@3 -m \"labels checked by hand\"")]
    Review {
        /// The dataset and version, such as `trips@3`
        #[arg(value_name = "SLUG[@V]")]
        cite: String,
        /// What you say of it
        #[arg(short, long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// Show every field of a dataset
    #[command(after_help = "Example:\n  heldset dataset show support-tickets --json")]
    Show {
        /// The dataset
        #[arg(value_name = "SLUG")]
        slug: String,
    },
    /// List datasets with all their fields
    #[command(after_help = "Example:\n  heldset dataset ls --status active --tag support")]
    Ls(WantedArgs),
}

/// Fields, from a file and from options.
#[derive(Args)]
struct FieldArgs {
    /// The fields, in JSON or YAML; `-` is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The name for people
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// The name in citations
    #[arg(long = "slug", value_name = "SLUG", id = "field_slug")]
    slug: Option<String>,
    /// What it contains
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The license
    #[arg(long, value_name = "LICENSE")]
    license: Option<String>,
    /// The team that owns it
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// A word to find it by
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A category
    #[arg(long = "category", value_name = "CATEGORY")]
    categories: Vec<String>,
    /// What must be guarded in it, such as `pii`
    #[arg(long = "policy-tag", value_name = "TAG")]
    policy_tags: Vec<String>,
    /// How long it is kept: `until=2028-01-01`, `retain_days=90`, or both with a comma between
    #[arg(long, value_name = "TERMS")]
    retention: Option<String>,
    /// Any field; what is not JSON is text, and `null` takes an optional field away
    #[arg(long = "set", value_name = "FIELD=JSON")]
    set: Vec<String>,
}

#[derive(Args)]
struct StatusArgs {
    /// The dataset
    #[arg(value_name = "SLUG")]
    slug: String,
    /// What it is to become
    #[arg(value_name = "STATUS")]
    to: Option<String>,
    /// How far it is to be certified: bronze, silver or gold
    #[arg(long, value_name = "LEVEL")]
    certification: Option<String>,
    /// Move it only if this is still its etag
    #[arg(long, value_name = "ETAG")]
    if_match: Option<String>,
}

/// Which datasets are looked for.
#[derive(Args)]
pub(crate) struct WantedArgs {
    /// Only those in this status
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only those with this tag
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only those in this category
    #[arg(long, value_name = "CATEGORY")]
    category: Option<String>,
    /// Only those of this team
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
    /// Only those with this text in slug, name or description
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

/// Describes datasets.
pub(crate) fn run(cli: &Cli, args: &DatasetArgs) -> Result<Exit, Failure> {
    if let Action::Validate { update, given } = &args.action {
        return check(cli, given, *update);
    }
    let session = place::session(cli)?;
    match &args.action {
        Action::Create(given) => {
            session.must_manage("dataset create")?;
            let fields = given.fields()?;
            answer(cli, given, create(&session, &fields)?)
        }
        Action::Update { slug, given, if_match } => {
            session.must_manage("dataset update")?;
            let fields = given.fields()?;
            let request = UpdateRequest { slug, fields: &fields, if_match: if_match.as_deref() };
            let done = proving(cli, |proving| Ok(update(&session, &request, proving)?))?;
            if let Some((_, kind)) = TOUCHING.iter().find(|(field, _)| changes(&fields, field)) {
                super::tell_touched_by(cli, &session, &get(&session, slug)?.dataset.slug, kind)?;
            }
            answer(cli, given, done)
        }
        Action::Status(args) => status(cli, &session, args),
        Action::Review { cite, message } => {
            let reviewed = review(&session, cite, message.as_deref())?;
            said(&if cli.json { json::text(&print::review(&reviewed)) } else { print::review_text(&reviewed) })
        }
        Action::Show { slug } => print_one(cli, &get(&session, slug)?),
        Action::Ls(wanted) => print_list(cli, &list(&session, &wanted.wanted()?)?),
        Action::Validate { .. } => Ok(Exit::Fine),
    }
}

fn check(cli: &Cli, given: &FieldArgs, update: bool) -> Result<Exit, Failure> {
    let fields = given.fields()?;
    let purpose = if update { Purpose::Update } else { Purpose::Create };
    // Whether it could be made in the store is told where there is one.
    let named = cli.store.is_some() || place::find(cli).is_ok();
    let session = if named { Some(place::session(cli)?) } else { None };
    let declared = fields.as_object().is_some_and(|fields| fields.contains("apiVersion"));
    let problems = match declared {
        true => Declaration::from_value(&fields).err().unwrap_or_default(),
        false => validate(session.as_ref(), &fields, purpose)?,
    };
    print::validity(cli, &given.shown(), &problems)
}

fn status(cli: &Cli, session: &Session, args: &StatusArgs) -> Result<Exit, Failure> {
    if args.to.is_none() && args.certification.is_none() {
        let found = get(session, &args.slug)?;
        return said(&if cli.json { json::text(&print::status(&found)) } else { print::status_text(&found) });
    }
    session.must_manage("dataset status")?;
    let to = args.to.as_deref().map(status_of).transpose()?;
    let level = match args.certification.as_deref() {
        None => None,
        Some(name) => Some(Level::parse(name).ok_or_else(|| {
            let message = format!("there is no certification level `{name}`");
            Refusal::unknown(message, name, Level::NAMES.iter().copied())
        })?),
    };
    let request = MoveRequest { slug: &args.slug, to, level, if_match: args.if_match.as_deref() };
    let moved = proving(cli, |proving| Ok(change_status(session, &request, proving)?))?;
    match cli.json {
        true => print_one(cli, &moved),
        false => {
            print::warnings(cli, &moved);
            said(&print::status_text(&moved))
        }
    }
}

fn status_of(name: &str) -> Result<Status, Failure> {
    let unknown =
        || Refusal::unknown(format!("there is no status `{name}`"), name, Status::NAMES.iter().copied()).into();
    Status::parse(name).ok_or_else(unknown)
}

/// Does something that may compute digests again.
fn proving<T>(cli: &Cli, act: impl FnOnce(&mut Proving<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    let mut listener = Bar(Progress::of("verify", None, cli.quiet || cli.json));
    let done = act(&mut Proving { pinned: &OnDisk, listener: &mut listener });
    listener.0.finish();
    done
}

fn answer(cli: &Cli, given: &FieldArgs, done: Result<Described, Vec<Problem>>) -> Result<Exit, Failure> {
    match done {
        Ok(described) => print_one(cli, &described),
        Err(problems) => print::invalid(cli, &given.shown(), &problems),
    }
}

fn print_one(cli: &Cli, described: &Described) -> Result<Exit, Failure> {
    print::warnings(cli, described);
    said(&if cli.json { json::text(&print::object(described)) } else { print::text(described) })
}

fn print_list(cli: &Cli, found: &[Described]) -> Result<Exit, Failure> {
    let out = match cli.json {
        true => super::list_text(found.iter().map(|one| Value::Object(print::object(one)))),
        false => found.iter().map(|one| print::line(one) + "\n").collect(),
    };
    io::stdout().write_all(out.as_bytes()).map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

fn said(text: &str) -> Result<Exit, Failure> {
    writeln!(io::stdout(), "{text}").map(|()| Exit::Fine).map_err(|error| super::broken(&error))
}

impl FieldArgs {
    /// The fields that were given: those of the file, with the options over them.
    fn fields(&self) -> Result<Value<'static>, Failure> {
        let mut fields = match self.file.as_deref() {
            None => Value::Object(Object::new()),
            Some(path) if path == Path::new("-") => from_stdin()?,
            Some(path) => super::load_document(path)?,
        };
        // What is no mapping is told by the rules, as it stands.
        let Value::Object(object) = &mut fields else { return Ok(fields) };
        for (name, text) in [
            ("name", &self.name),
            ("slug", &self.slug),
            ("description", &self.description),
            ("license", &self.license),
            ("team", &self.team),
        ] {
            if let Some(text) = text {
                object.set(name, Value::from(text.clone()));
            }
        }
        for (name, texts) in
            [("tags", &self.tags), ("categories", &self.categories), ("policy_tags", &self.policy_tags)]
        {
            if !texts.is_empty() {
                object.set(name, Value::Array(texts.iter().cloned().map(Value::from).collect()));
            }
        }
        if let Some(terms) = &self.retention {
            object.set("retention", retention(terms)?);
        }
        for text in &self.set {
            let (name, value) = pair(text, "--set", "FIELD=JSON")?;
            object.set(name, json_or_text(&value));
        }
        if object.is_empty() && self.file.is_none() {
            let help = "name a file, or give fields such as `--name` and `--set FIELD=JSON`";
            return Err(Failure::usage(Code::E105, "no field is given", help));
        }
        Ok(fields)
    }

    /// Where the fields come from, for messages.
    fn shown(&self) -> String {
        self.file.as_deref().map_or_else(String::new, |path| path.display().to_string())
    }
}

impl WantedArgs {
    /// What is looked for.
    pub(crate) fn wanted(&self) -> Result<Wanted, Failure> {
        Ok(Wanted {
            status: self.status.as_deref().map(status_of).transpose()?,
            tags: self.tags.clone(),
            category: self.category.clone(),
            team: self.team.clone(),
            text: self.text.clone(),
        })
    }
}

fn from_stdin() -> Result<Value<'static>, Failure> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::open(Path::new("-"), &error))?;
    heldset_dialect::read_document(&bytes).map_err(|fault| Failure::invalid("-", *fault))
}

fn json_or_text(text: &str) -> Value<'static> {
    heldset_core::json::read(text).map_or_else(|_| Value::from(text.to_owned()), Value::into_owned)
}

/// `until=DAY,retain_days=N`, or a JSON mapping.
fn retention(terms: &str) -> Result<Value<'static>, Failure> {
    if let Ok(value @ (Value::Object(_) | Value::Null)) = heldset_core::json::read(terms) {
        return Ok(value.into_owned());
    }
    let mut object = Object::new();
    for term in terms.split(',') {
        let (name, value) = pair(term.trim(), "--retention", "until=DAY,retain_days=N")?;
        let value = if name == "until" { Value::from(value) } else { json_or_text(&value) };
        object.set(name, value);
    }
    Ok(Value::Object(object))
}

/// Whether an update says something of a field.
fn changes(fields: &Value<'_>, field: &str) -> bool {
    fields.as_object().is_some_and(|fields| fields.contains(field))
}
