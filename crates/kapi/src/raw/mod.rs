//! All unsafe code: what touches a module's memory, calls into it or calls the operating system.
//!
//! It uses nothing of the rooms above it. Modules are trusted as far as the kernel trusts its modules: a
//! pointer that they pass is used.

pub(crate) mod asan;
pub(crate) mod bytes;
pub(crate) mod call;
pub(crate) mod crash;
pub(crate) mod module;
pub(crate) mod page;
pub(crate) mod probe;
pub(crate) mod shared;
pub(crate) mod system;
