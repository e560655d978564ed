//! The rules of the registry: the fields of a dataset, its lifecycle, what certifies it, where it may lie, and what a
//! store asks of a registration.
//!
//! *Invariant:* pure decisions with their reasons; nothing here knows what is stored.

mod certification;
mod deletion;
pub(crate) mod fields;
mod lifecycle;
mod registration;
mod residency;

pub use certification::{Facts, Level, Unmet};
pub use deletion::Deletion;
pub use fields::{NAMES, Purpose, read};
pub use lifecycle::{ForbiddenMove, Status};
pub use registration::{Declared, Requirement};
pub use residency::resides;
