//! Our array, with a read-side section around every single lookup, as `xa_load` has.

use slablab_xarray::{Entry, Filter, Flags, RawXArray, pin};

use super::{Peer, next_key};

pub struct Ours(RawXArray);

impl Ours {
    pub fn new() -> Self {
        Self(RawXArray::new(Flags::NONE))
    }
}

fn entry(bits: u64) -> Entry {
    Entry::from_ptr(std::ptr::without_provenance::<u8>(bits as usize))
}

impl Peer for Ours {
    fn name(&self) -> String {
        "slablab".into()
    }

    fn reset(&mut self) {
        self.0.clear();
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        for (&key, &bits) in keys.iter().zip(entries) {
            self.0.lock().store(key, entry(bits)).expect("memory");
        }
    }

    fn erase(&mut self, keys: &[u64]) {
        for &key in keys {
            self.0.lock().remove(key);
        }
    }

    fn hit(&self, keys: &[u64]) -> u64 {
        keys.iter().fold(0, |sum, &key| sum.wrapping_add(self.0.load(key, &pin()).addr() as u64))
    }

    fn chain(&self, key: u64, n: usize) -> u64 {
        (0..n).fold(key, |key, _| next_key(self.0.load(key, &pin()).addr() as u64))
    }

    fn iterate(&self) -> Option<u64> {
        let guard = pin();
        let entries = self.0.entries(0, u64::MAX, Filter::Present, &guard);
        Some(entries.fold(0, |sum, (_, entry)| sum.wrapping_add(entry.addr() as u64)))
    }
}
