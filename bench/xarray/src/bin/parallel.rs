//! Readers beside a writer: lookups a second of each array, alone and while another thread stores and erases.
//!
//! `parallel [--seconds S] [--peers DIR]`. One reader, and no writer or one; half of the keys are touched by it. Then how
//! long writers wait for readers.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bench_xarray::keys::{self, KeySet, Random};
use bench_xarray::measure::thread_ns;
use bench_xarray::peers::{Kernel, Library, Peer};
use slablab_xarray::{Entry, Flags, RawXArray, pin};

/// Times that each pair, alone and beside a writer, is run.
const PAIRS: usize = 2;

struct Keys {
    read: Vec<u64>,
    written: Vec<u64>,
    entries: Vec<u64>,
}

/// Returns CPU nanoseconds of a read and of a change.
trait Parallel: Sync {
    fn fill(&mut self, keys: &KeySet);
    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64;
    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64;
}

/// Reads until told to stop and returns how often.
fn read_with(keys: &Keys, stop: &AtomicBool, get: impl Fn(u64)) -> u64 {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        (0..1024).for_each(|i| get(keys.read[(count + i) % keys.read.len()]));
        count += 1024;
    }
    count as u64
}

/// Removes and stores each written key in turn until told to stop and returns how often.
fn write_with(
    keys: &Keys,
    stop: &AtomicBool,
    mut remove: impl FnMut(u64),
    mut store: impl FnMut(u64, u64),
) -> u64 {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..64 {
            let at = count / 2 % keys.written.len();
            if count % 2 == 1 {
                store(keys.written[at], keys.entries[at])
            } else {
                remove(keys.written[at])
            }
            count += 1;
        }
    }
    count as u64
}

struct Ours(RawXArray);

impl Parallel for Ours {
    fn fill(&mut self, keys: &KeySet) {
        for &key in &keys.present {
            self.0.lock().store(key, Entry::value(key as usize >> 1)).expect("memory");
        }
    }

    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        read_with(keys, stop, |key| {
            std::hint::black_box(self.0.load(key, &pin()));
        })
    }

    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let remove = |key| {
            self.0.lock().remove(key);
        };
        write_with(keys, stop, remove, |key, entry| {
            self.0.lock().store(key, Entry::value(entry as usize >> 1)).expect("memory");
        })
    }
}

/// A peer in Rust: how it stores, reads and removes.
macro_rules! map {
    ($name:ident, $map:ty, |$self:ident, $key:ident| $get:expr, |$entry:ident| $insert:expr, $remove:expr) => {
        #[derive(Default)]
        struct $name($map);

        impl Parallel for $name {
            fn fill(&mut self, keys: &KeySet) {
                let $self = &*self;
                for &$key in &keys.present {
                    let $entry = $key | 1;
                    let _ = $insert;
                }
            }

            fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
                let $self = self;
                read_with(keys, stop, |$key| {
                    std::hint::black_box($get);
                })
            }

            fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
                let $self = self;
                let remove = |$key: u64| {
                    let _ = $remove;
                };
                write_with(keys, stop, remove, |$key, $entry| {
                    let _ = $insert;
                })
            }
        }
    };
}

map!(
    Papaya,
    papaya::HashMap<u64, u64>,
    |map, key| map.0.pin().get(&key).copied(),
    |entry| map.0.pin().insert(key, entry),
    map.0.pin().remove(&key)
);
map!(
    Skip,
    crossbeam_skiplist::SkipMap<u64, u64>,
    |map, key| map.0.get(&key).map(|found| *found.value()),
    |entry| map.0.insert(key, entry),
    map.0.remove(&key)
);
map!(
    Sharded,
    Shards,
    |map, key| map.0.of(key).read().expect("no panic").get(&key).copied(),
    |entry| map.0.of(key).write().expect("no panic").insert(key, entry),
    map.0.of(key).write().expect("no panic").remove(&key)
);

/// A B-tree for each of 64 parts of the keys, each behind a lock of its own.
struct Shards([RwLock<BTreeMap<u64, u64>>; 64]);

impl Default for Shards {
    fn default() -> Self {
        Self(std::array::from_fn(|_| RwLock::default()))
    }
}

impl Shards {
    fn of(&self, key: u64) -> &RwLock<BTreeMap<u64, u64>> {
        &self.0[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize]
    }
}

