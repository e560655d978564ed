//! The complete example of the document that the lab format comes from, run as it is printed there.

use super::{answer, at, balance, row_of, rows};
use crate::store;

/// The document, if it is at hand.
fn document() -> Option<String> {
    let fixtures = std::env::var_os("HELDSET_COMPAT_DIR")?;
    let seeds = std::path::Path::new(&fixtures).join("../seeds");
    let named = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("000_");
    let path = std::fs::read_dir(seeds).ok()?.flatten().find(named)?.path();
    std::fs::read_to_string(path).ok()
}

#[test]
fn the_example_of_the_document_runs_with_a_scripted_target() {
    let Some(text) = document() else {
        eprintln!("skipped: the document is not at hand (set HELDSET_COMPAT_DIR)");
        return;
    };
    let from = text.find("# labs/trip-planner-eval/datasets/trip_queries.yaml").unwrap();
    let to = text.find("Companion experiment YAML:").unwrap();
    let experiment = text.find("# labs/trip-planner-eval/experiment.yaml").unwrap();
    let store = store();
    let lab = store.path().join("lab");
    for folder in ["datasets/seeds", "overlays", "apps/trip-planner"] {
        std::fs::create_dir_all(lab.join(folder)).unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(lab.join(name), text).unwrap();
    write("datasets/trip_queries.yaml", &text[from..to]);
    write("datasets/seeds/user_bob.yaml", "- source: user_history\n  content: Bob goes to Oslo.\n");
    write("overlays/baseline.yaml", "model: small\n");
    write("overlays/with-memory.yaml", "model: large\n");
    write("experiment.yaml", &text[experiment..]);
    let agents = "agents: [concierge_agent, transport_agent, booking_agent]";
    write(
        "target.yaml",
        &format!("kind: scripted\n{agents}\nrules: [{{match: cheapest, output: economy}}]\ndefault: {{echo: true}}\n"),
    );
    let run = |file: &str| store.run(&["run", file, "--target", "lab/target.yaml", "--json"]);
    let ran = run("lab/experiment.yaml");
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("manifest: \\\"app: trip-planner\\\""), "the help quotes the line: {}", ran.out);
    write("quoted.yaml", &text[experiment..].replace("manifest: app: trip-planner", "manifest: \"app: trip-planner\""));
    let ran = run("lab/quoted.yaml");
    let done = answer(&ran);
    assert_eq!((ran.code, balance(&done)), (0, [12, 2, 10, 0, 0]), "{}", ran.err);
    let all = rows(&store, at(&done, &["run"]).as_str().unwrap());
    let hitl = row_of(&all, "hitl-approval-001");
    let turns = at(&hitl, &["trace", "turns"]).as_array().unwrap().to_vec();
    let roles: Vec<&str> = turns.iter().map(|turn| at(turn, &["role"]).as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "user", "hitl", "user"]);
    assert_eq!(at(&hitl, &["session_id"]).as_str(), Some("offsite-2026-q3"));
    let sources = |id: &str| {
        let row = row_of(&all, id);
        let seeds = at(&row, &["trace", "seeds"]).as_array().unwrap().to_vec();
        seeds.iter().map(|seed| at(seed, &["source"]).as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // The schedule goes to one agent, the prices to all three; then the record's own.
    assert_eq!(
        sources("cold-start-001"),
        ["arborian_schedule", "pricing_baseline", "pricing_baseline", "pricing_baseline"]
    );
    assert_eq!(sources("warm-bob-001").last().map(String::as_str), Some("user_history"));
}
