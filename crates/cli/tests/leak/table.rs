//! What every verb is driven with.
//!
//! Placeholders: `{slug}` stands for each dataset, `{split}` and `{id}` for every name that cannot be seen, for one that does
//! not exist, and for one that can be seen; `{files}` for the splits of files, `{field}` for fields; `{out}` for a new path.

/// A verb and its argument lists.
pub(super) struct Entry {
    pub(super) verb: &'static str,
    pub(super) lists: &'static [&'static [&'static str]],
}

const fn entry(verb: &'static str, lists: &'static [&'static [&'static str]]) -> Entry {
    Entry { verb, lists }
}

/// Every verb: those that look first, then those that change something.
pub(super) const ENTRIES: &[Entry] = &[
    entry("ls", &[&[]]),
    entry("show", &[&["trips"], &["trips@1", "--digests"], &["trips@first"], &["gone"], &["ops"], &["trips@no-tag"]]),
    entry("history", &[&["trips"], &["ops"], &["nowhere"]]),
    entry(
        "cat",
        &[
            &["trips"],
            &["trips@2"],
            &["gone"],
            &["ops"],
            &["{slug}", "--split", "{split}"],
            &["{slug}", "--split", "{files}"],
            &["{slug}", "--ids", "{id}"],
            &["{slug}", "--split", "{split}", "--ids", "{id}"],
            &["trips", "--place", "local_disk"],
        ],
    ),
    entry(
        "record",
        &[
            &["trips", "q1"],
            &["trips", "q2", "--history"],
            &["trips", "q2", "--proof"],
            &["trips", "q1@2"],
            &["trips", "q2@9"],
            &["{slug}", "{id}"],
            &["{slug}", "{id}@1"],
            &["{slug}", "{id}", "--history"],
            &["{slug}", "{id}", "--proof"],
            &["{slug}", "{id}", "--split", "{split}"],
            &["gone", "gone-1"],
        ],
    ),
    entry(
        "diff",
        &[
            &["trips@1", "trips"],
            &["trips@5", "trips@6"],
            &["trips@6", "trips@7"],
            &["ops@1", "ops"],
            &["trips@7", "trips@8"],
            &["trips", "gone"],
            &["{slug}@1", "{slug}", "--split", "{split}"],
            &["{slug}@1", "{slug}", "--split", "{files}"],
        ],
    ),
    entry(
        "export",
        &[
            &["trips", "--to", "jsonl"],
            &["{slug}", "--to", "jsonl", "--split", "{split}"],
            &["{slug}", "--to", "jsonl", "--split", "{files}"],
            &["trips@1", "--to", "jsonl", "--split", "default", "-o", "{out}.jsonl"],
            &["trips", "--to", "json", "--split", "default", "-o", "{out}.json"],
            &["trips", "--to", "csv", "--split", "default", "-o", "{out}.csv"],
            &["trips", "--to", "parquet", "--split", "default", "-o", "{out}.parquet"],
            &["trips", "--to", "lab", "--split", "default", "--lossy", "-o", "{out}.yaml"],
            &["trips", "--to", "letta-jsonl", "--split", "default", "--lossy", "-o", "{out}.jsonl"],
            &["trips", "--to", "letta-csv", "--split", "default", "--lossy", "-o", "{out}.csv"],
            &["trips", "--to", "agenthealth", "--split", "default", "--lossy", "-o", "{out}.json"],
        ],
    ),
    entry(
        "mount",
        &[&["trips", "{out}"], &["ops", "{out}"], &["trips@1", "{out}"], &["trips", "{out}", "--place", "local_disk"]],
    ),
    entry("runs", &[&[], &["--dataset", "trips"], &["--dataset", "nowhere"]]),
    entry(
        "report",
        &[
            &["last"],
            &["no-run"],
            &["last", "--to", "json"],
            &["last", "--to", "jsonl", "-o", "{out}.jsonl"],
            &["last", "--to", "csv", "-o", "{out}.csv"],
            &["last", "--to", "md", "-o", "{out}.md"],
            &["last", "--to", "html", "-o", "{out}.html"],
            &["last", "--place", "agent_sandbox"],
        ],
    ),
    entry("compare", &[&["last", "last"], &["last", "no-run"]]),
    entry(
        "gate",
        &[&["last", "--github"], &["last", "--rule", "rule.yaml"], &["last", "--junit", "{out}.xml"], &["no-run"]],
    ),
    entry("why", &[&["last", "q1"], &["last", "{id}"], &["no-run", "q1"]]),
    entry("copies", &[&["trips"], &["nowhere"]]),
    entry("audit", &[&[], &["--dataset", "trips", "--limit", "5"]]),
    entry("audit checkpoint", &[&[], &["-o", "{out}"]]),
    entry("audit verify", &[&[]]),
    entry("verify", &[&[], &["trips@1"]]),
    entry("scrub", &[&[]]),
    entry("doctor", &[&[]]),
    entry("scan", &[&["."]]),
    entry("check", &[&["open.jsonl"]]),
    entry("convert", &[&["open.jsonl", "--to", "csv"]]),
    entry("migrate", &[&["declared.yaml"], &["open.jsonl", "-o", "{out}"]]),
    entry("explain", &[&["E012"]]),
    entry("completions", &[&["bash"]]),
    entry("launch", &[&["--", "true"]]),
    entry("keys", &[&[]]),
    entry("keys export", &[&["-o", "{out}"]]),
    entry("keys import", &[&["open.jsonl"]]),
    entry("init", &[&["{out}"]]),
    entry("tag", &[&["trips@1", "marked"], &["trips@99", "marked"]]),
    entry("register", &[&["declared.yaml", "--dry-run"], &["declared.yaml"]]),
    entry(
        "import",
        &[
            &["fresh", "open.jsonl"],
            &["trips", "--label", "input=public"],
            &["trips", "--policy", "wider.yaml"],
            &["trips", "--policy", "judged.yaml"],
            &["trips", "open.jsonl", "--upsert", "--split", "missing"],
            &["{slug}", "open.jsonl", "--upsert", "--split", "{files}"],
            &["{slug}", "--remove", "{id}", "--split", "{split}"],
            &["{slug}", "--remove", "{id}"],
            &["trips", "open.jsonl", "--upsert"],
        ],
    ),
    entry(
        "record edit",
        &[
            &["{slug}", "{id}", "--set", "input=x"],
            &["{slug}", "{id}", "--set", "input=x", "--split", "{split}"],
            &["{slug}", "q2", "--unset", "{field}"],
            &["trips", "q2", "--set", "input=changed"],
        ],
    ),
    entry("record rm", &[&["{slug}", "{id}"], &["{slug}", "{id}", "--split", "{split}"], &["{slug}", "q3"]]),
    entry(
        "erase",
        &[
            &["gone", "gone-1", "--reason", "again"],
            &["{slug}", "{id}", "--split", "{split}", "--reason", "a request"],
            &["{slug}", "{id}", "--reason", "a request"],
            &["trips", "q5", "--reason", "a request"],
        ],
    ),
    entry("run", &[&["plan.yaml", "--dry-run"], &["plan.yaml"]]),
    entry("score", &[&["last"], &["r00001"], &["nowhere"]]),
    entry("promote", &[&["last", "--to", "rollouts"], &["nowhere", "--to", "rollouts"]]),
    entry("demo", &[&["open.jsonl"]]),
    entry("gc", &[&["--dry-run"], &[]]),
];
