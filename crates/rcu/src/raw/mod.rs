//! All unsafe code: the list of records, queues linked through the objects in them, and the
//! process's domain.
//!
//! # Invariants
//! - Records are never freed, so that a list of them can be walked without a section.
//! - An object in a queue was unlinked before it was put there, and is reclaimed once, after its grace
//!   period.

#[cfg(not(all(test, loom)))]
pub(crate) mod callbacks;
pub(crate) mod domain;
#[cfg(all(test, loom))]
mod models;
#[cfg(not(all(test, loom)))]
pub(crate) mod process;
pub(crate) mod queue;
