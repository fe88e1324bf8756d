//! The simulated machine of a replay: the recorded one's shape, with the memory and tunables of the plan.

use std::collections::BTreeMap;

use slablab_kmem::geometry::Arch;
use slablab_kmem::{
    Backend, BackendKind, CacheId, Machine, Memory, Merging, NODE_BYTES_MIN, Objects, Order,
};
use slablab_linux::CPUS_MAX;
use slablab_trace::{Batch, Meta};

use crate::engine::{caches, orders, tuned, vectors};
use crate::error::Error;
use crate::metrics::result::CacheUnder;
use crate::plan::ReplayPlan;

/// Room for this many caches beside the trace's: those of kmalloc, unless a plan has more.
const CACHES_BESIDE: usize = 512;

/// Builds the machine that the trace and the plan describe, for one thread that only counts its objects.
pub(crate) fn build<B: Backend>(meta: &Meta, plan: &ReplayPlan) -> Result<Machine<B>, Error> {
    build_with(meta, plan, Objects::Counted)
}

/// Builds it with or without memory for objects.
pub(crate) fn build_with<B: Backend>(
    meta: &Meta,
    plan: &ReplayPlan,
    objects: Objects,
) -> Result<Machine<B>, Error> {
    let merging =
        if caches::merges_anew(meta, &plan.changes) { Merging::Linux } else { Merging::Off };
    let mut kmalloc = caches::kmalloc(meta, &plan.changes);
    if merging == Merging::Off {
        tuned::set_kmalloc(B::KIND, meta, &plan.changes, &mut kmalloc);
    }
    let classes =
        (kmalloc.types.len() + 1) * kmalloc.classes.len() * kmalloc.copies.max(1) as usize;
    let caches_max = meta.caches.len() + classes.max(CACHES_BESIDE);
    let builder = Machine::<B>::builder();
    let rule = orders::recorded(B::KIND, meta, cpus(meta));
    let builder = match plan.changes.order_max.or(rule.order_max) {
        Some(order) => builder.order_max(Order(order)),
        None => builder,
    };
    let builder = match plan.changes.min_objects.or(rule.min_objects) {
        Some(objects) => builder.min_objects(objects),
        None => builder,
    };
    let has_log = plan.slab_pages || vectors::is_computed(meta, plan);
    let builder = if has_log { builder.slab_log() } else { builder };
    let memory = memory(meta, plan, objects)?;
    Ok(builder
        .cpus(cpus(meta))
        .nodes(nodes(meta))
        .arch(plan.changes.arch(meta))
        .merging(merging)
        .tunables(caches::tunables(B::KIND, meta, &plan.changes))
        .kmalloc(kmalloc)
        .caches_max(u32::try_from(caches_max).unwrap_or(u32::MAX))
        .objects(objects)
        .memory_bytes(plan.memory_bytes_for(meta))
        .build_in(memory)?)
}

/// Takes memory for the machine.
///
/// Where objects are only counted, little of it is touched: what an allocator keeps in blocks of its own, scattered among
/// slabs. Huge pages would commit all that lies between.
fn memory(meta: &Meta, plan: &ReplayPlan, objects: Objects) -> Result<Memory, Error> {
    let memory_bytes = plan.memory_bytes_for(meta);
    let memory_bytes_min = NODE_BYTES_MIN * u64::from(nodes(meta));
    if memory_bytes < memory_bytes_min {
        return Err(Error::MachineTooSmall { memory_bytes, memory_bytes_min });
    }
    let taken = match (&plan.kept_memory, objects) {
        (Some(kept_memory), _) => kept_memory.take(memory_bytes),
        (None, Objects::Counted) => Memory::reserve_sparse(memory_bytes),
        (None, Objects::InMemory) => Memory::reserve(memory_bytes),
    };
    taken.map_err(|error| match error {
        slablab_kmem::Error::Reserve { bytes } => Error::Reserve { bytes },
        other => other.into(),
    })
}

/// Returns the CPUs of the machine: those of the recorded one, as far as it can have them.
pub(crate) fn cpus(meta: &Meta) -> u32 {
    meta.cpus.clamp(1, CPUS_MAX)
}

/// Returns the NUMA nodes of the machine.
pub(crate) fn nodes(meta: &Meta) -> u32 {
    meta.nodes.clamp(1, cpus(meta))
}

/// Refuses a batch with a row on a CPU that the machine cannot have; `rows_before` rows come before it in the
/// trace.
pub(crate) fn check_cpus(meta: &Meta, batch: &Batch, rows_before: u64) -> Result<(), Error> {
    let cpus = cpus(meta);
    let largest = batch.cpu.iter().fold(0, |most, cpu| (*cpu).max(most));
    if u32::from(largest) < cpus {
        return Ok(());
    }
    let row = batch.cpu.iter().position(|cpu| *cpu == largest).unwrap_or(0);
    Err(Error::Cpu { row: rows_before + row as u64, cpu: largest, cpus })
}

/// Returns counts by name; those that only the usual allocators have are 0 for others, so that all results have the same
/// fields.
pub(crate) fn counts<N: Iterator<Item = &'static str>>(
    names: fn(BackendKind) -> N,
    counts: impl IntoIterator<Item = (&'static str, u64)>,
) -> BTreeMap<String, u64> {
    let others = BackendKind::USUAL.iter().flat_map(|kind| names(*kind)).map(|name| (name, 0));
    others.chain(counts).map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Returns how many slabs of a cache are kept whether they are needed or not: those of CPUs, and at least the empty ones on
/// nodes' lists. `None` where CPUs keep none.
pub(crate) fn kept_slabs<B: Backend>(machine: &Machine<B>, id: CacheId) -> Option<u64> {
    let attributes = machine.cache_attributes(id)?;
    let number = |wanted| {
        let (_, number) = attributes.iter().find(|(name, _)| *name == wanted)?;
        number.parse::<u64>().ok()
    };
    Some(number("cpu_slabs")? + number("partial")?.saturating_sub(number("objects_partial")?))
}

/// Returns what the caches of a machine held, the one that held most first.
pub(crate) fn used_caches<B: Backend>(
    machine: &Machine<B>,
    arch: Arch,
    aliases: &[(CacheId, String)],
) -> Vec<CacheUnder> {
    let ids = machine.caches().into_iter();
    let mut caches: Vec<_> = ids
        .filter_map(|id| Some((id, machine.cache_stats(id)?)))
        .filter(|(_, stats)| stats.objects_live_peak > 0)
        .map(|(id, mut stats)| {
            let sharing = aliases.iter().filter(|(of, _)| *of == id);
            stats.aliases.extend(sharing.map(|(_, name)| name.clone()));
            let slab_bytes = stats.order.bytes();
            CacheUnder {
                cache: stats.name,
                aliases: stats.aliases,
                object_bytes: u64::from(stats.object_size),
                slab_size_bytes: u64::from(stats.slab_size),
                objects_per_slab: u64::from(stats.objs_per_slab),
                order: u64::from(arch.order_in_pages(stats.order).0),
                objects_end: stats.objects_live,
                objects_peak: stats.objects_live_peak,
                slabs_end: stats.slabs,
                slabs_peak: stats.slabs_peak,
                held_bytes_end: stats.slab_bytes,
                held_bytes_peak: stats.slabs_peak * slab_bytes,
            }
        })
        .collect();
    caches.sort_by(|a, b| {
        b.held_bytes_peak.cmp(&a.held_bytes_peak).then_with(|| a.cache.cmp(&b.cache))
    });
    caches
}
