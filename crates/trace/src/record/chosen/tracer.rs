//! The programs in the kernel, and the maps that they fill.
//!
//! # How it works
//! Where a field or an argument is, the kernel's own types say. Programs that see frees are attached before those that see
//! allocations. Functions that free without an event are watched at their entry, where the kernel allows it.
//!
//! # Invariants
//! Everything that the kernel may refuse is done in [`Tracer::load`], but the attaching to tracepoints.
//!
//! Linux counterpart: `include/trace/events/kmem.h` @ 6.1 to 7.3.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use slablab_bpf::{
    Assembly, Attached, Btf, Error as BpfError, Kind, Map, Names, Program, Ring, Shared,
};

use super::record::{CACHE_NAME_BYTES, SCRATCH_BYTES, kind};
use super::{depth, within};
use crate::record::filter::returns;
use crate::symbols::Place;
use crate::{Portion, Symbols};

pub(super) const PROGRAMS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernel/record.bpf"));

/// Tracepoints, those that see frees first.
const TRACEPOINTS: [&str; 4] = ["kfree", "kmem_cache_free", "kmem_cache_alloc", "kmalloc"];
/// The tracepoint of a batch that kfree_rcu frees, in kernels that have it.
const BATCH: &str = "rcu_invoke_kfree_bulk_callback";
/// Functions that free without an event, with the arguments that the programs know of.
const SILENT_FREES: [(&str, usize); 2] = [("kmem_cache_free_bulk", 3), ("__kfree_rcu_sheaf", 2)];
const BULK_MAX: i64 = 512;

/// Bytes of records that wait to be taken out, at least; objects that are followed at once, and caches that have a name.
const RING_BYTES_MIN: usize = 1 << 20;
const LIVE_MAX: usize = 1 << 18;
const CACHES_MAX: usize = 2048;
/// Counters by page.
const FILTER: usize = 1 << 16;
const FILTER_SHIFT: u32 = 12;
/// Kinds of allocations that a CPU has room for, where callers are named.
const KINDS: usize = 1 << 14;
const KIND_BYTES: usize = 16;
/// One stack in the first number of those that are alike is walked, and one in the second where they come often; both are powers
/// of two.
const WALKED_ONE_IN: (u64, u64) = (256, 1024);
/// Places and functions that the programs compare with, at most.
const PLACES_MAX: usize = 128;
const FUNCTIONS_MAX: usize = 8;
/// CPUs that have a counter of lost records of their own: see the programs.
const LOST_CPUS: usize = 256;

/// How allocations are sifted by their callers: names of parts of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sift {
    /// No callers are named.
    None,
    /// Calls are watched.
    Calls,
    /// Callers are looked for in some of the stacks that are alike.
    Kinds,
}

impl Sift {
    /// Says which parts sift, and look for callers in a stack.
    fn name(self, names: &mut Names) {
        let (sift, callers) = match self {
            Sift::None => ("sift.none", "callers.none"),
            Sift::Calls => ("sift.calls", "callers.named"),
            Sift::Kinds => ("sift.kinds", "callers.named"),
        };
        names.part("sift", sift);
        names.part("callers", callers);
    }
}

/// Words of `control`: see the programs.
#[derive(Debug, Clone, Copy)]
enum Control {
    Low = 0,
    Span = 1,
    OwnProcess = 3,
    WithStacks = 4,
    WithFrees = 5,
    BulkSite = 6,
    BatchSite = 7,
    SheafSite = 8,
    LiveFull = 16,
    TooDeep = 17,
    Missed = 18,
    Lost = 32,
}

/// What is chosen.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    /// Call sites; all where there are none
    pub(crate) places: &'a [Range<u64>],
    /// Functions: one of them is to be in the stack; any where there are none
    pub(crate) callers: &'a [Range<u64>],
    /// Their names
    pub(crate) called: &'a [String],
    /// All events of objects in a portion of the memory, in place of call sites and callers
    pub(crate) portion: Option<Portion>,
    /// Bytes of records that may wait, which become a power of two
    pub(crate) ring_bytes: usize,
    pub(crate) with_frees: bool,
    pub(crate) with_stacks: bool,
}

/// The programs that run.
#[derive(Debug)]
pub(crate) struct Running(Vec<Attached>);

impl Running {
    /// Ends the programs, those first that began last: to end one that watches calls takes as long as a call is under way, and
    /// what is called meanwhile would be missed. Tells each that ends.
    fn end(mut self, mut ends: impl FnMut(&Attached)) {
        while let Some(program) = self.0.pop() {
            ends(&program);
        }
    }
}

