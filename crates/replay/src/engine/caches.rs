//! The caches of the recorded kernel, made anew on the simulated machine.
//!
//! # How it works
//! What the recorder saw under `/sys/kernel/slab` (object size, alignment, flags) describes a cache as
//! its author did; each backend lays it out by its own rules. A cache that no snapshot knows (for example in text of
//! a 6.1 kernel) is described by its first allocation: the bytes requested are the object's, and the alignment
//! explains the bytes given.
//!
//! # Differences from Linux
//! A trace has the names of caches after merging, so caches that the recorded kernel
//! merged are not merged again. A cache that it merged with a class of kmalloc's is allocated from that class.

use slablab_kmem::{
    Backend, BackendKind, CacheArgs, CacheId, CopiesApply, CopyOfSite, Ctor, Geometry,
    KmallocConfig, KmallocType, Machine, Order, SlabFlags, Tunables,
};
use slablab_linux::{KmallocCache, is_kmalloc_name};
use slablab_trace::{Event, Meta, RecordedCache, RecordedKmalloc, SlabSnapshot, SlubCache};

use crate::change::accounting::Accounting;
use crate::change::changes::{Changes, Dedicated, Sharing};
use crate::change::merging::{self, KernelMerging};
use crate::change::partition::Partition;
use crate::engine::tuned;
use crate::plan::ReplayPlan;

/// Cache lines of the machines that traces come from.
const CACHE_LINE: u64 = 64;

/// Describes the cache of the first allocation from it.
pub(crate) fn of_first_event<B: Backend>(
    meta: &Meta,
    plan: &ReplayPlan,
    event: &Event,
    made_by: Option<&Dedicated>,
) -> CacheArgs {
    let cache = &meta.caches[event.cache as usize];
    let mut args = describe(meta, cache, &plan.changes, made_by, event.bytes_alloc);
    args.tunables = own_tunables(B::KIND, meta, &plan.changes, &cache.name, made_by);
    if B::KIND.takes_geometry() && plan.changes.tunables.get("order").is_none() {
        take_geometry(&mut args, recorded_geometry(meta, &cache.name, &plan.changes, made_by));
    }
    args
}

/// Describes a cache from the facts in the trace; `bytes_alloc` is that of its first allocation.
pub(crate) fn describe(
    meta: &Meta,
    cache: &RecordedCache,
    changes: &Changes,
    made_by: Option<&Dedicated>,
    bytes_alloc: u64,
) -> CacheArgs {
    let name = cache.name.as_str();
    let known = || snapshots(meta).find_map(|snapshot| snapshot.cache(name));
    let mut args = match made_by {
        // The recorded kernel's cache of that name is another one.
        Some(asked) => dedicated(name, cache.bytes_req_max, asked.align),
        None => match known() {
            Some(known) => from_sysfs(name, known, cache.bytes_req_max),
            // An importer that counted no events wrote the trace with the cache that a change
            // makes.
            None if cache.allocs == 0 => dedicated(name, cache.bytes_req_max, 0),
            None => from_event(name, cache.bytes_req_max, bytes_alloc),
        },
    };
    if changes.sharing == Sharing::Recorded {
        args = args.flags(SlabFlags::NO_MERGE);
    }
    args
}

/// Returns whether recorded caches are to be merged: they are not where the recorded kernel did so itself.
pub(crate) fn merges_anew(meta: &Meta, changes: &Changes) -> bool {
    changes.sharing == Sharing::Merged
        && !matches!(KernelMerging::of(meta), KernelMerging::On { .. })
}

/// Returns the size, the distance between objects, by which a cache that the changes make is merged as the
/// recorded kernel merges; `None` if it is not merged.
pub(crate) fn merged_size<B: Backend>(
    meta: &Meta,
    changes: &Changes,
    cache: &RecordedCache,
    made_by: Option<&Dedicated>,
) -> Option<u64> {
    let asked = made_by?;
    let merges = changes.sharing == Sharing::Merged && !merges_anew(meta, changes);
    if merges && B::KIND.merges() { merging::size(cache.bytes_req_max, asked.align) } else { None }
}

