//! Tables that find a probe by its address, which the kernel does each time a breakpoint is hit.
//!
//! # How it works
//! One trait, [`ProbeTable`], and five tables behind it:
//!
//! | table | what it is |
//! |---|---|
//! | [`Hash64`] | 64 chained buckets, as Linux has had from 2002 to this day |
//! | [`Hash512`] | 512 chained buckets, as was proposed in 2014 |
//! | [`HashResizing`] | grows with its contents, as mainline chose for fprobe in 2025 |
//! | [`Tree`] | an XArray from address to probe |
//! | [`CachedTree`] | the same behind a small cache for each thread: 64 sets of 4, replaced in turn |
//!
//! Readers take no lock at any time. They hold a read-side section ([`slablab_rcu::pin`]), and the probes
//! that they find live as long. Registering and unregistering take the table's lock. The tables own their
//! probes.
//!
//! # Invariants
//! - A probe is found from the return of `register` until `unregister` begins, and not after that has
//!   returned.
//! - An address has at most one probe.
//! - Unregistering, enabling and disabling need no memory.
//!
//! Linux counterpart: kernel/kprobes.c (`kprobe_table`, `get_kprobe`, `get_optimized_kprobe`) @ 6.1.
//!
//! # Differences from Linux
//! The 512-entry cache of the patch of 2014 was per CPU; ours is per thread, 256 entries, and tied to the
//! table that the thread used last. A miss is not cached.

#![deny(unsafe_code)]

mod cached;
mod chained;
mod probe;
#[allow(unsafe_code, reason = "the unsafe floor, see its header")]
mod raw;
mod resizing;
mod table;
mod tree;

pub use cached::CachedTree;
pub use chained::{Chained, Hash64, Hash512};
pub use probe::{Handler, Probe};
pub use resizing::HashResizing;
pub use table::{Error, ProbeTable};
pub use tree::Tree;
