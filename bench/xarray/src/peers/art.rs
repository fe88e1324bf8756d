//! Adaptive radix trees: crate blart, whose map has the standard B-tree's interface, and rart.

use blart::TreeMap;
use rart::{AdaptiveRadixTree, ArrayKey};

use super::{Peer, next_key};

pub struct Rart(AdaptiveRadixTree<ArrayKey<16>, u64>);

impl Default for Rart {
    fn default() -> Self {
        Self(AdaptiveRadixTree::new())
    }
}

impl Rart {
    #[inline]
    fn get(&self, key: u64) -> u64 {
        self.0.get_k(&key.into()).copied().unwrap_or(0)
    }
}

impl Peer for Rart {
    fn name(&self) -> String {
        "rart".into()
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        for (key, &bits) in keys.iter().zip(entries) {
            self.0.insert_k(&(*key).into(), bits);
        }
    }

    fn erase(&mut self, keys: &[u64]) {
        for key in keys {
            self.0.remove_k(&(*key).into());
        }
    }

    fn hit(&self, keys: &[u64]) -> u64 {
        keys.iter().fold(0, |sum, &key| sum.wrapping_add(self.get(key)))
    }

    fn chain(&self, key: u64, n: usize) -> u64 {
        (0..n).fold(key, |key, _| next_key(self.get(key)))
    }

    fn iterate(&self) -> Option<u64> {
        Some(self.0.values_iter().fold(0, add))
    }
}

#[derive(Default)]
pub struct Art(TreeMap<[u8; 8], u64>);

impl Art {
    #[inline]
    fn get(&self, key: u64) -> u64 {
        self.0.get(&key.to_be_bytes()).copied().unwrap_or(0)
    }
}

fn add(sum: u64, bits: &u64) -> u64 {
    sum.wrapping_add(*bits)
}

impl Peer for Art {
    fn name(&self) -> String {
        "blart".into()
    }

    fn reset(&mut self) {
        self.0.clear();
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        for (key, &bits) in keys.iter().zip(entries) {
            self.0.insert(key.to_be_bytes(), bits);
        }
    }

    fn erase(&mut self, keys: &[u64]) {
        for key in keys {
            self.0.remove(&key.to_be_bytes());
        }
    }

    fn hit(&self, keys: &[u64]) -> u64 {
        keys.iter().fold(0, |sum, &key| sum.wrapping_add(self.get(key)))
    }

    fn chain(&self, key: u64, n: usize) -> u64 {
        (0..n).fold(key, |key, _| next_key(self.get(key)))
    }

    fn iterate(&self) -> Option<u64> {
        Some(self.0.values().fold(0, add))
    }

    fn find(&self, keys: &[u64]) -> Option<u64> {
        self.scan(keys, 1)
    }

    fn find_after(&self, keys: &[u64]) -> Option<u64> {
        let after = keys.iter().filter_map(|key| key.checked_add(1));
        Some(
            after
                .filter_map(|key| self.0.range(key.to_be_bytes()..).next())
                .map(|(_, bits)| bits)
                .fold(0, add),
        )
    }

    fn scan(&self, keys: &[u64], length: usize) -> Option<u64> {
        let from = |key: &u64| self.0.range(key.to_be_bytes()..).take(length);
        Some(keys.iter().flat_map(from).map(|(_, bits)| bits).fold(0, add))
    }
}
