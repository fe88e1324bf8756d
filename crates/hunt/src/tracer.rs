//! The programs in the kernel and the maps that they fill.
//!
//! # How it works
//! The text of the programs is `kernel/bpf/hunt.bpf`. Where a field or an argument is, the kernel's own types say. Programs that
//! see frees are attached before those that see allocations, so that no tracked object is freed unseen. Functions that free
//! without an event are watched at their entry, where the kernel has ftrace; which of them are not is part of the answer.
//!
//! # Invariants
//! Nothing is pinned, and nothing is written to tracefs: when the process ends, whatever ended it, all of it goes.
//!
//! Linux counterpart: `include/trace/events/kmem.h` @ 6.1 to 7.3.

use std::sync::atomic::Ordering;

use slablab_bpf::{Assembly, Attached, Btf, Entries, Kind, Map, Names, Program, Shared};

use crate::error::Error;
use crate::tables::{CACHE_BYTES, CACHES_MAX, FRAMES_BYTES, LIVE_BYTES, Tables};

const PROGRAMS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernel/hunt.bpf"));

/// Tracepoints, those that see frees first.
const TRACEPOINTS: [&str; 4] = ["kfree", "kmem_cache_free", "kmem_cache_alloc", "kmalloc"];
/// The tracepoint of a batch that kfree_rcu frees, in kernels that have it.
const BATCH: &str = "rcu_invoke_kfree_bulk_callback";
/// Functions that free without an event, with the arguments that the programs know of.
const SILENT_FREES: [(&str, usize); 2] = [("kmem_cache_free_bulk", 3), ("__kfree_rcu_sheaf", 2)];
/// Objects that a call frees at most without being cut: what the kernel's own callers collect.
const BULK_MAX: i64 = 512;

/// Bits of an address within what one counter of the filter is for: a page. Measured: counters for 256 bytes each spare some
/// frees a look into the map, and cost all of them 30 ns more, as they lie further apart.
const FILTER_SHIFT: u32 = 12;

/// Words of `control`: see the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// Threshold of a call site that is new
    Threshold = 0,
    /// Tracked allocations of a call site until its threshold is halved
    Left = 1,
    OwnProcess = 2,
    SitesCrowded = 3,
    LiveFull = 4,
    StacksFull = 5,
    StacksFailed = 6,
    StacksCut = 7,
    FreesUnseen = 9,
    Tracked = 10,
    Freed = 11,
    /// The same as `Left`, of a program at a busy call site
    ProgramLeft = 12,
    /// What makes each hunt another sample
    Seed = 13,
}

/// The programs, running.
#[derive(Debug)]
pub(crate) struct Tracer {
    pub(crate) tables: Tables,
    pub(crate) sites: Shared,
    filter: Shared,
    control: Shared,
    live: Map,
    stacks: Map,
    caches: Map,
    unseen: Map,
    attached: Vec<Attached>,
    unwatched: Vec<String>,
    /// The flag of a cache whose objects the kernel frees under pressure
    pub(crate) reclaim_flag: u32,
}

impl Tracer {
    /// Loads and attaches the programs. `threshold` and `left` are those of a call site that is new, and
    /// `program_left` of a program at a busy one.
    pub(crate) fn start(
        tables: Tables,
        threshold: u64,
        [left, program_left]: [u64; 2],
    ) -> Result<Self, Error> {
        let btf = Btf::running()?;
        let mut tracer = Self {
            sites: Shared::new("sites", tables.site_bytes())?,
            filter: Shared::new("filter", tables.filter * 4)?,
            control: Shared::new("control", 4096)?,
            live: Map::hash("live", 8, LIVE_BYTES, tables.live)?,
            stacks: Map::hash("stacks", FRAMES_BYTES, 8, tables.stacks)?,
            caches: Map::hash("caches", 8, CACHE_BYTES, CACHES_MAX)?,
            unseen: Map::hash("unseen", 8, 8, CACHES_MAX)?,
            attached: Vec::new(),
            unwatched: Vec::new(),
            reclaim_flag: reclaim_flag(&btf),
            tables,
        };
        tracer.set(Control::Threshold, threshold);
        tracer.set(Control::Left, left);
        tracer.set(Control::ProgramLeft, program_left);
        tracer.set(Control::Seed, seed());
        tracer.set(Control::OwnProcess, u64::from(std::process::id()));
        let assembly = Assembly::parse(PROGRAMS)?;
        let mut names = tracer.names(&btf)?;
        // Before 6.16 no program may look at an argument that points to constant memory.
        let kfree = btf.tracepoint("kfree")?.type_id;
        let code = assembly.program("kfree", &names)?;
        if Program::load(Kind::Tracepoint, "kfree", kfree, &code).is_err() {
            names.number("object.is_plain", 0);
        }
        tracer.watch_silent_frees(&btf, &assembly, &names);
        for tracepoint in TRACEPOINTS {
            let id = btf.tracepoint(tracepoint)?.type_id;
            let code = assembly.program(tracepoint, &names)?;
            let program = Program::load(Kind::Tracepoint, tracepoint, id, &code)?;
            tracer.attached.push(program.attach()?);
        }
        Ok(tracer)
    }

