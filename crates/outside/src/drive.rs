//! The loop that holds sessions, as many at a time as allowed.
//!
//! *Invariant:* every task that is taken ends exactly once, unless the taker breaks off; sessions of one fixed id never
//! overlap and keep their order; a panic or a timeout of one session is the end of that one alone.

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use heldset_engine::agents::{AgentFailure, Agents, Ended, TargetFacts, Task};
use tokio::runtime::Runtime;

use crate::agent::{Agent, Progress, failure};
use crate::python::setup::Setup;
use crate::watch::Watch;

/// How many tasks may wait for the session before them.
const WAITING: usize = 1024;

/// Targets that are ready, and the runtime their sessions are held on.
pub(crate) struct Prepared {
    // Fields are dropped in this order: processes end before the runtime that watches them.
    agents: Vec<Box<dyn Agent>>,
    setup: Option<Setup>,
    facts: Vec<TargetFacts>,
    limits: Limits,
    runtime: Runtime,
}

/// How much at a time, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Sessions at a time.
    pub(crate) concurrent: usize,
    /// How long a session may take.
    pub(crate) run: Option<Duration>,
}

/// A task that is yet to begin.
struct Waiting {
    task: Task,
    since: Watch,
}

/// Tasks that were taken and wait for another of their session id.
#[derive(Default)]
struct Queue {
    exhausted: bool,
    /// Tasks that were taken ahead of time.
    ahead: VecDeque<Waiting>,
    busy: HashMap<String, VecDeque<Waiting>>,
    ready: VecDeque<Waiting>,
    held_back: usize,
}

impl Prepared {
    /// Targets with the runtime they will be driven on.
    pub(crate) fn new(agents: Vec<Box<dyn Agent>>, setup: Option<Setup>, limits: Limits) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let facts = agents.iter().map(|agent| agent.facts()).collect();
        Ok(Prepared { agents, setup, facts, limits, runtime })
    }
}

impl Agents for Prepared {
    fn facts(&self) -> &[TargetFacts] {
        &self.facts
    }

    fn drive(&mut self, next: &mut dyn FnMut() -> Option<Task>, ended: &mut dyn FnMut(Ended) -> ControlFlow<()>) {
        let Prepared { agents, setup, limits, runtime, .. } = self;
        // The taker reads from the store, which waits for work on this runtime's threads: a budget of polls would stop
        // it for good half way.
        runtime.block_on(tokio::task::unconstrained(async {
            let stopped = match setup {
                Some(setup) => setup.once().await.err(),
                None => None,
            };
            if hold(agents, *limits, stopped.as_ref(), next, ended).await.is_continue() {
                for agent in agents.iter() {
                    agent.close().await;
                }
            }
        }));
    }
}

async fn hold(
    agents: &[Box<dyn Agent>],
    limits: Limits,
    stopped: Option<&AgentFailure>,
    next: &mut dyn FnMut() -> Option<Task>,
    ended: &mut dyn FnMut(Ended) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut queue = Queue::default();
    let mut running = FuturesUnordered::new();
    let mut over = Vec::new();
    loop {
        while running.len() < limits.concurrent.max(1) {
            let Some(waiting) = queue.take(next) else { break };
            running.push(session(agents, waiting, limits.run, stopped));
        }
        // Sessions that end together are all followed by others before anything else is done.
        let end = match running.next().now_or_never() {
            Some(end) if over.len() < WAITING => end,
            at_once => {
                over.drain(..).try_for_each(&mut *ended)?;
                queue.prepare(next, limits.concurrent);
                match at_once {
                    Some(end) => end,
                    None => running.next().await,
                }
            }
        };
        let Some((fixed, end)) = end else {
            over.drain(..).try_for_each(&mut *ended)?;
            return ControlFlow::Continue(());
        };
        if let Some(id) = fixed {
            queue.free(&id);
        }
        over.push(end);
    }
}

/// Holds one session; tells its id when that is fixed.
async fn session(
    agents: &[Box<dyn Agent>],
    waiting: Waiting,
    limit: Option<Duration>,
    stopped: Option<&AgentFailure>,
) -> (Option<String>, Ended) {
    let Waiting { task, since } = waiting;
    let queue_ms = since.ms();
    let started = Watch::start();
    let mut progress = Progress::default();
    let failure = match (stopped, agents.get(task.target)) {
        (Some(stopped), _) => Some(stopped.clone()),
        (None, None) => Some(failure("setup", format!("there is no target number {}", task.target))),
        (None, Some(agent)) => within(agent.as_ref(), &task, &mut progress, limit).await.err(),
    };
    let Progress { trace, retries, .. } = progress;
    let end = Ended { number: task.number, trace, failure, queue_ms, run_ms: started.ms(), retries };
    (task.fixed.then_some(task.session_id), end)
}

