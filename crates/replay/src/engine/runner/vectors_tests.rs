//! Tests: vectors follow the slabs of the replay, by the rules of each release.

use slablab_kmem::{Backend, BackendKind, Gfp, WithBackend};
use slablab_trace::{Batch, Event, Kind, Meta, NONE, RecordedCache, Site, SlabSnapshot, SlubCache};

use super::{NO_EVENT, Runner};
use crate::change::accounting::AccountingChange;
use crate::change::changes::Changes;
use crate::engine::machine;
use crate::metrics::result::Allocator;
use crate::metrics::vectors::VectorsOfCache;
use crate::plan::{ReplayPlan, Vectors};

const ACCOUNTED: u32 = Gfp::KERNEL_ACCOUNT.0;

/// A machine with a cache of 21 objects a slab that fill it, and one whose slabs leave half a kilobyte over.
fn meta(release: &str, config: &[(&str, &str)]) -> Meta {
    let slub = |name: &str, size: u64| SlubCache {
        name: name.into(),
        numbers: [("object_size", size), ("slab_size", size), ("order", 0), ("align", 8)]
            .map(|(key, value)| (key.to_owned(), value))
            .into(),
        ..SlubCache::default()
    };
    let cache = |name: &str, size| RecordedCache {
        name: name.into(),
        allocs: 1,
        bytes_req_max: size,
        ..RecordedCache::default()
    };
    let mut slabs = SlabSnapshot::default();
    slabs.caches = vec![slub("dentry", 192), slub("loose", 600)];
    let names = ["kmalloc-64", "kmalloc-rcl-64", "kmalloc-cg-64", "kmalloc-no-objext-64"];
    slabs.slabinfo = names.map(|name| format!("{name} 1 1 64 64 1\n")).concat();
    let site = |name: &str| Site { name: name.into(), ..Site::default() };
    let config = config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Meta {
        kernel_release: release.into(),
        cpus: 1,
        nodes: 1,
        events: 1_000,
        object_slots: 400,
        config: config.collect(),
        sites: vec![site("__d_alloc+0x1"), site("alloc_slab_obj_exts+0x2")],
        caches: vec![cache("dentry", 192), cache("loose", 600)],
        slabs_start: Some(slabs),
        ..Meta::default()
    }
}

fn alloc(object: u32, cache: u32, gfp: u32) -> Event {
    let kind = if cache == NONE { Kind::Kmalloc } else { Kind::KmemCacheAlloc };
    let bytes_req = [192, 600, 64][(cache as usize).min(2)];
    Event { kind, object, cache, bytes_req, gfp, site: 0, ..NO_EVENT }
}

fn free(event: &Event) -> Event {
    let kind = if event.cache == NONE { Kind::Kfree } else { Kind::KmemCacheFree };
    Event { kind, object: event.object, cache: event.cache, ..NO_EVENT }
}

/// A vector of the recorded kernel.
fn recorded_vector() -> Event {
    Event { site: 1, bytes_req: 168, object: 399, gfp: Gfp::KERNEL.0, ..NO_EVENT }
}

struct Replay<'a>(&'a Meta, &'a ReplayPlan, &'a [Event]);

impl WithBackend for Replay<'_> {
    type Output = Allocator;

    fn run<B: Backend>(self) -> Allocator {
        let machine = machine::build::<B>(self.0, self.1).unwrap();
        let mut runner = Runner::new(&machine, self.0, self.1).unwrap();
        let mut batch = Batch::default();
        self.2.iter().for_each(|event| batch.push(event));
        runner.batch(&batch).unwrap();
        runner.finish().unwrap().allocator
    }
}

fn replayed(meta: &Meta, kind: BackendKind, change: AccountingChange, rows: &[Event]) -> Allocator {
    let changes = Changes { accounting: change, ..Changes::default() };
    let plan = ReplayPlan {
        memory_bytes: Some(64 << 20),
        validate_every: Some(1),
        vectors: Vectors::Computed,
        changes,
        ..ReplayPlan::default()
    };
    kind.dispatch(Replay(meta, &plan, rows))
}

fn vectors(allocator: &Allocator, cache: &str) -> VectorsOfCache {
    let all = &allocator.vectors.as_ref().unwrap().caches;
    all.iter().find(|of| of.cache == cache).cloned().unwrap_or_default()
}

fn slabs(allocator: &Allocator, cache: &str) -> u64 {
    allocator.caches.iter().find(|known| known.cache == cache).map_or(0, |known| known.slabs_end)
}

