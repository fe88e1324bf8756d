//! The unsafe floor of this crate: what has to be checked before `main`, how threads are scheduled, and
//! what the kernel counts.

mod event_counter;
mod idle;
mod standard_output;

pub use event_counter::{Counted, EventCounter};
pub use idle::{run_as_others, run_when_idle};
pub use standard_output::standard_output_was_closed;
