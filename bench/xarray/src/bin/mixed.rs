//! Lookups with a share of replacements: operations a second of concurrent maps, by one thread and by two.
//!
//! `mixed [--rounds N] [--ms N] [--map NAME]`. 100,000 entries that are there all the time. A thread takes keys in random order,
//! looks them up, or replaces what is stored there, in 0, 1 and 10 of 100 operations. Each map holds integers, and owners of an
//! integer on the heap (`Box`, or what the map has for it); `--map` chooses some by name, for a profiler. Rounds are
//! interleaved, and the least and the greatest are printed beside the median. The rows "words, one lock" are no map: they are
//! what a map takes at least that has one lock for all changes, as Linux's array. Below that, what a map of ids takes to hand
//! one out, look it up and take it back.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bench_xarray::keys::{self, KeySet, Random};
use bench_xarray::options::Options;
use masstree::{MassTree15, MassTree15Inline};
use slablab_xarray::{Flags, IdLimit, Value, XArray, pin};

/// Entries of each map; fewer in a build without optimization (`make bench-smoke`).
const ENTRIES: u64 = if cfg!(debug_assertions) { 2_000 } else { 100_000 };

/// Of 100 operations so many are replacements.
const WRITES: [u64; 3] = [0, 1, 10];

/// Operations between two looks at the clock.
const BATCH: usize = 256;

/// A map from `u64` that several threads use.
trait Map: Sync {
    /// Looks a key up, and uses what is there.
    fn read(&self, key: u64) -> u64;
    /// Stores another value at a key.
    fn replace(&self, key: u64, value: u64);
}

/// The loop of one thread; made for each map, so that no call stands between.
trait Work: Sync {
    fn fill(&self, set: &KeySet);
    fn work(&self, keys: &[u64], writes: u64, seed: u64, stop: &AtomicBool) -> u64;
}

impl<M: Map> Work for M {
    fn fill(&self, set: &KeySet) {
        set.present.iter().for_each(|key| self.replace(*key, key >> 2));
    }

    fn work(&self, keys: &[u64], writes: u64, seed: u64, stop: &AtomicBool) -> u64 {
        let (mut random, mut done) = (Random(seed), 0);
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..BATCH {
                let drawn = random.draw();
                let key = keys[((u128::from(drawn) * keys.len() as u128) >> 64) as usize];
                if drawn % 100 < writes {
                    self.replace(key, drawn >> 2);
                } else {
                    black_box(self.read(key));
                }
            }
            done += BATCH as u64;
        }
        done
    }
}

/// Declares a map: its type, how it is made, read and changed.
macro_rules! map {
    ($name:ident, $map:ty, $new:expr, |$self:ident, $key:ident, $value:ident| $read:expr, $replace:expr) => {
        struct $name($map);

        impl $name {
            fn boxed() -> Box<dyn Work> {
                Box::new(Self($new))
            }
        }

        impl Map for $name {
            #[inline]
            fn read(&self, $key: u64) -> u64 {
                let $self = &self.0;
                $read
            }

            #[inline]
            fn replace(&self, $key: u64, $value: u64) {
                let $self = &self.0;
                let _ = $replace;
            }
        }
    };
}

fn value_of(integer: u64) -> Value {
    Value::new((integer >> 1) as usize).expect("it has 63 bits")
}