#[test]
fn each_slab_of_a_charged_cache_has_a_vector_as_long_as_it_lives() {
    let meta = meta("6.12.117", &[("CONFIG_MEMCG", "y"), ("CONFIG_MEM_ALLOC_PROFILING", "n")]);
    let objects: Vec<_> = (0..210).map(|object| alloc(object, 0, ACCOUNTED)).collect();
    let rows: Vec<_> = [recorded_vector()].into_iter().chain(objects.iter().copied()).collect();
    let gone: Vec<_> = rows.iter().copied().chain(objects.iter().map(free)).collect();
    for kind in BackendKind::ALL.iter().copied().filter(|kind| kind.has_kmalloc_caches()) {
        let all = replayed(&meta, kind, AccountingChange::default(), &rows);
        let (of, slabs_of) = (vectors(&all, "dentry"), slabs(&all, "dentry"));
        assert_eq!((of.beside_end, of.inside_end, of.entry_bytes), (slabs_of, 0, 8), "{kind}");
        assert_eq!(of.bytes_end, slabs_of * 192, "{kind}");
        assert!(slabs_of >= 10 && of.held_in == "kmalloc-192", "{kind}: {of:?}");
        let end = replayed(&meta, kind, AccountingChange::default(), &gone);
        let left = vectors(&end, "dentry");
        assert_eq!(left.beside_end, slabs(&end, "dentry"), "{kind}");
        // Others keep as many slabs for later as these are.
        let keeps = kind != BackendKind::SlubTiny;
        assert!(keeps || left.beside_end < of.beside_end, "{kind}: {left:?}");
        assert!(left.beside_peak >= 10, "{kind}: {left:?}");
        let off = AccountingChange { memcg: Some(false), ..AccountingChange::default() };
        let without = replayed(&meta, kind, off, &rows);
        assert_eq!(without.vectors.as_ref().unwrap().bytes.peak, 0, "{kind}");
        assert!(without.held_bytes.end <= all.held_bytes.end, "{kind}");
    }
}

#[test]
fn nothing_is_charged_before_the_first_recorded_vector() {
    let meta = meta("6.12.117", &[]);
    let rows: Vec<_> = (0..42).map(|object| alloc(object, 0, ACCOUNTED)).collect();
    let all = replayed(&meta, BackendKind::Slub, AccountingChange::default(), &rows);
    assert_eq!(vectors(&all, "dentry"), VectorsOfCache::default());
    // An object that is charged later brings the vector of a slab that had none.
    let late = [recorded_vector(), free(&rows[0]), rows[0]];
    let rows: Vec<_> = rows.into_iter().chain(late).collect();
    let all = replayed(&meta, BackendKind::Slub, AccountingChange::default(), &rows);
    assert_eq!(vectors(&all, "dentry").beside_end, 1);
}

#[test]
fn from_7_0_on_a_vector_lies_in_the_slab_where_it_fits() {
    let rows = |cache| {
        let objects = (0..60).map(move |object| alloc(object, cache, ACCOUNTED));
        [recorded_vector()].into_iter().chain(objects).collect::<Vec<_>>()
    };
    let config = [("CONFIG_MEMCG", "y"), ("CONFIG_MEM_ALLOC_PROFILING", "y")];
    for (release, entry_bytes) in [("7.2.13", 16), ("7.3.4", 16)] {
        let meta = meta(release, &config);
        let kind = BackendKind::SlubSheaves;
        let loose = replayed(&meta, kind, AccountingChange::default(), &rows(1));
        let of = vectors(&loose, "loose");
        assert_eq!((of.inside_end, of.beside_end), (slabs(&loose, "loose"), 0), "{release}");
        let full = replayed(&meta, kind, AccountingChange::default(), &rows(0));
        let of = vectors(&full, "dentry");
        assert_eq!((of.inside_end, of.beside_end), (0, slabs(&full, "dentry")), "{release}");
        assert_eq!(of.entry_bytes, entry_bytes, "{release}");
    }
}

#[test]
fn vectors_of_kmalloc_lie_apart_where_linux_keeps_them_apart() {
    let rows: Vec<_> = (0..64).map(|object| alloc(object, NONE, Gfp::KERNEL.0)).collect();
    let on = AccountingChange { profiling: Some(true), ..AccountingChange::default() };
    let held_in = |release: &str| {
        let all = replayed(&meta(release, &[]), BackendKind::Slub, on, &rows);
        let of = vectors(&all, "kmalloc-64");
        assert!(of.beside_end > 0, "{release}");
        (of.held_in, of.entry_bytes, all.vectors.unwrap().caches.len())
    };
    // The cgroup's word is there in 6.12, and not in 7.3, where kmalloc-64 holds nothing that is charged.
    assert_eq!(held_in("6.12.117"), ("kmalloc-no-objext-1k".to_owned(), 16, 1));
    assert_eq!(held_in("7.3.4"), ("kmalloc-no-objext-512".to_owned(), 8, 1));
    assert_eq!(held_in("6.12.102"), ("kmalloc-1k".to_owned(), 16, 1));
}
