//! Tests: any rows at all are replayed, and none makes the engine or the counters lose track.

use std::sync::Arc;

use slablab_kmem::{Backend, BackendKind, WithBackend};
use slablab_trace::{Batch, Cache, Event, Kind, Meta, NONE, Site, SlabSnapshot, SlubCache};

use crate::advice::partition::Partition;
use crate::advice::survey::Classes;
use crate::engine::machine;
use crate::engine::runner::{Outcome, Runner};
use crate::error::Error;
use crate::metrics::tally::Tally;
use crate::plan::Plan;

/// xorshift64*: the rows are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.next() as usize % values.len()]
    }

    fn row(&mut self) -> Event {
        let small = self.next() % 300;
        let size = self.of(&[small, small, small * 16, 0, 8192, 8193, 1 << 22, 1 << 32, u64::MAX]);
        Event {
            time_ns: self.of(&[small * 1_000, 5, 3_000_000, 1 << 40, u64::MAX - 1, u64::MAX]),
            cpu: (small % 3) as u16,
            pid: 0,
            kind: self.of(&[
                Kind::Kmalloc,
                Kind::KmemCacheAlloc,
                Kind::Kfree,
                Kind::KmemCacheFree,
                Kind::ImplicitFree,
            ]),
            object: self.of(&[
                small as u32 % 40,
                small as u32,
                70_000,
                4_000_000_000,
                NONE - 1,
                NONE,
            ]),
            site: self.of(&[0, 1, 2, 900, NONE]),
            cache: self.of(&[0, 1, 2, 3, 900, NONE]),
            bytes_req: size,
            bytes_alloc: self.of(&[size, 0, 24, u64::MAX]),
            gfp: self.of(&[0, 0xcc0, 0xdc0, u32::MAX, 1, 0x10]),
            node: self.of(&[-1, 0, 1, 2, i16::MAX, i16::MIN, -2]),
        }
    }
}

fn meta() -> Meta {
    let cache = |name: &str, allocs, bytes_req_max| Cache {
        name: name.into(),
        allocs,
        bytes_req_max,
        ..Cache::default()
    };
    let slub = |name: &str, numbers: &[(&str, u64)]| SlubCache {
        name: name.into(),
        numbers: numbers.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect(),
        ..SlubCache::default()
    };
    let mut slabs = SlabSnapshot::default();
    slabs.caches = vec![
        slub("c", &[("object_size", 40), ("slab_size", 0), ("order", 200), ("align", 3)]),
        slub("d", &[("object_size", 40), ("slab_size", 48), ("order", 1), ("align", 8)]),
    ];
    Meta {
        cpus: 3,
        nodes: 2,
        events: 1_900,
        object_slots: 7,
        time_first_ns: 1_000,
        time_last_ns: 1_001,
        sites: vec![
            Site { name: "f+0x1".into(), ..Site::default() },
            Site { name: "g+0x2".into(), ..Site::default() },
        ],
        caches: vec![
            cache("a", 0, 0),
            cache("b", 9, u64::MAX),
            cache("c", 9, 40),
            cache("d", 9, 40),
        ],
        slabs_start: Some(slabs),
        ..Meta::default()
    }
}

struct Replay<'a>(&'a Meta, &'a Plan, &'a Batch);

impl WithBackend for Replay<'_> {
    type Output = Result<Outcome, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machine = machine::build::<B>(self.0, self.1)?;
        let mut runner = Runner::new(&machine, self.0, self.1)?;
        runner.batch(self.2)?;
        runner.finish()
    }
}

#[test]
fn any_rows_are_replayed_and_the_memory_is_accounted_for() {
    let meta = meta();
    let classes = Classes::new(&[8, 64, 192, 8192]);
    for seed in 1..=12 {
        let mut random = Random(seed);
        let mut batch = Batch::default();
        (0..2_000).for_each(|_| batch.push(&random.row()));
        let plan = Plan { memory_bytes: 64 << 20, validate_every: Some(100), ..Plan::default() };
        let mut tally = Tally::new(&meta);
        tally.batch(&batch);
        for kind in BackendKind::ALL {
            let outcome = kind.dispatch(Replay(&meta, &plan, &batch)).unwrap();
            let allocator = outcome.allocator;
            assert!(
                allocator.operations > 100 && allocator.series.len() <= 513,
                "{kind}, seed {seed}"
            );
        }
        let rows = batch.len();
        let part = Partition::new(&classes, meta.events).batch(Arc::new(batch));
        assert_eq!(part.batch.len(), rows);
    }
}

#[test]
fn a_row_on_a_cpu_beyond_the_machine_is_named() {
    let mut batch = Batch::default();
    let mut random = Random(7);
    (0..10).for_each(|_| batch.push(&Event { cpu: 2, ..random.row() }));
    batch.push(&Event { cpu: 5_000, ..random.row() });
    let meta = Meta { cpus: 4_000_000_000, ..meta() };
    let error = machine::check_cpus(&meta, &batch, 100).unwrap_err().to_string();
    assert!(error.starts_with("row 110,") && error.contains("CPU 5000"), "{error}");
    batch.cpu[10] = 4_095;
    assert!(machine::check_cpus(&meta, &batch, 100).is_ok());
    assert_eq!(
        machine::build::<slablab_kmem::Slub>(&meta, &Plan::default()).unwrap().cpu_count(),
        4_096
    );
}
