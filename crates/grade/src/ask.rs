//! What must be asked of somebody else, and what is done with the answer.
//!
//! *Invariant:* an [`Ask`] holds no secret, only the name of one.

use heldset_core::value::{Object, Value};

use crate::Graded;
use crate::grading::Unit;

/// What must be asked of somebody else.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// A model, for an answer that fits a schema. The answer is the model's text, the JSON it wrote, or
    /// `{content, usage}` with one of both.
    Chat {
        /// Model, endpoint, key name, temperature, seed, timeout, max_retries: as configured. `repeat` counts the
        /// repetitions from 1 when there are several.
        endpoint: Object<'static>,
        /// `{role, content}` in order.
        messages: Vec<(String, String)>,
        /// The JSON Schema of the answer.
        schema: Value<'static>,
    },
    /// An embedding of each text: a list of lists of numbers.
    Embed {
        /// The endpoint as configured.
        endpoint: Object<'static>,
        /// The texts.
        texts: Vec<String>,
    },
    /// A program: gets one JSON document on standard input, answers with one.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
        /// As configured: env, timeout.
        config: Object<'static>,
        /// What it is given.
        payload: Value<'static>,
    },
    /// An HTTP endpoint: gets one JSON document, answers with one.
    Http {
        /// As configured: url, method, headers, timeout.
        config: Object<'static>,
        /// What it is given.
        payload: Value<'static>,
    },
    /// A Python function in a worker, as `file.py:function` or `module:function`.
    Python {
        /// The function.
        function: String,
        /// `grader`, `extractor` or `reward`.
        role: &'static str,
        /// What it is given.
        payload: Value<'static>,
    },
}

/// What was answered, or why not.
pub type Answer = Result<Value<'static>, String>;

/// The next move of a grading.
#[derive(Debug)]
pub enum Move {
    /// Ask these, all at once, and go on with the answers in the same order.
    Ask(Vec<Ask>, Pending),
    /// It is done.
    Done(Graded),
}

/// A grading that waits for answers.
#[derive(Debug)]
pub struct Pending {
    pub(crate) units: Vec<Unit>,
}
