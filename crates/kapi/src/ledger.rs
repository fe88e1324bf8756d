//! What is live, who allocated it, and whether its guard bytes are unchanged: check level 2.
//!
//! # How it works
//! Every block that a module gets is entered with the call site; freeing it moves the entry to the
//! freed ones, where a second free finds it. Behind each block that leaves room are guard bytes, which
//! are looked at when it is freed and at the end. What is live after exit is a leak.
//!
//! # Invariants
//! An address is live or freed, never both. Entries of one site are reported together.
//!
//! Linux counterpart: `mm/slub.c` (`SLAB_STORE_USER`, red zones), `mm/kmemleak.c` @ 6.1, in one.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, OnceLock};

use crate::event::{Block, Event, Misuse};

/// Guard bytes behind a block at least.
pub(crate) const GUARD_BYTES: u64 = 16;
/// What they hold (`SLUB_RED_ACTIVE`).
pub(crate) const GUARD: u8 = 0xcc;
/// What a new block holds (`POISON_INUSE`).
pub(crate) const FRESH: u8 = 0x5a;
/// What a freed block holds (`POISON_FREE`).
pub(crate) const FREED: u8 = 0x6b;
/// Freed blocks that are remembered.
const FREED_MAX: usize = 100_000;

/// The one of blocks, for those who do not know the machine.
pub(crate) static BLOCKS: OnceLock<&'static Mutex<Ledger>> = OnceLock::new();

/// Which interface a block is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Kmalloc,
    /// A cache, by the address of its handle, and its name.
    Cache(usize, String),
    /// Pages, with their order.
    Pages(u32),
    Vmalloc,
    /// What the C runtime makes of the others' memory, by its place in [`MADE`].
    Made(usize),
}

/// What the C runtime makes, and who frees it: as `enum kapi_made` in `runtime/host.h`.
const MADE: [(&str, &str); 5] = [
    ("percpu", "free_percpu"),
    ("vmap", "vunmap"),
    ("dma_pool", "dma_pool_free"),
    ("gen_pool", "gen_pool_free"),
    ("page_pool", "page_pool_put_page"),
];

impl Source {
    /// What `vmap` makes.
    pub(crate) const VMAP: Self = Self::Made(1);
    /// A part of what the module gave to a `gen_pool`.
    const GEN_POOL: Self = Self::Made(3);

    /// Returns what the runtime calls by this number.
    pub(crate) fn made(number: u32) -> Self {
        assert!((number as usize) < MADE.len(), "a number of `enum kapi_made`");
        Self::Made(number as usize)
    }

    /// Whether it is a part of memory that has an entry of its own, perhaps at the same address.
    pub(crate) fn is_part(&self) -> bool {
        *self == Self::GEN_POOL
    }

    fn name(&self) -> &str {
        match self {
            Self::Kmalloc => "kmalloc",
            Self::Cache(_, name) => name,
            Self::Pages(_) => "pages",
            Self::Vmalloc => "vmalloc",
            Self::Made(number) => MADE[*number].0,
        }
    }

    fn freed_by(&self) -> String {
        match self {
            Self::Kmalloc => "kfree".into(),
            Self::Cache(_, name) => format!("kmem_cache_free of cache `{name}`"),
            Self::Pages(order) => format!("free_pages of order {order}"),
            Self::Vmalloc => "vfree".into(),
            Self::Made(number) => MADE[*number].1.into(),
        }
    }
}

/// A live block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) bytes: u64,
    pub(crate) source: Source,
    pub(crate) site: u64,
    /// Guard bytes behind it.
    pub(crate) guard: u64,
}

#[derive(Debug, Clone)]
struct Freed {
    live: Live,
    site: u64,
}

/// Live and freed blocks by address. Sites are offsets in the module.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    live: BTreeMap<u64, Live>,
    freed: BTreeMap<u64, Freed>,
    order: VecDeque<u64>,
}

/// What the caller has to do after a free was entered.
#[derive(Debug)]
pub(crate) enum Free {
    /// Free the block, after looking at its guard.
    Go(Live),
    /// Do nothing: the finding says why.
    Refused(Event),
    /// Free the block as what it is, after reporting the finding.
    Wrong(Live, Event),
}

