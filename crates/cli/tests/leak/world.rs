//! The store of the sweep: sealed fields beside prompts, sealed splits of records and of files, several versions.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use heldset_core::visibility::Viewer;
use heldset_testkit::leak::{Search, files_under};

use super::tokens::{Kind, Tokens};

/// The labels of the fields of each dataset; evaluators and operators have no sealed split in common.
const DATASETS: [(&str, &[&str]); 2] = [
    ("trips", &["agent_visible", "internal", "evaluator_only", "partner", "judges"]),
    ("ops", &["agent_visible", "internal", "operator_only"]),
];

/// A run, so that there are results.
const PLAN: &str = "apiVersion: heldset/v1
kind: Experiment
name: swept
dataset: {ref: trips, split: default}
target: {kind: echo}
scenarios: [{id: base}]
graders: {printable: {kind: tool, function: ascii_printable_only}}
gate: {kind: simple, metric_key: printable, aggregation: avg_score, op: gte, value: 0.1}
";

/// A split that not everybody sees.
pub(super) struct SealedSplit {
    pub(super) dataset: &'static str,
    pub(super) name: String,
    pub(super) label: &'static str,
    /// One of its ids, or paths.
    pub(super) id: String,
    pub(super) files: bool,
}

/// A store, what is in it, and who may see what.
pub(super) struct World {
    pub(super) folder: tempfile::TempDir,
    pub(super) tokens: Tokens,
    pub(super) splits: Vec<SealedSplit>,
    /// The fields beside the prompts, by label.
    pub(super) fields: Vec<(&'static str, String)>,
    /// Nothing of it can be seen any more.
    pub(super) erased: String,
}

impl World {
    /// Builds it with the command, as the owner.
    pub(super) fn new() -> World {
        let mut tokens = Tokens::default();
        let name = |tokens: &mut Tokens, label: &'static str| match label {
            "agent_visible" => "input".to_owned(),
            _ => format!("f{}", tokens.make(Kind::Name, &[label], &format!("the name of a field of {label}"))),
        };
        let labels = ["agent_visible", "internal", "evaluator_only", "operator_only", "partner", "judges"];
        let fields: Vec<_> = labels.into_iter().map(|label| (label, name(&mut tokens, label))).collect();
        let mut world = World {
            folder: tempfile::tempdir().unwrap(),
            tokens,
            splits: Vec::new(),
            fields,
            erased: "gone-1".to_owned(),
        };
        for (dataset, label, files) in [
            ("trips", "evaluator_only", false),
            ("trips", "internal", false),
            ("trips", "evaluator_only", true),
            ("ops", "operator_only", false),
            ("ops", "operator_only", true),
        ] {
            let kind = if files { "files" } else { "records" };
            let split = world.tokens.make(Kind::Name, &[label], &format!("the name of a split of {kind} of {label}"));
            let id = world.tokens.make(Kind::Cell, &[label], &format!("an id or path in a split of {kind} of {label}"));
            world.splits.push(SealedSplit { dataset, name: split, label, id, files });
        }
        world.build();
        world
    }

    /// The folder of the store as it was built.
    pub(super) fn base(&self) -> PathBuf {
        self.folder.path().join("base")
    }

