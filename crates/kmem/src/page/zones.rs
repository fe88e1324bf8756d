//! Zones and nodes: which buddy system a request may take from, and how many pages it must leave.
//!
//! # How it works
//! Memory is cut evenly into nodes; a node's part below 16 MiB is ZONE_DMA, below 4 GiB ZONE_DMA32, the rest
//! ZONE_NORMAL. A request starts in the highest zone that its gfp flags allow on the CPU's (or the requested) node,
//! then tries lower zones, then other nodes. Each zone keeps `min` pages back (`sqrt(16 * KiB)` over all zones) and,
//! from requests that could have been served above it, a 256th of what is above. Everything is counted in blocks of
//! [`PAGE_SIZE`]; where pages are larger, no request and no block is smaller than a page. Where no zone has a block for
//! a request that may reclaim, the lists of all CPUs are emptied, and the request tries once more.
//!
//! # Invariants
//! A block's kind and order change only here: those of a free buddy under the lock of its zone, those of a
//! block on a CPU's list under that list's lock. So a block that leaves its lock never looks free, and its
//! buddy, freed the next moment, does not merge with it.
//!
//! `pages_total = pages given out + pages free in the zones + pages in per-CPU lists + reserved`.
//!
//! Linux counterpart: `get_page_from_freelist`, `__zone_watermark_ok`, `rmqueue_pcplist` @ 6.1; several blocks at once:
//! `rmqueue_bulk` @ 6.1, `free_unref_folios` @ 6.12.

use alloc::vec::Vec;
use core::ops::Range;

use slablab_linux::Gfp;

use super::buddy::{Buddy, DISCARD_ORDER};
use super::list::PageList;
use super::meta::{Kind, PageTable};
use crate::cpu::{CpuContext, LockKind};
use crate::ids::{NodeId, Order, PAGE_SIZE, Pfn};
use crate::raw::aligned::CacheAligned;
use crate::raw::arena::Arena;
use crate::raw::lock::{Guard, Lock};
use crate::raw::sync::{AtomicU64, Ordering::Relaxed};
use crate::raw::zeroed::{ZeroedSlice, zeroed_struct};

/// Orders of pages kept in per-CPU lists: up to `PAGE_ALLOC_COSTLY_ORDER`.
const PCP_ORDERS: u8 = 4;
/// Divisor of what higher zones leave to lower ones (`sysctl_lowmem_reserve_ratio`).
const LOWMEM_RESERVE_RATIO: u64 = 256;
/// Pages of a zone's large free blocks that may keep their memory: 64 MiB.
const DIRTY_PAGES_MAX: u64 = (64 << 20) / PAGE_SIZE;
const ZONE_ENDS: [(&str, u64); 3] = [("DMA", 16 << 20), ("DMA32", 4 << 30), ("Normal", u64::MAX)];

/// Free blocks by order.
pub(crate) type FreeCounts = [u64; Order::MAX.0 as usize + 1];

/// A zone of one node.
#[derive(Debug)]
pub(crate) struct Zone {
    pub(crate) name: &'static str,
    pub(crate) node: NodeId,
    /// Rank among the zones: 0 DMA, 1 DMA32, 2 Normal.
    rank: u8,
    start: u32,
    end: u32,
    buddy: CacheAligned<Lock<Buddy>>,
    watermark_min: u64,
    /// Pages kept from requests of each rank.
    reserve: [u64; 3],
    /// Order of a page: the least of any block.
    page_order: Order,
    /// Lists of free blocks by CPU: memory only for those that CPUs use, since 256 nodes of 8,192 CPUs have two million.
    pcp: ZeroedSlice<CacheAligned<Lock<Pcp>>>,
    pcp_batch: u32,
    pcp_high: u32,
}

zeroed_struct! {
    /// A CPU's lists of free blocks, one for each order.
    #[derive(Debug, Default)]
    struct Pcp {
        lists: [PageList; PCP_ORDERS as usize],
        pages: u32,
    }
}

/// A block as its taker wants it: its size and node, and its kind from then on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockRequest {
    pub(crate) order: Order,
    pub(crate) gfp: Gfp,
    /// `None`: the CPU's own.
    pub(crate) node: Option<NodeId>,
    pub(crate) kind: Kind,
    /// See [`Page::cache`](super::Page).
    pub(crate) cache: u32,
}

