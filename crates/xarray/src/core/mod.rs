//! The array itself, in safe code on top of [`crate::raw`].
//!
//! | module | what it does |
//! |---|---|
//! | [`walk`] | goes down to an index and remembers the way |
//! | [`build`] | makes the smallest subtree that holds some entries |
//! | [`insert`] | stores one entry at one index |
//! | [`range`] | stores one entry at many indices, and divides it |
//! | [`erase`] | removes entries, and nodes that they leave too large |
//! | [`mark`] | keeps marks and their summaries |
//! | [`find`] | finds the next entry |
//! | [`entries`] | visits all entries |
//! | [`id`] | finds a free index |
//! | [`cursor`] | the advanced interface: a place in an array |
//! | [`face`] | the same for Rust |

pub(crate) mod array;
pub(crate) mod build;
pub(crate) mod cursor;
#[cfg(feature = "capi")]
mod cursor_c;
pub(crate) mod entries;
pub(crate) mod erase;
pub(crate) mod face;
pub(crate) mod find;
pub(crate) mod id;
pub(crate) mod insert;
pub(crate) mod mark;
pub(crate) mod range;
pub(crate) mod walk;