/// Returns the class of kmalloc's with which the recorded kernel merged a cache. It is `None` where it did not, or
/// where the changes keep them apart: copies are never merged (`new_kmalloc_cache` in `mm/slab_common.c` @
/// 6.12).
pub(crate) fn merged_class<'a>(changes: &Changes, cache: &'a RecordedCache) -> Option<&'a str> {
    let class = cache.recorded_name();
    let known = KmallocCache::parse(class);
    is_kmalloc_name(class).then_some(())?;
    let is_apart = changes.partition.as_ref().is_some_and(Partition::is_never_merged);
    let is_normal = known.is_some_and(|known| known.is_plain());
    (!is_apart || !is_normal).then_some(class)
}

/// Returns the machine's cache for the first allocation from a cache of the recorded kernel: the class of kmalloc's that it
/// was merged with, or a new one; `None` if that is refused.
pub(crate) fn serving<B: Backend>(
    machine: &Machine<B>,
    meta: &Meta,
    plan: &ReplayPlan,
    event: &Event,
    made_by: Option<&Dedicated>,
) -> Option<CacheId> {
    let class = merged_class(&plan.changes, &meta.caches[event.cache as usize]);
    let class = class.and_then(|class| machine.cache_by_name(class));
    class.or_else(|| machine.cache_create(&of_first_event::<B>(meta, plan, event, made_by)).ok())
}

/// Returns how many caches, merged with classes in the recorded kernel, random copies of the classes keep apart: those
/// of one class stay merged with each other.
pub(crate) fn kept_apart_by_random_copies(meta: &Meta) -> usize {
    let mut classes: Vec<&str> = snapshots(meta)
        .flat_map(|snapshot| &snapshot.caches)
        .filter_map(|cache| {
            let names = || cache.aliases.iter().chain([&cache.name]);
            let is_class =
                |name: &&String| KmallocCache::parse(name).is_some_and(|known| known.is_plain());
            let is_other = |name: &&String| !is_class(name) && !name.starts_with(':');
            let class = names().find(is_class)?;
            names().any(|name| is_other(&name)).then_some(class.as_str())
        })
        .collect();
    classes.sort_unstable();
    classes.dedup();
    classes.len()
}

/// Describes a cache of the recorded kernel from which the trace has no event.
pub(crate) fn of_snapshot<B: Backend>(
    meta: &Meta,
    plan: &ReplayPlan,
    cache: &SlubCache,
) -> CacheArgs {
    let name = cache.aliases.first().unwrap_or(&cache.name);
    let mut args = from_sysfs(name, cache, 1);
    let made_by = plan.changes.dedicated(name);
    args.tunables = own_tunables(B::KIND, meta, &plan.changes, name, made_by);
    if B::KIND.takes_geometry() && plan.changes.tunables.get("order").is_none() {
        take_geometry(&mut args, recorded_geometry(meta, name, &plan.changes, made_by));
    }
    args
}

/// Returns whether CPUs have no partial slabs: each cache that tells how many objects may be in them tells 0. A kernel for
/// one CPU is built so (`CONFIG_SLUB_CPU_PARTIAL` needs `CONFIG_SMP`).
pub(crate) fn lacks_cpu_partial(meta: &Meta) -> bool {
    let caches = snapshots(meta).flat_map(|snapshot| &snapshot.caches);
    let mut objects = caches.filter_map(|cache| cache.number("cpu_partial")).peekable();
    objects.peek().is_some() && objects.all(|objects| objects == 0)
}

/// Returns the tunables of all caches: those of the changes, and what all caches of the recorded kernel had.
pub(crate) fn tunables(kind: BackendKind, meta: &Meta, changes: &Changes) -> Tunables {
    let asked = &changes.tunables;
    let recorded = tuned::of_all(kind, meta);
    let recorded = recorded.iter().filter(|(tunable, _)| asked.get(tunable).is_none());
    recorded.fold(asked.clone(), |all, (tunable, value)| all.with(tunable, value))
}