/// What blocks consist of: the records of all pages, and their memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory<'m> {
    pub(crate) pages: &'m PageTable,
    pub(crate) arena: &'m Arena,
}

/// All zones of a machine, by rising page number.
#[derive(Debug)]
pub(crate) struct Zones {
    zones: Vec<Zone>,
    nodes: u32,
    pages_per_node: u32,
    /// Page allocations until the injected failure; `u64::MAX`: never.
    fail_after: AtomicU64,
}

impl Zones {
    pub(crate) fn new(pages: &PageTable, page_order: Order, nodes: u32, cpus: u32) -> Self {
        let total = pages.count();
        let pages_per_node = total / nodes;
        let mut zones = Vec::new();
        for node in 0..nodes {
            let (mut at, end) = (node * pages_per_node, (node + 1) * pages_per_node);
            for (rank, (name, limit)) in ZONE_ENDS.iter().enumerate() {
                let to = u32::try_from(limit / PAGE_SIZE).unwrap_or(u32::MAX).min(end);
                // Page 0 is never given out, so that an object's offset is never 0.
                let from = at.max(page_order.pages());
                if to > from {
                    zones.push(Zone::new(
                        pages,
                        page_order,
                        (name, NodeId(node), rank as u8),
                        from..to,
                        cpus,
                    ));
                }
                at = at.max(to);
            }
        }
        set_watermarks(&mut zones, cpus);
        Self { zones, nodes, pages_per_node, fail_after: AtomicU64::new(u64::MAX) }
    }

    /// Returns the node a page belongs to.
    pub(crate) fn node_of(&self, pfn: Pfn) -> NodeId {
        match self.nodes {
            1 => NodeId(0),
            nodes => NodeId((pfn.0 / self.pages_per_node).min(nodes - 1)),
        }
    }

    /// Makes page allocations fail after the next `count` ones; `None`: never.
    pub(crate) fn fail_after(&self, count: Option<u64>) {
        self.fail_after.store(count.unwrap_or(u64::MAX), Relaxed);
    }

    /// Returns whether this allocation is to fail.
    #[inline]
    pub(crate) fn injected_failure(&self) -> bool {
        let left = self.fail_after.load(Relaxed);
        if left == u64::MAX {
            return false;
        }
        self.fail_after.store(left.saturating_sub(1), Relaxed);
        left == 0
    }

    /// Takes a block; when it leaves its lock, its pages say that they are given out.
    pub(crate) fn alloc(
        &self,
        cpu: &CpuContext<'_>,
        pages: &PageTable,
        request: &BlockRequest,
    ) -> Option<Pfn> {
        if request.order > Order::MAX {
            return None;
        }
        let gfp = request.gfp;
        let first = request.node.unwrap_or_else(|| cpu.node()).0;
        let tries = if gfp.has(Gfp::THISNODE) { 1 } else { self.nodes };
        let rank = match gfp {
            _ if gfp.has(Gfp::DMA) => 0,
            _ if gfp.has(Gfp::DMA32) => 1,
            _ => 2,
        };
        for i in 0..tries {
            let node = if self.nodes == 1 { 0 } else { (first + i) % self.nodes };
            for zone in self.zones.iter().rev().filter(|z| z.node.0 == node && z.rank <= rank) {
                if let Some(pfn) = zone.alloc(cpu, pages, request, rank) {
                    return Some(pfn);
                }
            }
        }
        None
    }

    /// Takes a block for a request that may reclaim, after [`Self::alloc`] found none: pages on the CPUs' lists are free
    /// memory, and may merge to a larger block. Linux: `__alloc_pages_direct_reclaim`.
    #[cold]
    #[inline(never)]
    pub(crate) fn alloc_drained(
        &self,
        cpu: &CpuContext<'_>,
        memory: Memory<'_>,
        request: &BlockRequest,
    ) -> Option<Pfn> {
        let may_help = request.gfp.has(Gfp::DIRECT_RECLAIM) && self.drain_for(cpu, memory);
        if may_help { self.alloc(cpu, memory.pages, request) } else { None }
    }

    /// Gives a block back.
    pub(crate) fn free(&self, cpu: &CpuContext<'_>, memory: Memory<'_>, pfn: Pfn, order: Order) {
        self.zone_of(pfn).free(cpu, memory, pfn, order);
    }