    /// Watches what frees objects without an event, as far as the kernel allows it.
    fn watch_silent_frees(&mut self, btf: &Btf, assembly: &Assembly<'_>, names: &Names) {
        let functions = SILENT_FREES.iter().filter_map(|(name, arguments)| {
            let (id, count) = btf.function(name)?;
            Some((Kind::FunctionEntry, *name, id, count == *arguments))
        });
        let batch = btf.tracepoint(BATCH).ok();
        let batch = batch.map(|it| (Kind::Tracepoint, BATCH, it.type_id, it.types.len() == 3));
        for (kind, name, id, is_known) in functions.chain(batch) {
            let program = || -> Result<Attached, slablab_bpf::Error> {
                Program::load(kind, name, id, &assembly.program(name, names)?)?.attach()
            };
            match program() {
                Ok(attached) if is_known => self.attached.push(attached),
                _ => self.unwatched.push(name.to_owned()),
            }
        }
    }

    /// Returns what the names in the programs stand for on this kernel.
    fn names(&self, btf: &Btf) -> Result<Names, Error> {
        let mut names = Names::default();
        for (name, map) in [
            ("live", &self.live),
            ("stacks", &self.stacks),
            ("caches", &self.caches),
            ("unseen", &self.unseen),
        ] {
            names.map(name, map);
        }
        for (name, value) in
            [("sites", &self.sites), ("filter", &self.filter), ("control", &self.control)]
        {
            names.value(name, value);
        }
        let tables = &self.tables;
        let table_bytes = tables.site_bytes() / crate::tables::SITE_TABLES;
        for (name, number) in [
            ("filter.mask", tables.filter as i64 - 1),
            ("filter.shift", i64::from(FILTER_SHIFT)),
            ("sites.cpu_mask", tables.cpus as i64 - 1),
            ("sites.cpu_shift", i64::from((table_bytes / tables.cpus).trailing_zeros())),
            // Four entries are a bucket.
            ("sites.hash_shift", 32 - i64::from((tables.sites / 4).trailing_zeros())),
            ("sites.half", table_bytes as i64),
            ("bulk.max", BULK_MAX),
            ("arg.site", 0),
            ("arg.object", 8),
            ("object.is_plain", 1),
        ] {
            names.number(name, number);
        }
        arguments(&mut names, btf)?;
        fields(&mut names, btf)?;
        Ok(names)
    }

    /// Returns a word that programs and we share.
    pub(crate) fn get(&self, word: Control) -> u64 {
        self.control.words()[word as usize].load(Ordering::Relaxed)
    }

    fn set(&self, word: Control, value: u64) {
        self.control.words()[word as usize].store(value, Ordering::Relaxed);
    }

    pub(crate) fn live(&self) -> Result<Entries, Error> {
        Ok(self.live.entries()?)
    }

    pub(crate) fn stacks(&self) -> Result<Entries, Error> {
        Ok(self.stacks.entries()?)
    }

    pub(crate) fn caches(&self) -> Result<Entries, Error> {
        Ok(self.caches.entries()?)
    }

    /// Returns how many tracked objects of a cache were freed unseen, by its address or by the bytes of a class of kmalloc.
    pub(crate) fn freed_unseen(&self) -> Result<Entries, Error> {
        Ok(self.unseen.entries()?)
    }

