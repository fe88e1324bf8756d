//! Readers beside a writer: lookups a second of each array, alone and while another thread stores and erases.
//!
//! `parallel [--rounds N] [--ms N] [--peers DIR]`. One reader: alone, beside a writer that touches half of its keys, and beside
//! one of another array as large, which costs it what two CPUs share and nothing else. Where the process may, at real-time
//! priority, and the thread that stops the others above them. Then the array and plain words beside writers that change less
//! often, and how long writers wait for readers.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, RwLock};
use std::time::{Duration, Instant};

use bench_xarray::keys::{self, KeySet, Random};
use bench_xarray::measure::thread_ns;
use bench_xarray::options::Options;
use bench_xarray::peers::{Kernel, Library, Peer};
use slablab_xarray::{Entry, Flags, RawXArray, pin};

/// A round counts if the writer had a CPU for so much of it; up to so many tries are made.
const WRITER_SHARE_MIN: f64 = 0.9;
const TRIES: usize = 4;

/// Entries of each array; fewer in a build without optimization (`make bench-smoke`).
const ENTRIES: u64 = if cfg!(debug_assertions) { 2_000 } else { 100_000 };

/// How long a writer waits between two changes, in the last table.
const PAUSES_NS: [u32; 5] = [0, 100, 300, 1_000, 3_000];

struct Keys {
    read: Vec<u64>,
    written: Vec<u64>,
    entries: Vec<u64>,
    /// The same keys as places in rising order
    read_places: Vec<usize>,
    written_places: Vec<usize>,
    /// Multiplications between two changes
    pause: u64,
}

impl Keys {
    /// All keys are read in random order; every second of these is written.
    fn of(set: &KeySet) -> Self {
        let mut read_places: Vec<usize> = (0..set.present.len()).collect();
        Random(3).shuffle(&mut read_places);
        let written_places: Vec<usize> = read_places.iter().copied().step_by(2).collect();
        let of = |places: &[usize]| places.iter().map(|place| set.present[*place]).collect();
        let (read, written): (Vec<u64>, Vec<u64>) = (of(&read_places), of(&written_places));
        let entries = written.iter().map(|key| key | 1).collect();
        Self { read, written, entries, read_places, written_places, pause: 0 }
    }
}

/// Returns CPU nanoseconds of a read and of a change.
trait Parallel: Sync {
    fn fill(&mut self, keys: &KeySet);
    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64;
    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64;
    /// Says how long a read and a change of an XArray take, to those that are paced.
    fn pace(&self, _read_ns: f64, _change_ns: f64) {}
}

/// Reads until told to stop and returns how often.
fn read_with<K: Copy>(keys: &[K], stop: &AtomicBool, get: impl Fn(K)) -> u64 {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        (0..1024).for_each(|i| get(keys[(count + i) % keys.len()]));
        count += 1024;
    }
    count as u64
}

/// Waits for so many multiplications, and shares nothing with other threads meanwhile.
fn wait(pause: u64) {
    let product =
        (0..pause).fold(1, |product: u64, i| std::hint::black_box(product).wrapping_mul(i | 1));
    std::hint::black_box(product);
}