/// The programs, and their maps.
#[derive(Debug)]
pub(crate) struct Tracer {
    pub(super) caches: Map,
    control: Shared,
    places: Shared,
    functions: Shared,
    /// Threads that are within a caller
    within: Map,
    kinds: Shared,
    /// CPUs that have a table of kinds: a power of two
    cpus: usize,
    filter: Shared,
    live: Map,
    scratches: Vec<Map>,
    sift: Sift,
    /// The functions whose calls are watched
    pub(super) watched: Vec<Range<u64>>,
    /// What the names of programs begin with
    prefix: &'static str,
    loaded: Vec<Program>,
    attached: Vec<Attached>,
    misses: AtomicU64,
}

impl Tracer {
    /// Loads the programs, for a machine of `cpus` CPUs, and makes the ring that they push records into. Returns `None` where
    /// they are not for what is wanted, or not for this kernel.
    pub(crate) fn load(
        wanted: &Wanted<'_>,
        symbols: &Symbols,
        cpus: usize,
    ) -> Option<(Tracer, Ring)> {
        let is_known = cfg!(target_endian = "little")
            && wanted.places.len() <= PLACES_MAX
            && wanted.callers.len() <= FUNCTIONS_MAX;
        is_known.then(|| Self::try_load(wanted, symbols, cpus, PROGRAMS).ok()).flatten()
    }

    fn try_load(
        wanted: &Wanted<'_>,
        symbols: &Symbols,
        cpus: usize,
        programs: &str,
    ) -> Result<(Tracer, Ring), BpfError> {
        let btf = Btf::running()?;
        let cpus = cpus.next_power_of_two();
        let ring = Ring::new("ring", wanted.ring_bytes.max(RING_BYTES_MIN))?;
        let follows = wanted.with_frees && wanted.portion.is_none();
        let mut tracer = Tracer {
            caches: Map::hash("caches", 8, CACHE_NAME_BYTES, CACHES_MAX)?,
            control: Shared::new("control", (Control::Lost as usize + LOST_CPUS) * 8)?,
            places: Shared::new("places", PLACES_MAX * 16)?,
            functions: Shared::new("functions", FUNCTIONS_MAX * 16)?,
            within: within::threads(!wanted.callers.is_empty())?,
            kinds: Shared::new("kinds", cpus * KINDS * KIND_BYTES)?,
            cpus,
            filter: Shared::new("filter", FILTER * 4)?,
            live: Map::hash("live", 8, 8, if follows { LIVE_MAX } else { 1 })?,
            scratches: Vec::new(),
            sift: if wanted.callers.is_empty() { Sift::None } else { Sift::Kinds },
            watched: Vec::new(),
            prefix: if wanted.portion.is_some() { "portion." } else { "" },
            loaded: Vec::new(),
            attached: Vec::new(),
            misses: AtomicU64::new(0),
        };
        let count = tracer.choose(wanted, symbols);
        let assembly = Assembly::parse(programs)?;
        let mut names = tracer.names(&btf)?;
        depth::name(&mut names, &btf, &|name, names| {
            Program::load(Kind::Call, name, 0, &assembly.program(name, names)?)
        })?;
        names.ring("ring", &ring);
        names.number("places.count", count as i64);
        names.number("functions.count", wanted.callers.len() as i64);
        let (mask, value) = wanted.portion.map_or((0, 0), |portion| portion.bits());
        names.part("sites", if wanted.places.is_empty() { "sites.all" } else { "sites.named" });
        tracer.sift.name(&mut names);
        names.number("portion.mask", mask as i64);
        names.number("portion.value", value as i64);
        // Before 6.16 no program may look at an argument that points to constant memory.
        let kmalloc = btf.tracepoint("kmalloc")?.type_id;
        let parts = (&assembly, &mut names);
        if tracer.program(Kind::Tracepoint, "kmalloc", kmalloc, parts).is_err() {
            names.number("object.is_plain", 0);
        }
        tracer.scratches.clear();
        if wanted.with_frees {
            tracer.load_silent_frees(&btf, &assembly, &mut names);
        }
        if !wanted.callers.is_empty() {
            tracer.watch_calls(wanted.called, symbols, &btf, (&assembly, &mut names));
            tracer.sift.name(&mut names);
        }
        for name in TRACEPOINTS.iter().filter(|name| wanted.with_frees || name.contains("alloc")) {
            let program = tracer.program(
                Kind::Tracepoint,
                name,
                btf.tracepoint(name)?.type_id,
                (&assembly, &mut names),
            )?;
            tracer.loaded.push(program);
        }
        Ok((tracer, ring))
    }