map!(
    OursValues,
    XArray<Value>,
    XArray::new(),
    |map, key, value| map.load(key, &pin()).map_or(0, |found| found.get() as u64),
    map.store(key, value_of(value)).expect("memory")
);
map!(
    OursBoxes,
    XArray<Box<u64>>,
    XArray::new(),
    |map, key, value| map.load(key, &pin()).copied().unwrap_or(0),
    map.store(key, Box::new(value)).expect("memory")
);
map!(
    PapayaValues,
    papaya::HashMap<u64, u64>,
    papaya::HashMap::new(),
    |map, key, value| map.pin().get(&key).copied().unwrap_or(0),
    map.pin().insert(key, value).is_some()
);
map!(
    PapayaBoxes,
    papaya::HashMap<u64, Box<u64>>,
    papaya::HashMap::new(),
    |map, key, value| map.pin().get(&key).map_or(0, |found| **found),
    map.pin().insert(key, Box::new(value)).is_some()
);
map!(
    SccHashValues,
    scc::HashMap<u64, u64>,
    scc::HashMap::new(),
    |map, key, value| map.read_sync(&key, |_, found| *found).unwrap_or(0),
    map.upsert_sync(key, value)
);
map!(
    SccHashBoxes,
    scc::HashMap<u64, Box<u64>>,
    scc::HashMap::new(),
    |map, key, value| map.read_sync(&key, |_, found| **found).unwrap_or(0),
    map.upsert_sync(key, Box::new(value))
);
map!(
    SccTreeValues,
    scc::TreeIndex<u64, u64>,
    scc::TreeIndex::new(),
    |map, key, value| map.peek_with(&key, |_, found| *found).unwrap_or(0),
    map.upsert_sync(key, value)
);
map!(
    SccTreeBoxes,
    scc::TreeIndex<u64, Arc<u64>>,
    scc::TreeIndex::new(),
    |map, key, value| map.peek_with(&key, |_, found| **found).unwrap_or(0),
    map.upsert_sync(key, Arc::new(value))
);
map!(
    DashValues,
    dashmap::DashMap<u64, u64>,
    dashmap::DashMap::new(),
    |map, key, value| map.get(&key).map_or(0, |found| *found),
    map.insert(key, value)
);
map!(
    DashBoxes,
    dashmap::DashMap<u64, Box<u64>>,
    dashmap::DashMap::new(),
    |map, key, value| map.get(&key).map_or(0, |found| **found),
    map.insert(key, Box::new(value))
);
map!(
    MasstreeValues,
    MassTree15Inline<u64>,
    MassTree15Inline::new(),
    |map, key, value| map.get_with_guard(&key.to_be_bytes(), &map.guard()).unwrap_or(0),
    map.insert_with_guard(&key.to_be_bytes(), value, &map.guard())
);
map!(
    MasstreeBoxes,
    MassTree15<u64>,
    MassTree15::new(),
    |map, key, value| map.get_ref(&key.to_be_bytes(), &map.guard()).map_or(0, |found| *found),
    map.insert_with_guard(&key.to_be_bytes(), value, &map.guard()).is_some()
);
map!(
    CongeeValues,
    congee::U64Congee<usize>,
    congee::U64Congee::new(),
    |map, key, value| map.get(key, &congee::epoch::pin()).unwrap_or(0) as u64,
    map.insert(key, value as usize, &congee::epoch::pin()).expect("memory")
);
map!(
    CongeeBoxes,
    congee::CongeeArc<usize, u64>,
    congee::CongeeArc::new(),
    |map, key, value| map.get(key as usize, &map.pin()).map_or(0, |found| *found),
    map.insert(key as usize, Arc::new(value), &map.pin()).expect("memory")
);
map!(
    SkipBoxes,
    crossbeam_skiplist::SkipMap<u64, Box<u64>>,
    crossbeam_skiplist::SkipMap::new(),
    |map, key, value| map.get(&key).map_or(0, |found| **found.value()),
    map.insert(key, Box::new(value))
);

/// Words by a hash of their keys, of which two may share one, and a lock for all changes.
struct Words {
    words: Vec<AtomicU64>,
    lock: Lock,
}

/// A lock on a line of its own.
#[repr(align(128))]
struct Lock(AtomicBool);

/// A power of two above [`ENTRIES`] and the symbols of a kernel.
const WORDS_BITS: u32 = 18;

impl Words {
    fn new() -> Self {
        let words = (0..1 << WORDS_BITS).map(|_| AtomicU64::new(0)).collect();
        Self { words, lock: Lock(AtomicBool::new(false)) }
    }

    #[inline]
    fn word(&self, key: u64) -> &AtomicU64 {
        // The multiplier is 2 to the power of 64 over the golden ratio (Knuth).
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.words[(hash >> (u64::BITS - WORDS_BITS)) as usize]
    }

