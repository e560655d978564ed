//! The crash harness in process: every durable step refused, every stored file damaged, others that are faster.

mod flips;
mod meanwhile;
mod program;
mod steps;
mod world;
