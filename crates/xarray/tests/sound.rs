//! Safe code must not be able to do these things, or must be able to do them without harm. Each test is named after
//! what went wrong. (Code that must not compile is in the documentation of `XArray` and `Removed`.)

#[path = "raw/refusing.rs"]
mod refusing;

use std::sync::Barrier;

use refusing::REFUSES;
use slablab_xarray::{Entry, Error, Flags, RawXArray, XArray, pin, synchronize};

/// Dropping an erased value used to take memory for a list, and ended the process when there was
/// none.
#[test]
fn erasing_from_a_typed_array_needs_no_memory() {
    static NUMBER: u64 = 5;
    let array = XArray::new();
    for i in 0..200 {
        array.store(i * 7, &NUMBER).expect("memory");
    }
    let (entered, done) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let section = pin();
            entered.wait();
            done.wait();
            drop(section);
        });
        entered.wait();
        REFUSES.set(true);
        (0..100).for_each(|i| drop(array.remove(i * 7)));
        REFUSES.set(false);
        done.wait();
        reader.join().expect("no panic");
    });
    REFUSES.set(true);
    let waited = (100..200).filter_map(|i| array.remove(i * 7));
    let waited = waited.map(|removed| *removed.wait()).filter(|&number| number == NUMBER).count();
    REFUSES.set(false);
    assert_eq!(waited, 100);
    assert!(array.is_empty());
}

/// Dropping an array used to enter a section, in which owners that wait for readers panicked.
#[test]
fn an_owner_may_wait_for_readers_while_its_array_is_dropped() {
    #[derive(Debug)]
    struct Waits(u64);
    impl Drop for Waits {
        fn drop(&mut self) {
            synchronize();
        }
    }
    let array = XArray::new();
    array.store(3, Box::new(Waits(5))).expect("memory");
    assert_eq!(array.load(3, &pin()).map(|waits| waits.0), Some(5));
    drop(array);
}

/// Entries are divided above leaves, where a word with the bits of a node's used to be followed as a
/// pointer.
#[test]
fn dividing_into_words_that_look_like_nodes_is_refused() {
    let array = RawXArray::new(Flags::NONE);
    array.lock().store_order(0, 12, Entry::value(1)).expect("memory");
    let writer = array.lock();
    let look_alike = Entry::from_ptr(std::ptr::without_provenance::<u8>(1 << 62 | 0x5002));
    for entry in [look_alike, Entry::NULL, Entry::RETRY, Entry::ZERO] {
        assert_eq!(writer.cursor(0, 6).split(12, entry), Err(Error::Invalid));
        assert_eq!(writer.cursor(0, 7).split(12, entry), Err(Error::Invalid));
    }
    drop(writer);
    assert_eq!(array.load(4095, &pin()), Entry::value(1));
}

/// The order that a caller named for an entry used to be believed. Orders that were too large overran the index, others
/// left slots that named siblings beyond the entry.
#[test]
fn dividing_an_entry_of_another_order_is_refused() {
    let array = RawXArray::new(Flags::NONE);
    array.lock().store_order(4, 2, Entry::value(1)).expect("memory");
    for (order, old_order) in [(0, 1), (0, 3), (3, 4), (6, 12), (0, 64), (0, 100)] {
        let split = array.lock().cursor(4, order).split(old_order, Entry::value(2));
        assert_eq!(split, Err(Error::Invalid), "order {old_order} into {order}");
    }
    assert_eq!(array.lock().cursor(900, 0).split(2, Entry::value(2)), Err(Error::Invalid));
    assert_eq!(array.lock().cursor(4, 1).split(2, Entry::value(2)), Ok(()));
    let section = pin();
    let found: Vec<Entry> = (3..9).map(|index| array.load(index, &section)).collect();
    let two = Entry::value(2);
    assert_eq!(found, [Entry::NULL, two, two, two, two, Entry::NULL]);
    assert_eq!(array.order(6, &section), 1);
}

#[test]
fn a_bucket_of_many_slots_that_shrinks_to_a_run_becomes_a_leaf_in_one_of_them() {
    for run in 9..=16_u64 {
        let array = RawXArray::new(Flags::NONE);
        let value = |index: u64| Entry::value(index as usize);
        let stored = (0..256).map(|i| i * 32).filter(|index| !(1..2048).contains(index));
        let (stored, run) = (stored.collect::<Vec<_>>(), 1024..1024 + run);
        for index in (0..256).map(|i| i * 32).chain(run.clone()) {
            array.lock().store(index, value(index)).expect("memory");
        }
        for index in (0..256).map(|i| i * 32).filter(|index| !run.contains(index)) {
            if !stored.contains(&index) {
                array.lock().remove(index);
            }
        }
        array.lock().remove(0);
        let guard = pin();
        for index in 0..8192 {
            let is_there = run.contains(&index) || index != 0 && stored.contains(&index);
            let expected = if is_there { value(index) } else { Entry::NULL };
            assert_eq!(array.load(index, &guard), expected, "index {index} beside {run:?}");
        }
    }
}
