//! Checks of single operations, and of everything a machine holds.

mod checks;
mod validate;

pub(crate) use checks::Checks;
pub use validate::Balance;
