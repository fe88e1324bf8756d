//! Numbers for names: call sites by address or by symbol, caches by name.

use rustc_hash::FxHashMap;

use crate::NONE;
use crate::meta::Site;

/// The names that [`RawEvent`](crate::RawEvent)s index, in order of first appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// The call sites. `name` is "" where the source gave an address.
    pub sites: Vec<Site>,
    /// The names of caches.
    pub caches: Vec<String>,
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