    /// Tracks an object no longer.
    pub(crate) fn forget(&self, address: u64) -> Result<(), Error> {
        if self.live.remove(&address.to_ne_bytes())? {
            let counter = (address >> FILTER_SHIFT) as usize & (self.tables.filter - 1);
            self.filter.halves()[counter].fetch_sub(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns how often a program should have run and did not.
    pub(crate) fn misses(&self) -> u64 {
        self.attached.iter().map(|program| program.misses().unwrap_or(0)).sum()
    }

    /// Returns the functions that free without an event and are not watched.
    pub(crate) fn unwatched(&self) -> &[String] {
        &self.unwatched
    }
}

/// Returns a number that differs from hunt to hunt.
fn seed() -> u64 {
    use std::hash::BuildHasher;
    std::hash::RandomState::new().hash_one(0)
}

/// Returns `SLAB_RECLAIM_ACCOUNT`: numbered anew from 6.9 on.
fn reclaim_flag(btf: &Btf) -> u32 {
    const BEFORE: u32 = 0x0002_0000;
    let bit = btf.enumerator("_SLAB_RECLAIM_ACCOUNT").ok().and_then(|bit| u32::try_from(bit).ok());
    bit.and_then(|bit| 1u32.checked_shl(bit)).unwrap_or(BEFORE)
}

/// Names the positions of arguments, by their types: releases differ.
fn arguments(names: &mut Names, btf: &Btf) -> Result<(), Error> {
    let mut place = |tracepoint: &str, which: &str, kind: &str, number: usize| {
        let types = btf.tracepoint(tracepoint)?.types;
        let mut found = types.iter().enumerate().filter(|(_, one)| *one == kind);
        let at = found.nth(number).map(|(at, _)| at as i64 * 8);
        let at = at.ok_or_else(|| Error::Tracepoint {
            name: tracepoint.to_owned(),
            argument: kind.to_owned(),
        })?;
        names.number(which, at);
        Ok::<(), Error>(())
    };
    place("kmalloc", "kmalloc.requested", "size_t", 0)?;
    place("kmalloc", "kmalloc.allocated", "size_t", 1)?;
    place("kmalloc", "kmalloc.gfp", "gfp_t", 0)?;
    place("kmem_cache_alloc", "cache_alloc.cache", "struct kmem_cache *", 0)?;
    place("kmem_cache_alloc", "cache_alloc.gfp", "gfp_t", 0)
}

/// Names the offsets of fields.
fn fields(names: &mut Names, btf: &Btf) -> Result<(), Error> {
    for (structure, field, called) in [
        ("task_struct", "comm", "task.comm"),
        ("task_struct", "tgid", "task.tgid"),
        ("task_struct", "group_leader", "task.group_leader"),
        ("kmem_cache", "object_size", "kmem_cache.object_size"),
        ("kmem_cache", "size", "kmem_cache.size"),
        ("kmem_cache", "flags", "kmem_cache.flags"),
        ("kmem_cache", "name", "kmem_cache.name"),
    ] {
        names.number(called, btf.offset(structure, field)?);
    }
    names.number("task.comm.rest", btf.offset("task_struct", "comm")? + 8);
    let cgroup = cgroup_fields(btf).ok();
    names.number("task.has_cgroup", i64::from(cgroup.is_some()));
    let called = ["task.cgroups", "css_set.memory", "css.cgroup", "cgroup.kn", "kernfs_node.id"];
    // Where there are none, they stand in what is never run.
    for (called, offset) in called.into_iter().zip(cgroup.unwrap_or_default()) {
        names.number(called, offset);
    }
    Ok(())
}

/// Returns the offsets of the fields that lead from a task to the number of its memory cgroup.
///
/// # Errors
/// If the kernel has no memory cgroups.
fn cgroup_fields(btf: &Btf) -> Result<[i64; 5], Error> {
    let memory = btf.enumerator("memory_cgrp_id")? * 8;
    Ok([
        btf.offset("task_struct", "cgroups")?,
        btf.offset("css_set", "subsys")? + memory,
        btf.offset("cgroup_subsys_state", "cgroup")?,
        btf.offset("cgroup", "kn")?,
        btf.offset("kernfs_node", "id")?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wants root, BPF tracing and types: elsewhere it says so.
    #[test]
    fn the_verifier_takes_the_programs_and_they_see_this_process() {
        // A host may refuse BPF to root, too.
        if let Err(error) = Shared::new("probe", 4096).and(Btf::running()) {
            return println!("SKIPPED: {error}");
        }
        let tracer = Tracer::start(Tables::of(16 << 20, 64), 1 << 32, [100_000; 2]).unwrap();
        tracer.set(Control::OwnProcess, 0);
        // A quiet machine allocates what this process asks for.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while tracer.get(Control::Tracked) == 0 && std::time::Instant::now() < until {
            let pipe = std::io::pipe();
            std::thread::sleep(std::time::Duration::from_millis(10));
            drop(pipe);
        }
        println!("{:?} {}", tracer.unwatched(), tracer.get(Control::Tracked));
        assert!(tracer.get(Control::Tracked) > 0);
    }
}
