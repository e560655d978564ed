//! What a target cannot carry, told once for each field and reason, with the first record and a count.
//!
//! *Invariant:* a guard that was asked for is told and does not count as a loss.

use std::collections::HashMap;
use std::io;

use heldset_core::code::Code;
use heldset_core::fault::Problem;
use heldset_core::path::Path;
use heldset_dialect::write::{GUARDED, Loss};

use crate::Listener;

/// Losses of one conversion, in the order they were first met.
#[derive(Default)]
pub(crate) struct Losses {
    groups: Vec<(Loss, u64)>,
    known: HashMap<(String, String), usize>,
}

impl Losses {
    /// Takes in a loss.
    pub(crate) fn add(&mut self, loss: Loss) {
        let key = (loss.field.clone(), loss.why.clone());
        match self.known.get(&key) {
            Some(&at) => self.groups[at].1 += 1,
            None => {
                self.known.insert(key, self.groups.len());
                self.groups.push((loss, 1));
            }
        }
    }

    /// Tells of all of them; answers how many fields are lost or changed.
    pub(crate) fn tell(self, lossy: bool, listener: &mut (impl Listener + ?Sized)) -> io::Result<u64> {
        let mut dropped = 0;
        for (loss, count) in self.groups {
            let guarded = loss.why.starts_with(GUARDED);
            if !guarded {
                dropped += count;
            }
            let more = if count > 1 { format!(" (and so in {} more records)", count - 1) } else { String::new() };
            let help = match (guarded, lossy) {
                (true, _) => "an apostrophe stands before it, as asked with `--for-spreadsheet`",
                (false, true) => "written without it, as asked with `--lossy`",
                (false, false) => "choose another target, or write the rest with `--lossy`",
            };
            let problem = Problem::new(Code::E036, Path::key(&loss.field), format!("{loss}{more}")).help(help);
            match guarded || lossy {
                true => listener.warning(&problem.of_file())?,
                false => listener.fault(&problem.of_file())?,
            }
        }
        Ok(dropped)
    }
}
