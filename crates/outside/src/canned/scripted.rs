//! The target scripted: canned answers by rule.
//!
//! *Invariant:* of the rules that fit, the first one answers; every rule is checked before the first session.

use std::time::Duration;

use heldset_core::fault::{Problem, nearest};
use heldset_core::filter::glob;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{AgentFailure, TargetFacts, Task, Turn};
use regex::{Captures, Regex};

use super::{begun, deliver, sent};
use crate::agent::{Agent, Progress, Session, failure};
use crate::answer;
use crate::config::{self, plain_text, wrong};
use crate::watch::Watch;

const RULE_KEYS: &[&str] = &[
    "match", "turn", "record", "agent", "output", "steps", "usage", "memory", "model", "error", "delay_ms", "echo",
    "name",
];

struct Scripted {
    agents: Option<Vec<String>>,
    rules: Vec<Rule>,
}

/// When it answers, and what.
struct Rule {
    pattern: Option<Regex>,
    turn: Option<u64>,
    record: Option<String>,
    agent: Option<String>,
    delay: Option<Duration>,
    reply: Reply,
    /// Output, steps, usage, memory.
    answer: Object<'static>,
}

enum Reply {
    Answer,
    Echo,
    Error(String),
}

/// The target `scripted`.
pub(crate) fn prepare(config: &Object<'static>) -> Result<Box<dyn Agent>, Problem> {
    config::only(config, "scripted", &["agents", "rules", "default"])?;
    let agents = config::agents(config)?;
    let mut rules = Vec::new();
    for (index, rule) in config::list(config, "rules")?.unwrap_or_default().iter().enumerate() {
        rules.push(read_rule(rule, &format!("rules[{index}]"), agents.as_deref())?);
    }
    match config.get("default") {
        None | Some(Value::Null) => {}
        Some(default @ Value::Object(_)) => rules.push(read_rule(default, "default", agents.as_deref())?),
        Some(output) => {
            let rule: Object<'static> = [("output".into(), output.clone())].into_iter().collect();
            rules.push(read_rule(&rule.into(), "default", agents.as_deref())?);
        }
    }
    Ok(Box::new(Scripted { agents, rules }))
}

fn read_rule(value: &Value<'static>, at: &str, agents: Option<&[String]>) -> Result<Rule, Problem> {
    let Some(rule) = value.as_object() else {
        let message = format!("`{at}` is a mapping, not {}", value.type_name());
        return Err(wrong(at, message, "write `{match: \"…\", output: \"…\"}`"));
    };
    if let Some((key, _)) = rule.iter().find(|(key, _)| !RULE_KEYS.contains(key)) {
        let near = nearest(key, RULE_KEYS.iter().copied());
        let help =
            near.map_or_else(|| "see `heldset explain E058`".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(wrong(at, format!("a rule has no key `{key}`"), help));
    }
    let agent = config::text(rule, "agent")?.map(str::to_owned);
    if let (Some(agent), Some(agents)) = (&agent, agents)
        && !agents.contains(agent)
    {
        return Err(wrong(at, format!("the target declares no agent `{agent}`"), "name one of its `agents`"));
    }
    let keep = |key: &&str| rule.get(key).map(|value| ((*key).to_owned().into(), value.clone()));
    Ok(Rule {
        pattern: pattern(rule, at)?,
        turn: number(rule, "turn", at)?,
        record: config::text(rule, "record")?.map(str::to_owned),
        agent,
        delay: number(rule, "delay_ms", at)?.map(Duration::from_millis),
        reply: reply(rule, at)?,
        answer: ["output", "steps", "usage", "memory", "model"].iter().filter_map(keep).collect(),
    })
}

fn pattern(rule: &Object<'static>, at: &str) -> Result<Option<Regex>, Problem> {
    let Some(pattern) = config::text(rule, "match")? else { return Ok(None) };
    let broken = |error: regex::Error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        wrong(at, format!("`{pattern}` is not a regular expression: {last}"), "look-around is not available here")
    };
    Regex::new(pattern).map(Some).map_err(broken)
}

fn number(rule: &Object<'static>, key: &str, at: &str) -> Result<Option<u64>, Problem> {
    match rule.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) if number.as_u64().is_some() => Ok(number.as_u64()),
        Some(_) => Err(wrong(at, format!("`{key}` is a whole number from 0"), "write `0` for the first turn")),
    }
}

