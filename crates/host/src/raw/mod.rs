//! The unsafe floor of this crate: what has to be checked before `main`, and how threads are scheduled.

mod idle;
mod standard_output;

pub use idle::{run_as_others, run_when_idle};
pub use standard_output::standard_output_was_closed;
