//! The loop: how many at a time, in which order, and what a failure of one does to others.

use std::ops::ControlFlow;

use crate::{Bench, ending, task};

/// Says when it starts and ends, in a file of the plan's folder.
const NOTING: &str = r#"
import json, os, sys, time
log = os.open(os.environ["LOG"], os.O_WRONLY | os.O_APPEND)
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "open":
        os.write(log, ("+" + told["session_id"] + "\n").encode())
    elif told["type"] == "turn":
        print(json.dumps({"output": told["content"]}), flush=True)
    else:
        os.write(log, b"-\n")
"#;

#[test]
fn sessions_of_one_fixed_id_never_overlap_and_keep_their_order() {
    let bench = Bench::new().with("agent.py", NOTING).with("log", "");
    let log = bench.path().join("log");
    let target =
        format!(r#"{{"kind":"command","command":["python3","agent.py"],"env":{{"LOG":"{}"}}}}"#, log.display());
    let mut tasks: Vec<_> = (0..6).map(|number| task(number, &["x"])).collect();
    for task in &mut tasks {
        task.session_id = "the-one".to_owned();
        task.fixed = true;
    }
    let ends = bench.run(&target, tasks);
    assert!(ends.iter().all(|end| end.failure.is_none()), "{:?}", ends.iter().map(ending).collect::<Vec<_>>());
    assert_eq!(std::fs::read_to_string(log).unwrap(), "+the-one\n-\n".repeat(6));
}

#[test]
fn a_fixed_id_holds_back_only_its_own() {
    let bench = Bench::new();
    let mut tasks: Vec<_> = (0..3000).map(|number| task(number, &["x"])).collect();
    for task in tasks.iter_mut().filter(|task| task.number % 2 == 0) {
        task.session_id = format!("fixed-{}", task.number % 3);
        task.fixed = true;
    }
    let ends = bench.run(r#"{"kind":"echo"}"#, tasks);
    assert_eq!(ends.len(), 3000);
    assert!(ends.iter().enumerate().all(|(at, end)| end.number == at as u64 && end.failure.is_none()));
}

#[test]
fn a_session_that_takes_too_long_ends_alone_and_keeps_its_trace() {
    let mut bench = Bench::new();
    bench.run_timeout = Some(0.3);
    let target =
        r#"{"kind":"scripted","rules":[{"match":"slow","delay_ms":600000,"output":"never"}],"default":{"echo":true}}"#;
    let ends = bench.run(target, vec![task(0, &["first", "slow"]), task(1, &["x"])]);
    assert_eq!(ending(&ends[0]), "timeout: the session took longer than 0.3 s");
    assert_eq!(crate::outputs(&ends[0]), [r#""first""#, "-"]);
    assert_eq!(ending(&ends[1]), r#""x""#);
}

#[test]
fn a_break_waits_for_nobody() {
    let bench = Bench::new();
    let target = r#"{"kind":"command","command":["sh","-c","sleep 600"]}"#;
    let mut agents =
        bench.prepare(&target.replace("\"kind\"", "\"timeout\":0.2,\"kind\"")).unwrap_or_else(|_| panic!());
    let mut number = 0;
    let mut ended = 0;
    let mut next = || {
        number += 1;
        Some(task(number, &["x"]))
    };
    agents.drive(&mut next, &mut |_| {
        ended += 1;
        ControlFlow::Break(())
    });
    assert_eq!(ended, 1);
    // Those that are held, and as many made ready.
    assert!(number <= 10, "{number} were taken");
}

#[test]
fn nothing_to_do_is_done_at_once() {
    assert!(Bench::new().run(r#"{"kind":"echo"}"#, Vec::new()).is_empty());
}

#[test]
fn whoever_hands_out_tasks_may_wait_for_the_runtimes_threads() {
    let bench = Bench::new();
    let mut agents = bench.prepare(r#"{"kind":"echo"}"#).unwrap_or_else(|_| panic!());
    let (mut number, mut ended) = (0, 0);
    let mut next = || {
        // More often than a task may be polled before it must give way.
        for _ in 0..300 {
            let work = tokio::runtime::Handle::current().spawn_blocking(|| 1);
            futures_executor::block_on(work).unwrap();
        }
        number += 1;
        (number <= 3).then(|| task(number, &["x"]))
    };
    agents.drive(&mut next, &mut |_| {
        ended += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(ended, 3);
}