struct Theirs(Kernel, &'static Library);

// SAFETY: the kernel's array may be read beside one writer; that is what is measured.
unsafe impl Sync for Theirs {}

impl Theirs {
    fn array(&self) -> *mut c_void {
        self.0.array
    }
}

impl Parallel for Theirs {
    fn fill(&mut self, keys: &KeySet) {
        let entries: Vec<u64> = keys.present.iter().map(|key| key | 1).collect();
        self.0.insert(&keys.present, &entries);
    }

    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let (keys, n) = (keys.read.as_ptr(), keys.read.len() as u64);
        // SAFETY: as kxa.c says.
        unsafe { (self.1.read_until)(self.array(), keys, n, stop.as_ptr().cast()) }
    }

    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let (written, entries, n) =
            (keys.written.as_ptr(), keys.entries.as_ptr(), keys.written.len() as u64);
        // SAFETY: as kxa.c says.
        unsafe { (self.1.write_until)(self.array(), written, entries, n, stop.as_ptr().cast()) }
    }
}

fn run(array: &dyn Parallel, keys: &Keys, has_writer: bool, time: Duration) -> (f64, f64) {
    let stop = AtomicBool::new(false);
    let timed = |work: &dyn Fn() -> u64| {
        let start = thread_ns();
        let count = work();
        (thread_ns() - start) as f64 / count as f64
    };
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| timed(&|| array.read(keys, &stop)));
        let writer =
            scope.spawn(|| if has_writer { timed(&|| array.write(keys, &stop)) } else { 0.0 });
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        (reader.join().expect("no panic"), writer.join().expect("no panic"))
    })
}

fn main() {
    let (mut time, mut folder) = (Duration::from_secs(1), String::from("target/peer"));
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match (word.as_str(), words.next()) {
            ("--seconds", Some(s)) if s.parse::<u64>().is_ok() => {
                time = Duration::from_secs(s.parse().expect("checked"))
            }
            ("--peers", Some(dir)) => folder = dir,
            _ => {
                eprintln!("usage: parallel [--seconds S] [--peers DIR]");
                std::process::exit(2);
            }
        }
    }
    let libraries: &'static [Library] = Library::load_all(folder.as_ref()).leak();
    let Some(library) = libraries.iter().find(|library| library.name == "O3") else {
        eprintln!("parallel: no libkxa-O3.so in {folder}: run peer/build.sh first");
        std::process::exit(2);
    };
    println!(
        "{:<16}{:<12}{:>14}{:>22}{:>8}{:>14}",
        "keys", "array", "read alone", "read beside a writer", "ratio", "change"
    );
    for set in keys::all(100_000) {
        let mut random = Random(3);
        let mut read = set.present.clone();
        random.shuffle(&mut read);
        let written: Vec<u64> = read.iter().copied().step_by(2).collect();
        let entries = written.iter().map(|key| key | 1).collect();
        let keys = Keys { read, written, entries };
        let mut arrays: [(&str, Box<dyn Parallel>); 5] = [
            ("slablab", Box::new(Ours(RawXArray::new(Flags::NONE)))),
            ("kernel O3", Box::new(Theirs(Kernel::new(library), library))),
            ("papaya", Box::<Papaya>::default()),
            ("skip list", Box::<Skip>::default()),
            ("64 B-trees", Box::<Sharded>::default()),
        ];
        for (name, array) in &mut arrays {
            array.fill(&set);
            // Pairs of both, and of each the shortest time: other programs disturb either.
            let pairs: Vec<_> = (0..PAIRS)
                .map(|_| {
                    let (alone, _) = run(array.as_ref(), &keys, false, time);
                    (alone, run(array.as_ref(), &keys, true, time))
                })
                .collect();
            let least =
                |of: fn(&(f64, (f64, f64))) -> f64| pairs.iter().map(of).fold(f64::MAX, f64::min);
            let (alone, beside, change) = (least(|p| p.0), least(|p| p.1.0), least(|p| p.1.1));
            println!(
                "{:<16}{name:<12}{alone:>11.1} ns{beside:>19.1} ns{:>8.2}{change:>11.1} ns",
                set.name,
                beside / alone
            );
        }
    }
    grace_periods(time);
}

/// Prints how long a writer waits for a grace period while another thread reads.
fn grace_periods(time: Duration) {
    let array = RawXArray::new(Flags::NONE);
    let stop = AtomicBool::new(false);
    let mut waits = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let section = pin();
                (0..64).for_each(|key| {
                    std::hint::black_box(array.load(key, &section));
                });
            }
        });
        let start = Instant::now();
        let mut waits = Vec::new();
        while start.elapsed() < time {
            let start = Instant::now();
            slablab_xarray::synchronize();
            waits.push(start.elapsed().as_secs_f64() * 1e6);
        }
        stop.store(true, Ordering::Relaxed);
        waits
    });
    waits.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize];
    println!(
        "\ngrace periods beside a reader whose sections are 64 lookups: {} waits, p50 {:.1} us, p99 {:.1} us, longest {:.1} us",
        waits.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}