    #[inline]
    fn locked<T>(&self, work: impl FnOnce() -> T) -> T {
        while self.lock.0.swap(true, Ordering::Acquire) {
            while self.lock.0.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        }
        let result = work();
        self.lock.0.store(false, Ordering::Release);
        result
    }
}

map!(
    WordsValues,
    Words,
    Words::new(),
    |map, key, value| map.word(key).load(Ordering::Acquire),
    map.locked(|| map.word(key).store(value, Ordering::Release))
);

/// Values on the heap that words lead to; the one that is replaced takes the next value.
struct Places {
    words: Words,
    values: Vec<AtomicU64>,
    spare: AtomicU64,
}

impl Places {
    fn new() -> Self {
        let words = Words::new();
        let all = 0..(1 << WORDS_BITS) + 1;
        words.words.iter().zip(1..).for_each(|(word, at)| word.store(at, Ordering::Relaxed));
        Self { words, values: all.map(|_| AtomicU64::new(0)).collect(), spare: AtomicU64::new(0) }
    }
}

map!(
    WordsBoxes,
    Places,
    Places::new(),
    |map, key, value| {
        let place = map.words.word(key).load(Ordering::Acquire);
        map.values[place as usize].load(Ordering::Relaxed)
    },
    map.words.locked(|| {
        let place = map.spare.load(Ordering::Relaxed);
        map.values[place as usize].store(value, Ordering::Relaxed);
        map.spare.store(map.words.word(key).swap(place, Ordering::AcqRel), Ordering::Relaxed);
    })
);

/// The maps, by what they hold: ours first.
fn maps() -> Vec<(&'static str, &'static str, Box<dyn Work>)> {
    vec![
        ("slablab XArray", "values", OursValues::boxed()),
        ("papaya", "values", PapayaValues::boxed()),
        ("scc HashMap", "values", SccHashValues::boxed()),
        ("scc TreeIndex", "values", SccTreeValues::boxed()),
        ("dashmap", "values", DashValues::boxed()),
        ("masstree", "values", MasstreeValues::boxed()),
        ("congee", "values", CongeeValues::boxed()),
        ("words, one lock", "values", WordsValues::boxed()),
        ("slablab XArray", "boxes", OursBoxes::boxed()),
        ("papaya", "boxes", PapayaBoxes::boxed()),
        ("scc HashMap", "boxes", SccHashBoxes::boxed()),
        ("scc TreeIndex", "boxes (Arc)", SccTreeBoxes::boxed()),
        ("dashmap", "boxes", DashBoxes::boxed()),
        ("masstree", "boxes", MasstreeBoxes::boxed()),
        ("congee", "boxes (Arc)", CongeeBoxes::boxed()),
        ("crossbeam SkipMap", "boxes", SkipBoxes::boxed()),
        ("words, one lock", "boxes", WordsBoxes::boxed()),
    ]
}

/// Returns what all threads together do in a second, in millions; `work` is told the number of its thread, from 1, and when to
/// stop, and returns what it did.
fn rate(threads: u64, time: Duration, work: impl Fn(u64, &AtomicBool) -> u64 + Sync) -> f64 {
    let (stop, start) = (AtomicBool::new(false), Barrier::new(threads as usize + 1));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=threads)
            .map(|thread| {
                let (stop, start, work) = (&stop, &start, &work);
                scope.spawn(move || {
                    start.wait();
                    work(thread, stop)
                })
            })
            .collect();
        start.wait();
        let begin = Instant::now();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let done: u64 = workers.into_iter().map(|worker| worker.join().expect("no panic")).sum();
        done as f64 / begin.elapsed().as_secs_f64() / 1e6
    })
}

/// Returns the median of rates, with the least and the greatest.
fn shown(mut rates: Vec<f64>) -> String {
    rates.sort_unstable_by(f64::total_cmp);
    let (low, high) = (rates[0], rates[rates.len() - 1]);
    format!("{:.1} ({low:.1}-{high:.1})", rates[rates.len() / 2])
}