    /// Gives a block that is in use another kind, and no cache.
    pub(crate) fn set_kind(&self, pages: &PageTable, pfn: Pfn, order: Order, kind: Kind) {
        let _buddy = self.zone_of(pfn).buddy.lock();
        pages.claim(pfn, kind, order, 0);
    }

    /// Splits a block that is in use into blocks of one page (Linux: `split_page`).
    pub(crate) fn split(&self, pages: &PageTable, pfn: Pfn, order: Order) {
        let zone = self.zone_of(pfn);
        let _buddy = zone.buddy.lock();
        let kind = pages.get(pfn).kind();
        let (blocks, page) = (pfn.0..pfn.0 + order.pages(), zone.page_order);
        for block in blocks.step_by(page.pages() as usize).map(Pfn) {
            pages.claim(block, kind, page, 0);
        }
    }

    /// Gives the blocks of a list back, from its first on.
    pub(crate) fn free_all(&self, cpu: &CpuContext<'_>, memory: Memory<'_>, mut blocks: PageList) {
        while let Some(first) = blocks.first() {
            self.zone_of(first).free_all(cpu, memory, &mut blocks);
        }
    }

    fn zone_of(&self, pfn: Pfn) -> &Zone {
        self.zones.iter().find(|z| pfn.0 < z.end).expect("a page of the machine")
    }

    /// Returns the pages of all zones, given out or not.
    pub(crate) fn pages_managed(&self) -> u64 {
        self.zones.iter().map(|z| u64::from(z.end - z.start)).sum()
    }

    /// Empties the per-CPU lists of every CPU into the zones (Linux: `drain_all_pages`).
    pub(crate) fn drain(&self, memory: Memory<'_>) {
        for zone in &self.zones {
            for pcp in zone.pcp.as_slice() {
                zone.spill(memory, &mut pcp.lock(), 0);
            }
        }
    }

    /// Empties them as the work of a CPU. Returns whether any list held pages.
    fn drain_for(&self, cpu: &CpuContext<'_>, memory: Memory<'_>) -> bool {
        let mut any = false;
        for zone in &self.zones {
            for pcp in zone.pcp.as_slice() {
                cpu.count_lock(LockKind::PCP);
                let mut pcp = pcp.lock();
                if pcp.pages > 0 {
                    cpu.count_lock(LockKind::ZONE);
                    zone.spill(memory, &mut pcp, 0);
                    any = true;
                }
            }
        }
        any
    }

    /// Gives the memory of free blocks of `order` and above to the operating system; returns bytes.
    pub(crate) fn discard(&self, memory: Memory<'_>, order: Order) -> u64 {
        let mut bytes = 0;
        for zone in &self.zones {
            let mut buddy = zone.buddy.lock();
            buddy.discard(memory.pages, order, |pfn, order| {
                bytes += memory.arena.discard(pfn.offset(), order.bytes());
            });
        }
        bytes
    }

    /// Returns each zone's node, name and number of free blocks of every order.
    pub(crate) fn free_counts(&self, pages: &PageTable) -> Vec<(NodeId, &'static str, FreeCounts)> {
        let count = |zone: &Zone| {
            let mut counts = FreeCounts::default();
            zone.buddy.lock().blocks(pages, |_, order, _| counts[usize::from(order.0)] += 1);
            (zone.node, zone.name, counts)
        };
        self.zones.iter().map(count).collect()
    }

    /// Visits every free block with its order and kind (see [`Buddy::blocks`]); blocks on per-CPU lists are
    /// visited as well.
    pub(crate) fn free_blocks(&self, pages: &PageTable, mut visit: impl FnMut(Pfn, Order, Kind)) {
        for zone in &self.zones {
            zone.buddy.lock().blocks(pages, &mut visit);
            for pcp in zone.pcp.as_slice() {
                let pcp = pcp.lock();
                for (order, list) in pcp.lists.iter().enumerate() {
                    for pfn in list.iter(pages) {
                        visit(pfn, Order(zone.page_order.0 + order as u8), Kind::Pcp);
                    }
                }
            }
        }
    }
}