async fn within(
    agent: &dyn Agent,
    task: &Task,
    progress: &mut Progress,
    limit: Option<Duration>,
) -> Result<(), AgentFailure> {
    // The session is given up when it panics, so what it leaves half done is not looked at but for its trace.
    let guarded = AssertUnwindSafe(async { agent.session(task, progress).await }).catch_unwind();
    let outcome = match limit {
        None => guarded.await,
        Some(limit) => match tokio::time::timeout(limit, guarded).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let message = format!("the session took longer than {} s", limit.as_secs_f64());
                return Err(failure("timeout", message));
            }
        },
    };
    outcome.unwrap_or_else(|_| Err(failure("setup", "the session was given up: a fault of heldset itself")))
}

impl Queue {
    /// The next task that may begin now.
    fn take(&mut self, next: &mut dyn FnMut() -> Option<Task>) -> Option<Waiting> {
        if let Some(waiting) = self.ready.pop_front() {
            self.held_back -= 1;
            return Some(waiting);
        }
        while self.held_back < WAITING {
            let waiting = self.ahead.pop_front().or_else(|| self.ask(next))?;
            if !waiting.task.fixed {
                return Some(waiting);
            }
            match self.busy.get_mut(&waiting.task.session_id) {
                Some(behind) => {
                    behind.push_back(waiting);
                    self.held_back += 1;
                }
                None => {
                    self.busy.insert(waiting.task.session_id.clone(), VecDeque::new());
                    return Some(waiting);
                }
            }
        }
        None
    }

    /// Takes tasks ahead of time, for as many sessions as end together at most.
    fn prepare(&mut self, next: &mut dyn FnMut() -> Option<Task>, most: usize) {
        while self.ahead.len() < most.min(WAITING) {
            let Some(waiting) = self.ask(next) else { break };
            self.ahead.push_back(waiting);
        }
    }

    fn ask(&mut self, next: &mut dyn FnMut() -> Option<Task>) -> Option<Waiting> {
        let task = if self.exhausted { None } else { next() };
        self.exhausted = task.is_none();
        task.map(|task| Waiting { task, since: Watch::start() })
    }

    /// The session of this id is over: the next of its tasks may begin.
    fn free(&mut self, id: &str) {
        match self.busy.get_mut(id).and_then(VecDeque::pop_front) {
            Some(waiting) => self.ready.push_back(waiting),
            None => {
                self.busy.remove(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use heldset_core::value::Object;

    use super::*;
    use crate::agent::Session;

    /// Panics in every tenth session.
    struct Clumsy;

    impl Agent for Clumsy {
        fn facts(&self) -> TargetFacts {
            TargetFacts::default()
        }

        fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
            Box::pin(async move {
                progress.trace.reported = Some("began".to_owned());
                tokio::task::yield_now().await;
                assert!(task.number % 10 != 3, "a slip");
                Ok(())
            })
        }
    }

    #[test]
    fn a_panic_ends_one_session_alone() {
        let limits = Limits { concurrent: 8, run: Some(Duration::from_secs(60)) };
        let mut prepared = Prepared::new(vec![Box::new(Clumsy)], None, limits).expect("a runtime can be made");
        let mut numbers = 0..50;
        let mut next = || {
            Some(Task {
                number: numbers.next()?,
                target: 0,
                record_id: String::new(),
                session_id: String::new(),
                fixed: false,
                seeds: Vec::new(),
                args: None,
                tools: None,
                context: None,
                turns: Vec::new(),
                runtime: Object::new(),
                traceparent: String::new(),
            })
        };
        let mut failed = Vec::new();
        let mut count = 0;
        prepared.drive(&mut next, &mut |end| {
            count += 1;
            assert_eq!(end.trace.reported.as_deref(), Some("began"));
            failed.extend(end.failure.map(|_| end.number));
            ControlFlow::Continue(())
        });
        failed.sort_unstable();
        assert_eq!((count, failed), (50, vec![3, 13, 23, 33, 43]));
    }
}
