//! SLMB: SLOB with multi-processor support; every CPU has lists of its own.
//!
//! # How it works
//! Blocks are carved out of pages exactly as under SLOB ([`super::carve`]), but each CPU has twelve rings
//! of pages, each under a lock of its own. Eleven of them are for blocks up to 8, 16, 24, 32, 40, 48, 56,
//! 64, 96, 128 and 256 bytes, and the last is for larger ones. A page belongs to the CPU that took it from
//! the page allocator until it goes back, so a free on another CPU takes one of the owner's locks: SLOB's
//! single lock is spread over CPUs times lists. A page with kmalloc's blocks has a map of them
//! ([`super::carve`]) where SLOB has a size in front of each. If no page can be had, room in the pages of
//! other CPUs and sizes serves. The code is that of [`Heap`]; this is its setting.
//!
//! # Lock order
//! See [`super::carve::heap`].
//!
//! Linux counterpart: none; carving as in `mm/slob.c` @ 6.1.
//!
//! # Differences from Linux
//! They are those of SLOB. A faster successor can bring its own `Ops` and keep the carving.

use super::carve::heap::{Heap, Lists};
use crate::cache::args::Tunable;
use crate::cache::core::Core;
use crate::cache::setup::CheckLevel;

/// The SLMB allocator.
pub type Slmb = Heap<SetPerCpu>;

/// The older form, in which a size stands in front of kmalloc's blocks.
const KMALLOC_HEADER: &str = "kmalloc_header";

/// SLMB's setting: twelve lists for every CPU, with a lock for each.
#[derive(Debug)]
pub struct SetPerCpu;

impl Lists for SetPerCpu {
    const LOCK: &'static str = "slmb_lock";
    const BREAKS: &'static [u64] = &[8, 16, 24, 32, 40, 48, 56, 64, 96, 128, 256];
    const PER_CPU: bool = true;
    const TUNABLES: &'static [Tunable] = &[Tunable::new(
        (KMALLOC_HEADER, "kmalloc-header"),
        1,
        "1: kmalloc's sizes stand in front of objects, as SLOB's do, not in a map of each page",
    )];

    /// Checks compare the requested size, which a map does not tell.
    fn has_maps(core: &Core) -> bool {
        core.setup.check == CheckLevel::Off && core.setup.tunables.get(KMALLOC_HEADER) != Some(1)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