impl Ledger {
    /// Enters a block.
    pub(crate) fn enter(&mut self, address: u64, live: Live) {
        self.freed.remove(&address);
        self.live.insert(address, live);
    }

    /// Enters a free by an interface, and says what is to be done.
    pub(crate) fn free(&mut self, address: u64, by: &Source, site: u64) -> Free {
        let Some(live) = self.live.remove(&address) else {
            return Free::Refused(self.unknown(address, by, site));
        };
        self.remember(address, Freed { live: live.clone(), site });
        let cache_object_by_kfree =
            matches!((&live.source, by), (Source::Cache(..), Source::Kmalloc));
        if live.source == *by || cache_object_by_kfree {
            return Free::Go(live);
        }
        let detail = format!("freed by {}, not by {}", by.freed_by(), live.source.freed_by());
        let event = finding(Misuse::WrongFree, detail, Some(block(address, &live, None)), site);
        Free::Wrong(live, event)
    }

    fn remember(&mut self, address: u64, freed: Freed) {
        self.freed.insert(address, freed);
        self.order.push_back(address);
        if self.order.len() > FREED_MAX {
            let oldest = self.order.pop_front().expect("it is longer than the limit");
            self.freed.remove(&oldest);
        }
    }

    fn unknown(&self, address: u64, by: &Source, site: u64) -> Event {
        if let Some(freed) = self.freed.get(&address) {
            let block = block(address, &freed.live, Some(freed.site));
            return finding(Misuse::DoubleFree, "freed twice".into(), Some(block), site);
        }
        let inside = self.live.range(..address).next_back();
        if let Some((&start, live)) = inside.filter(|(start, l)| address - **start < l.bytes) {
            let detail = format!("freed at byte {} of the block", address - start);
            return finding(Misuse::InteriorFree, detail, Some(block(start, live, None)), site);
        }
        let detail = format!("{} of {address:#x}, which was never allocated", by.freed_by());
        finding(Misuse::ForeignFree, detail, None, site)
    }

    /// Returns a live block.
    pub(crate) fn get(&self, address: u64) -> Option<&Live> {
        self.live.get(&address)
    }

    /// Returns the bytes of the block that is at an address, or was there last.
    pub(crate) fn bytes_asked(&self, address: u64) -> Option<u64> {
        let freed = || self.freed.get(&address).map(|freed| freed.live.bytes);
        self.live.get(&address).map(|live| live.bytes).or_else(freed)
    }

    /// Returns the block that is freed and has a byte at an address, and where in it that is.
    pub(crate) fn freed_at(&self, address: u64) -> Option<(Block, u64)> {
        let (start, live) = self.live.range(..=address).next_back().unzip();
        if start.zip(live).is_some_and(|(start, live)| address - start < live.bytes) {
            return None;
        }
        let (&start, freed) = self.freed.range(..=address).next_back()?;
        let at = address - start;
        (at < freed.live.bytes).then(|| (block(start, &freed.live, Some(freed.site)), at))
    }

    /// Whether a live block has a byte at an address.
    pub(crate) fn is_live_at(&self, address: u64) -> bool {
        let before = self.live.range(..=address).next_back();
        before.is_some_and(|(start, live)| address - start < live.bytes)
    }

    /// Returns where the live block before an address ends.
    pub(crate) fn end_before(&self, address: u64) -> Option<u64> {
        self.live.range(..address).next_back().map(|(start, live)| start + live.bytes)
    }

    /// Whether a cache has live objects, and one of them.
    pub(crate) fn of_cache(&self, handle: usize) -> Option<(u64, &Live)> {
        let from = |live: &Live| matches!(live.source, Source::Cache(h, _) if h == handle);
        self.live.iter().find(|(_, live)| from(live)).map(|(&a, live)| (a, live))
    }

