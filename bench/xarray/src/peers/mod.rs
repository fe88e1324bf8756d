//! The indexes that are measured, each with the loops that are timed.
//!
//! An entry is `key << 1 | 1`: an integer entry for the arrays, and any number for the others.

mod art;
mod judy;
mod kernel;
mod maps;
mod ours;

pub use kernel::{Kernel, Library};

/// An index under test. The loops are inside, so that no call stands between a peer and its keys.
pub trait Peer {
    fn name(&self) -> String;
    /// Empties the index.
    fn reset(&mut self);
    fn insert(&mut self, keys: &[u64], entries: &[u64]);
    fn erase(&mut self, keys: &[u64]);
    /// Looks the keys up and returns the sum of what was found.
    fn hit(&self, keys: &[u64]) -> u64;
    /// Follows the chain of keys for `n` steps.
    fn chain(&self, key: u64, n: usize) -> u64;
    /// Visits everything in order and returns the sum, if the index has an order.
    fn iterate(&self) -> Option<u64>;
    /// Looks for the first entry at or after each key and returns the sum of what was found.
    fn find(&self, _keys: &[u64]) -> Option<u64> {
        None
    }
    /// As `find`, for entries after each key.
    fn find_after(&self, _keys: &[u64]) -> Option<u64> {
        None
    }
    /// Visits `length` entries from each key on and returns the sum.
    fn scan(&self, _keys: &[u64], _length: usize) -> Option<u64> {
        None
    }
    /// Marks the keys' entries and hands `time` the walk over these, if the index has marks.
    fn iterate_marked(&mut self, _keys: &[u64], _time: &mut dyn FnMut(&dyn Fn() -> u64)) -> bool {
        false
    }
    /// Fills the empty index from keys in ascending order, in the fastest way that it offers.
    fn bulk(&mut self, keys: &[u64], entries: &[u64]) {
        self.insert(keys, entries);
    }
    /// Stores an entry at all keys of each range, if the index has such entries.
    fn store_ranges(&mut self, _firsts: &[u64], _lasts: &[u64]) -> bool {
        false
    }
    /// Returns the bytes of its nodes, for peers that do not take them from malloc one by one.
    fn bytes(&self) -> Option<usize> {
        None
    }
}

/// Returns the next key of the chain that an entry stands for.
#[inline]
pub fn next_key(entry: u64) -> u64 {
    (entry as i64 >> 1) as u64
}

/// Returns all peers, ours first.
pub fn all(libraries: &'static [Library]) -> Vec<Box<dyn Peer>> {
    let mut peers: Vec<Box<dyn Peer>> = vec![Box::new(ours::Ours::new())];
    peers.extend(
        libraries.iter().map(|library| Box::new(kernel::Kernel::new(library)) as Box<dyn Peer>),
    );
    peers.push(Box::new(judy::Judy::new()));
    peers.push(Box::new(maps::BTree::default()));
    peers.push(Box::new(art::Art::default()));
    peers.push(Box::new(art::Rart::default()));
    peers.push(Box::new(maps::Hash::default()));
    peers.push(Box::new(maps::Papaya::default()));
    peers
}
