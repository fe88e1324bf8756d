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
//! A trace does not tell where its pages are, so the model chooses places itself. Pages that are older than the trace are
//! freed at places that the model chooses. Which part of a split block is freed is not known: the first one is taken.

mod blocks;
pub(crate) mod replay;
pub(crate) mod result;
mod start;
#[cfg(test)]
mod tests;