/// Returns the tunables of one cache. Where caches are merged anew, their own tunables are not known.
fn own_tunables(
    kind: BackendKind,
    meta: &Meta,
    changes: &Changes,
    name: &str,
    made_by: Option<&Dedicated>,
) -> Tunables {
    match merges_anew(meta, changes) {
        true => changes.cache_tunables.get(name).cloned().unwrap_or_default(),
        false => tuned::of_cache(kind, meta, changes, name, made_by),
    }
}

/// Describes a cache that a change makes, as `kmem_cache_create(name, size, align, 0, NULL)` would.
fn dedicated(name: &str, bytes_req_max: u64, align: u32) -> CacheArgs {
    CacheArgs::new(name, to_u32(bytes_req_max.max(1))).align(align)
}

/// Takes recorded sizes. If there is no room behind what a constructor made, the free pointer is inside, which sysfs does
/// not show.
fn take_geometry(args: &mut CacheArgs, geometry: Option<Geometry>) {
    let needed = (args.object_size.saturating_add(7) & !7).saturating_add(8);
    if args.ctor.is_some() && geometry.is_some_and(|known| known.slab_size < needed) {
        args.freeptr_offset = args.object_size.checked_sub(8).map(|offset| offset & !7);
    }
    args.geometry = geometry;
}

fn snapshots(meta: &Meta) -> impl Iterator<Item = &SlabSnapshot> {
    meta.slabs_start.iter().chain(&meta.slabs_end)
}

fn from_sysfs(name: &str, cache: &SlubCache, bytes_req: u64) -> CacheArgs {
    let number = |attribute| cache.number(attribute).unwrap_or(0);
    let object_size = cache.number("object_size").unwrap_or(bytes_req);
    let mut args = CacheArgs::new(name, to_u32(object_size))
        .align(to_u32(number("align")))
        .usersize(to_u32(number("usersize")));
    let flags = [
        ("hwcache_align", SlabFlags::HWCACHE_ALIGN),
        ("reclaim_account", SlabFlags::RECLAIM_ACCOUNT),
        ("destroy_by_rcu", SlabFlags::TYPESAFE_BY_RCU),
        ("cache_dma", SlabFlags::CACHE_DMA),
    ];
    for (attribute, flag) in flags {
        if number(attribute) != 0 {
            args = args.flags(flag);
        }
    }
    if !cache.ctor.is_empty() {
        // The allocator does not depend on what the constructor writes, only on its existence.
        args = args.ctor(Ctor { func: |_, _| (), context: 0 });
    }
    args
}

fn from_event(name: &str, bytes_req: u64, bytes_alloc: u64) -> CacheArgs {
    // The largest power of two that divides the step between objects, up to a cache line.
    let step = bytes_alloc.max(bytes_req).max(8);
    let align = (1u64 << step.trailing_zeros().min(CACHE_LINE.trailing_zeros())).max(8);
    let mut args = CacheArgs::new(name, to_u32(bytes_req.max(1))).align(to_u32(align));
    if bytes_req.checked_next_multiple_of(align) != Some(step) {
        // Padding that alignment cannot explain is a free pointer behind the object, or red zones.
        args = CacheArgs::new(name, to_u32(step)).align(to_u32(align));
    }
    args
}

/// Bounds a size that a damaged trace may have made absurd; the engine refuses what no slab can hold.
fn to_u32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Describes the kmalloc caches: those of the recorded kernel, whose slabinfo names the kinds that it was
/// built with, unless `changes` differ.
pub(crate) fn kmalloc(meta: &Meta, changes: &Changes) -> KmallocConfig {
    let mut config = recorded_kmalloc(meta);
    match &changes.classes {
        Some(classes) => config.classes.clone_from(classes),
        None => {
            let page_bytes = changes.machine_page_bytes(meta) as u32;
            config.classes = KmallocConfig::linux_classes(recorded_class_min(meta), page_bytes);
        }
    }
    if let Some(buckets) = changes.buckets {
        config.copies = buckets;
        config.copy_of_site = None;
    }
    if let Some(partition) = &changes.partition {
        config.copies = partition.copies();
        config.copy_of_site = Some(partition.copy_of_site(meta));
    }
    if let Some(accounting) = Accounting::of(meta, changes.accounting) {
        accounting.adjust(changes.accounting, &mut config.types);
    }
    config.merge = merges_anew(meta, changes) && !has_hardened_usercopy(meta);
    let own = changes.cache_tunables.iter().filter(|(name, _)| is_kmalloc_name(name));
    config.tunables_by_name = own.map(|(name, own)| (name.clone(), own.clone())).collect();
    config
}

