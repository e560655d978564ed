//! What the store says, in the words of a refusal.

use std::io::ErrorKind;

use heldset_core::code::Code;
use heldset_store::StoreError;

use crate::refusal::Refusal;

/// The refusal that an error of the store becomes.
pub(crate) fn refusal(error: &StoreError) -> Box<Refusal> {
    let message = error.to_string();
    match error {
        StoreError::Damaged { .. } | StoreError::Missing { .. } => Refusal::integrity(
            Code::E130,
            message,
            "it is not served; restore it from a copy of the store, and see `heldset scrub` for all that is damaged",
        ),
        StoreError::NewerFormat { .. } => Refusal::usage(Code::E111, message, "use a newer `heldset`"),
        StoreError::NotAStore { .. } => {
            Refusal::usage(Code::E110, message, "make one with `heldset init`, or name it with `--store DIR`")
        }
        StoreError::AlreadyAStore { .. } | StoreError::NotEmpty { .. } => {
            Refusal::usage(Code::E116, message, error.help())
        }
        StoreError::Locked => {
            Refusal::usage(Code::E112, message, "wait until the other `heldset` is done, then run it again")
        }
        StoreError::ReadOnly { .. } => Refusal::usage(
            Code::E113,
            message,
            "every look at data is logged in the store: give it a place that can be written",
        ),
        StoreError::NoKey { .. } => Refusal::usage(
            Code::E114,
            message,
            "bring the keys back with `heldset keys import FILE`; open fields can be read with `--as agent`",
        ),
        StoreError::Conflict => {
            Refusal::usage(Code::E115, message, "somebody else registered a version meanwhile: run it again")
        }
        StoreError::Io { source, .. } if source.kind() == ErrorKind::StorageFull => Refusal::usage(
            Code::E104,
            message,
            "make room on the disk, then run it again; `heldset gc` drops what was left unfinished",
        ),
        StoreError::Io { .. } => {
            Refusal::usage(Code::E104, message, "check the folder, its permissions and the free space")
        }
        StoreError::Internal { .. } => Refusal::usage(Code::E104, message, "please report this"),
    }
}