fn replacements(set: &KeySet, rounds: usize, time: Duration, wanted: &str) {
    let mut maps = maps();
    maps.retain(|(name, holds, _)| format!("{name} {holds}").contains(wanted));
    maps.iter().for_each(|(.., map)| map.fill(set));
    println!("\n{}: {} keys; million operations a second", set.name, set.present.len());
    print!("{:<18}{:<12}", "map", "holds");
    for threads in [1, 2] {
        for writes in WRITES {
            let thread = if threads == 1 { "thread" } else { "threads" };
            print!("{:>20}", format!("{threads} {thread}, {} %", 100 - writes));
        }
    }
    println!();
    let mut rates = vec![Vec::new(); maps.len() * 2 * WRITES.len()];
    for _ in 0..rounds {
        let mut column = rates.iter_mut();
        for (.., map) in &maps {
            for threads in [1, 2] {
                for writes in WRITES {
                    let rates = column.next().expect("one for each");
                    rates.push(rate(threads, time, |thread, stop| {
                        map.work(&set.present, writes, thread, stop)
                    }));
                }
            }
        }
    }
    let mut column = rates.into_iter();
    for (name, holds, _) in &maps {
        print!("{name:<18}{holds:<12}");
        (0..2 * WRITES.len()).for_each(|_| print!("{:>20}", shown(column.next().expect("one"))));
        println!();
    }
}

/// Ids that a map hands out: one is made, looked up ten times and taken back, while [`ENTRIES`] others stay.
trait Ids: Sync {
    fn turn(&self, value: u64) -> u64;
}

const LOOKUPS: u64 = 10;

impl Ids for XArray<Box<u64>> {
    fn turn(&self, value: u64) -> u64 {
        let id = self.alloc(Box::new(value), IdLimit::ALL).expect("memory");
        let found = |sum: u64| sum + self.load(id.into(), &pin()).copied().unwrap_or(0);
        let sum = (0..LOOKUPS).fold(0, |sum, _| found(sum));
        let _ = self.remove(id.into());
        sum
    }
}

impl Ids for idr_ebr::Idr<u64> {
    fn turn(&self, value: u64) -> u64 {
        let key = self.insert(value).expect("room");
        let found = |sum: u64| {
            let guard = idr_ebr::EbrGuard::new();
            sum + self.get(key, &guard).map_or(0, |found| *found)
        };
        let sum = (0..LOOKUPS).fold(0, |sum, _| found(sum));
        self.remove(key);
        sum
    }
}

fn ids(rounds: usize, time: Duration) {
    let ours = XArray::<Box<u64>>::with_flags(Flags::ALLOC);
    let theirs = idr_ebr::Idr::<u64>::new();
    for value in 0..ENTRIES {
        let _ = ours.alloc(Box::new(value), IdLimit::ALL).expect("memory");
        let _ = theirs.insert(value).expect("room");
    }
    println!("\nids: made, looked up {LOOKUPS} times, taken back; million turns a second");
    println!("{:<30}{:>20}{:>20}", "map", "1 thread", "2 threads");
    let maps: [(&str, &dyn Ids); 2] = [("slablab XArray, boxes", &ours), ("idr-ebr", &theirs)];
    let mut rates = vec![Vec::new(); 4];
    for _ in 0..rounds {
        for (at, (_, map)) in maps.iter().enumerate() {
            for threads in [1, 2] {
                let turns = |_: u64, stop: &AtomicBool| {
                    let mut done = 0;
                    while !stop.load(Ordering::Relaxed) {
                        black_box(map.turn(done));
                        done += 1;
                    }
                    done
                };
                rates[at * 2 + threads as usize - 1].push(rate(threads, time, turns));
            }
        }
    }
    let mut rates = rates.into_iter().map(shown);
    for (name, _) in maps {
        let mut next = || rates.next().expect("two for each");
        println!("{name:<30}{:>20}{:>20}", next(), next());
    }
}

fn main() {
    let options = Options { rounds: 7, time: Duration::from_millis(150), own: String::new() };
    let Options { rounds, time, own: wanted } = options.read("mixed", ("--map", "NAME"));
    for set in [Some(keys::dense(ENTRIES)), keys::kernel_text(), Some(keys::random(ENTRIES))] {
        set.iter().for_each(|set| replacements(set, rounds, time, &wanted));
    }
    if wanted.is_empty() {
        ids(rounds, time);
    }
}
