//! Read-copy-update in user space: readers take no lock, and writers wait until no reader can hold what they unlinked.
//!
//! ```
//! let section = slablab_rcu::pin();
//! // What is found now, through an atomic pointer, stays alive until the section ends.
//! drop(section);
//!
//! // After unlinking:
//! slablab_rcu::drop_later(Box::new(5)); // does not wait
//! slablab_rcu::synchronize(); // waits
//! ```
//!
//! # How it works
//! Entering a section is one store to the thread's own record, and leaving it is another. Ordering the first one
//! against the reads that follow would take a fence of 6 ns, longer than many lookups take. Instead the waiting
//! writer calls `membarrier(2)`, which puts that fence into every running thread of the process: the cost moves
//! from each read to each grace period (liburcu's "memb" flavour; a section was measured at 0.85 ns on Zen 5).
//! Where the system call is missing, readers pay for the fence.
//!
//! Nothing runs in the background. Retired objects wait in a queue and are reclaimed in batches by the threads that
//! retire more. While no thread but the caller itself is registered, and it is outside any section, they are reclaimed at
//! once. A function that is being called may defer another one; that one waits until the first has returned, so that
//! lists of any length take no stack.
//!
//! # Lock order
//! A queue's hold (see [`Queue`]) is taken inside any lock of the caller, and functions run under it.
//!
//! Linux counterpart: `rcu_read_lock`, `synchronize_rcu`, `call_rcu`, `rcu_barrier` (kernel/rcu @ 6.1).
//!
//! # Differences from Linux
//! - Functions run in the thread that defers another one, in no particular order, so they may run inside its section
//!   and under its locks. They must not wait for a grace period.
//! - A thread's first section needs memory for its record (384 bytes at most).
//! - A thread that ends in a section, because it forgot a [`Guard`], reports that on standard error, and the section is
//!   ended.

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

pub mod epoch;
#[cfg(feature = "std")]
#[allow(unsafe_code, reason = "the unsafe floor, see its header")]
mod raw;
mod sync;

pub use epoch::{Epoch, Record, Ticket};
#[cfg(all(feature = "std", not(all(test, loom))))]
pub use raw::callbacks::{Head, barrier, call, drop_later};
#[cfg(all(feature = "std", not(all(test, loom))))]
pub use raw::process::{Guard, enter, is_past, is_reading, leave, pin, synchronize, ticket};
#[cfg(feature = "std")]
pub use raw::queue::{Chain, Queue, Reclaim};

/// The examples of the front page, which the tests run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct FrontPage;
