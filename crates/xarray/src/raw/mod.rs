//! The unsafe floor: node layouts, tagged slot words, the lock, and nodes that wait to be freed.
//!
//! # How it works
//! Everything above this folder is safe code. It sees a slot as a [`Child`] whose references live as long as a
//! [`Pin`], and a `Pin` exists only inside a read-side section ([`crate::Guard`]) or under the lock
//! ([`Writer`]). A node leaves in two steps: the writer unlinks its word from the only slot that
//! held it, then hands the word to the writer's limbo, which frees it after every reader has moved on.
//!
//! # Invariants
//! - A node word is in exactly one slot of a live node (or a head), or in a limbo list, never in both.
//! - Nodes are freed only by [`limbo`], or while private to the writer that built them.
//! - A slot of a node at shift 0 never holds a node word.

pub(crate) mod array;
pub(crate) mod bucket;
mod child;
pub(crate) mod dense;
mod keys;
pub(crate) mod limbo;
pub(crate) mod lock;
pub(crate) mod lookup;
pub(crate) mod memory;
pub(crate) mod slot;
mod sync;
pub(crate) mod writer;

pub(crate) use bucket::Bucket;
pub(crate) use child::Child;
pub(crate) use dense::Dense;
pub(crate) use keys::bits;
pub(crate) use slot::{Pin, Section, Slot, Word};
pub(crate) use writer::{Place, Writer};
