//! Reclamation: when may a node be freed that lock-free readers could still be looking at?
//!
//! # How it works
//!
//! Entering a read-side section is one store to the thread's own record: the epoch, in whose low bits the
//! sections are counted that the thread is in. (One word for both saved 0.1 ns of 0.7 a section.) Ordering that
//! store against the reads that follow would take a fence of 6 ns, longer than many a lookup. Instead whoever wants
//! to free calls `membarrier(2)`, which puts that fence into every running thread of the process, and then
//! reads the records: the cost moves from each read to each batch of frees (liburcu's "memb" flavour,
//! measured at 0.85 ns a section). Where the system call is missing, readers pay for the fence.
//!
//! Unlinked nodes wait in two lists. *Pending* ones are added without a lock. A collection frees the *waiting*
//! batch if every reader has entered since it was stamped, then makes the pending nodes the waiting batch and
//! advances the epoch. Writers collect every [`BATCH`] nodes and never wait for a reader. While no thread but
//! the writer itself is registered, and it is outside any section, nodes are freed at once.
//!
//! Threads register when they first enter a section and leave when they end; records are reused.
//!
//! # Invariants
//!
//! - A node in the waiting batch was unlinked before the epoch after `stamp` began.
//! - A reader whose record is 0 or of an epoch after `stamp` cannot hold a node of the batch: at 0 after the barrier
//!   its later reads see the unlinking; otherwise it read an epoch published after the unlinking.
//! - A record is 0 or has a depth of at least 1; its epoch is the one in which the outermost section began.
//!
//! # Lock order
//!
//! `Domain::waiting` inside the array's lock; nothing is taken inside it.
//!
//! Linux counterpart: `call_rcu`, `synchronize_rcu`, `rcu_barrier` (kernel/rcu @ 6.1).
//!
//! Differences from Linux: nothing runs in the background. Up to [`BATCH`] nodes stay unfreed until somebody
//! erases more or calls [`synchronize`].

use super::Word;
use super::sync::{AtomicPtr, AtomicUsize, Ordering, fence};

#[cfg(not(loom))]
pub(crate) mod callbacks;
mod domain;
#[cfg(all(test, loom))]
mod models;
#[cfg(not(loom))]
mod process;

pub(crate) use domain::Limbo;
#[cfg(not(loom))]
pub(crate) use process::retire;
#[cfg(not(loom))]
pub use process::{Guard, pin, synchronize};
#[cfg(all(not(loom), feature = "capi"))]
pub(crate) use process::{enter, leave};

/// Nodes that may be pending before a writer tries to free some.
const BATCH: usize = 128;
