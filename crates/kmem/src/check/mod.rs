//! Checks single operations, and everything that a machine holds.

mod checks;
mod validate;

pub(crate) use checks::Checks;
pub use validate::Balance;
