//! Graders that are programs or Python functions.
//!
//! *Invariant:* they start without a launcher: graders must see what agents must not.

use std::sync::Arc;

use heldset_core::value::{Object, Value};

use super::{Asked, Programs};
use crate::agent::Secrets;
use crate::command::{self, Yard};
use crate::python::{self, Callers};

/// Where programs and functions of graders run.
pub(crate) struct Workshop {
    callers: Callers,
    yard: Arc<Yard>,
    secrets: Arc<Secrets>,
}

impl Workshop {
    /// One whose programs start in a yard without a launcher.
    pub(crate) fn new(yard: Arc<Yard>, secrets: Arc<Secrets>) -> Self {
        Workshop { callers: Callers::new(yard.clone(), None, Vec::new()), yard, secrets }
    }
}

impl Programs for Workshop {
    fn command<'p>(
        &'p self,
        argv: &'p [String],
        config: &'p Object<'static>,
        payload: &'p Value<'static>,
    ) -> Asked<'p> {
        Box::pin(command::ask(&self.yard, self.secrets.as_ref(), argv, config, payload))
    }

    fn python<'p>(&'p self, function: &'p str, role: &'static str, payload: &'p Value<'static>) -> Asked<'p> {
        Box::pin(python::ask(&self.callers, role, function, payload))
    }
}
