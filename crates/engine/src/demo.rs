//! `demo`: a tour in a few seconds, offline: the files it writes and the commands it runs, as data.
//!
//! *Invariant:* every command is one that a user can repeat in the same folder; each says how it must end.

/// A file of the tour.
pub struct DemoFile {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// A command of the tour.
pub struct DemoStep {
    /// What it shows.
    pub why: &'static str,
    /// Its arguments.
    pub arguments: &'static [&'static str],
    /// The exit code it must have.
    pub exit: i32,
}

/// The files.
pub const FILES: &[DemoFile] = &[
    DemoFile { name: "capitals.jsonl", text: CASES },
    DemoFile { name: "clerk.sh", text: CLERK },
    DemoFile { name: "thief.sh", text: THIEF },
    DemoFile { name: "clerk.yaml", text: CLERK_PLAN },
    DemoFile { name: "thief.yaml", text: THIEF_PLAN },
];

/// The commands, in order.
pub const STEPS: &[DemoStep] = &[
    DemoStep { why: "a store: one folder, its keys elsewhere", arguments: &["init"], exit: 0 },
    DemoStep {
        why: "eight cases become version 1, pinned by its digest; the answers are sealed",
        arguments: &["import", "capitals", "capitals.jsonl", "--message", "first cases"],
        exit: 0,
    },
    DemoStep {
        why: "what an agent may see of them: no answers",
        arguments: &["cat", "capitals", "--ids", "fr,jp", "--as", "agent"],
        exit: 0,
    },
    DemoStep { why: "an agent that knows its capitals: the gate passes", arguments: &["run", "clerk.yaml"], exit: 0 },
    DemoStep {
        why: "an agent that looks for the answers in the store instead: it finds none, and the gate fails",
        arguments: &["run", "thief.yaml"],
        exit: 1,
    },
    DemoStep {
        why: "what became of one case, and what the agent saw and did",
        arguments: &["why", "last", "fr"],
        exit: 0,
    },
    DemoStep {
        why: "the two runs side by side, paired by record",
        arguments: &["compare", "r00001", "r00002"],
        exit: 0,
    },
    DemoStep {
        why: "an answer is corrected: version 2; version 1 stays what it was",
        arguments: &["record", "edit", "capitals", "nl", "--set", "expected_output=\"The Hague\""],
        exit: 0,
    },
    DemoStep { why: "what is different, row by row", arguments: &["diff", "capitals@1", "capitals@2"], exit: 1 },
    DemoStep {
        why: "the outputs of the first run, scored against the corrected answer, without asking the agent again",
        arguments: &["score", "r00001", "--dataset", "capitals@2"],
        exit: 7,
    },
    DemoStep { why: "every look at sealed data is on record", arguments: &["audit", "--limit", "2"], exit: 0 },
];

const CASES: &str = r#"{"id":"fr","input":"What is the capital of France?","expected_output":"Paris","category":"europe"}
{"id":"jp","input":"What is the capital of Japan?","expected_output":"Tokyo","category":"asia"}
{"id":"ke","input":"What is the capital of Kenya?","expected_output":"Nairobi","category":"africa"}
{"id":"pe","input":"What is the capital of Peru?","expected_output":"Lima","category":"america"}
{"id":"nl","input":"What is the capital of the Netherlands?","expected_output":"Amsterdam","category":"europe"}
{"id":"eg","input":"What is the capital of Egypt?","expected_output":"Cairo","category":"africa"}
{"id":"kr","input":"What is the capital of South Korea?","expected_output":"Seoul","category":"asia"}
{"id":"ca","input":"What is the capital of Canada?","expected_output":"Ottawa","category":"america"}
"#;

const CLERK: &str = r#"# An agent: the question comes on standard input, the answer goes to standard output.
read -r question
case "$question" in
  *France*) echo "It is Paris." ;;
  *Japan*) echo "It is Tokyo." ;;
  *Kenya*) echo "It is Nairobi." ;;
  *Peru*) echo "It is Lima." ;;
  *Netherlands*) echo "It is Amsterdam." ;;
  *Egypt*) echo "It is Cairo." ;;
  *Korea*) echo "It is Seoul." ;;
  *Canada*) echo "It is Ottawa." ;;
  *) echo "I do not know." ;;
esac
"#;

const THIEF: &str = r#"# An agent that looks for the answers where they are kept.
here=$(dirname "$0")
found=$(cat "$here"/.heldset/* "$here"/capitals.jsonl "$here"/thief.yaml 2>/dev/null | wc -c)
echo "I read $found bytes of the store and the data."
"#;

const CLERK_PLAN: &str = r#"apiVersion: heldset/v1
kind: Experiment
name: clerk
dataset: {ref: capitals@1}
target: {kind: command, command: [sh, clerk.sh], protocol: text}
graders: {correct: {kind: contains}}
gate: {kind: simple, metric_key: correct, op: gte, value: 0.6}
"#;

const THIEF_PLAN: &str = r#"apiVersion: heldset/v1
kind: Experiment
name: thief
dataset: {ref: capitals@1}
target: {kind: command, command: [sh, thief.sh], protocol: text}
graders: {correct: {kind: contains}}
gate: {kind: simple, metric_key: correct, op: gte, value: 0.6}
"#;
