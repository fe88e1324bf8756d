//! SLMB: SLOB with multi-processor support; every CPU has lists of its own.
//!
//! # How it works
//! Blocks are carved out of pages exactly as under SLOB ([`super::carve`]), but each CPU has twelve
//! rings of pages, for blocks up to 8, 16, 24, 32, 40, 48, 56, 64, 96, 128 and 256 bytes, and for
//! 1024 bytes and beyond, each under a lock of its own. A page belongs to the CPU that took it from
//! the page allocator until it goes back, so a free on another CPU takes one of the owner's locks:
//! SLOB's single lock is spread over CPUs times lists. When there is no page to be had, room in the
//! pages of other CPUs and sizes serves. The code is that of [`Heap`]; this is its setting.
//!
//! # Lock order
//! See [`super::carve::heap`].
//!
//! Linux counterpart: none; carving as in `mm/slob.c` @ 6.1.
//!
//! # Differences from Linux
//! As for SLOB. A faster successor brings its own `Ops` and can keep the carving.

use super::carve::heap::{Heap, Lists};

/// The SLMB allocator.
pub type Slmb = Heap<SetPerCpu>;

/// SLMB's setting: twelve lists for every CPU, a lock for each.
#[derive(Debug)]
pub struct SetPerCpu;

impl Lists for SetPerCpu {
    const LOCK: &'static str = "slmb_lock";
    const BREAKS: &'static [u64] = &[8, 16, 24, 32, 40, 48, 56, 64, 96, 128, 256];
    const PER_CPU: bool = true;
}

#[cfg(all(test, not(loom)))]
mod tests;
