//! Read-copy-update in user space: readers that take no lock, writers that wait until nobody reads what they unlinked.
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
//! A section is one store to the thread's own record and one to leave it. Ordering the first one against the reads
//! that follow would take a fence of 6 ns, longer than many a lookup. Instead whoever waits calls `membarrier(2)`,
//! which puts that fence into every running thread of the process: the cost moves from each read to each grace
//! period (liburcu's "memb" flavour; measured at 0.85 ns a section on Zen 5). Where the system call is missing,
//! readers pay for the fence.
//!
//! Nothing runs in the background. What was retired waits in a queue and is reclaimed in batches by whoever retires more.
//! While no thread but the caller itself is registered, and it is outside any section, it is reclaimed at once. What a
//! function defers that is being called waits until that one has returned, so that lists of any length take no stack.
//!
//! # Lock order
//! A queue's hold (see [`Queue`]) is taken inside any lock of the caller, and functions run under it.
//!
//! Linux counterpart: `rcu_read_lock`, `synchronize_rcu`, `call_rcu`, `rcu_barrier` (kernel/rcu @ 6.1).
//!
//! # Differences from Linux
//! - Functions run in the thread that defers another one, so they may run inside its section and under its locks; in
//!   no order. They must not wait for a grace period.
//! - A thread's first section needs memory for its record (384 bytes at most).
//! - A thread that ends in a section, because it forgot a [`Guard`], says so on standard error, and the section is ended.

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
