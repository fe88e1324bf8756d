//! What must be refused is refused and changes nothing; what cannot fail in Linux cannot fail here.

use std::cell::Cell;

use slablab_xarray::{
    Entry, Error, Filter, Flags, Gfp, IdLimit, Ida, Mark, RawXArray, Result, Value, Writer, XArray,
    pin, set_alloc_hook,
};

thread_local! {
    /// Node allocations of this thread that still succeed.
    static ALLOCATIONS_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

fn hook(_: Gfp, _: usize) -> bool {
    ALLOCATIONS_LEFT.with(|left| {
        let now = left.get();
        left.set(now.saturating_sub(u64::from(now != u64::MAX)));
        now > 0
    })
}

/// Runs `f` while only `count` node allocations succeed.
fn with_allocations<T>(count: u64, f: impl FnOnce() -> T) -> T {
    set_alloc_hook(Some(hook));
    ALLOCATIONS_LEFT.set(count);
    let result = f();
    ALLOCATIONS_LEFT.set(u64::MAX);
    result
}

fn word(bits: usize) -> Entry {
    Entry::from_ptr(std::ptr::without_provenance::<u8>(bits))
}

/// Indices for arrays of each shape: nothing, the head alone, buckets, leaves, several levels.
fn shapes() -> Vec<Vec<u64>> {
    vec![
        vec![],
        vec![0],
        vec![5],
        (0..8).collect(),
        (0..32).map(|i| i * 3).collect(),
        (0..64).collect(),
        (0..200).map(|i| i * 41).collect(),
        (0..40_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect(),
        vec![0, 63, 64, 4095, 4096, 1 << 40, u64::MAX],
    ]
}

fn array_of(indices: &[u64], flags: Flags) -> RawXArray {
    let array = RawXArray::new(flags);
    for &index in indices {
        let writer = array.lock();
        writer.store(index, Entry::value(index as usize >> 1)).expect("memory");
        if index % 3 == 0 {
            writer.mark(index, Mark::M1);
        }
    }
    array
}

/// Everything that can be seen of an array: entries with their orders and marks, and whether it is empty.
type Sight = (bool, Vec<(u64, Entry, u32, [bool; 3])>);

fn sight(array: &RawXArray) -> Sight {
    let guard = pin();
    let entries = array.entries(0, u64::MAX, Filter::Present, &guard).map(|(index, entry)| {
        let marks = Mark::ALL.map(|mark| array.get_mark(index, mark, &guard));
        (index, entry, array.order(index, &guard), marks)
    });
    (array.is_empty(), entries.collect())
}

/// Entries that users may not store: words of the array's own, error words, error pointers.
fn unstorable() -> Vec<Entry> {
    // Those above the zero entry, 257, used to be stored, and then no lookup found them.
    let own = (0..1024).filter(|&n| n != 257).map(Entry::internal);
    let errors = (1..4095_isize).map(|errno| word((-errno as usize) << 2 | 2));
    // Error pointers with an odd value are integers, too.
    let pointers =
        (1..4095_isize).filter(|errno| errno % 2 == 0).map(|errno| word(-errno as usize));
    own.chain(errors).chain(pointers).collect()
}

type Operation = (&'static str, fn(&Writer<'_>, Entry) -> Result<()>);

const STORES: [Operation; 8] = [
    ("store", |writer, entry| writer.store(70, entry).map(|_| ())),
    ("insert_new", |writer, entry| writer.insert_new(71, entry)),
    ("compare_exchange", |writer, entry| {
        writer.compare_exchange(72, Entry::NULL, entry).map(|_| ())
    }),
    ("store_order 3", |writer, entry| writer.store_order(80, 3, entry).map(|_| ())),
    ("store_order 9", |writer, entry| writer.store_order(512, 9, entry).map(|_| ())),
    ("set_range", |writer, entry| writer.set_range(100, 9000, entry)),
    ("cursor.store", |writer, entry| writer.cursor(1 << 50, 0).store(entry).map(|_| ())),
    ("cursor.store of order 13", |writer, entry| writer.cursor(8192, 13).store(entry).map(|_| ())),
];

#[test]
fn nothing_internal_and_no_error_can_be_stored() {
    for indices in shapes() {
        let array = array_of(&indices, Flags::NONE);
        let before = sight(&array);
        for entry in unstorable() {
            for (name, store) in STORES {
                assert_eq!(store(&array.lock(), entry), Err(Error::Invalid), "{name} {entry:?}");
            }
        }
        assert_eq!(sight(&array), before);
    }
    let array = RawXArray::new(Flags::ALLOC);
    for entry in unstorable() {
        let mut next = 0;
        assert_eq!(array.lock().alloc(entry, IdLimit::ALL), Err(Error::Invalid));
        let cyclic = array.lock().alloc_cyclic(entry, IdLimit::ALL, &mut next);
        assert_eq!((cyclic, next), (Err(Error::Invalid), 0));
    }
    assert!(array.is_empty());
}

#[test]
fn ranges_are_not_reversed_and_hold_no_odd_pointers() {
    let array = array_of(&[3, 70], Flags::NONE);
    let before = sight(&array);
    let writer = array.lock();
    for entry in [Entry::value(1), Entry::NULL] {
        assert_eq!(writer.set_range(71, 70, entry), Err(Error::Invalid));
        assert_eq!(writer.set_range(u64::MAX, 0, entry), Err(Error::Invalid));
    }
    for odd in [word(0x5002), Entry::ZERO] {
        assert_eq!(writer.set_range(0, 100, odd), Err(Error::Invalid));
    }
    assert_eq!(writer.store_order(0, 64, Entry::value(1)), Err(Error::Invalid));
    assert_eq!(writer.store_order(0, 6, word(0x5002)), Err(Error::Invalid));
    drop(writer);
    assert_eq!(sight(&array), before);
}

#[test]
fn ids_run_out() {
    let limit = IdLimit { min: 10, max: 12 };
    let array = RawXArray::new(Flags::ALLOC);
    for id in 10..=12 {
        assert_eq!(array.lock().alloc(Entry::value(0), limit), Ok(id));
    }
    let before = sight(&array);
    let mut next = 11;
    assert_eq!(array.lock().alloc(Entry::value(0), limit), Err(Error::Busy));
    assert_eq!(array.lock().alloc_cyclic(Entry::value(0), limit, &mut next), Err(Error::Busy));
    assert_eq!(next, 11, "the place to go on from moves only when an id was given");
    let reversed = IdLimit { min: 5, max: 4 };
    assert_eq!(array.lock().alloc(Entry::value(0), reversed), Err(Error::Busy));
    let zero = IdLimit { min: 0, max: 0 };
    let from_one = RawXArray::new(Flags::ALLOC1);
    assert_eq!(from_one.lock().alloc(Entry::value(0), zero), Err(Error::Busy));
    assert_eq!(sight(&array), before);
    // An array that hands out no ids cannot run out of them.
    let plain = RawXArray::new(Flags::NONE);
    assert_eq!(plain.lock().alloc(Entry::value(0), limit), Err(Error::Invalid));
    assert!(plain.is_empty());
}

#[test]
fn what_is_taken_is_busy() {
    let array = array_of(&[3], Flags::NONE);
    array.lock().reserve(4).expect("memory");
    let before = sight(&array);
    for index in [3, 4] {
        assert_eq!(array.lock().insert_new(index, Entry::value(9)), Err(Error::Busy));
    }
    assert_eq!(sight(&array), before);
}

#[test]
fn running_out_of_memory_changes_nothing() {
    let reserve: Operation = ("reserve", |writer, _| writer.reserve(77));
    let create: Operation = ("create_range", |writer, _| writer.cursor(640, 7).create_range());
    for indices in shapes() {
        for (name, store) in STORES.into_iter().chain([reserve, create]) {
            // The n-th allocation fails, for each n until all goes well.
            for allocations in 0.. {
                let array = array_of(&indices, Flags::NONE);
                let before = sight(&array);
                let result =
                    with_allocations(allocations, || store(&array.lock(), Entry::value(9)));
                if result.is_ok() {
                    break;
                }
                assert_eq!(result, Err(Error::NoMemory));
                let after = sight(&array);
                if name == "create_range" {
                    // The operation may leave some of its nodes, as in Linux, and then the array is
                    // not "empty".
                    assert_eq!(after.1, before.1);
                } else {
                    assert_eq!(after, before, "{name} after {allocations} allocations");
                }
            }
        }
    }
}

#[test]
fn entries_in_order_take_one_node_for_each_that_stays() {
    // Half of the indices fill buckets, which then divide; three of four fill leaves.
    let dense = (0..4096).filter(|index| index % 4 != 3).collect::<Vec<u64>>();
    for (indices, per_node) in [((0..4096).step_by(2).collect(), 128), (dense, 64)] {
        let array = RawXArray::new(Flags::NONE);
        let (mut stored, mut refused) = (Vec::new(), 0);
        for index in indices {
            let store = || array.lock().store(index, Entry::value(index as usize));
            if with_allocations(0, store).is_err() {
                let guard = pin();
                let seen = array.entries(0, u64::MAX, Filter::Present, &guard);
                assert!(seen.map(|(index, _)| index).eq(stored.iter().copied()), "at {index}");
                let allocations = (1..).find(|&count| with_allocations(count, store).is_ok());
                assert!(index < 1024 || allocations == Some(1), "{allocations:?} at {index}");
                refused += usize::from(index >= 1024);
            }
            array.lock().mark(index, Mark::M1);
            stored.push(index);
        }
        assert_eq!(refused, (4096 - 1024) / per_node);
        let guard = pin();
        let marked = array.entries(0, u64::MAX, Filter::Marked(Mark::M1), &guard);
        assert!(marked.map(|(index, _)| index).eq(stored.iter().copied()));
    }
}

#[test]
fn an_id_without_memory_stays_free() {
    let array = RawXArray::new(Flags::ALLOC);
    let mut next = 5;
    with_allocations(0, || {
        assert_eq!(array.lock().alloc(Entry::value(0), IdLimit::ALL), Err(Error::NoMemory));
        let cyclic = array.lock().alloc_cyclic(Entry::value(0), IdLimit::ALL, &mut next);
        assert_eq!(cyclic, Err(Error::NoMemory));
    });
    assert!(array.is_empty() && next == 5);
    assert_eq!(array.lock().alloc(Entry::value(0), IdLimit::ALL), Ok(0));
}

#[test]
fn erasing_marking_releasing_and_overwriting_need_no_memory() {
    for indices in shapes() {
        let array = array_of(&indices, Flags::NONE);
        let reserved: Vec<u64> =
            (0..50).map(|i| i * 97 + 1).filter(|i| !indices.contains(i)).collect();
        reserved.iter().for_each(|&index| array.lock().reserve(index).expect("memory"));
        with_allocations(0, || {
            let writer = array.lock();
            for &index in &indices {
                let old = writer.store(index, Entry::value(7)).expect("an overwrite");
                assert_eq!(old, Entry::value(index as usize >> 1));
                let old = writer.compare_exchange(index, Entry::value(7), Entry::value(8));
                assert_eq!(old, Ok(Entry::value(7)));
                for mark in Mark::ALL {
                    writer.mark(index, mark);
                    assert!(array.get_mark(index, mark, &pin()));
                    writer.unmark(index, mark);
                    assert!(!array.get_mark(index, mark, &pin()));
                }
            }
            for (i, &index) in reserved.iter().enumerate() {
                if i % 2 == 0 {
                    assert_eq!(writer.store(index, Entry::value(i)), Ok(Entry::NULL));
                    assert_eq!(writer.store(index, Entry::NULL), Ok(Entry::value(i)));
                } else {
                    writer.release(index);
                }
            }
            for &index in &indices {
                assert_eq!(writer.remove(index), Entry::value(8));
            }
        });
        assert!(array.is_empty());
        assert_eq!(array.memory_bytes(), 0);
    }
}

#[test]
fn entries_of_many_indices_need_no_memory_to_change_or_go() {
    for order in [1, 5, 6, 7, 12, 40, 63] {
        let array = RawXArray::new(Flags::NONE);
        array.lock().store_order(1 << order, order, Entry::value(1)).expect("memory");
        let inside = (1 << order) + 1;
        with_allocations(0, || {
            let writer = array.lock();
            assert_eq!(writer.store(inside, Entry::value(2)), Ok(Entry::value(1)));
            writer.mark(inside, Mark::M2);
            assert!(array.get_mark(1 << order, Mark::M2, &pin()));
            assert_eq!(writer.remove(inside), Entry::value(2));
        });
        assert!(array.is_empty(), "order {order}");
    }
}

#[test]
fn a_range_that_ends_inside_larger_entries_changes_all_of_them() {
    let array = RawXArray::new(Flags::NONE);
    array.lock().store_order(0, 7, Entry::value(1)).expect("memory");
    array.lock().store_order(192, 3, Entry::value(1)).expect("memory");
    array.lock().set_range(1, 195, Entry::value(2)).expect("memory");
    let guard = pin();
    for index in 0..200 {
        assert_eq!(array.load(index, &guard), Entry::value(2), "index {index}");
    }
    assert_eq!(array.load(200, &guard), Entry::NULL);
}

#[test]
fn a_range_that_cuts_a_range_becomes_one_entry_with_it() {
    let array = RawXArray::new(Flags::NONE);
    array.lock().set_range(10, 30, Entry::value(1)).expect("memory");
    array.lock().mark(10, Mark::M1);
    for (first, last) in [(20, 40), (5, 12)] {
        array.lock().set_range(first, last, Entry::value(first as usize)).expect("memory");
    }
    let guard = pin();
    assert!((5..=40).all(|index| array.load(index, &guard) == Entry::value(5)));
    assert!(array.get_mark(40, Mark::M1, &guard));
    assert_eq!(array.entries(0, 100, Filter::Present, &guard).count(), 1);
    assert_eq!(array.lock().remove(33), Entry::value(5));
    assert!(array.is_empty());
}

#[test]
fn erasing_a_range_needs_no_memory() {
    for indices in shapes() {
        let array = array_of(&indices, Flags::NONE);
        with_allocations(0, || {
            let writer = array.lock();
            writer.set_range(1, 4096, Entry::NULL).expect("erasing");
        });
        let left: Vec<u64> = sight(&array).1.iter().map(|entry| entry.0).collect();
        let mut expected: Vec<u64> =
            indices.into_iter().filter(|&index| index == 0 || index > 4096).collect();
        expected.sort_unstable();
        assert_eq!(left, expected);
    }
}

/// A range that was iterated to its end still has its ends, and used to be taken for full.
#[test]
fn an_empty_range_has_nothing() {
    let guard = pin();
    let array = XArray::new();
    array.store(3, Value::new(1).expect("small")).expect("memory");
    let ids = Ida::new();
    assert_eq!(ids.alloc(3..=3, Gfp::KERNEL), Ok(3));
    let mut iterated = 3..=3_u32;
    iterated.next();
    #[allow(clippy::reversed_empty_ranges, reason = "they are what is tried")]
    for empty in [iterated, 9..=2] {
        assert_eq!(ids.alloc(empty.clone(), Gfp::KERNEL), Err(Error::Busy));
        assert_eq!(ids.first(empty), None);
    }
    let mut iterated = 3..=3_u64;
    iterated.next();
    #[allow(clippy::reversed_empty_ranges, reason = "they are what is tried")]
    for empty in [iterated, 9..=2] {
        assert_eq!(array.range(empty, &guard).count(), 0);
    }
    assert_eq!((ids.first(3..=3), array.range(3..=3, &guard).count()), (Some(3), 1));
}
