//! Models every interleaving of taking and giving back pages, in the page allocator itself.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p slablab-kmem --test loom_pages --release`. The page allocator and what
//! it stands on are compiled into this file, on loom's atomics: it is not public.

#![cfg(loom)]
#![allow(dead_code, unused_imports, unreachable_pub)]

extern crate alloc;
extern crate std;

#[path = "../src/cpu/mod.rs"]
mod cpu;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/ids.rs"]
mod ids;
#[path = "../src/page/mod.rs"]
mod page;
#[path = "../src/raw/mod.rs"]
mod raw;

use cpu::{CpuContext, CpuCounters, Hooks};
use ids::{CacheId, CpuId, NodeId, ObjPtr, Order, PAGE_SIZE, Pfn, Site};
use loom::sync::Arc;
use loom::thread;
use page::{BlockRequest, Kind, Memory, PageTable, Zones};
use raw::arena::Arena;
use raw::zeroed::ZeroedSlice;
use slablab_linux::Gfp;

/// A machine of one small zone and two CPUs.
struct Small {
    arena: Arena,
    pages: PageTable,
    zones: Zones,
    counters: ZeroedSlice<CpuCounters>,
}

impl Small {
    fn new(count: u32) -> Arc<Self> {
        let arena = Arena::reserve(PAGE_SIZE).unwrap();
        let pages = PageTable::new(count);
        let zones = Zones::new(&pages, Order(0), 1, 2);
        Arc::new(Self { arena, pages, zones, counters: ZeroedSlice::new(2) })
    }

    fn on(&self, cpu: u32) -> CpuContext<'_> {
        let counters = &self.counters[cpu as usize];
        CpuContext { cpu, node: NodeId(0), hooks: Hooks::NONE, counters }
    }

    /// Takes a block whose pages then tell that `owner` has it.
    fn take(&self, cpu: u32, order: Order, owner: u32) -> Option<Pfn> {
        let (gfp, kind) = (Gfp::MEMALLOC, Kind::Pages);
        let request = BlockRequest { order, gfp, node: None, kind, cache: owner };
        self.zones.alloc(&self.on(cpu), &self.pages, &request)
    }

    fn give(&self, cpu: u32, pfn: Pfn, order: Order) {
        let memory = Memory { pages: &self.pages, arena: &self.arena };
        self.zones.free(&self.on(cpu), memory, pfn, order);
    }

    /// Checks that a block belongs to its owner as a whole.
    fn check_owner(&self, pfn: Pfn, order: Order, owner: u32) {
        for at in (pfn.0..pfn.0 + order.pages()).map(Pfn) {
            let page = self.pages.get(at);
            assert_eq!((page.kind(), page.order()), (Kind::Pages, order));
            assert_eq!((page.head.get(), page.cache.get()), (pfn.0, owner));
        }
    }

    /// Checks that, and that no part of the block is on a list of free ones.
    fn check_taken(&self, pfn: Pfn, order: Order, owner: u32) {
        self.check_owner(pfn, order, owner);
        self.zones.free_blocks(&self.pages, |free, free_order, _| {
            let apart = free.0 + free_order.pages() <= pfn.0 || pfn.0 + order.pages() <= free.0;
            assert!(apart, "page {} is free and in use", pfn.0);
        });
    }

    /// Checks that every page is free exactly once.
    fn check_all_free(&self) {
        let mut free = std::collections::BTreeSet::new();
        self.zones.free_blocks(&self.pages, |pfn, order, kind| {
            assert_eq!(self.pages.get(pfn).kind(), kind);
            for page in pfn.0..pfn.0 + order.pages() {
                assert!(free.insert(page), "page {page} is free twice");
            }
        });
        assert_eq!(free.len() as u64, self.zones.pages_managed());
    }
}

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.max_branches = 100_000;
    model.preemption_bound = Some(2);
    model.check(test);
}

const LARGE: Order = Order(4);

/// A block above the orders of the CPUs' lists is taken while its buddy is given back. It used to look free
/// until its taker claimed it, after the lock, and so the buddy merged with it.
#[test]
fn a_block_is_claimed_before_its_buddy_can_merge_with_it() {
    model(|| {
        let small = Small::new(64);
        // Pages 16, 32 and 48 are the blocks of this order; 32 and 48 are buddies.
        let mut all = [0; 3].map(|_| small.take(0, LARGE, 1).unwrap());
        all.sort_unstable();
        assert_eq!(all, [Pfn(16), Pfn(32), Pfn(48)]);
        small.give(0, Pfn(32), LARGE);
        let other = {
            let small = Arc::clone(&small);
            thread::spawn(move || small.give(1, Pfn(48), LARGE))
        };
        let taken = small.take(0, LARGE, 7).expect("at least 32 is free");
        other.join().unwrap();
        small.check_taken(taken, LARGE, 7);
        small.check_taken(Pfn(16), LARGE, 1);
        small.give(0, taken, LARGE);
        small.give(0, Pfn(16), LARGE);
        small.check_all_free();
    });
}

/// Two CPUs take a block of a larger one each.
#[test]
fn halves_of_a_block_go_to_one_cpu_each() {
    model(|| {
        let small = Small::new(64);
        let low = small.take(0, LARGE, 1).unwrap();
        let other = {
            let small = Arc::clone(&small);
            thread::spawn(move || small.take(1, LARGE, 8).expect("two are free"))
        };
        let mine = small.take(0, LARGE, 7).expect("two are free");
        let theirs = other.join().unwrap();
        assert_eq!(small.take(0, LARGE, 9), None);
        small.check_taken(mine, LARGE, 7);
        small.check_taken(theirs, LARGE, 8);
        small.check_taken(low, LARGE, 1);
    });
}

/// Small blocks go through the CPUs' lists, and spill into the zone while the other CPU takes from it.
#[test]
fn single_pages_go_through_the_lists_of_two_cpus() {
    model(|| {
        let small = Small::new(16);
        let work = |cpu: u32, small: &Small| {
            let order = Order(cpu as u8);
            let taken = [0; 2].map(|_| small.take(cpu, order, 7 + cpu));
            for pfn in taken.into_iter().flatten() {
                small.check_owner(pfn, order, 7 + cpu);
            }
            taken.into_iter().flatten().for_each(|pfn| small.give(cpu, pfn, order));
        };
        let other = {
            let small = Arc::clone(&small);
            thread::spawn(move || work(1, &small))
        };
        work(0, &small);
        other.join().unwrap();
        small.check_all_free();
        small.zones.drain(Memory { pages: &small.pages, arena: &small.arena });
        small.check_all_free();
    });
}
