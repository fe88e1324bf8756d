//! Tests: any rows at all are replayed, and none makes the engine or the counters lose track.

use std::sync::Arc;

use slablab_kmem::{Backend, BackendKind, CpuId, Gfp, Order, Tunables, WithBackend};
use slablab_trace::{Batch, Event, Kind, Meta, NONE, RecordedCache, Site, SlabSnapshot, SlubCache};

use crate::advice::partition::Partition;
use crate::change::changes::Changes;
use crate::change::check::ChangeError;
use crate::engine::runner::{Outcome, Runner};
use crate::engine::{caches, machine};
use crate::error::Error;
use crate::metrics::requests::Classes;
use crate::metrics::tally::Tally;
use crate::plan::ReplayPlan;

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
            stack: self.of(&[NONE, 0, 7]),
        }
    }
}

fn meta() -> Meta {
    let cache = |name: &str, allocs, bytes_req_max| RecordedCache {
        name: name.into(),
        allocs,
        bytes_req_max,
        ..RecordedCache::default()
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

struct Replay<'a>(&'a Meta, &'a ReplayPlan, &'a Batch);

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
        let plan = ReplayPlan {
            memory_bytes: Some(64 << 20),
            validate_every: Some(100),
            ..ReplayPlan::default()
        };
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
    batch.push(&Event { cpu: 9_000, ..random.row() });
    let meta = Meta { cpus: 4_000_000_000, ..meta() };
    let error = machine::check_cpus(&meta, &batch, 100).unwrap_err().to_string();
    assert!(error.starts_with("row 110,") && error.contains("CPU 9000"), "{error}");
    batch.cpu[10] = 8_191;
    assert!(machine::check_cpus(&meta, &batch, 100).is_ok());
    assert_eq!(
        machine::build::<slablab_kmem::Slub>(&meta, &ReplayPlan::default()).unwrap().cpu_count(),
        8_192
    );
}

/// A machine on kept memory used to have 1 GiB of it, whatever the plan said.
#[test]
fn a_machine_has_all_the_memory_of_its_plan() {
    let plan = ReplayPlan { memory_bytes: Some(4 << 30), ..ReplayPlan::default() };
    let machine = machine::build::<slablab_kmem::Slub>(&meta(), &plan).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let most = std::iter::from_fn(|| cpu.alloc_pages(Order::MAX, Gfp::KERNEL));
    let bytes = most.count() as u64 * Order::MAX.bytes();
    assert!(bytes > 2 << 30, "{bytes} of 4 GiB");
}

#[test]
fn a_trace_of_larger_pages_and_short_pointers_is_replayed_on_such_a_machine() {
    let slub = |name: &str, size, order| {
        let numbers = [("object_size", size), ("align", 8), ("slab_size", size), ("order", order)];
        let numbers = numbers.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
        SlubCache { name: name.into(), numbers, ..SlubCache::default() }
    };
    let caches = vec![slub("d", 48, 1), slub("kmalloc-64", 64, 0), slub("kmalloc-128", 128, 0)];
    let mut slabs = SlabSnapshot::default();
    slabs.caches = caches;
    let slabs_start = Some(slabs);
    let meta = Meta { page_bytes: 16 << 10, arch: "armv7l".into(), slabs_start, ..meta() };
    let event = |kind, cache, bytes| {
        let of = Event { kind, cache, bytes_req: bytes, bytes_alloc: bytes, ..Random(7).row() };
        Event { time_ns: 1_000, cpu: 0, site: 0, gfp: 0xcc0, node: -1, ..of }
    };
    let mut batch = Batch::default();
    batch.push(&Event { object: 0, ..event(Kind::KmemCacheAlloc, 3, 48) });
    batch.push(&Event { object: 1, ..event(Kind::Kmalloc, NONE, 20) });
    batch.push(&Event { object: 2, ..event(Kind::Kmalloc, NONE, 30_000) });
    let plan = ReplayPlan::default();
    let allocator = BackendKind::Slub.dispatch(Replay(&meta, &plan, &batch)).unwrap().allocator;
    let held = |name: &str| {
        let cache = allocator.caches.iter().find(|cache| cache.cache == name).expect(name);
        (cache.held_bytes_peak, cache.order, cache.objects_per_slab)
    };
    assert_eq!(held("d"), (32 << 10, 1, 682), "the recorded order is one of pages");
    assert_eq!(held("kmalloc-64"), (16 << 10, 0, 256), "the recorded kernel's smallest class");
    assert_eq!(held("kmalloc-32k"), (128 << 10, 3, 4), "the largest class is two pages");
    let refused = BackendKind::Slab.dispatch(Replay(&meta, &plan, &batch)).err().unwrap();
    assert!(refused.to_string().contains("page_bytes"), "{refused}");
    let changed = Changes { page_bytes: Some(4 << 10), ..Changes::default() };
    let plan = ReplayPlan { changes: changed.clone(), ..ReplayPlan::default() };
    let allocator = BackendKind::Slub.dispatch(Replay(&meta, &plan, &batch)).unwrap().allocator;
    let cache = allocator.caches.iter().find(|cache| cache.cache == "d").unwrap();
    assert_eq!((cache.held_bytes_peak, cache.slab_size_bytes), (4 << 10, 48));
    assert_eq!(changed.check(&meta), Ok(()));
    let same = Changes { page_bytes: Some(16 << 10), ..Changes::default() };
    assert_eq!(same.check(&meta), Err(ChangeError::SamePages { bytes: 16 << 10 }));
}

