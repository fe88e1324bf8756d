//! The unsafe floor of this crate: what has to be checked before `main`.

mod standard_output;

pub use standard_output::standard_output_was_closed;
