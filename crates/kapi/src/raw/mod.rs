//! The floor: functions with the C interface, and everything that touches a module's memory.
//!
//! A function that a module calls checks, converts and calls; what it means is said in safe code.
//! Modules are trusted as far as the kernel trusts its modules: a pointer that they pass is used.

pub(crate) mod asan;
pub(crate) mod bytes;
pub(crate) mod context;
pub(crate) mod crash;
pub(crate) mod engine;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod page;
pub(crate) mod system;
pub(crate) mod text;
