//! Our array, with a read-side section around every single lookup, as `xa_load` has.

use slablab_xarray::{Entry, Filter, Flags, Mark, RawXArray, pin};

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

fn sum(entries: impl Iterator<Item = (u64, Entry)>) -> u64 {
    entries.fold(0, |sum, (_, entry)| sum.wrapping_add(entry.addr() as u64))
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
        Some(sum(self.0.entries(0, u64::MAX, Filter::Present, &guard)))
    }

    fn find(&self, keys: &[u64]) -> Option<u64> {
        let find = |&key: &u64| self.0.find(key, u64::MAX, Filter::Present, &pin());
        Some(sum(keys.iter().filter_map(find)))
    }

    fn find_after(&self, keys: &[u64]) -> Option<u64> {
        let find = |&key: &u64| self.0.find_after(key, u64::MAX, Filter::Present, &pin());
        Some(sum(keys.iter().filter_map(find)))
    }

    fn scan(&self, keys: &[u64], length: usize) -> Option<u64> {
        Some(keys.iter().fold(0, |total, &key| {
            let guard = pin();
            let entries = self.0.entries(key, u64::MAX, Filter::Present, &guard);
            total.wrapping_add(sum(entries.take(length)))
        }))
    }

    fn iterate_marked(&mut self, keys: &[u64], time: &mut dyn FnMut(&dyn Fn() -> u64)) -> bool {
        keys.iter().for_each(|&key| self.0.lock().mark(key, Mark::M1));
        time(&|| sum(self.0.entries(0, u64::MAX, Filter::Marked(Mark::M1), &pin())));
        true
    }

    fn bulk(&mut self, keys: &[u64], entries: &[u64]) {
        let writer = self.0.lock();
        for (&key, &bits) in keys.iter().zip(entries) {
            writer.store(key, entry(bits)).expect("memory");
        }
    }

    fn store_ranges(&mut self, firsts: &[u64], lasts: &[u64]) -> bool {
        for (i, (&first, &last)) in firsts.iter().zip(lasts).enumerate() {
            self.0.lock().set_range(first, last, Entry::value(i)).expect("memory");
        }
        true
    }
}
