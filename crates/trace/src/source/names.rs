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
}

impl Names {
    /// Returns the number of the call site at `address`, [`NONE`] for 0: a kernel that hides its addresses.
    #[inline]
    pub(super) fn address(&mut self, address: u64) -> u32 {
        if address == 0 {
            return NONE;
        }
        *self.addresses.entry(address).or_insert_with(|| {
            self.sites.push(Site { address, ..Site::default() });
            self.sites.len() as u32 - 1
        })
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