/// Returns the bytes of the recorded kernel's smallest class (`KMALLOC_MIN_SIZE`, which follows
/// `ARCH_KMALLOC_MINALIGN`); 8 where the trace does not tell.
fn recorded_class_min(meta: &Meta) -> u32 {
    let class = |name: &str| {
        let known = KmallocCache::parse(name).filter(KmallocCache::is_plain)?;
        u32::try_from(known.bytes).ok()
    };
    let caches = snapshots(meta).flat_map(|snapshot| &snapshot.caches);
    let names = caches.flat_map(|cache| cache.aliases.iter().chain([&cache.name]));
    let least = names.filter_map(|name| class(name)).min();
    least.filter(|bytes| bytes.is_power_of_two() && (8..=256).contains(bytes)).unwrap_or(8)
}

/// Returns whether the recorded kernel checks copies to user space, which keeps kmalloc's caches apart
/// (`CONFIG_HARDENED_USERCOPY`).
fn has_hardened_usercopy(meta: &Meta) -> bool {
    let of_kmalloc = snapshots(meta).find_map(|snapshot| snapshot.cache("kmalloc-64"));
    of_kmalloc.and_then(|cache| cache.number("usersize")).is_some_and(|bytes| bytes > 0)
}

fn recorded_kmalloc(meta: &Meta) -> KmallocConfig {
    let mut config = KmallocConfig::default();
    let recorded = RecordedKmalloc::of(meta);
    if recorded.types.contains(&KmallocType::Normal) {
        let others = recorded.types.iter().copied().filter(|kind| *kind != KmallocType::Normal);
        config.types = others.collect();
        config.copies = recorded.copies.into();
        config.copy_of_site = copy_of_site(meta, &recorded);
    }
    config
}

/// Returns in which copy of kmalloc's caches the recorded kernel had the objects of each call site, as the import
/// concluded; any copy for unknown sites. `None` where there are no copies.
fn copy_of_site(meta: &Meta, recorded: &RecordedKmalloc) -> Option<CopyOfSite> {
    let copies = recorded.copies;
    let any = |number: u32| (number.wrapping_mul(0x9e37_79b9) >> 16) as u16 % copies;
    let of_sites = (0..).zip(&meta.sites).map(|(number, site)| site.copy.unwrap_or(any(number)));
    (copies > 1).then(|| CopyOfSite {
        copies: of_sites.collect(),
        prefixes: (1..copies).map(|copy| format!("{}{copy:02}-", recorded.copies_prefix)).collect(),
        applies: CopiesApply::ToNormal,
    })
}

/// Returns the recorded kernel's own sizes of a cache, if the cache is its own and so is the backend; the order is
/// computed anew where changes set its rule.
fn recorded_geometry(
    meta: &Meta,
    name: &str,
    changes: &Changes,
    made_by: Option<&Dedicated>,
) -> Option<Geometry> {
    if made_by.is_some() || merges_anew(meta, changes) {
        return None;
    }
    let cache = snapshots(meta).find_map(|snapshot| snapshot.cache(name))?;
    let order = Order(u8::try_from(cache.number("order")?).ok()?);
    let slab_size = to_u32(cache.number("slab_size")?);
    // A damaged trace may contain impossible numbers.
    let recorded = Changes::default().arch(meta);
    let block = recorded.order(order);
    let possible = block <= Order::MAX && slab_size >= 8 && u64::from(slab_size) <= block.bytes();
    let same_pages = changes.arch(meta) == recorded;
    let same_rule = changes.order_max.is_none() && changes.min_objects.is_none();
    possible.then_some(Geometry { slab_size, order: (same_pages && same_rule).then_some(order) })
}
