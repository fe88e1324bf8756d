//! Times one peer on one key set, in rounds that alternate between the peers.

use crate::keys::{KeySet, Random};
use crate::peers::Peer;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Lookups of present keys in random order; the next does not wait for the last.
    Hit,
    /// Each key is what the lookup before it found.
    Chain,
    /// Lookups of absent keys.
    Miss,
    /// Stores in ascending order.
    Insert,
    /// Stores in random order.
    InsertRandom,
    /// Erasures in ascending order.
    Erase,
    /// Erasures in random order.
    EraseRandom,
    /// A walk over everything.
    Iterate,
    /// A walk over the eighth of the entries that is marked.
    IterateMarked,
    /// The first entry at or after absent keys.
    Find,
    /// The first entry after present keys.
    FindAfter,
    /// Walks over 64 entries from random keys on, by entry.
    Scan,
    /// Filling an empty index in ascending order, in the fastest way that it offers.
    Bulk,
    /// Storing one entry at all indices from one key to the 16th after it.
    StoreRange,
}

impl Op {
    pub const ALL: [Self; 14] = [
        Self::Hit,
        Self::Chain,
        Self::Miss,
        Self::Insert,
        Self::InsertRandom,
        Self::Erase,
        Self::EraseRandom,
        Self::Iterate,
        Self::IterateMarked,
        Self::Find,
        Self::FindAfter,
        Self::Scan,
        Self::Bulk,
        Self::StoreRange,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Chain => "chain",
            Self::Miss => "miss",
            Self::Insert => "insert",
            Self::InsertRandom => "insert-random",
            Self::Erase => "erase",
            Self::EraseRandom => "erase-random",
            Self::Iterate => "iterate",
            Self::IterateMarked => "iterate-marked",
            Self::Find => "find",
            Self::FindAfter => "find-after",
            Self::Scan => "scan",
            Self::Bulk => "bulk",
            Self::StoreRange => "store-range",
        }
    }
}

/// Nanoseconds of each round, by operation, and the bytes of a full index.
pub struct Times {
    pub rounds: Vec<Vec<Option<f64>>>,
    pub bytes_per_entry: f64,
}

impl Times {
    #[expect(clippy::new_without_default, reason = "nothing to default to")]
    pub fn new() -> Self {
        Self { rounds: vec![Vec::new(); Op::ALL.len()], bytes_per_entry: 0.0 }
    }

    /// Returns the shortest round: what the machine's other work disturbed least.
    pub fn best(&self, op: Op) -> Option<f64> {
        self.rounds[op as usize].iter().flatten().copied().reduce(f64::min)
    }

    /// Returns the longest round over the shortest.
    pub fn spread(&self, op: Op) -> Option<f64> {
        let longest = self.rounds[op as usize].iter().flatten().copied().reduce(f64::max)?;
        Some(longest / self.best(op)?)
    }
}

/// The keys in the orders that a round needs.
pub struct Orders {
    ascending: Vec<u64>,
    entries_ascending: Vec<u64>,
    shuffled: Vec<u64>,
    entries_shuffled: Vec<u64>,
    absent: Vec<u64>,
}

impl Orders {
    pub fn new(set: &KeySet) -> Self {
        let mut random = Random(7);
        let ascending = set.present.clone();
        let mut shuffled = ascending.clone();
        random.shuffle(&mut shuffled);
        let mut absent = set.absent.clone();
        random.shuffle(&mut absent);
        absent.truncate(shuffled.len());
        // One cycle through all keys, in another order than the one they are looked up in.
        let mut cycle = ascending.clone();
        random.shuffle(&mut cycle);
        let mut next: Vec<(u64, u64)> =
            (0..cycle.len()).map(|i| (cycle[i], cycle[(i + 1) % cycle.len()] << 1 | 1)).collect();
        next.sort_unstable();
        let entry_of =
            |key: &u64| next[next.binary_search_by_key(key, |pair| pair.0).expect("present")].1;
        Self {
            entries_ascending: ascending.iter().map(entry_of).collect(),
            entries_shuffled: shuffled.iter().map(entry_of).collect(),
            ascending,
            shuffled,
            absent,
        }
    }
}