/// Removes and stores each key in turn until told to stop and returns how often.
fn write_with<K: Copy>(
    written: &[K],
    keys: &Keys,
    stop: &AtomicBool,
    mut remove: impl FnMut(K),
    mut store: impl FnMut(K, u64),
) -> u64 {
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..64 {
            let at = count / 2 % written.len();
            wait(keys.pause);
            if count % 2 == 1 {
                store(written[at], keys.entries[at])
            } else {
                remove(written[at])
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
        read_with(&keys.read, stop, |key| {
            std::hint::black_box(self.0.load(key, &pin()));
        })
    }

    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let remove = |key| {
            self.0.lock().remove(key);
        };
        write_with(&keys.written, keys, stop, remove, |key, entry| {
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
                read_with(&keys.read, stop, |$key| {
                    std::hint::black_box($get);
                })
            }

            fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
                let $self = self;
                let remove = |$key: u64| {
                    let _ = $remove;
                };
                write_with(&keys.written, keys, stop, remove, |$key, $entry| {
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

/// A word for each key and nothing else: what a reader pays for the lines that a writer changes, whatever the array.
#[derive(Default)]
struct Words {
    words: Vec<AtomicU64>,
    /// Multiplications between two reads, and between two changes.
    pauses: [AtomicU64; 2],
}

/// Accesses that are timed to find out how long their pause must be.
const PACED: usize = 10_000;

impl Words {
    /// Returns the shortest pause with which an access takes so long.
    fn pause_for(&self, time_ns: f64, access: impl Fn(&AtomicU64)) -> u64 {
        let takes_ns = |pause: u64| {
            let start = thread_ns();
            for place in 0..PACED {
                wait(pause);
                access(&self.words[place * 7 % self.words.len()]);
            }
            (thread_ns() - start) as f64 / PACED as f64
        };
        (0..).find(|pause| takes_ns(*pause) >= time_ns).expect("a pause takes time")
    }
}

impl Parallel for Words {
    fn fill(&mut self, keys: &KeySet) {
        self.words = keys.present.iter().map(|key| AtomicU64::new(key | 1)).collect();
    }

    /// Words alone could be read five times and changed ten times as often as the entries of an array.
    fn pace(&self, read_ns: f64, change_ns: f64) {
        let read = self.pause_for(read_ns, |word| {
            std::hint::black_box(word.load(Ordering::Acquire));
        });
        let change = self.pause_for(change_ns, |word| word.store(1, Ordering::Release));
        self.pauses[0].store(read, Ordering::Relaxed);
        self.pauses[1].store(change, Ordering::Relaxed);
    }

    fn read(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let pause = self.pauses[0].load(Ordering::Relaxed);
        read_with(&keys.read_places, stop, |place| {
            wait(pause);
            std::hint::black_box(self.words[place].load(Ordering::Acquire));
        })
    }

    fn write(&self, keys: &Keys, stop: &AtomicBool) -> u64 {
        let pause = self.pauses[1].load(Ordering::Relaxed);
        let store = |place: usize, word| {
            wait(pause);
            self.words[place].store(word, Ordering::Release);
        };
        write_with(&keys.written_places, keys, stop, |place| store(place, 0), store)
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

/// Comes before all other programs, where the process may; with priority 0 it comes when they do.
fn real_time(priority: i32, cpu: Option<usize>) {
    let parameters = libc::sched_param { sched_priority: priority };
    let policy = if priority == 0 { libc::SCHED_OTHER } else { libc::SCHED_FIFO };
    // SAFETY: no more than a number that the system looks at.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
    if let Some(cpu) = cpu {
        // SAFETY: a set of CPUs is valid when zero.
        let mut cpus: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: one of the first two CPUs.
        unsafe { libc::CPU_SET(cpu, &mut cpus) };
        // SAFETY: as above.
        unsafe { libc::sched_setaffinity(0, size_of_val(&cpus), &raw const cpus) };
    }
}

/// Nanoseconds of a read and of a change, and the share of the time that the writer had a CPU.
struct Run {
    read: f64,
    change: f64,
    writer_share: f64,
}

fn run(array: &dyn Parallel, written: Option<&dyn Parallel>, keys: &Keys, time: Duration) -> Run {
    let stop = AtomicBool::new(false);
    // Other programs have their turn, too.
    std::thread::sleep(time / 4);
    // The time runs once all threads do.
    let start = Barrier::new(2 + usize::from(written.is_some()));
    let timed = |cpu: usize, work: &dyn Fn() -> u64| {
        real_time(1, Some(cpu));
        start.wait();
        let (start, start_wall) = (thread_ns(), Instant::now());
        let count = work();
        let ns = (thread_ns() - start) as f64;
        (ns / count as f64, ns / start_wall.elapsed().as_nanos() as f64)
    };
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| timed(0, &|| array.read(keys, &stop)));
        let writer =
            written.map(|written| scope.spawn(|| timed(1, &|| written.write(keys, &stop))));
        start.wait();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let (read, _) = reader.join().expect("no panic");
        let (change, writer_share) =
            writer.map_or((0.0, 1.0), |writer| writer.join().expect("no panic"));
        Run { read, change, writer_share }
    })
}

/// The quarters of a list.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

/// Prints what a reader takes beside a writer over what it takes alone, by how long the writer waits between two changes.
fn beside_slower_writers(rounds: usize, time: Duration) {
    const MULTIPLICATIONS: u64 = 10_000_000;
    let start = thread_ns();
    wait(MULTIPLICATIONS);
    let multiplication_ns = (thread_ns() - start) as f64 / MULTIPLICATIONS as f64;
    println!("\nbeside / alone, by the pause between two changes");
    print!("{:<16}{:<12}", "keys", "array");
    PAUSES_NS.iter().for_each(|pause_ns| print!("{:>24}", format!("{pause_ns} ns")));
    println!();
    for set in keys::all(ENTRIES) {
        let mut keys = Keys::of(&set);
        let arrays: [(&str, Box<dyn Parallel>); 2] = [
            ("slablab", Box::new(Ours(RawXArray::new(Flags::NONE)))),
            ("plain words", Box::<Words>::default()),
        ];
        let mut read_ns = 0.0;
        for (name, mut array) in arrays {
            array.fill(&set);
            array.pace(read_ns, 0.0);
            print!("{:<16}{name:<12}", set.name);
            for pause_ns in PAUSES_NS {
                keys.pause = (f64::from(pause_ns) / multiplication_ns) as u64;
                let mut ratios = Vec::new();
                for _ in 0..rounds {
                    let alone = run(array.as_ref(), None, &keys, time).read;
                    let beside = run(array.as_ref(), Some(array.as_ref()), &keys, time);
                    if beside.writer_share >= WRITER_SHARE_MIN {
                        ratios.push(beside.read / alone);
                        read_ns = alone;
                    }
                }
                match ratios.is_empty() {
                    true => print!("{:>24}", "no CPU"),
                    false => {
                        let [low, median, high] = quartiles(ratios);
                        print!("{:>24}", format!("{median:.2} ({low:.2}-{high:.2})"));
                    }
                }
            }
            println!();
        }
    }
}

fn main() {
    real_time(2, None);
    let options = Options { rounds: 11, time: Duration::from_millis(30), own: "target/peer".into() };
    let Options { rounds, time, own: folder } = options.read("parallel", ("--peers", "DIR"));
    let libraries: &'static [Library] = Library::load_all(folder.as_ref()).leak();
    let Some(library) = libraries.iter().find(|library| library.name == "O3") else {
        eprintln!("parallel: no libkxa-O3.so in {folder}: run peer/build.sh first");
        std::process::exit(2);
    };
    println!(
        "{rounds} rounds of {} ms; medians, and ratios of each round with their quarters",
        time.as_millis()
    );
    println!(
        "{:<16}{:<12}{:>11}{:>11}{:>24}{:>30}{:>12}",
        "keys", "array", "alone", "beside", "beside / alone", "beside / beside another's", "change"
    );
    for set in keys::all(ENTRIES) {
        let keys = Keys::of(&set);
        let pair =
            |array: fn(&'static Library) -> Box<dyn Parallel>| [array(library), array(library)];
        let arrays: [(&str, [Box<dyn Parallel>; 2]); 6] = [
            ("slablab", pair(|_| Box::new(Ours(RawXArray::new(Flags::NONE))))),
            ("kernel O3", pair(|library| Box::new(Theirs(Kernel::new(library), library)))),
            ("papaya", pair(|_| Box::<Papaya>::default())),
            ("skip list", pair(|_| Box::<Skip>::default())),
            ("64 B-trees", pair(|_| Box::<Sharded>::default())),
            ("plain words", pair(|_| Box::<Words>::default())),
        ];
        let (mut read_ns, mut change_ns) = (0.0, 0.0);
        for (name, mut pair) in arrays {
            pair.iter_mut().for_each(|array| array.fill(&set));
            pair.iter().for_each(|array| array.pace(read_ns, change_ns));
            let [array, other] = &pair;
            let busy = |written: &dyn Parallel| {
                let mut runs = (0..TRIES).map(|_| run(array.as_ref(), Some(written), &keys, time));
                runs.find(|run| run.writer_share >= WRITER_SHARE_MIN && run.read.is_finite())
            };
            let mut lists: [Vec<f64>; 5] = Default::default();
            for _ in 0..rounds {
                let alone = run(array.as_ref(), None, &keys, time).read;
                let (Some(beside), Some(floor)) = (busy(array.as_ref()), busy(other.as_ref()))
                else {
                    continue;
                };
                let round = [
                    alone,
                    beside.read,
                    beside.read / alone,
                    beside.read / floor.read,
                    beside.change,
                ];
                lists.iter_mut().zip(round).for_each(|(list, value)| list.push(value));
            }
            if lists[0].is_empty() {
                println!("{:<16}{name:<12} no CPU for the writer", set.name);
                continue;
            }
            let [alone, beside, ratio, floor, change] = lists.map(quartiles);
            if name == "slablab" {
                (read_ns, change_ns) = (alone[1], change[1]);
            }
            let quarters =
                |[low, median, high]: [f64; 3]| format!("{median:.2} ({low:.2}-{high:.2})");
            println!(
                "{:<16}{name:<12}{:>8.1} ns{:>8.1} ns{:>24}{:>30}{:>9.1} ns",
                set.name,
                alone[1],
                beside[1],
                quarters(ratio),
                quarters(floor),
                change[1]
            );
        }
    }
    beside_slower_writers(rounds, time);
    real_time(0, None);
    grace_periods(Duration::from_secs(1));
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
