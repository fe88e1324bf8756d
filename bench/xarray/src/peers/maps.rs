//! Rust's maps: the standard B-tree, hashbrown, and papaya for a concurrent one.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::{Peer, next_key};

#[derive(Default)]
pub struct BTree(BTreeMap<u64, u64>);

#[derive(Default)]
pub struct Hash(hashbrown::HashMap<u64, u64>);

#[derive(Default)]
pub struct Papaya(papaya::HashMap<u64, u64, hashbrown::DefaultHashBuilder>);

fn add(sum: u64, bits: &u64) -> u64 {
    sum.wrapping_add(*bits)
}

/// The loops are alike; `$get` says how a value is looked up.
macro_rules! loops {
    ($get:expr) => {
        fn hit(&self, keys: &[u64]) -> u64 {
            keys.iter().fold(0, |sum, key| sum.wrapping_add($get(self, key)))
        }

        fn chain(&self, key: u64, n: usize) -> u64 {
            (0..n).fold(key, |key, _| next_key($get(self, &key)))
        }
    };
}

impl Peer for BTree {
    fn name(&self) -> String {
        "BTreeMap".into()
    }

    fn reset(&mut self) {
        self.0.clear();
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        keys.iter().zip(entries).for_each(|(&key, &bits)| {
            self.0.insert(key, bits);
        });
    }

    fn erase(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| {
            self.0.remove(key);
        });
    }

    fn iterate(&self) -> Option<u64> {
        Some(self.0.values().fold(0, |sum, &bits| sum.wrapping_add(bits)))
    }

    fn find(&self, keys: &[u64]) -> Option<u64> {
        Some(
            keys.iter()
                .filter_map(|&key| self.0.range(key..).next())
                .map(|(_, bits)| bits)
                .fold(0, add),
        )
    }

    fn find_after(&self, keys: &[u64]) -> Option<u64> {
        let after = |&key: &u64| self.0.range((Bound::Excluded(key), Bound::Unbounded)).next();
        Some(keys.iter().filter_map(after).map(|(_, bits)| bits).fold(0, add))
    }

    fn scan(&self, keys: &[u64], length: usize) -> Option<u64> {
        Some(
            keys.iter()
                .flat_map(|&key| self.0.range(key..).take(length))
                .map(|(_, bits)| bits)
                .fold(0, add),
        )
    }

    fn bulk(&mut self, keys: &[u64], entries: &[u64]) {
        self.0 = keys.iter().copied().zip(entries.iter().copied()).collect();
    }

    loops!(|map: &Self, key| map.0.get(key).copied().unwrap_or(0));
}

impl Peer for Hash {
    fn name(&self) -> String {
        "hashbrown".into()
    }

    fn reset(&mut self) {
        self.0 = hashbrown::HashMap::default();
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        keys.iter().zip(entries).for_each(|(&key, &bits)| {
            self.0.insert(key, bits);
        });
    }

    fn erase(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| {
            self.0.remove(key);
        });
    }

    fn iterate(&self) -> Option<u64> {
        None
    }

    loops!(|map: &Self, key| map.0.get(key).copied().unwrap_or(0));
}

impl Peer for Papaya {
    fn name(&self) -> String {
        "papaya".into()
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        keys.iter().zip(entries).for_each(|(&key, &bits)| {
            self.0.pin().insert(key, bits);
        });
    }

    fn erase(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| {
            self.0.pin().remove(key);
        });
    }

    fn iterate(&self) -> Option<u64> {
        None
    }

    loops!(|map: &Self, key| map.0.pin().get(key).copied().unwrap_or(0));
}
