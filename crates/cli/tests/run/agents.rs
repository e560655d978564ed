//! Agents that are programs: what they get, and what becomes of the ones that misbehave.

use super::{at, balance, cases, plan, row_of, rows};

/// A plan whose agent is this shell script.
fn with_script(script: &str, more: &str) -> (crate::Store, String) {
    let store = cases();
    store.write("agent.sh", script);
    (store, plan(&format!("target: {{kind: command, command: [sh, agent.sh]{more}}}\nmax_errors: 100%\n")))
}

/// How the first record ended, and why.
fn first_row(script: &str, more: &str) -> (String, String) {
    let (store, plan) = with_script(script, more);
    let (_, answer) = store.ran(&format!("{plan}select: {{limit: 1}}\n"), &[]);
    balance(&answer);
    let row = row_of(&rows(&store, at(&answer, &["run"]).as_str().unwrap()), "a");
    let reason = row.as_object().unwrap().get("reason").and_then(|reason| reason.as_str()).unwrap_or_default();
    (at(&row, &["outcome"]).as_str().unwrap().to_owned(), reason.to_owned())
}

#[test]
fn an_agent_that_misbehaves_is_counted_and_explained() {
    let check = |script: &str, more: &str, word: &str| {
        let (outcome, reason) = first_row(script, more);
        assert_eq!(outcome, "error", "{script}");
        assert!(reason.starts_with(word), "{script}: {reason}");
    };
    check("exit 3", "", "crashed");
    check("read open; read turn; echo '{\"error\": \"no idea\"}'", "", "agent");
    check("read open; read turn; echo not json", "", "protocol");
    check("read open; read turn; echo '{\"answer\": 1}'", "", "protocol");
    check("read open; read turn; exec sleep 1000", ", timeout: 0.2", "timeout");
    check("read open; read turn; head -c 9000000 /dev/zero | tr '\\0' x", "", "protocol");
    check("exec /no/such/program", "", "crashed");
}

#[test]
fn everything_failing_is_not_fine() {
    let store = cases();
    let (code, answer) = store.ran(&plan("target: {kind: command, command: ['false']}\n"), &[]);
    assert_eq!(balance(&answer), [4, 0, 0, 4, 0]);
    assert_eq!(code, 4);
}

#[test]
fn an_agent_answers_by_the_session_protocol_and_by_plain_text() {
    let (store, plan) =
        with_script("read open; read turn; echo '{\"output\": \"It is 4\", \"usage\": {\"input_tokens\": 3}}'", "");
    let (code, answer) = store.ran(&plan, &[]);
    assert_eq!((code, balance(&answer)), (0, [4, 3, 1, 0, 0]));
    let (store, plan) =
        with_script("read q; case \"$q\" in *France*) echo Paris;; *) echo unknown;; esac", ", protocol: text");
    let (_, answer) = store.ran(&plan, &[]);
    let rows = rows(&store, at(&answer, &["run"]).as_str().unwrap());
    assert_eq!(at(&row_of(&rows, "b"), &["outcome"]).as_str(), Some("pass"));
    assert_eq!(at(&row_of(&rows, "c"), &["outcome"]).as_str(), Some("fail"));
}

#[test]
fn an_agent_gets_nothing_but_its_view() {
    let script = "cat > seen; env >> seen; pwd >> seen; ls -la >> seen; ls -la .. >> seen; cat seen";
    let (store, plan) = with_script(script, ", protocol: text, env: {MINE: yes}");
    let (_, answer) = store.ran(&plan, &[]);
    let all = rows(&store, at(&answer, &["run"]).as_str().unwrap());
    let row = row_of(&all, "b");
    let seen = at(&row, &["output"]).as_str().unwrap();
    assert!(seen.contains("Capital of France?") && seen.contains("MINE=yes"), "{seen}");
    for secret in ["Paris", "geo", "HELDSET", "plan.yaml", "rows.jsonl", "USER="] {
        assert!(!seen.contains(secret), "{secret} is in {seen}");
    }
}
