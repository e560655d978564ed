//! Stores that differ only in what one audience may not see.
//!
//! *Invariant:* both worlds of a pair take the same steps with the same clock and the same randomness.

mod requests;

pub(crate) use requests::{Request, answer};

use std::sync::Arc;

use heldset_core::profile::Profile;
use heldset_core::visibility::{Audience, Audiences, Policy, PolicyDraft, Viewer};
use heldset_dialect::{IdRule, ReadOptions};
use heldset_engine::erase::{Erasure, erase};
use heldset_engine::import::{About, Change, ImportRequest, Labelling, change, import, import_files};
use heldset_engine::session::Session;
use heldset_engine::tag::tag;
use heldset_store::Store;
use heldset_testkit::{FixedClock, MemorySources, MemoryTree, Quiet, Seeded};

/// The fields of records, each under a label of its own but for `pin`.
pub(crate) const FIELDS: [(&str, &str); 6] = [
    ("input", "agent_visible"),
    ("category", "internal"),
    ("expected_output", "evaluator_only"),
    ("pin", ""),
    ("deal", "partner"),
    ("verdict", "judges"),
];

/// Labels that cannot all be in one dataset: that of the sealed splits, and that of `pin`.
type Shape = (&'static str, &'static str);

const SHAPES: [Shape; 2] = [("evaluator_only", "public"), ("internal", "operator_only")];

/// How many records the open split starts with.
pub(crate) const ROWS: usize = 7;

/// A store, and what was put into it.
pub(crate) struct World {
    pub(crate) session: Session,
    policy: Policy,
    shape: Shape,
    viewer: Viewer,
    /// Whether what the viewer may not see is other than in the first world.
    other: bool,
    /// How often each record was changed.
    changes: u64,
}

/// The options that files are read with.
pub(crate) fn reading() -> ReadOptions {
    ReadOptions { format: None, id: IdRule::Auto, schema: None, threads: 1 }
}

/// A session of the owner at a new store.
pub(crate) fn session(seed: u64) -> Session {
    let store = Store::in_memory("00000000-0000-4000-8000-000000000000", Arc::new(Seeded::new(seed)));
    Session { store, clock: Arc::new(FixedClock), user: "somebody".to_owned(), viewer: Viewer::Owner }
}

fn draft((split, pin): Shape) -> PolicyDraft {
    let mut draft = PolicyDraft::default()
        .split("default", "agent_visible")
        .split("answers", split)
        .split("vault", split)
        .default_label("internal");
    draft.labels.insert("partner".to_owned(), Audiences::of(&[Audience::Evaluator, Audience::Operator]));
    draft.labels.insert("judges".to_owned(), Audiences::of(&[Audience::Grader]));
    let label = |label: &'static str| if label.is_empty() { pin } else { label };
    FIELDS.iter().fold(draft, |draft, (field, name)| draft.field(field, label(name)))
}

impl World {
    /// A world with a history that the seed tells.
    pub(crate) fn new(seed: u64, viewer: Viewer, other: bool) -> World {
        let shape = SHAPES[usize::try_from(seed).unwrap() % SHAPES.len()];
        let policy = draft(shape).resolve().unwrap();
        let mut world = World { session: session(seed), policy, shape, viewer, other, changes: 0 };
        world.import("default", &(0..ROWS).map(|row| world.record("default", row)).collect::<String>());
        world.import("answers", &(0..4).map(|row| world.record("answers", row)).collect::<String>());
        world.import_vault();
        let choices = Seeded::new(seed ^ 0xabcd);
        for _ in 0..4 {
            world.step(&choices);
        }
        world
    }

    fn step(&mut self, choices: &Seeded) {
        self.changes += 1;
        let row = choices.below(ROWS);
        match choices.below(6) {
            // What only some may see changes, and nothing else.
            0..=2 => {
                let field = 1 + choices.below(FIELDS.len() - 1);
                let line = self.line("default", row, |index| if index == field { self.changes } else { 0 });
                self.upsert("default", &line);
            }
            3 => {
                let line = self.line("default", row, |_| self.changes);
                self.upsert("default", &line);
            }
            4 => {
                let line = self.line("answers", row, |_| self.changes);
                self.upsert("answers", &line);
            }
            _ => self.import_vault(),
        }
        if choices.below(2) == 0 {
            tag(&self.session, "trips", &format!("tag-{}", choices.below(2))).unwrap();
        }
    }

