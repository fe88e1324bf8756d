//! Numbers for names: call sites by address or by symbol, caches by name.

use rustc_hash::FxHashMap;

use super::recording::Tables;
use crate::NONE;
use crate::meta::{Site, Skipped};

/// Gives call sites and caches their numbers, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Interner {
    tables: Tables,
    addresses: FxHashMap<u64, u32>,
    symbols: FxHashMap<String, u32>,
    caches: FxHashMap<Vec<u8>, u32>,
}

impl Interner {
    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Returns the number of the call site at `address`, [`NONE`] for 0: a kernel that hides its addresses.
    #[inline]
    pub(super) fn address(&mut self, address: u64) -> u32 {
        if address == 0 {
            return NONE;
        }
        if let Some(&id) = self.addresses.get(&address) {
            return id;
        }
        let id = self.push_site(Site { address, ..Site::default() });
        self.addresses.insert(address, id);
        id
    }

    /// Returns the number of the call site that the source calls `symbol`.
    pub(super) fn symbol(&mut self, symbol: &str) -> u32 {
        if let Some(&id) = self.symbols.get(symbol) {
            return id;
        }
        let id = self.push_site(Site { name: symbol.to_owned(), ..Site::default() });
        self.symbols.insert(symbol.to_owned(), id);
        id
    }

    /// Returns the number of the cache called `name`, [`NONE`] for "".
    #[inline]
    pub(super) fn cache(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return NONE;
        }
        if let Some(&id) = self.caches.get(name) {
            return id;
        }
        let id = self.tables.caches.len() as u32;
        self.tables.caches.push(String::from_utf8_lossy(name).into_owned());
        self.caches.insert(name.to_owned(), id);
        id
    }

    fn push_site(&mut self, site: Site) -> u32 {
        self.tables.sites.push(site);
        self.tables.sites.len() as u32 - 1
    }
}

/// Counts a record or line that is left out. `place` says where it is, for the first of its reason.
pub(crate) fn skip(skipped: &mut Vec<Skipped>, reason: &str, place: impl FnOnce() -> String) {
    match skipped.iter_mut().find(|s| s.reason == reason) {
        Some(known) => known.count += 1,
        None => skipped.push(Skipped { reason: reason.to_owned(), count: 1, first: place() }),
    }
}
