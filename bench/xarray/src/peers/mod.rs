//! The indexes that are measured, each with the loops that are timed.
//!
//! An entry is `key << 1 | 1`: an integer entry for the arrays, and any number for the others.

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
    peers.push(Box::new(maps::Hash::default()));
    peers.push(Box::new(maps::Papaya::default()));
    peers
}
