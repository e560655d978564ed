//! One caller at one store: who asks, for which audience, at what time.
//!
//! *Invariant:* a session never changes its audience.

use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::visibility::{Policy, Viewer};
use heldset_store::{Entropy, Store};

use crate::ports::Clock;
use crate::refusal::{Outcome, Refusal};

/// A caller at a store.
pub struct Session {
    /// The store.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who asks.
    pub user: String,
    /// For whom.
    pub viewer: Viewer,
}

impl Session {
    /// Refuses a verb that changes or inspects the store to those who only look at data. Nothing is looked up
    /// before, so the answer says nothing about what there is.
    pub fn must_manage(&self, verb: &str) -> Outcome<()> {
        if self.viewer.manages() {
            return Ok(());
        }
        Err(Refusal::denied(
            Code::E120,
            format!("the audience `{}` may not use `{verb}`", self.viewer.name()),
            "run it as the owner, without `--as`, or `--as operator`",
        ))
    }

    /// Refuses a verb that reaches what an operator may not see to everybody but the owner.
    pub fn must_own(&self, verb: &str) -> Outcome<()> {
        if self.viewer == Viewer::Owner {
            return Ok(());
        }
        let message = format!("the audience `{}` may not use `{verb}`", self.viewer.name());
        Err(Refusal::denied(Code::E120, message, "run it as the owner, without `--as`"))
    }

    /// Refuses to change a dataset with labels that the caller does not see: whether a version is new would tell a
    /// guess, and what is not seen would be lost.
    pub(crate) fn must_see_all(&self, policy: &Policy) -> Outcome<()> {
        if self.viewer == Viewer::Owner {
            return Ok(());
        }
        for (split, _) in policy.splits() {
            let labels = policy.in_split(split)?;
            if !labels.labels().iter().chain([labels.own()]).all(|label| self.viewer.sees(label)) {
                let who = self.viewer.name();
                let message = format!("the audience `{who}` may not change a dataset with labels it does not see");
                return Err(Refusal::denied(Code::E120, message, "run it as the owner, without `--as`"));
            }
        }
        Ok(())
    }

    /// A random id.
    pub fn new_id(&self) -> String {
        id_from(self.store.entropy())
    }
}

/// A random id, in the form of a UUID.
pub fn id_from(entropy: &dyn Entropy) -> String {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
