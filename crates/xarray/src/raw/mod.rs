//! The unsafe floor: node layouts, tagged slot words, lock, reclamation, and the C face.
//!
//! # How it works
//!
//! Everything above this folder is safe code. It sees a slot as a [`Child`] whose references live as long as a
//! [`Pin`], and a `Pin` exists only inside a read-side section ([`rcu::Guard`]) or under the lock
//! ([`Writer`]). A node leaves in two steps: the writer unlinks its word from the only slot that
//! held it, then hands the word to the writer's limbo, which frees it after every reader has moved on.
//!
//! # Invariants
//!
//! - A node word is in exactly one slot of a live node (or a head), or in a limbo list, never in both.
//! - Nodes are freed only by [`rcu`], or while private to the writer that built them.
//! - A slot of a node at shift 0 never holds a node word.

pub(crate) mod bucket;
#[cfg(feature = "capi")]
pub mod capi;
pub(crate) mod dense;
#[cfg(not(loom))]
pub(crate) mod ida;
pub(crate) mod lock;
pub(crate) mod lookup;
pub(crate) mod memory;
pub(crate) mod rcu;
pub(crate) mod slot;
pub(crate) mod sync;
#[cfg(not(loom))]
pub(crate) mod typed;
#[cfg(not(loom))]
pub(crate) mod writer;

pub(crate) use bucket::Bucket;
pub(crate) use dense::Dense;
pub(crate) use slot::{Child, Pin, Slot, Word};
#[cfg(not(loom))]
pub(crate) use writer::{Place, Writer};