/// Sets `min` watermarks and low-memory reserves as `setup_per_zone_wmarks` does.
fn set_watermarks(zones: &mut [Zone], cpus: u32) {
    let kib = zones.iter().map(|z| z.pages_managed() * PAGE_SIZE / 1024).sum::<u64>();
    let min_pages = (kib * 16).isqrt().clamp(128, 262_144) * 1024 / PAGE_SIZE;
    let total: u64 = zones.iter().map(Zone::pages_managed).sum();
    // A machine of a few MiB keeps a 32nd at most, or the reserve would eat it.
    let min_pages = min_pages.min(total / 32);
    for i in 0..zones.len() {
        let managed = zones[i].pages_managed();
        zones[i].watermark_min = min_pages * managed / total.max(1);
        let low = zones[i].watermark_min * 5 / 4;
        let batch = zones[i].pcp_batch;
        zones[i].pcp_high = (batch * 4).max(u32::try_from(low).unwrap_or(u32::MAX) / cpus);
        for rank in usize::from(zones[i].rank) + 1..3 {
            let above: u64 = zones[i + 1..]
                .iter()
                .filter(|z| z.node == zones[i].node && usize::from(z.rank) <= rank)
                .map(Zone::pages_managed)
                .sum();
            zones[i].reserve[rank] = above / LOWMEM_RESERVE_RATIO;
        }
    }
}

