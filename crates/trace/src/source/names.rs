//! Numbers for names: call sites by address or by symbol, caches by name.

use rustc_hash::FxHashMap;

use crate::NONE;
use crate::meta::Site;
use crate::stacks::{Extent, Frame, StackTree, Stacks};

/// The names that [`RawEvent`](crate::RawEvent)s index, in order of first appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The call sites. `name` is "" where the source gave an address.
    pub sites: Vec<Site>,
    /// The names of caches.
    pub caches: Vec<String>,
    /// The call stacks; their frames are numbers in `sites`.
    pub(crate) stacks: StackTree,
    /// By the addresses of a stack, its number
    chains: FxHashMap<Box<[u64]>, u32>,
    chain: Vec<u64>,
    addresses: FxHashMap<u64, u32>,
    symbols: FxHashMap<String, u32>,
    cache_ids: FxHashMap<Vec<u8>, u32>,
    /// Call sites by their addresses, one for each place that an address can have here: most events have one of few
    recent: Vec<(u64, u32)>,
    /// By call site: the cache that its last event named
    of_sites: Vec<u32>,
}

/// The number of places in [`Names::recent`].
const RECENT_BITS: u32 = 10;

/// How many names there are: call sites, caches, and what stacks are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    sites: usize,
    caches: usize,
    stacks: (usize, usize),
}

/// Names that were added.
#[derive(Debug)]
pub(super) struct Grown {
    sites: Vec<Site>,
    caches: Vec<String>,
    stacks: StackTree,
}

impl Names {
    /// Returns how many there are.
    pub(super) fn reach(&self) -> Reach {
        let (sites, caches) = (self.sites.len(), self.caches.len());
        Reach { sites, caches, stacks: self.stacks.reach() }
    }

    /// Returns those that were added behind what is known.
    pub(super) fn since(&self, known: &Reach) -> Grown {
        Grown {
            sites: self.sites[known.sites..].to_vec(),
            caches: self.caches[known.caches..].to_vec(),
            stacks: self.stacks.since(known.stacks),
        }
    }

    /// Appends what was added to others that were equal. Nothing may be added here otherwise.
    pub(super) fn grow(&mut self, grown: Grown) {
        self.sites.extend(grown.sites);
        self.caches.extend(grown.caches);
        self.stacks.grow(grown.stacks);
    }

