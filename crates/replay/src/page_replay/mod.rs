//! Replays the page events of a trace through a model of the recorded kernel's page allocator.
//!
//! # How it works
//! The machine begins with the zones that the recording read, or with empty memory ([`start`]); each allocation and each free
//! of the trace is done again ([`replay`](mod@replay)), in the order of the trace and by one thread. Free blocks are noted at
//! the moments at which the recorder read `/proc/buddyinfo`, and compared with it ([`result`]).
//!
//! # Invariants
//! The same trace gives the same answer, to the byte, on any machine.
//!
//! # Differences from Linux
//! The model chooses the places of pages itself. Where the recording says which pages were free when it began, these are free
//! in the model, and older pages are freed where they were; otherwise the model chooses these as well. In rows without page
//! numbers nothing tells which part of a split block is freed: the first one is taken. What compaction moves has no event where
//! it goes to.

pub(crate) mod block_frame;
mod blocks;
mod first_seen;
mod map;
pub(crate) mod order;
pub(crate) mod plan;
pub(crate) mod replay;
pub(crate) mod rest;
#[cfg(test)]
mod rest_tests;
pub(crate) mod result;
mod runs;
mod slab_owners;
mod slabs;
mod start;
#[cfg(test)]
mod tests;
mod unseen;
