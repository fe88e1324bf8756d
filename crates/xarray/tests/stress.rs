//! Readers, writers and reclamation run at once. AddressSanitizer (`make test-xarray-races`) reports any node
//! that is freed under a reader.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use slablab_xarray::{
    Entry, Filter, Flags, Gfp, IdLimit, Ida, Mark, RawXArray, XArray, pin, synchronize,
};

/// How long each test runs, in milliseconds.
fn duration() -> Duration {
    let ms = std::env::var("STRESS_MS").ok().and_then(|ms| ms.parse().ok()).unwrap_or(300);
    Duration::from_millis(ms)
}

/// Joins one thread: ThreadSanitizer does not see the end of a scope alone as a hand-over.
fn join(thread: std::thread::ScopedJoinHandle<'_, ()>) {
    thread.join().expect("no panic");
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 33
    }
}

/// Indices at several densities, so that nodes of all kinds come and go.
fn index(random: &mut Random) -> u64 {
    let i = random.next();
    match i % 4 {
        0 => i / 4 % 64,
        1 => 4096 + i / 4 % 512,
        2 => (i / 4 % 256) * 64,
        _ => (i / 4 % 64) << 40,
    }
}

/// Every entry contains its index, so that a reader notices an entry of another index.
fn value(index: u64, salt: u64) -> Entry {
    Entry::value((index << 8 | (salt & 0xff)) as usize & Entry::VALUE_MAX)
}

fn belongs(entry: Entry, index: u64) -> bool {
    entry.is_null() || entry.as_value().is_some_and(|value| value as u64 >> 8 == index)
}

#[test]
fn readers_see_only_what_was_stored_at_their_index() {
    let array = RawXArray::new(Flags::NONE);
    let (stop, reads) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let readers = [0, 1].map(|seed| {
            let (array, stop, reads) = (&array, &stop, &reads);
            scope.spawn(move || {
                let mut random = Random(seed);
                while !stop.load(Ordering::Relaxed) {
                    let guard = pin();
                    for _ in 0..32 {
                        let index = index(&mut random);
                        let entry = array.load(index, &guard);
                        assert!(belongs(entry, index), "{index:#x}: {entry:?}");
                        reads.fetch_add(1, Ordering::Relaxed);
                    }
                    let from = index(&mut random);
                    let mut last = None;
                    for (index, entry) in
                        array.entries(from, u64::MAX, Filter::Present, &guard).take(40)
                    {
                        assert!(belongs(entry, index) && last.is_none_or(|last| last < index));
                        last = Some(index);
                    }
                    array.get_mark(from, Mark::M1, &guard);
                }
            })
        });
        let mut random = Random(99);
        let start = Instant::now();
        while start.elapsed() < duration() {
            for _ in 0..256 {
                let index = index(&mut random);
                let writer = array.lock();
                match random.next() % 8 {
                    0..4 => drop(writer.store(index, value(index, random.next())).expect("memory")),
                    4 => writer.mark(index, Mark::M1),
                    5 => writer.set_range(index & !63, index | 63, Entry::NULL).expect("erasing"),
                    _ => drop(writer.remove(index)),
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(join);
    });
    assert!(reads.into_inner() > 0);
    array.clear();
    synchronize();
}

#[test]
fn a_walk_misses_nothing_that_stays_while_buckets_divide() {
    const KEPT: usize = 61;
    let (array, stop) = (RawXArray::new(Flags::NONE), AtomicBool::new(false));
    let kept: Vec<u64> = (0..1 << 13).step_by(KEPT).collect();
    for &index in &kept {
        array.lock().store(index, value(index, 0)).expect("memory");
        array.lock().mark(index, Mark::M1);
    }
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for filter in [Filter::Present, Filter::Marked(Mark::M1)] {
                    let guard = pin();
                    let indices =
                        array.entries(0, u64::MAX, filter, &guard).map(|(index, _)| index);
                    let seen: Vec<u64> = indices.filter(|index| index % KEPT as u64 == 0).collect();
                    assert_eq!(seen, kept, "{filter:?}");
                }
            }
        });
        let mut others: Vec<u64> = (0..1 << 13).filter(|index| index % KEPT as u64 != 0).collect();
        let (mut random, start) = (Random(5), Instant::now());
        while start.elapsed() < duration() {
            for i in (1..others.len()).rev() {
                others.swap(i, random.next() as usize % (i + 1));
            }
            for &index in &others {
                array.lock().store(index, value(index, 1)).expect("memory");
            }
            for &index in &others {
                array.lock().remove(index);
            }
        }
        stop.store(true, Ordering::Relaxed);
        join(reader);
    });
}

#[test]
fn a_walk_misses_nothing_while_a_full_bucket_gives_up_slots() {
    let kept: Vec<u64> = (0..128).step_by(2).chain([4000]).collect();
    let start = Instant::now();
    while start.elapsed() < duration() {
        let (array, stop) = (RawXArray::new(Flags::NONE), AtomicBool::new(false));
        let store = |index| {
            array.lock().store(index, value(index, 0)).expect("memory");
        };
        // Other entries make the dense node, so that the kept ones fill a bucket for half of its slots.
        (2048..2240).step_by(2).for_each(store);
        kept.iter().copied().for_each(store);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let guard = pin();
                    let seen = array.entries(0, u64::MAX, Filter::Present, &guard);
                    let seen: Vec<u64> = seen.map(|(index, _)| index).collect();
                    assert!(seen.is_sorted());
                    assert!(kept.iter().all(|index| seen.binary_search(index).is_ok()), "{seen:?}");
                    assert!(kept.iter().all(|&index| array.load(index, &guard) == value(index, 0)));
                }
            });
            (128..1024).step_by(2).for_each(store);
            stop.store(true, Ordering::Relaxed);
            join(reader);
        });
    }
}