    fn fine(&self, args: &[&str]) {
        let ran = command(&self.base(), &self.base().join("inputs")).args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(ran.status.success(), "{args:?}: {}{}", text(&ran.stdout), text(&ran.stderr));
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.base().join("inputs").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn build(&mut self) {
        self.fine(&["init", "../.heldset"]);
        for (dataset, _) in DATASETS {
            self.write(&format!("{dataset}.yaml"), &self.policy(dataset));
            let rows: String = (1..=4).map(|row| self.prompt(dataset, &format!("q{row}"))).collect();
            self.write("prompts.jsonl", &rows);
            let (policy, profile) = (format!("{dataset}.yaml"), if dataset == "trips" { "case" } else { "plain" });
            self.fine(&["import", dataset, "prompts.jsonl", "--profile", profile, "--policy", &policy]);
        }
        for index in 0..self.splits.len() {
            self.import_split(index);
        }
        self.write("papers/open.txt", "an open paper");
        self.fine(&["import", "trips", "papers", "--files", "--split", "papers"]);
        self.fine(&["tag", "trips@1", "first"]);
        for (dataset, _) in DATASETS {
            let changed = self.prompt(dataset, "q1") + &self.prompt(dataset, "q5");
            self.write("changed.jsonl", &changed);
            self.fine(&["import", dataset, "changed.jsonl", "--upsert"]);
        }
        let (label, field) = self.fields[2].clone();
        let value = self.tokens.make(Kind::Cell, &[label], "a value that was edited");
        self.fine(&["record", "edit", "trips", "q2", "--set", &format!("{field}={value}")]);
        self.fine(&["import", "trips", "--remove", "q4"]);
        self.erase();
        self.register_schemas();
        self.write("plan.yaml", PLAN);
        self.write("rule.yaml", "{kind: simple, metric_key: printable, op: gte, value: 0.5}\n");
        self.fine(&["run", "plan.yaml"]);
        for audience in ["agent", "evaluator"] {
            let (file, folder) = (format!("../copies/{audience}.jsonl"), format!("../copies/{audience}"));
            fs::create_dir_all(self.base().join("copies")).unwrap();
            self.fine(&["export", "trips", "--to", "jsonl", "--split", "default", "--as", audience, "-o", &file]);
            self.fine(&["mount", "trips", &folder, "--as", audience]);
        }
    }

    /// Two schemas for each dataset, the second of which loses a field: one of our own form, one a JSON Schema.
    fn register_schemas(&self) {
        for (dataset, _) in DATASETS {
            let fields = self.fields_of(dataset);
            let field = |(_, name): &(&str, String)| format!("{{\"name\":\"{name}\",\"type\":\"json\"}}");
            let list: Vec<String> = fields.iter().map(field).collect();
            self.write("schema.json", &format!("{{\"fields\":[{}]}}", list.join(",")));
            let (_, last) = fields.last().unwrap();
            self.fine(&["schema", "register", dataset, "schema.json", "--summary", &format!("with {last}")]);
            let property = |(_, name): &(&str, String)| format!("\"{name}\":{{}}");
            let list: Vec<String> = fields[..fields.len() - 1].iter().map(property).collect();
            self.write("schema.json", &format!("{{\"type\":\"object\",\"properties\":{{{}}}}}", list.join(",")));
            self.fine(&["schema", "register", dataset, "schema.json", "--summary", &format!("without {last}")]);
        }
    }

    fn fields_of(&self, dataset: &str) -> Vec<(&'static str, String)> {
        let (_, labels) = DATASETS.into_iter().find(|(known, _)| *known == dataset).unwrap();
        self.fields.iter().filter(|(label, _)| labels.contains(label)).cloned().collect()
    }

    fn policy(&self, dataset: &str) -> String {
        let mut text = "default: internal\n".to_owned();
        if dataset == "trips" {
            text.push_str("labels: {partner: [evaluator, operator], judges: [grader]}\n");
        }
        let entry = |name: &str, label: &str| format!("  {name}: {label}\n");
        text.push_str("fields:\n");
        text.extend(self.fields_of(dataset).iter().map(|(label, field)| entry(field, label)));
        text.push_str("splits:\n  default: agent_visible\n  papers: agent_visible\n");
        let own = self.splits.iter().filter(|split| split.dataset == dataset);
        text.extend(own.map(|split| entry(&split.name, split.label)));
        text
    }

    /// A record whose every field holds tokens of its own.
    fn prompt(&mut self, dataset: &str, id: &str) -> String {
        let mut line = format!("{{\"id\":\"{id}\"");
        for (label, field) in self.fields_of(dataset) {
            let what = format!("the {label} field of {id}");
            let value = self.tokens.make(Kind::Cell, &[label], &what);
            let value = match label {
                "internal" => {
                    format!("{{\"deep\":[1,{{\"{}\":\"{value}\"}}]}}", self.tokens.make(Kind::Cell, &[label], &what))
                }
                "operator_only" => format!("[{},\"{value}\"]", self.tokens.number(&[label], &what)),
                "partner" => format!("\"line one\\n{value} é\\u0001 \\\"quoted\\\"\""),
                _ => format!("\"{value}\""),
            };
            line.push_str(&format!(",\"{field}\":{value}"));
        }
        line + "}\n"
    }

    fn import_split(&mut self, index: usize) {
        let SealedSplit { dataset, name, label, id, files } = &self.splits[index];
        let (dataset, name, label, id) = (*dataset, name.clone(), *label, id.clone());
        if *files {
            let bytes = self.tokens.make(Kind::Cell, &[label], "the bytes of a sealed file");
            let vault = format!("vault-{dataset}");
            self.write(&format!("{vault}/{id}.txt"), &format!("{bytes}\n"));
            return self.fine(&["import", dataset, &vault, "--files", "--split", &name]);
        }
        let mut rows = String::new();
        for id in [id, self.tokens.make(Kind::Cell, &[label], "an id of a sealed split")] {
            let input = self.tokens.make(Kind::Cell, &[label, "agent_visible"], "an open field of a sealed split");
            let (inner, field) = self.fields_of(dataset)[2].clone();
            let value = self.tokens.make(Kind::Cell, &[label, inner], "a sealed field of a sealed split");
            rows.push_str(&format!("{{\"id\":\"{id}\",\"input\":\"{input}\",\"{field}\":\"{value}\"}}\n"));
        }
        self.write("sealed.jsonl", &rows);
        self.fine(&["import", dataset, "sealed.jsonl", "--split", &name]);
    }

    fn erase(&mut self) {
        let before = self.tokens.0.len();
        let gone = self.prompt("trips", &self.erased.clone());
        let texts: Vec<String> = self.tokens.0[before..].iter().map(|token| token.text.clone()).collect();
        let rows = gone + &self.prompt("trips", "gone-2");
        self.write("gone.jsonl", &rows);
        self.fine(&["import", "gone", "gone.jsonl", "--profile", "case", "--policy", "trips.yaml"]);
        self.fine(&["erase", "gone", &self.erased, "--reason", "a request"]);
        self.fine(&["gc"]);
        self.tokens.forget(&texts);
    }

    /// A copy of the store for one viewer, with an empty folder to work in.
    pub(super) fn copy_for(&self, viewer: Viewer) -> PathBuf {
        let to = self.folder.path().join(viewer.name());
        for part in [".heldset", "keys"] {
            for (path, bytes) in files_under(&self.base().join(part)).unwrap() {
                let copy = to.join(path.strip_prefix(self.base()).unwrap());
                fs::create_dir_all(copy.parent().unwrap()).unwrap();
                fs::write(&copy, bytes).unwrap();
                fs::set_permissions(&copy, fs::metadata(&path).unwrap().permissions()).unwrap();
            }
        }
        for folder in ["work", "tmp", ".heldset/tmp", ".heldset/objects"] {
            fs::create_dir_all(to.join(folder)).unwrap();
        }
        to
    }

    /// What lies in the clear in the store of a folder although it is sealed.
    pub(super) fn at_rest(&self, folder: &Path) -> Vec<String> {
        let sealed: Vec<_> = self.tokens.0.iter().filter(|token| token.sealed_at_rest()).collect();
        let search = Search::new(sealed.iter().map(|token| token.text.as_str()));
        let mut problems = Vec::new();
        for (path, bytes) in files_under(&folder.join(".heldset")).unwrap() {
            for hit in search.hits(&bytes) {
                problems.push(format!("{}: {} ({hit:?})", path.display(), sealed[hit.token].what));
            }
        }
        problems
    }

    /// How many tokens of open fields are found in the store.
    pub(super) fn open_tokens_at_rest(&self) -> usize {
        let open = self.tokens.0.iter().filter(|token| token.kind == Kind::Cell && !token.sealed_at_rest());
        let search = Search::new(open.map(|token| token.text.as_str()));
        let files = files_under(&self.base().join(".heldset")).unwrap();
        files.iter().map(|(_, bytes)| search.hits(bytes).len()).sum()
    }
}

/// The command at the store in a folder, working in another.
pub(super) fn command(folder: &Path, work: &Path) -> Command {
    fs::create_dir_all(work).unwrap();
    let mut command = Command::cargo_bin("heldset").unwrap();
    command.current_dir(work).env_remove("HELDSET_STORE").env("HELDSET_KEYS", folder.join("keys"));
    command.env("TMPDIR", folder.join("tmp")).env("USER", "somebody");
    fs::create_dir_all(folder.join("tmp")).unwrap();
    command
}