    /// Erases a record of the open split.
    pub(crate) fn erase(&self, row: usize) {
        let id = &self.id("default", row);
        erase(&self.session, &Erasure { slug: "trips", id, split: None, reason: "a request" }).unwrap();
    }

    /// Whether the viewer may see a field of a split; the ids are seen with the split.
    fn sees(&self, split: &str, field: Option<&str>) -> bool {
        let labels = self.policy.in_split(split).unwrap();
        self.viewer.sees(labels.own()) && field.is_none_or(|field| self.viewer.sees(labels.of(field)))
    }

    fn id(&self, split: &str, row: usize) -> String {
        let differs = self.other && !self.sees(split, None);
        if differs { format!("elsewhere-{row}") } else { format!("{split}-{row}") }
    }

    fn record(&self, split: &str, row: usize) -> String {
        self.line(split, row, |_| 0)
    }

    /// A record as a line: values that can be seen are alike in both worlds, the rest has nothing in common.
    fn line(&self, split: &str, row: usize, generation: impl Fn(usize) -> u64) -> String {
        let id = self.id(split, row);
        let mut line = format!("{{\"id\":\"{id}\"");
        for (index, (field, _)) in FIELDS.iter().enumerate() {
            let differs = self.other && !self.sees(split, Some(field));
            let at = generation(index);
            let value = match differs {
                false => format!("\"{field} of {row}, {at}\""),
                true => format!("\"quite another {field} of {row}, {}\"", "y".repeat(7 * row + at as usize)),
            };
            let value = if *field == "pin" && differs { format!("[{value},{{\"deep\":{at}}}]") } else { value };
            line.push_str(&format!(",\"{field}\":{value}"));
        }
        line + "}\n"
    }

    fn import(&self, split: &str, lines: &str) {
        let sources = MemorySources { name: format!("{split}.jsonl"), bytes: lines.as_bytes().to_vec() };
        let labelling = self.labelling();
        let about = About { message: Some(format!("{split} of a trip")), ..About::default() };
        let (reading, slug) = (&reading(), "trips");
        let request = ImportRequest { slug, split, reading, labelling: &labelling, about: &about, keep_valid: false };
        let mut quiet = Quiet::default();
        let imported = import(&self.session, &request, &sources, &mut quiet).unwrap();
        assert!(imported.committed.is_some(), "{quiet:?}");
    }

    fn upsert(&self, split: &str, lines: &str) {
        let sources = MemorySources { name: "changed.jsonl".to_owned(), bytes: lines.as_bytes().to_vec() };
        let (labelling, about, reading) = (Labelling::default(), About::default(), &reading());
        let request =
            ImportRequest { slug: "trips", split, reading, labelling: &labelling, about: &about, keep_valid: false };
        let mut quiet = Quiet::default();
        let wanted = Change { sources: Some(&sources), remove: &[] };
        let imported = change(&self.session, &request, &wanted, &mut quiet).unwrap();
        assert!(imported.committed.is_some(), "{quiet:?}");
    }

    fn import_vault(&self) {
        let differs = self.other && !self.sees("vault", None);
        let text = if differs { "quite other bytes" } else { "bytes" };
        let file = |number: usize| {
            let path = if differs { format!("other-{number}.bin") } else { format!("file-{number}.bin") };
            (path, format!("{text} of {number}, {}", self.changes).into_bytes())
        };
        let tree = MemoryTree((0..2).map(file).collect());
        let (labelling, about, reading) = (self.labelling(), About::default(), &reading());
        let (slug, split) = ("trips", "vault");
        let request = ImportRequest { slug, split, reading, labelling: &labelling, about: &about, keep_valid: false };
        import_files(&self.session, &request, &tree, &mut Quiet::default()).unwrap();
    }

    fn labelling(&self) -> Labelling {
        Labelling { profile: Some(Profile::Case), policy: Some(draft(self.shape)), ..Labelling::default() }
    }
}
