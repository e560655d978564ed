//! `init`: a new store.

use std::path::Path;
use std::sync::Arc;

use heldset_core::code::Code;
use heldset_core::visibility::Viewer;
use heldset_store::{Entropy, Probe, StoreFolder, StoreHead};

use crate::refusal::{Outcome, Refusal};
use crate::session::id_from;

/// Makes a store in a folder.
pub fn init(
    folder: &Path,
    viewer: Viewer,
    entropy: &dyn Entropy,
    now: &str,
    probe: Arc<dyn Probe>,
) -> Outcome<StoreHead> {
    if !viewer.manages() {
        let message = format!("the audience `{}` may not use `init`", viewer.name());
        return Err(Refusal::denied(Code::E120, message, "run it as the owner, without `--as`"));
    }
    let head = StoreHead { id: id_from(entropy), created_at: now.to_owned() };
    StoreFolder::init(folder, &head, probe)?;
    Ok(head)
}