    /// Loads a program with a scratch of its own.
    fn program(
        &mut self,
        kind: Kind,
        name: &str,
        type_id: u32,
        (assembly, names): (&Assembly<'_>, &mut Names),
    ) -> Result<Program, BpfError> {
        let scratch = Map::of_each_cpu("scratch", SCRATCH_BYTES)?;
        names.map("scratch", &scratch);
        self.scratches.push(scratch);
        let prefix = if name.contains('.') { "" } else { self.prefix };
        let text = assembly.program(&format!("{prefix}{name}"), names)?;
        Program::load(kind, name, type_id, &text)
    }

    /// Loads what sees objects freed without an event, as far as the kernel allows it.
    fn load_silent_frees(&mut self, btf: &Btf, assembly: &Assembly<'_>, names: &mut Names) {
        let functions = SILENT_FREES.iter().filter_map(|(name, arguments)| {
            let (id, count) = btf.function(name)?;
            (count == *arguments).then_some((Kind::FunctionEntry, *name, id))
        });
        let batch = btf.tracepoint(BATCH).ok().filter(|it| it.types.len() == 3);
        let batch = batch.map(|it| (Kind::Tracepoint, BATCH, it.type_id));
        for (kind, name, id) in functions.chain(batch) {
            let program = self.program(kind, name, id, (assembly, names));
            // Who refuses to be watched is attached here, so that it is known before the events.
            self.attached.extend(program.and_then(Program::attach).ok());
        }
    }

    /// Watches the calls of the functions that are named, where the kernel allows it for all of them.
    fn watch_calls(
        &mut self,
        called: &[String],
        symbols: &Symbols,
        btf: &Btf,
        parts: (&Assembly<'_>, &mut Names),
    ) {
        let mut load = |kind, name: &str, id, parts: (&Assembly<'_>, &mut Names)| {
            self.program(kind, name, id, parts)
        };
        if let Ok(programs) = within::watch(called, symbols, btf, parts, &mut load) {
            self.attached.extend(programs);
            self.sift = Sift::Calls;
            let functions = called.iter().map(|name| Place::function_of(name));
            self.watched = functions.flat_map(|name| symbols.places(name)).collect();
        }
    }

    /// Writes what is chosen where the programs read it; returns how many places that are.
    fn choose(&self, wanted: &Wanted<'_>, symbols: &Symbols) -> usize {
        let places: Vec<Range<u64>> = wanted.places.iter().map(returns).collect();
        let functions: Vec<Range<u64>> = wanted.callers.iter().map(returns).collect();
        for (all, to) in [(&places, &self.places), (&functions, &self.functions)] {
            for (place, words) in all.iter().zip(to.words().chunks_exact(2)) {
                words[0].store(place.start, Ordering::Relaxed);
                words[1].store(place.end - place.start, Ordering::Relaxed);
            }
        }
        let low = places.iter().map(|place| place.start).min().unwrap_or(0);
        let high = places.iter().map(|place| place.end).max().unwrap_or(0);
        let begin = |name| symbols.places(name).first().map_or(0, |place| place.start + 1);
        for (word, value) in [
            (Control::Low, low),
            (Control::Span, high - low),
            (Control::OwnProcess, u64::from(std::process::id())),
            (Control::WithStacks, u64::from(wanted.with_stacks)),
            (Control::WithFrees, u64::from(wanted.with_frees)),
            (Control::BulkSite, begin("kmem_cache_free_bulk")),
            (Control::BatchSite, begin("kfree_rcu_work")),
            (Control::SheafSite, begin("__kfree_rcu_sheaf")),
        ] {
            self.control.words()[word as usize].store(value, Ordering::Relaxed);
        }
        places.len()
    }

    /// Returns what the names in the programs stand for on this kernel.
    fn names(&self, btf: &Btf) -> Result<Names, BpfError> {
        let mut names = Names::default();
        let maps = [("live", &self.live), ("caches", &self.caches), ("within", &self.within)];
        for (name, map) in maps {
            names.map(name, map);
        }
        for (name, value) in [
            ("control", &self.control),
            ("places", &self.places),
            ("functions", &self.functions),
            ("kinds", &self.kinds),
            ("filter", &self.filter),
        ] {
            names.value(name, value);
        }
        for (name, number) in [
            ("arg.site", 0),
            ("arg.object", 8),
            ("object.is_plain", 1),
            ("kinds.mask", ((self.cpus * KINDS - 1) * KIND_BYTES) as i64),
            ("kind.mask", WALKED_ONE_IN.0 as i64 - 1),
            ("kind.often_mask", WALKED_ONE_IN.1 as i64 - 1),
            ("kinds.cpu_mask", self.cpus as i64 - 1),
            ("kinds.cpu_shift", i64::from((KINDS * KIND_BYTES).trailing_zeros())),
            ("kinds.hash_shift", 64 - i64::from(KINDS.trailing_zeros())),
            ("filter.mask", FILTER as i64 - 1),
            ("filter.shift", i64::from(FILTER_SHIFT)),
            ("bulk.max", BULK_MAX),
            ("kind.kmalloc", i64::from(kind::KMALLOC)),
            ("kind.cache_alloc", i64::from(kind::CACHE_ALLOC)),
            ("kind.kfree", i64::from(kind::KFREE)),
            ("kind.cache_free", i64::from(kind::CACHE_FREE)),
        ] {
            names.number(name, number);
        }
        for (structure, field, called) in [
            ("task_struct", "pid", "task.pid"),
            ("task_struct", "tgid", "task.tgid"),
            ("kmem_cache", "object_size", "kmem_cache.object_size"),
            ("kmem_cache", "size", "kmem_cache.size"),
            ("kmem_cache", "name", "kmem_cache.name"),
            ("kmem_cache", "flags", "kmem_cache.flags"),
        ] {
            names.number(called, btf.offset(structure, field)?);
        }
        // The bits that say whether a cgroup is charged are numbered by what the kernel was built with, since 6.9 and 6.10.
        for (bit, called, before) in [
            ("___GFP_ACCOUNT_BIT", "gfp.account", 0x40_0000),
            ("_SLAB_ACCOUNT", "slab.account", 0x400_0000),
        ] {
            names.number(called, btf.enumerator(bit).map_or(before, |bit| 1 << bit));
        }
        arguments(&mut names, btf)?;
        Ok(names)
    }

    /// Lets the programs run.
    pub(crate) fn start(&mut self) -> Result<Running, BpfError> {
        let mut running = Running(std::mem::take(&mut self.attached));
        for program in std::mem::take(&mut self.loaded) {
            running.0.push(program.attach()?);
        }
        Ok(running)
    }

    /// Ends the programs. What they pushed stays in the ring.
    pub(crate) fn stop(&self, running: Running) {
        let misses = running.0.iter().map(|program| program.misses().unwrap_or(0)).sum();
        self.misses.store(misses, Ordering::Relaxed);
        running.end(|_| ());
    }

    fn word(&self, word: usize) -> u64 {
        self.control.words().get(word).map_or(0, |word: &AtomicU64| word.load(Ordering::Relaxed))
    }

    /// Returns in one of how many stacks that are alike callers are looked for, at most and where they come often; `None` where
    /// they are looked for in all.
    pub(crate) fn walked_one_in(&self) -> Option<(u64, u64)> {
        (self.sift == Sift::Kinds).then_some(WALKED_ONE_IN)
    }

    /// Returns how many records of a CPU had no room.
    pub(crate) fn lost(&self, cpu: u32) -> u64 {
        self.word(Control::Lost as usize + cpu as usize % LOST_CPUS)
    }

    /// Returns how many objects are not followed, as too many others are.
    pub(crate) fn unfollowed(&self) -> u64 {
        self.word(Control::LiveFull as usize)
    }

    /// Returns how many stacks are cut before a caller that may be in them.
    pub(crate) fn too_deep(&self) -> u64 {
        self.word(Control::TooDeep as usize)
    }

    /// Returns how often a program should have run within itself, in an interrupt or in another thread of the CPU, and did not.
    pub(crate) fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// Returns how many allocations below the callers were taken for those of others: an estimate, by those that were found
    /// although others of their kind had been passed over.
    pub(crate) fn missed(&self) -> u64 {
        self.word(Control::Missed as usize)
    }
}

/// Names the positions of arguments, by their types: releases differ.
fn arguments(names: &mut Names, btf: &Btf) -> Result<(), BpfError> {
    for (tracepoint, which, kind, number) in [
        ("kmalloc", "kmalloc.requested", "size_t", 0),
        ("kmalloc", "kmalloc.allocated", "size_t", 1),
        ("kmalloc", "kmalloc.gfp", "gfp_t", 0),
        ("kmalloc", "kmalloc.node", "int", 0),
        ("kmem_cache_alloc", "cache_alloc.cache", "struct kmem_cache *", 0),
        ("kmem_cache_alloc", "cache_alloc.gfp", "gfp_t", 0),
        ("kmem_cache_alloc", "cache_alloc.node", "int", 0),
        ("kmem_cache_free", "cache_free.cache", "struct kmem_cache *", 0),
    ] {
        let types = btf.tracepoint(tracepoint)?.types;
        let mut found = types.iter().enumerate().filter(|(_, one)| *one == kind);
        let at = found.nth(number).map(|(at, _)| at as i64 * 8);
        let missing = || BpfError::Missing(format!("tracepoint {tracepoint} with a {kind}"));
        names.number(which, at.ok_or_else(missing)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOC: &str = "kmem_cache_alloc";

    /// Wants root and BPF tracing: elsewhere it says so.
    #[test]
    fn the_verifier_takes_the_programs_for_all_that_may_be_wanted() {
        if let Err(error) = Ring::new("ring", 1) {
            // A host may refuse BPF to root, too.
            return println!("SKIPPED: {error}");
        }
        let symbols = Symbols::parse("1000 T first\n1100 t twice\n1200 T other\n");
        let many: Vec<_> = (0..PLACES_MAX as u64).map(|at| at * 16..at * 16 + 16).collect();
        let (all, sample) = (&[][..], Some(Portion::draw(16, 1)));
        for (places, callers, portion, with_frees, with_stacks) in [
            (all, all, None, true, true),
            (all, all, sample, true, true),
            (&many[..1], all, None, false, false),
            (&many[..], all, None, true, false),
            (&many[..], &many[..FUNCTIONS_MAX], None, true, true),
            (all, &many[..1], None, false, true),
        ] {
            let ring_bytes = 1 << 20;
            // No kernel has such a function, so that calls are not watched.
            let called = &["first".to_owned()];
            let wanted =
                Wanted { places, callers, called, portion, ring_bytes, with_frees, with_stacks };
            let (mut tracer, _) = Tracer::try_load(&wanted, &symbols, 64, PROGRAMS).unwrap();
            let running = tracer.start().unwrap();
            let has = |name: &str| running.0.iter().any(|program| program.name() == name);
            assert_eq!((has(ALLOC), has("kfree")), (true, with_frees));
            tracer.stop(running);
        }
    }

    /// Frees and calls were no longer seen while allocations still were: objects seemed to stay alive, and calls were missed.
    #[test]
    fn programs_that_see_allocations_end_before_all_others() {
        let called = ["none".to_owned()];
        let wanted = Wanted {
            places: &[],
            callers: &[],
            called: &called,
            portion: None,
            ring_bytes: 1 << 20,
            with_frees: true,
            with_stacks: false,
        };
        let symbols = Symbols::parse("1000 T first\n");
        let Ok((mut tracer, _)) = Tracer::try_load(&wanted, &symbols, 1, PROGRAMS) else {
            return println!("SKIPPED: BPF is refused");
        };
        let mut names = Vec::new();
        tracer.start().unwrap().end(|program| names.push(program.name().to_owned()));
        assert_eq!(names[..4], ["kmalloc", ALLOC, "kmem_cache_free", "kfree"]);
    }

    /// A stack that is longer than a record was passed over without a word, as though no caller were in it.
    #[test]
    fn a_stack_that_is_cut_before_the_caller_is_counted() {
        let symbols = Symbols::running().unwrap();
        let callers = symbols.places("do_syscall_64");
        let Ok(_) = Ring::new("ring", 1) else {
            return println!("SKIPPED: BPF is refused");
        };
        if callers.is_empty() {
            return println!("SKIPPED: system calls have another function here");
        }
        let wanted = Wanted {
            places: &[],
            callers: &callers,
            called: &["do_syscall_64".to_owned()],
            portion: None,
            ring_bytes: 1 << 20,
            with_frees: false,
            with_stacks: true,
        };
        // The nearest two frames are of the tracepoint.
        let short = PROGRAMS.replace(".set frames.bytes 512", ".set frames.bytes 16");
        for (text, is_cut) in [(PROGRAMS, false), (&short, true)] {
            let (mut tracer, _) = Tracer::try_load(&wanted, &symbols, 64, text).unwrap();
            let running = tracer.start().unwrap();
            for _ in 0..20 {
                std::process::Command::new("true").status().unwrap();
            }
            tracer.stop(running);
            assert_eq!(tracer.too_deep() > 100, is_cut, "{}", tracer.too_deep());
        }
    }
}
