//! SLOB: a simple list of blocks; one heap under one lock serves everything.
//!
//! # How it works
//! There are no slabs: a block of any size is carved out of the first page that has room ([`super::carve`]), from one of
//! three lists of pages, for blocks below 256 bytes, below 1024, and the rest. A list is a circle and the search starts at
//! the page of the last success. A kmalloc block carries its size in front; a cache's object does not, since the cache knows
//! it, and so `kfree` must not be given one. An object of a type-safe cache is freed once its readers have left, linked
//! behind its contents until then. A page that is all free goes back to the page allocator at once. Sizes of a page and more
//! come from the page allocator. The code is that of [`Heap`]; this is its setting.
//!
//! # Lock order
//! `slob_lock` guards everything; it is given up while the page allocator is called.
//!
//! Linux counterpart: `mm/slob.c` @ 6.1.
//!
//! # Differences from Linux
//! Free space is a bitmap beside the page instead of a list inside it, in granules of 8 bytes
//! instead of units of 2; `carve` says why the decisions are the same.

use super::carve::heap::{Heap, Lists};
use crate::cache::args::Tunable;
use crate::cache::core::Core;

/// The SLOB allocator.
pub type Slob = Heap<OneSet>;

/// SLOB's setting: three lists for all CPUs, with one lock.
#[derive(Debug)]
pub struct OneSet;

impl Lists for OneSet {
    const LOCK: &'static str = "slob_lock";
    /// Below `SLOB_BREAK1` = 256, below `SLOB_BREAK2` = 1024.
    const BREAKS: &'static [u64] = &[255, 1023];
    const PER_CPU: bool = false;
    const TUNABLES: &'static [Tunable] = &[];

    fn has_maps(_core: &Core) -> bool {
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