/// CPU time of this thread: what other programs of the machine take does not count.
pub fn thread_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Bytes that the process has from malloc.
fn heap_bytes() -> usize {
    // SAFETY: no arguments.
    let info = unsafe { libc::mallinfo2() };
    info.uordblks + info.hblkhd
}

/// Entries of one scan.
const SCAN_LENGTH: usize = 64;
/// Ranges that are stored, at most about so many.
const RANGES: usize = 1000;
/// Keys from the first to the last of a range.
const RANGE_KEYS: usize = 16;

/// Runs one round of everything on an empty index, and leaves it empty.
pub fn round(peer: &mut dyn Peer, orders: &Orders, times: &mut Times) {
    let n = orders.ascending.len();
    let mut note = |op: Op, count: usize, time: &mut dyn FnMut() -> bool| {
        let start = thread_ns();
        let done = time();
        let ns = (thread_ns() - start) as f64 / count as f64;
        times.rounds[op as usize].push(done.then_some(ns));
    };
    peer.reset();
    note(Op::InsertRandom, n, &mut || {
        peer.insert(&orders.shuffled, &orders.entries_shuffled);
        true
    });
    note(Op::EraseRandom, n, &mut || {
        peer.erase(&orders.shuffled);
        true
    });
    peer.reset();
    let before = heap_bytes();
    note(Op::Insert, n, &mut || {
        peer.insert(&orders.ascending, &orders.entries_ascending);
        true
    });
    let bytes = peer.bytes().unwrap_or_else(|| heap_bytes() - before);
    let mut sum = 0;
    note(Op::Hit, n, &mut || {
        sum = peer.hit(&orders.shuffled);
        true
    });
    let expected =
        orders.entries_ascending.iter().fold(0, |sum: u64, &entry| sum.wrapping_add(entry));
    assert_eq!(sum, expected, "{} lost something", peer.name());
    let steps = n.min(500_000);
    note(Op::Chain, steps, &mut || {
        std::hint::black_box(peer.chain(orders.ascending[0], steps));
        true
    });
    note(Op::Miss, orders.absent.len(), &mut || {
        assert_eq!(peer.hit(&orders.absent), 0);
        !orders.absent.is_empty()
    });
    note(Op::Iterate, n, &mut || peer.iterate().is_some_and(|sum| sum == expected));
    note(Op::Find, orders.absent.len(), &mut || {
        peer.find(&orders.absent).is_some_and(|sum| sum != 0) && !orders.absent.is_empty()
    });
    note(Op::FindAfter, n, &mut || peer.find_after(&orders.shuffled).is_some());
    let starts = &orders.shuffled[..n / SCAN_LENGTH];
    note(Op::Scan, starts.len() * SCAN_LENGTH, &mut || peer.scan(starts, SCAN_LENGTH).is_some());
    let marked: Vec<u64> = orders.ascending.iter().copied().step_by(8).collect();
    let has_marks = peer.iterate_marked(&marked, &mut |walk| {
        note(Op::IterateMarked, marked.len(), &mut || std::hint::black_box(walk()) != 0);
    });
    if !has_marks {
        note(Op::IterateMarked, 1, &mut || false);
    }
    note(Op::Erase, n, &mut || {
        peer.erase(&orders.ascending);
        true
    });
    peer.reset();
    note(Op::Bulk, n, &mut || {
        peer.bulk(&orders.ascending, &orders.entries_ascending);
        true
    });
    peer.reset();
    let ranges =
        orders.ascending.chunks_exact(RANGE_KEYS).step_by((n / RANGE_KEYS / RANGES).max(1));
    let (firsts, lasts): (Vec<u64>, Vec<u64>) =
        ranges.map(|keys| (keys[0], keys[RANGE_KEYS - 1])).unzip();
    note(Op::StoreRange, firsts.len(), &mut || peer.store_ranges(&firsts, &lasts));
    peer.reset();
    times.bytes_per_entry = bytes as f64 / n as f64;
}
