//! What is timed. Every pattern writes the first word of each object it gets, and runs once before the clock starts: the
//! C allocators are one heap for the whole process, which has its memory from the rounds before.

use std::sync::mpsc::sync_channel;
use std::time::Instant;

use crate::heap::Heap;

/// A build without optimization (`make bench-smoke`) does a hundredth of the work: it shows that a pattern runs, not how fast.
const PART: u64 = if cfg!(debug_assertions) { 100 } else { 1 };

/// A way to use an allocator.
#[derive(Debug, Clone, Copy)]
pub enum Pattern {
    /// Allocate one, free it.
    HotPair,
    /// Allocate 64, free 64.
    Batch64,
    /// 10,000 live objects, a random one replaced each time.
    RandomLifetime,
    /// One thread allocates, another frees, 256 at a time through a channel.
    ProducerConsumer,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::HotPair, Self::Batch64, Self::RandomLifetime, Self::ProducerConsumer];

    /// Returns the name in the results.
    pub fn name(self) -> &'static str {
        match self {
            Self::HotPair => "hot-pair",
            Self::Batch64 => "batch-64",
            Self::RandomLifetime => "random-lifetime",
            Self::ProducerConsumer => "producer-consumer",
        }
    }

    /// Returns nanoseconds for one allocation and one free.
    pub fn run<H: Heap>(self, size: usize) -> f64 {
        self.run_in::<H>(&H::shared(size), size)
    }

    /// Returns the KiB that the process has more once everything is free than before anything was allocated.
    pub fn resident_kib<H: Heap>(self, size: usize) -> i64 {
        let before = anonymous_kib();
        let shared = H::shared(size);
        self.run_in::<H>(&shared, size);
        let after = anonymous_kib();
        drop(shared);
        after - before
    }

    #[inline(always)]
    fn run_in<H: Heap>(self, shared: &H::Shared, size: usize) -> f64 {
        match self {
            Self::HotPair => hot_pair::<H>(shared, size),
            Self::Batch64 => batch::<H>(shared, size),
            Self::RandomLifetime => random_lifetime::<H>(shared, size),
            Self::ProducerConsumer => producer_consumer::<H>(shared, size),
        }
    }
}

/// Returns the process's own memory that is resident, without what is mapped from files.
fn anonymous_kib() -> i64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").expect("Linux 4.14 or later");
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse().ok()).expect("a number of kB")
}

#[inline(always)]
fn touch<H: Heap>(local: &H::Local<'_>, object: u64) {
    unsafe { H::address(local, object).write(object) };
}

fn timed(pairs: u64, mut run: impl FnMut()) -> f64 {
    run();
    let start = Instant::now();
    run();
    start.elapsed().as_nanos() as f64 / pairs as f64
}

fn hot_pair<H: Heap>(shared: &H::Shared, size: usize) -> f64 {
    const PAIRS: u64 = 1_000_000 / PART;
    let local = H::local(shared, 0);
    timed(PAIRS, || {
        for _ in 0..PAIRS {
            let object = H::alloc(&local, size);
            touch::<H>(&local, object);
            H::free(&local, object);
        }
    })
}

fn batch<H: Heap>(shared: &H::Shared, size: usize) -> f64 {
    const ROUNDS: u64 = 10_000 / PART;
    let local = H::local(shared, 0);
    let mut objects = [0; 64];
    timed(ROUNDS * 64, || {
        for _ in 0..ROUNDS {
            for object in &mut objects {
                *object = H::alloc(&local, size);
                touch::<H>(&local, *object);
            }
            for object in objects {
                H::free(&local, object);
            }
        }
    })
}

fn random_lifetime<H: Heap>(shared: &H::Shared, size: usize) -> f64 {
    const PAIRS: u64 = 500_000 / PART;
    let local = H::local(shared, 0);
    let mut objects: Vec<u64> = (0..10_000).map(|_| H::alloc(&local, size)).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let ns = timed(PAIRS, || {
        for _ in 0..PAIRS {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let slot = &mut objects[(random >> 32) as usize % 10_000];
            H::free(&local, *slot);
            *slot = H::alloc(&local, size);
            touch::<H>(&local, *slot);
        }
    });
    objects.into_iter().for_each(|object| H::free(&local, object));
    ns
}

fn producer_consumer<H: Heap>(shared: &H::Shared, size: usize) -> f64 {
    const BATCHES: u64 = 1_000 / PART;
    const BATCH: u64 = 256;
    timed(BATCHES * BATCH, || {
        std::thread::scope(|scope| {
            let (full, to_free) = sync_channel::<Vec<u64>>(4);
            let (empty, to_fill) = sync_channel::<Vec<u64>>(8);
            scope.spawn(move || {
                let local = H::local(shared, 1);
                for mut batch in to_free {
                    batch.drain(..).for_each(|object| H::free(&local, object));
                    // The producer may be gone already.
                    let _ = empty.send(batch);
                }
            });
            let local = H::local(shared, 0);
            for _ in 0..BATCHES {
                let mut batch =
                    to_fill.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH as usize));
                for _ in 0..BATCH {
                    let object = H::alloc(&local, size);
                    touch::<H>(&local, object);
                    batch.push(object);
                }
                full.send(batch).expect("the consumer lives");
            }
            drop(full);
        });
    })
}
