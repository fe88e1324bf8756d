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
}

impl Op {
    pub const ALL: [Self; 8] = [
        Self::Hit,
        Self::Chain,
        Self::Miss,
        Self::Insert,
        Self::InsertRandom,
        Self::Erase,
        Self::EraseRandom,
        Self::Iterate,
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
    note(Op::Erase, n, &mut || {
        peer.erase(&orders.ascending);
        true
    });
    times.bytes_per_entry = bytes as f64 / n as f64;
}
