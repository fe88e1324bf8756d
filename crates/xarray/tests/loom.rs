//! Loom models of a bucket: readers beside a writer, in every interleaving of the real code.
//!
//! `make test-xarray-races` runs them. The files of src/raw that make a bucket are compiled once more, with loom's atomics.
//! The crate itself keeps the processor's, which can stand in a static and in memory that a header describes.

#![cfg(loom)]

#[path = "../src/entry.rs"]
#[allow(dead_code, unreachable_pub)]
mod entry;
#[path = "../src/error.rs"]
#[allow(dead_code)]
mod error;
#[path = "../src/flags.rs"]
#[allow(dead_code, unreachable_pub)]
mod flags;
#[path = "raw/bucket.rs"]
#[allow(dead_code, unused_imports)]
mod raw;

pub use entry::Entry;
pub use error::{Error, Result};
pub use flags::{Filter, Flags, Gfp, IdLimit, Mark};
