//! Loom models of a bucket: a reader beside a writer that adds an entry and erases another, and its filter.
//!
//! Run by `make test-xarray-races`. It is a copy of two keys and two slots: a bucket's memory is laid out by hand, and
//! loom's atomics cannot stand in it.

#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// Two keys and two slots of a bucket. Key 1 repeats key 0 until the entry beside it is there.
struct Lanes {
    keys: [AtomicUsize; 2],
    slots: [AtomicUsize; 2],
}

impl Lanes {
    fn find(&self, key: usize) -> usize {
        let keys = [0, 1].map(|i| self.keys[i].load(Ordering::Acquire));
        let number = keys.iter().position(|&found| found == key);
        number.map_or(0, |number| self.slots[number].load(Ordering::Acquire))
    }
}

#[test]
fn a_reader_never_gets_another_keys_entry() {
    loom::model(|| {
        let lanes = Arc::new(Lanes {
            keys: [5, 5].map(AtomicUsize::new),
            slots: [50, 0].map(AtomicUsize::new),
        });
        let writer = {
            let lanes = Arc::clone(&lanes);
            thread::spawn(move || {
                lanes.slots[1].store(60, Ordering::Release);
                lanes.keys[1].store(6, Ordering::Release);
                lanes.slots[0].store(0, Ordering::Release);
            })
        };
        assert!(matches!(lanes.find(5), 50 | 0));
        assert!(matches!(lanes.find(6), 60 | 0));
        writer.join().expect("no panic");
        assert_eq!((lanes.find(5), lanes.find(6)), (0, 60));
    });
}

#[test]
fn what_a_walk_found_passes_the_filter() {
    loom::model(|| {
        let filter_and_key = Arc::new([0, 5].map(AtomicUsize::new));
        let writer = {
            let shared = Arc::clone(&filter_and_key);
            thread::spawn(move || {
                shared[0].store(1, Ordering::Release);
                shared[1].store(6, Ordering::Release);
            })
        };
        let [filter, key] = &*filter_and_key;
        if key.load(Ordering::Acquire) == 6 {
            assert_eq!(filter.load(Ordering::Acquire), 1, "a walk saw the key, a lookup would not");
        }
        writer.join().expect("no panic");
    });
}
