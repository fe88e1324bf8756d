//! Timed replay: real threads, real contention, and how long each allocation and free took.
//!
//! # How it works
//! The trace is divided among threads by CPU: with as many threads as CPUs each thread is a CPU; with
//! fewer, each is several. A thread does its events in the order of the trace and as fast as it can, but an event
//! waits for its *turn*: the events of one object slot are numbered, and each waits until the previous one is done.
//! So the CPU that freed an object frees it, after the CPU that allocated it, and events that the trace does not
//! order run at the same time.
//!
//! # Invariants
//! * The first event of the trace that is not done does not wait, so there is no deadlock.
//! * `turn[slot]` is even when the slot is empty, odd when it holds an object.
//!
//! # Differences from the deterministic replay
//! The allocator's state depends on timing, the number of operations does
//! not. A clock reading costs about as much as a fast path; [`Timed::clock_ns_p50`] says how much of each latency it
//! is.

pub(crate) mod perform;
pub(crate) mod replay;
pub(crate) mod script;