    /// Returns the number of the call site at `address`, [`NONE`] for 0: a kernel that hides its addresses.
    #[inline]
    pub(super) fn address(&mut self, address: u64) -> u32 {
        if address == 0 {
            return NONE;
        }
        let place = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)) as usize;
        match self.recent.get(place) {
            Some((recent, id)) if *recent == address => *id,
            _ => self.look_up_address(address, place),
        }
    }

    #[cold]
    fn look_up_address(&mut self, address: u64, place: usize) -> u32 {
        let id = *self.addresses.entry(address).or_insert_with(|| {
            self.sites.push(Site { address, ..Site::default() });
            self.sites.len() as u32 - 1
        });
        self.recent.resize(1 << RECENT_BITS, (0, NONE));
        self.recent[place] = (address, id);
        id
    }

    /// Returns the number of the call site that the source calls `symbol`.
    pub(super) fn symbol(&mut self, symbol: &str) -> u32 {
        if let Some(&id) = self.symbols.get(symbol) {
            return id;
        }
        let id = self.sites.len() as u32;
        self.sites.push(Site { name: symbol.to_owned(), ..Site::default() });
        self.symbols.insert(symbol.to_owned(), id);
        id
    }

    /// Returns the number of the stack of these return addresses, nearest first; [`NONE`] where there are none.
    pub(super) fn stack(&mut self, addresses: impl Iterator<Item = u64>, extent: Extent) -> u32 {
        let mut chain = std::mem::take(&mut self.chain);
        chain.clear();
        chain.extend(addresses);
        let known = if extent == Extent::Whole { self.chains.get(chain.as_slice()) } else { None };
        let stack = known.copied().unwrap_or_else(|| self.add_stack(&chain, extent));
        self.chain = chain;
        stack
    }

    #[cold]
    fn add_stack(&mut self, chain: &[u64], extent: Extent) -> u32 {
        let frames = chain.iter().map(|address| self.address(*address));
        let frames: Vec<u32> = frames.filter(|frame| *frame != NONE).collect();
        let stack = self.stacks.add(&frames, extent);
        if extent == Extent::Whole {
            self.chains.insert(chain.into(), stack);
        }
        stack
    }

    /// Returns the addresses of a stack, nearest first; 0 where a frame has only a name.
    #[must_use]
    pub fn stack_addresses(&self, stack: u32) -> Vec<u64> {
        let (frames, _) = self.stacks.stack(stack);
        frames.iter().map(|frame| self.sites[*frame as usize].address).collect()
    }

    /// Returns the number of the stack of these symbols.
    pub(super) fn stack_of_symbols<'a>(
        &mut self,
        symbols: impl Iterator<Item = &'a str>,
        extent: Extent,
    ) -> u32 {
        let frames: Vec<u32> = symbols.map(|symbol| self.symbol(symbol)).collect();
        self.stacks.add(&frames, extent)
    }

    /// Returns the number of a stack of a trace.
    pub(super) fn stack_of_trace(&mut self, stacks: &Stacks, stack: u32) -> u32 {
        let extent = if stacks.is_cut(stack) { Extent::Cut } else { Extent::Whole };
        let frames: Vec<u32> = stacks.frames(stack).map(|frame| self.frame(frame)).collect();
        self.stacks.add(&frames, extent)
    }

    fn frame(&mut self, frame: &Frame) -> u32 {
        let Frame { name, address } = frame;
        let next = self.sites.len() as u32;
        let id = *self.symbols.entry(format!("{name}\0{address:x}")).or_insert(next);
        if id == next {
            self.sites.push(Site { name: name.clone(), address: *address, ..Site::default() });
        }
        id
    }

    /// Does as [`Names::cache`] with what is in `field` up to a NUL, for an event of a call site. But for a few it names
    /// the cache that the site's last event named.
    #[inline]
    pub(super) fn cache_of(&mut self, site: u32, field: &[u8]) -> u32 {
        if let Some(id) = self.of_sites.get(site as usize)
            && let Some(known) = self.caches.get(*id as usize)
            && let Some((name, [0, ..])) = field.split_at_checked(known.len())
            && is_same(known.as_bytes(), name)
        {
            return *id;
        }
        self.look_up_cache(site, field)
    }

    #[cold]
    fn look_up_cache(&mut self, site: u32, field: &[u8]) -> u32 {
        let id = self.cache(until_nul(field));
        if site != NONE && id != NONE {
            self.of_sites.resize(self.sites.len(), NONE);
            self.of_sites[site as usize] = id;
        }
        id
    }

    /// Returns the number of the cache called `name`, [`NONE`] for "".
    #[inline]
    pub(super) fn cache(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return NONE;
        }
        if let Some(&id) = self.cache_ids.get(name) {
            return id;
        }
        let id = self.caches.len() as u32;
        self.caches.push(String::from_utf8_lossy(name).into_owned());
        self.cache_ids.insert(name.to_owned(), id);
        id
    }
}

/// Returns whether two names of equal length are equal: a call of the C library's function takes longer than comparing twenty
/// bytes does.
#[inline]
fn is_same(known: &[u8], name: &[u8]) -> bool {
    let (known, known_rest) = known.as_chunks::<8>();
    let (name, rest) = name.as_chunks::<8>();
    let mut rests = known_rest.iter().zip(rest);
    known.iter().zip(name).all(|(a, b)| u64::from_le_bytes(*a) == u64::from_le_bytes(*b))
        && rests.all(|(a, b)| a == b)
}

/// Returns what a field holds before its first NUL.
pub(super) fn until_nul(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    &field[..end]
}