    /// Visits the live blocks.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Live)> {
        self.live.iter().map(|(&address, live)| (address, live))
    }

    /// One leak for each site that has live blocks, largest first, but for those of caches that are named already.
    pub(crate) fn leaks(&self, busy: &[u64]) -> Vec<Event> {
        let mut sites: BTreeMap<(u64, &str), (u64, u64, u64)> = BTreeMap::new();
        let told = |live: &Live| matches!(live.source, Source::Cache(handle, _) if busy.contains(&(handle as u64)));
        for (address, live) in self.iter().filter(|(_, live)| !told(live)) {
            let site = sites.entry((live.site, live.source.name())).or_insert((0, 0, address));
            site.0 += 1;
            site.1 += live.bytes;
        }
        let mut sites: Vec<_> = sites.into_iter().collect();
        sites.sort_by_key(|((site, _), (_, bytes, _))| (std::cmp::Reverse(*bytes), *site));
        let leak = |((_, _), (count, bytes, address)): (_, (u64, u64, u64))| Event::Finding {
            kind: Misuse::Leak,
            detail: format!("{bytes} bytes in {count} blocks are live after exit"),
            count,
            block: self.get(address).map(|live| block(address, live, None)),
            site: None,
        };
        sites.into_iter().map(leak).collect()
    }
}

/// Describes a block.
pub(crate) fn block(address: u64, live: &Live, freed: Option<u64>) -> Block {
    Block { address, bytes: live.bytes, from: live.source.name().into(), site: live.site, freed }
}

/// Makes a finding.
pub(crate) fn finding(kind: Misuse, detail: String, block: Option<Block>, site: u64) -> Event {
    Event::Finding { kind, detail, count: 1, block, site: Some(site) }
}

/// Describes damage to the guard behind a block; `offset` is the first bad byte's, from its start.
pub(crate) fn overflow(address: u64, live: &Live, offset: u64, site: Option<u64>) -> Event {
    let detail = format!("byte {offset} of a block of {} bytes was written", live.bytes);
    let block = Some(block(address, live, None));
    Event::Finding { kind: Misuse::Overflow, detail, count: 1, block, site }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(site: u64) -> Live {
        Live { bytes: 64, source: Source::Kmalloc, site, guard: 16 }
    }

    fn kind(event: &Event) -> Misuse {
        let Event::Finding { kind, .. } = event else { panic!("{event:?}") };
        *kind
    }

    #[test]
    fn a_second_free_is_found_until_the_address_is_reused() {
        let mut ledger = Ledger::default();
        ledger.enter(0x1000, live(1));
        assert!(matches!(ledger.free(0x1000, &Source::Kmalloc, 2), Free::Go(l) if l == live(1)));
        let Free::Refused(event) = ledger.free(0x1000, &Source::Kmalloc, 3) else { panic!() };
        assert_eq!(kind(&event), Misuse::DoubleFree);
        let Event::Finding { block: Some(block), site, .. } = event else { panic!() };
        assert_eq!((block.site, block.freed, site), (1, Some(2), Some(3)));
        ledger.enter(0x1000, live(4));
        assert!(matches!(ledger.free(0x1000, &Source::Kmalloc, 5), Free::Go(_)));
    }

    #[test]
    fn pointers_that_are_no_block() {
        let mut ledger = Ledger::default();
        ledger.enter(0x1000, live(1));
        let Free::Refused(inside) = ledger.free(0x1010, &Source::Kmalloc, 2) else { panic!() };
        let Free::Refused(behind) = ledger.free(0x1040, &Source::Kmalloc, 2) else { panic!() };
        assert_eq!((kind(&inside), kind(&behind)), (Misuse::InteriorFree, Misuse::ForeignFree));
    }

    #[test]
    fn the_wrong_function_is_named_but_the_memory_goes() {
        let mut ledger = Ledger::default();
        ledger.enter(0x1000, live(1));
        let Free::Wrong(_, event) = ledger.free(0x1000, &Source::Vmalloc, 2) else { panic!() };
        assert_eq!(kind(&event), Misuse::WrongFree);
        assert!(ledger.leaks(&[]).is_empty());
        ledger.enter(0x2000, Live { source: Source::Cache(9, "c".into()), ..live(1) });
        assert!(matches!(ledger.free(0x2000, &Source::Kmalloc, 2), Free::Go(_)));
    }

    #[test]
    fn leaks_are_grouped_by_site() {
        let mut ledger = Ledger::default();
        for i in 0..3 {
            ledger.enter(0x1000 + i * 0x100, live(7));
        }
        ledger.enter(0x9000, live(8));
        let leaks = ledger.leaks(&[]);
        let counts: Vec<_> = leaks
            .iter()
            .map(|event| match event {
                Event::Finding { count, block: Some(block), .. } => (*count, block.site),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(counts, [(3, 7), (1, 8)]);
    }
}