#[test]
fn boxes_live_as_long_as_readers_look() {
    let array: XArray<Box<[u64; 4]>> = XArray::new();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [0, 1].map(|seed| {
            let (array, stop) = (&array, &stop);
            scope.spawn(move || {
                let mut random = Random(seed);
                while !stop.load(Ordering::Relaxed) {
                    let guard = pin();
                    let index = index(&mut random);
                    if let Some(object) = array.load(index, &guard) {
                        assert_eq!(*object, [index; 4]);
                    }
                }
            })
        });
        let mut random = Random(5);
        let start = Instant::now();
        while start.elapsed() < duration() {
            for _ in 0..256 {
                let index = index(&mut random);
                if random.next().is_multiple_of(3) {
                    drop(array.remove(index));
                } else {
                    drop(array.store(index, Box::new([index; 4])).expect("memory"));
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(join);
    });
}

/// Four threads at once run every operation of the typed interface, of ids and of cursors: each both reads and
/// writes.
#[test]
fn the_whole_face_by_all_threads_at_once() {
    let plain: XArray<Box<[u64; 4]>> = XArray::new();
    let ids: XArray<std::sync::Arc<u64>> = XArray::with_flags(Flags::ALLOC);
    let ida = Ida::new();
    let start = Instant::now();
    std::thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|seed| {
            let (plain, ids, ida) = (&plain, &ids, &ida);
            scope.spawn(move || {
                let mut random = Random(seed);
                while start.elapsed() < duration() {
                    one_of_everything(plain, ids, ida, &mut random);
                }
            })
        });
        threads.into_iter().for_each(join);
    });
    drop((plain, ids));
    ida.clear();
    assert!(ida.is_empty());
    synchronize();
}

fn one_of_everything(
    plain: &XArray<Box<[u64; 4]>>,
    ids: &XArray<std::sync::Arc<u64>>,
    ida: &Ida,
    random: &mut Random,
) {
    let at = index(random);
    let whole = |object: &[u64; 4], at: u64| assert_eq!(*object, [at; 4]);
    match random.next() % 16 {
        0..3 => plain
            .store(at, Box::new([at; 4]))
            .expect("memory")
            .iter()
            .for_each(|old| whole(old.get(), at)),
        3 => drop(plain.insert(at, Box::new([at; 4]))),
        4 | 5 => plain.remove(at).iter().for_each(|old| whole(old.get(), at)),
        6 if random.next().is_multiple_of(64) => {
            plain.remove(at).into_iter().for_each(|old| whole(&old.wait(), at));
        }
        6 | 7 => plain.mark(at, Mark::ALL[at as usize % 3]),
        8 => plain.unmark(at, Mark::ALL[at as usize % 3]),
        9 => {
            let section = pin();
            plain.load(at, &section).into_iter().for_each(|object| whole(object, at));
            plain
                .range(at..=u64::MAX, &section)
                .take(80)
                .for_each(|(at, object)| whole(object, at));
        }
        10 => plain.marked(Mark::M1, &pin()).take(80).for_each(|(at, object)| whole(object, at)),
        11 => {
            let locked = plain.lock();
            locked.reserve(at).expect("memory");
            let old = locked.store(at, Box::new([at; 4])).expect("it was reserved");
            let new = locked.remove(at);
            drop(locked);
            old.iter().chain(&new).for_each(|object| whole(object.get(), at));
        }
        12 => plain.lock().release(at),
        13 => {
            let id = ids.alloc(std::sync::Arc::new(at), IdLimit::SHORT).expect("ids");
            assert!(ids.remove(id.into()).is_some_and(|removed| *removed.get() == at));
        }
        14 => {
            let id = ida.alloc(0..=Ida::MAX, Gfp::KERNEL).expect("ids");
            assert!(ida.free(id));
        }
        _ => drop(ids.iter(&pin()).map(|(_, at)| *at).max()),
    }
}

#[test]
fn multi_index_entries_change_as_a_whole_or_not_at_all() {
    let array = RawXArray::new(Flags::NONE);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (array, stop) = (&array, &stop);
        let readers = [scope.spawn(move || {
            let mut random = Random(1);
            while !stop.load(Ordering::Relaxed) {
                let guard = pin();
                let index = random.next() % 1024;
                let entry = array.load(index, &guard);
                // Each entry covers the 2^order indices around it, or this one alone.
                let covers =
                    |value: usize| (value >> 4) as u64 == index >> (value & 15) << (value & 15);
                assert!(
                    entry.is_null() || entry.as_value().is_some_and(covers),
                    "{index}: {entry:?}"
                );
            }
        })];
        let mut random = Random(2);
        let start = Instant::now();
        while start.elapsed() < duration() {
            for _ in 0..64 {
                let (index, order) = (random.next() % 1024, random.next() % 9);
                let first = index >> order << order;
                let writer = array.lock();
                if random.next().is_multiple_of(3) {
                    writer
                        .set_range(first, first + (1 << order) - 1, Entry::NULL)
                        .expect("erasing");
                    continue;
                }
                // The entry is stored as a new one, so a larger one is removed first.
                writer.set_range(first, first + (1 << order) - 1, Entry::NULL).expect("erasing");
                let entry = Entry::value((first << 4 | order) as usize);
                writer.store_order(first, order as u32, entry).expect("memory");
            }
        }
        stop.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(join);
    });
}
