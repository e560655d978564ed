//! Graders of the user's own: a program, an HTTP endpoint, a Python function.
//!
//! *Invariant:* an answer is a number from 0 to 1, true or false, or a mapping with such a `score`; all else is an
//! error, never a score.

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::run::Target;
use heldset_core::value::{Object, Value};

use super::Verdict;
use crate::case::{Case, Submission};
use crate::settings::Settings;
use crate::text::number_of;
use crate::{Answer, Ask};

/// Whom to ask.
#[derive(Debug)]
pub(crate) struct Custom {
    whom: Whom,
    extra: Value<'static>,
}

#[derive(Debug)]
enum Whom {
    Command { argv: Vec<String>, config: Object<'static> },
    Http { config: Object<'static> },
    Python { function: String, role: &'static str },
}

impl Custom {
    pub(super) fn read(kind: &str, settings: &Settings<'_>) -> Result<Self, Problem> {
        let extra = settings.any("extra").cloned().unwrap_or(Value::Null);
        // The digest of a file behind it, so that a changed file is another grader.
        settings.any("digest");
        let asked = ["command", "url", "function"];
        let given: Vec<_> = asked.into_iter().filter(|key| settings.any(key).is_some()).collect();
        let wanted = match kind {
            "command" => "command",
            "http" => "url",
            "python" => "function",
            _ => given.first().copied().ok_or_else(|| settings.lacks("command"))?,
        };
        let whom = match wanted {
            "command" => command(settings)?,
            "url" => http(settings)?,
            _ => python(settings)?,
        };
        Ok(Custom { whom, extra })
    }

    pub(super) fn ask(&self, case: &Case<'_>, submission: &Submission) -> Ask {
        let payload = self.payload(case, submission);
        match &self.whom {
            Whom::Command { argv, config } => Ask::Command { argv: argv.clone(), config: config.clone(), payload },
            Whom::Http { config } => Ask::Http { config: config.clone(), payload },
            Whom::Python { function, role } => Ask::Python { function: function.clone(), role, payload },
        }
    }

    fn payload(&self, case: &Case<'_>, submission: &Submission) -> Value<'static> {
        let mut sample = case.fields.clone().into_owned();
        sample.set("id", case.id.to_owned().into());
        sample.set("ground_truth", case.reference.map_or(Value::Null, |reference| reference.clone().into_owned()));
        let mut trace = case.trace.clone();
        trace.turns = case.turns.to_vec();
        let mut payload = Object::new();
        payload.set("sample", sample.into());
        payload.set("submission", submission.text.clone().into());
        payload.set("trajectory", trace.to_value());
        payload.set("extra", self.extra.clone());
        payload.into()
    }
}

/// What a grader of the user's own answered.
pub(super) fn finish(answers: Vec<Answer>) -> Verdict {
    match answers.into_iter().next() {
        Some(Ok(answer)) => read_answer(&answer).unwrap_or_else(Verdict::Error),
        Some(Err(failure)) => Verdict::Error(format!("the grader failed: {failure}")),
        None => Verdict::Error("the grader did not answer".to_owned()),
    }
}

fn read_answer(answer: &Value<'static>) -> Result<Verdict, String> {
    let Value::Object(members) = answer else {
        return Ok(Verdict::Score { score: score_of(answer)?, rationale: None, details: None });
    };
    let score = members.get("score").ok_or("the grader's answer has no `score`")?;
    let rationale = members.get("rationale").filter(|text| !text.is_null()).map(crate::text::text_of);
    let details = members.get("metadata").filter(|more| !more.is_null()).map(|metadata| {
        let mut details = Object::new();
        details.set("metadata", metadata.clone());
        details
    });
    Ok(Verdict::Score { score: score_of(score)?, rationale, details })
}

fn score_of(value: &Value<'_>) -> Result<f64, String> {
    if let Value::Bool(yes) = value {
        return Ok(f64::from(u8::from(*yes)));
    }
    let score = number_of(value).ok_or_else(|| format!("the grader's score is {}", value.type_name()))?;
    if (0.0..=1.0).contains(&score) { Ok(score) } else { Err(format!("the grader's score {score} is not from 0 to 1")) }
}

fn command(settings: &Settings<'_>) -> Result<Whom, Problem> {
    let argv = settings.texts("command")?.filter(|argv| !argv.is_empty()).ok_or_else(|| settings.lacks("command"))?;
    let mut config = Object::new();
    if let Some(env) = settings.mapping("env")? {
        config.set("env", env.into());
    }
    timeout(settings, &mut config)?;
    Ok(Whom::Command { argv, config })
}

fn http(settings: &Settings<'_>) -> Result<Whom, Problem> {
    let mut config = Object::new();
    config.set("url", settings.needed_text("url")?.into());
    if let Some(method) = settings.text("method")? {
        config.set("method", method.into());
    }
    if let Some(headers) = settings.mapping("headers")? {
        config.set("headers", headers.into());
    }
    timeout(settings, &mut config)?;
    Target::new(config.clone())
        .map_err(|error| Problem::new(Code::E057, settings.at().clone(), error.to_string()).help("write `${NAME}`"))?;
    Ok(Whom::Http { config })
}

fn python(settings: &Settings<'_>) -> Result<Whom, Problem> {
    settings.amount("timeout")?;
    let function = settings.needed_text("function")?;
    if !function.contains(':') {
        let problem = settings.fault("function", format!("`{function}` names no Python function"));
        return Err(problem.help("write `file.py:function` or `module:function`"));
    }
    let role = match settings.text("role")?.as_deref() {
        None | Some("grader") => "grader",
        Some("reward") => "reward",
        Some(other) => {
            let problem = settings.fault("role", format!("there is no role `{other}`"));
            return Err(problem.help("write `grader`, or `reward` for a function of the other scores"));
        }
    };
    Ok(Whom::Python { function, role })
}

fn timeout(settings: &Settings<'_>, config: &mut Object<'static>) -> Result<(), Problem> {
    if let Some(seconds) = settings.amount("timeout")? {
        config.set("timeout", crate::text::number(seconds));
    }
    Ok(())
}