fn reply(rule: &Object<'static>, at: &str) -> Result<Reply, Problem> {
    match rule.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Object(error)) => {
            let message = error.get("message").map(plain_text).unwrap_or_default();
            return Ok(Reply::Error(message));
        }
        Some(error) => return Ok(Reply::Error(plain_text(error))),
    }
    match (rule.contains("output"), config::flag(rule, "echo", false)?) {
        (true, _) => Ok(Reply::Answer),
        (false, true) => Ok(Reply::Echo),
        (false, false) => Err(wrong(at, format!("`{at}` has no answer"), "give it `output`, `echo: true` or `error`")),
    }
}

impl Agent for Scripted {
    fn facts(&self) -> TargetFacts {
        let agents = self.agents.clone();
        TargetFacts { kind: "scripted".to_owned(), agents, takes_seeds: true, ..TargetFacts::default() }
    }

    fn session<'a>(&'a self, task: &'a Task, progress: &'a mut Progress) -> Session<'a> {
        Box::pin(async move {
            deliver(&task.seeds, self.agents.as_deref(), &mut progress.trace)?;
            for (number, turn) in sent(task) {
                let watch = Watch::start();
                progress.trace.turns.push(begun(turn));
                let outcome = self.answer(task, number, turn, progress).await;
                if let Some(turn) = progress.trace.turns.last_mut() {
                    turn.elapsed_ms = watch.ms();
                }
                outcome?;
            }
            Ok(())
        })
    }
}

impl Scripted {
    async fn answer(
        &self,
        task: &Task,
        number: usize,
        turn: &Turn,
        progress: &mut Progress,
    ) -> Result<(), AgentFailure> {
        let fitting = self.rules.iter().find_map(|rule| Some((rule, rule.fits(task, number, &turn.content)?)));
        let Some((rule, groups)) = fitting else {
            return Err(failure("refused", format!("no rule matches turn {}", number + 1)));
        };
        if let Some(delay) = rule.delay {
            tokio::time::sleep(delay).await;
        }
        let mut told = rule.answer.clone();
        match &rule.reply {
            Reply::Error(message) => return Err(failure("agent", message.clone())),
            Reply::Echo => told.set("output", turn.content.clone().into()),
            Reply::Answer => {
                if let (Some(Value::String(output)), Some(groups)) = (told.get_mut("output"), &groups) {
                    *output = expanded(output, groups).into();
                }
            }
        }
        answer::settle(&mut progress.trace, told);
        if let (Some(agent), Some(turn)) = (&rule.agent, progress.trace.turns.last_mut()) {
            for step in turn.steps.iter_mut().filter(|step| step.agent.is_none()) {
                step.agent = Some(agent.clone());
            }
        }
        Ok(())
    }
}

impl Rule {
    /// Whether it answers this turn; with what its pattern found.
    fn fits<'t>(&self, task: &Task, number: usize, content: &'t str) -> Option<Option<Captures<'t>>> {
        if self.turn.is_some_and(|turn| turn != number as u64) {
            return None;
        }
        if self.record.as_ref().is_some_and(|record| !glob(record, &task.record_id)) {
            return None;
        }
        match &self.pattern {
            None => Some(None),
            Some(pattern) => pattern.captures(content).map(Some),
        }
    }
}

/// The text with `$1` and `${name}` replaced by what the pattern found; a group that it does not have stays as it is
/// written.
fn expanded(text: &str, groups: &Captures<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let braced =
            rest.strip_prefix('{').and_then(|inside| inside.split_once('}')).map(|(name, _)| (name, name.len() + 2));
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let found = braced.or_else(|| (digits > 0).then(|| (&rest[..digits], digits)));
        match found.and_then(|(name, length)| Some((group(groups, name)?, length))) {
            Some((group, length)) => {
                out.push_str(group);
                rest = &rest[length..];
            }
            None => out.push('$'),
        }
    }
    out + rest
}

/// What a group found, empty when it took no part; absent when there is no such group.
fn group<'g>(groups: &'g Captures<'_>, name: &str) -> Option<&'g str> {
    match name.parse::<usize>() {
        Ok(0) => None,
        Ok(number) if number < groups.len() => Some(groups.get(number).map_or("", |found| found.as_str())),
        Ok(_) => None,
        Err(_) => groups.name(name).map(|found| found.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_exist_are_put_in_and_prices_stay() {
        let pattern = Regex::new(r"from (\w+) to (?<to>\w+)( again)?").expect("the pattern is valid");
        let groups = pattern.captures("from Rome to Oslo").expect("the pattern fits");
        assert_eq!(
            expanded("$2 after $1, ${to}$3: $50 or $0.5 ${x} $", &groups),
            "Oslo after Rome, Oslo: $50 or $0.5 ${x} $"
        );
    }
}
