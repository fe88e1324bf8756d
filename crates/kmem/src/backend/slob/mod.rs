//! SLOB: simple list of blocks; everything from one heap, under one lock.
//!
//! # How it works
//! There are no slabs: a block of any size is carved out of the first page that has room
//! ([`super::carve`]), from one of three lists of pages, for blocks below 256 bytes, below 1024,
//! and the rest. A list is a circle and the search starts at the page of the last success. A
//! kmalloc block carries its size in front; a cache's object does not, since the cache knows. A
//! page that is all free goes back to the page allocator at once. From a page on, the page
//! allocator serves.
//!
//! # Invariants
//! - pages x 4096 = blocks given out + free granules x 8.
//! - A page with free space is on one of the three rings, `Page::state` says which; a full one on
//!   none.
//!
//! # Lock order
//! `slob_lock`, given up while the page allocator is asked for a page.
//!
//! Linux counterpart: `mm/slob.c` @ 6.1.
//!
//! # Differences from Linux
//! Free space is a bitmap beside the page instead of a list inside it, in granules of 8 bytes
//! instead of units of 2; `carve` says why the decisions are the same.

mod alloc;
mod free;
mod layout;
mod validate;

use super::carve::{CarvedPages, Ring, Shape};
use super::ops::{Ops, Plan, Request};
use crate::cache::args::CacheArgs;
use crate::cache::table::Cache;
use crate::error::Error;
use crate::ids::{CacheId, ObjPtr, PAGE_SIZE, Pfn};
use crate::machine::core::{Core, Cx};
use crate::machine::stats::OpCounts;
use crate::machine::validate::Audit;
use crate::raw::arena::Arena;
use crate::raw::lock::Lock;
use crate::raw::zeroed::ZeroedSlice;

/// The lists: blocks below 256 bytes, below 1024, and larger (`SLOB_BREAK1`, `SLOB_BREAK2`).
type Lists = [Ring; 3];

/// The SLOB allocator.
#[derive(Debug)]
pub struct Slob {
    carved: CarvedPages,
    lists: Lock<Lists>,
    ops: ZeroedSlice<OpCounts>,
}

/// Returns the list for blocks of `bytes`.
fn list_for(bytes: u64) -> usize {
    match bytes {
        0..256 => 0,
        256..1024 => 1,
        _ => 2,
    }
}

impl Ops for Slob {
    const KMALLOC_CACHES: bool = false;
    const CARVE_MAX: u64 = PAGE_SIZE - super::carve::HEADER;

    fn new(core: &Core) -> Self {
        Self {
            carved: CarvedPages::new(core.pages.count()),
            lists: Lock::new(core::array::from_fn(|_| Ring::new())),
            ops: ZeroedSlice::new(core.tallies.as_slice().len()),
        }
    }

    fn plan(_core: &Core, args: &CacheArgs) -> Result<Plan, Error> {
        layout::plan(args)
    }

    fn create(&self, _core: &Core, _cache: &Cache, _args: &CacheArgs) {}

    #[inline]
    fn alloc(&self, cx: &Cx<'_>, cache: CacheId, request: Request) -> Option<ObjPtr> {
        self.alloc_object(cx, cx.core.caches.get(cache), request)
    }

    #[inline]
    fn free(&self, cx: &Cx<'_>, cache: CacheId, obj: ObjPtr, head: Pfn) {
        self.free_object(cx, cx.core.caches.get(cache), obj, head);
    }

    fn ops(&self, cell: usize) -> &OpCounts {
        &self.ops[cell]
    }

    fn carve(&self, cx: &Cx<'_>, size: u64, request: Request) -> Option<ObjPtr> {
        self.alloc_sized(cx, size, request)
    }

    fn uncarve(&self, cx: &Cx<'_>, obj: ObjPtr) {
        self.free_sized(cx, obj);
    }

    fn carved_size(&self, arena: &Arena, obj: ObjPtr) -> u64 {
        layout::header(arena, obj)
    }

    fn flush(&self, _cx: &Cx<'_>, _cache: &Cache) {}

    fn shrink(&self, _cx: &Cx<'_>, _cache: &Cache) {}

    fn audit(&self, _core: &Core, _cache: &Cache, _audit: &mut Audit) {}

    fn audit_shared(&self, core: &Core, audit: &mut Audit) {
        validate::audit(self, core, audit);
    }
}