#[test]
fn what_the_kernel_merged_with_a_class_shares_its_slabs_but_not_with_random_copies() {
    let class = |name: &str, aliases: &[&str]| SlubCache {
        name: name.into(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        numbers: [("object_size", 64), ("align", 8), ("slab_size", 64)]
            .map(|(key, value)| (key.to_owned(), value))
            .into(),
        ..SlubCache::default()
    };
    let mut slabs = SlabSnapshot::default();
    slabs.caches = vec![
        class(":0000064", &["kmalloc-64", "fs_cache", "anon_vma_chain"]),
        class("kmalloc-rcl-64", &["kmalloc-rcl-64", "reclaimed"]),
        class("kmalloc-96", &[]),
    ];
    let cache = |name: &str, recorded: &str| RecordedCache {
        name: name.into(),
        recorded: recorded.into(),
        allocs: 1,
        bytes_req_max: 64,
        ..RecordedCache::default()
    };
    let caches = vec![cache("fs_cache", "kmalloc-64"), cache("kmalloc-rcl-64", "")];
    let meta = Meta { slabs_start: Some(slabs), caches, ..meta() };
    let event = |kind, cache, gfp| Event {
        time_ns: 1_000,
        cpu: 0,
        site: 0,
        gfp,
        node: -1,
        bytes_req: 64,
        bytes_alloc: 64,
        ..Event { kind, cache, ..Random(7).row() }
    };
    let mut batch = Batch::default();
    batch.push(&Event { object: 0, ..event(Kind::KmemCacheAlloc, 0, 0xcc0) });
    batch.push(&Event { object: 1, ..event(Kind::Kmalloc, NONE, 0xcc0) });
    batch.push(&Event { object: 2, ..event(Kind::KmemCacheAlloc, 1, 0xcc0) });
    batch.push(&Event { object: 3, ..event(Kind::Kmalloc, NONE, 0xcd0) });
    let slabs = |partition| {
        let changes = Changes { partition, ..Changes::default() };
        let plan = ReplayPlan { changes, ..ReplayPlan::default() };
        BackendKind::Slub.dispatch(Replay(&meta, &plan, &batch)).unwrap().allocator.slabs.peak
    };
    assert_eq!(slabs(None), 2);
    let random = crate::change::partition::Partition::Random { copies: 4, seed: 1 };
    assert_eq!(slabs(Some(random)), 3);
    assert_eq!(slabs(Some(crate::change::partition::Partition::Buckets)), 2);
    assert_eq!(crate::engine::caches::kept_apart_by_random_copies(&meta), 1);
}

#[test]
fn operations_on_the_slow_path_are_counted_by_call_site() {
    let meta = meta();
    let row = |kind, object, cpu, site| Event {
        time_ns: 1_000,
        bytes_req: 64,
        bytes_alloc: 64,
        gfp: 0xcc0,
        node: -1,
        cache: NONE,
        ..Event { kind, object, cpu, site, ..Random(7).row() }
    };
    let mut batch = Batch::default();
    // The first call site frees where it allocated, the second on another CPU.
    for _ in 0..200 {
        batch.push(&row(Kind::Kmalloc, 0, 0, 0));
        batch.push(&row(Kind::Kfree, 0, 0, NONE));
        batch.push(&row(Kind::Kmalloc, 1, 0, 1));
        batch.push(&row(Kind::Kfree, 1, 1, NONE));
    }
    let slow = |kind: BackendKind, slow_paths| {
        let plan = ReplayPlan { slow_paths, ..ReplayPlan::default() };
        let outcome = kind.dispatch(Replay(&meta, &plan, &batch)).unwrap();
        [0, 1].map(|site: usize| outcome.sites.of(site).slow_operations)
    };
    let [local, remote] = slow(BackendKind::Slub, true).map(Option::unwrap);
    assert!(local < 20 && remote >= 200, "{local} and {remote}");
    // Under SLOB every operation takes the one lock.
    assert_eq!(slow(BackendKind::Slob, true), [Some(400); 2]);
    assert_eq!(slow(BackendKind::Slub, false), [None; 2]);
}

#[test]
fn a_kernel_without_partial_slabs_of_cpus_is_replayed_without() {
    let with = |objects: &[u64]| {
        let cache = |objects: &u64| SlubCache {
            name: "c".into(),
            numbers: [("cpu_partial".to_owned(), *objects)].into(),
            ..SlubCache::default()
        };
        let mut slabs = SlabSnapshot::default();
        slabs.caches = objects.iter().map(cache).collect();
        Meta { slabs_start: Some(slabs), ..Meta::default() }
    };
    let of = |kind, meta: &Meta, changes: &Changes| {
        caches::tunables(kind, meta, changes).get("cpu_partial")
    };
    let plain = Changes::default();
    let slub = |meta: &Meta| of(BackendKind::Slub, meta, &plain);
    assert_eq!(
        (slub(&with(&[0, 0])), slub(&with(&[0, 30])), slub(&with(&[]))),
        (Some(0), None, None)
    );
    // A backend that is not such a kernel keeps its values, and so do values that the user sets.
    let tunables = Tunables::default().with("cpu_partial", 8);
    let asked = Changes { tunables, ..Changes::default() };
    assert_eq!(of(BackendKind::Slub, &with(&[0]), &asked), Some(8));
    assert_eq!(of(BackendKind::SlubTiny, &with(&[0]), &plain), None);
}