impl Zone {
    fn new(
        pages: &PageTable,
        page_order: Order,
        (name, node, rank): (&'static str, NodeId, u8),
        Range { start, end }: Range<u32>,
        cpus: u32,
    ) -> Self {
        let managed = u64::from(end - start);
        let page_bytes = page_order.bytes();
        // `zone_batchsize`: a 1024th of the zone, 1 MiB at most, a quarter of it, 2^n - 1.
        let quarter = (managed * PAGE_SIZE / page_bytes / 1024).min((1 << 20) / page_bytes) / 4;
        let batch = ((1u64 << (quarter + quarter / 2).max(1).ilog2()) - 1).max(1) as u32;
        let pcp_batch = batch * page_order.pages();
        Self {
            name,
            node,
            rank,
            start,
            end,
            buddy: CacheAligned(Lock::new(Buddy::new(pages, start, end))),
            watermark_min: 0,
            reserve: [0; 3],
            page_order,
            pcp: ZeroedSlice::new(cpus as usize),
            pcp_batch,
            pcp_high: pcp_batch * 4,
        }
    }

    fn pages_managed(&self) -> u64 {
        u64::from(self.end - self.start)
    }

    /// Returns the place of a block's list in [`Pcp`]; `None` for one that no CPU keeps.
    fn pcp_list(&self, order: Order) -> Option<usize> {
        let list = order.0.wrapping_sub(self.page_order.0);
        (list < PCP_ORDERS).then_some(usize::from(list))
    }

    fn alloc(
        &self,
        cpu: &CpuContext<'_>,
        pages: &PageTable,
        request: &BlockRequest,
        rank: u8,
    ) -> Option<Pfn> {
        let order = request.order;
        let claim = |pfn| pages.claim(pfn, request.kind, order, request.cache);
        let Some(list) = self.pcp_list(order) else {
            let mut got = None;
            self.alloc_buddy(cpu, pages, request, rank, 1, |pfn| {
                claim(pfn);
                got = Some(pfn);
            });
            return got;
        };
        let mut pcp = self.lock_pcp(cpu);
        if pcp.lists[list].len() == 0 {
            // Refill: `batch` pages' worth of blocks, as many as the watermark allows.
            let want = (self.pcp_batch >> order.0).max(1);
            self.alloc_buddy(cpu, pages, request, rank, want, |pfn| {
                pages.get(pfn).set(Kind::Pcp, order);
                pcp.lists[list].push_back(pages, pfn);
                pcp.pages += order.pages();
            });
        }
        let pfn = pcp.lists[list].pop_front(pages)?;
        pcp.pages -= order.pages();
        claim(pfn);
        Some(pfn)
    }

    /// Takes up to `count` blocks from the buddy system, in one turn of the zone lock; `take` has to
    /// make each something else than a free buddy before that turn ends.
    fn alloc_buddy(
        &self,
        cpu: &CpuContext<'_>,
        pages: &PageTable,
        request: &BlockRequest,
        rank: u8,
        count: u32,
        take: impl FnMut(Pfn),
    ) {
        let (order, gfp) = (request.order, request.gfp);
        let reserve = self.reserve[usize::from(rank)];
        let keep = match gfp {
            _ if gfp.has(Gfp::MEMALLOC) => 0,
            _ if gfp.has(Gfp::HIGH) => self.watermark_min / 2 + reserve,
            _ => self.watermark_min + reserve,
        };
        cpu.count_lock(LockKind::ZONE);
        let mut buddy = self.buddy.lock();
        let spare = buddy.pages_free().saturating_sub(keep) / u64::from(order.pages());
        buddy.alloc_several(pages, order, u64::from(count).min(spare) as u32, take);
    }

    fn free(&self, cpu: &CpuContext<'_>, memory: Memory<'_>, pfn: Pfn, order: Order) {
        match self.pcp_list(order) {
            Some(list) => self.put(cpu, memory, &mut self.lock_pcp(cpu), list, pfn),
            None => self.free_buddy(cpu, memory, pfn, order),
        }
    }

    /// Gives back the blocks at the list's front that belong to this zone, in one turn of the lock of the CPU's
    /// lists.
    fn free_all(&self, cpu: &CpuContext<'_>, memory: Memory<'_>, blocks: &mut PageList) {
        let pages = memory.pages;
        let mut pcp = None;
        while let Some(pfn) = blocks.first().filter(|pfn| (self.start..self.end).contains(&pfn.0)) {
            blocks.remove(pages, pfn);
            let order = pages.get(pfn).order();
            match self.pcp_list(order) {
                Some(list) => {
                    let pcp = pcp.get_or_insert_with(|| self.lock_pcp(cpu));
                    self.put(cpu, memory, pcp, list, pfn);
                }
                None => self.free_buddy(cpu, memory, pfn, order),
            }
        }
    }

    fn lock_pcp(&self, cpu: &CpuContext<'_>) -> Guard<'_, Pcp> {
        cpu.count_lock(LockKind::PCP);
        self.pcp[cpu.cpu as usize].lock()
    }

    /// Puts a block on a CPU's list. Once that has too many pages, a batch of them goes to the buddy system.
    fn put(&self, cpu: &CpuContext<'_>, memory: Memory<'_>, pcp: &mut Pcp, list: usize, pfn: Pfn) {
        let pages = memory.pages;
        let order = Order(self.page_order.0 + list as u8);
        pages.get(pfn).set(Kind::Pcp, order);
        pcp.lists[list].push_front(pages, pfn);
        pcp.pages += order.pages();
        if pcp.pages > self.pcp_high {
            cpu.count_lock(LockKind::ZONE);
            let keep = pcp.pages - pcp.pages.min(self.pcp_batch.max(order.pages()));
            self.spill(memory, pcp, keep);
        }
    }

    fn free_buddy(&self, cpu: &CpuContext<'_>, memory: Memory<'_>, pfn: Pfn, order: Order) {
        cpu.count_lock(LockKind::ZONE);
        let mut buddy = self.buddy.lock();
        buddy.free(memory.pages, pfn, order);
        self.settle(memory, &mut buddy);
    }

    /// Moves the coldest blocks of a CPU's lists to the buddy system until `keep` pages are left.
    fn spill(&self, memory: Memory<'_>, pcp: &mut Pcp, keep: u32) {
        let pages = memory.pages;
        let mut buddy = self.buddy.lock();
        let mut at = 0;
        while pcp.pages > keep {
            // The orders take turns; each gives up the block that was freed longest ago.
            let list = &mut pcp.lists[at];
            if let Some(pfn) = list.last() {
                let order = Order(self.page_order.0 + at as u8);
                list.remove(pages, pfn);
                buddy.free(pages, pfn, order);
                pcp.pages -= order.pages();
            }
            at = (at + 1) % pcp.lists.len();
        }
        self.settle(memory, &mut buddy);
    }

    /// Gives memory back to the operating system once large free blocks hold much of it.
    fn settle(&self, memory: Memory<'_>, buddy: &mut Buddy) {
        if buddy.pages_dirty() > DIRTY_PAGES_MAX {
            buddy.discard(memory.pages, DISCARD_ORDER, |pfn, order| {
                memory.arena.discard(pfn.offset(), order.bytes());
            });
        }
    }
}
