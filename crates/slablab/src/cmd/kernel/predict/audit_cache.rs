//! What would a cache of its own change for audit contexts? Asked of a trace of forks, and then of the kernel
//! that has the cache (patch audit-cache, switched by a boot parameter: the same image).
//!
//! The trace begins with the boot: contexts share slabs with objects that are older than any load, and how many
//! slabs a cache of its own costs depends on the gaps between those.
//!
//! Here is what it changes in memory; in time, `slablab kernel run audit-cache` measures.

use std::process::ExitCode;

use anyhow::Result;
use slablab_kmem::BackendKind;
use slablab_lab::guest::Recording;
use slablab_replay::{Allocator, Changes, ReplayPlan, select_sites, what_if};
use slablab_vm::Spec;

use super::site::{Answer, Boot, Common, Line, Site, describe, held_bytes, open_trace, snapshot};
use crate::cli::OutputArgs;

/// Forks 800 tasks that end at once, then 400 that stay: their contexts are there when the slabs are counted.
const LOAD: &str = "hackbench -g 10 -l 1 -s 100 > /tmp/hackbench\n\
    hackbench -g 10 -l 1 -s 100 > /tmp/hackbench\n\
    i=0\n\
    while [ $i -lt 400 ]; do sleep 1000 & i=$((i + 1)); done\n";

/// The class that contexts (1008 bytes) come from, and the patch's cache for them.
const CACHES: [&str; 2] = ["kmalloc-1k", "audit_context"];

/// Runs `slablab kernel predict audit-cache`.
pub(super) fn run(args: &Common, output: &OutputArgs) -> Result<ExitCode> {
    let (site, kernels) = Site::open(args, "audit-cache", &[Spec::plain("slub")])?;
    let (mut class, mut own) = (Vec::new(), Vec::new());
    for round in 0..args.rounds {
        for (argument, name, recordings) in
            [("audit_cache=0", "kmalloc", &mut class), ("audit_cache=1", "own-cache", &mut own)]
        {
            recordings.push(site.record(&Boot {
                name: format!("{round}-{name}"),
                kernel: &kernels[0],
                cpus: 2,
                arguments: &["audit=1", "slab_nomerge", argument],
                load: LOAD,
                from_boot: true,
            })?);
        }
    }
    let (path, reader) = open_trace(&class[0])?;
    let sites = select_sites(reader.meta(), "audit_alloc")?;
    let plan = ReplayPlan {
        allocators: vec![BackendKind::Slub],
        changes: Changes::default().dedicate(CACHES[1], sites),
        ..ReplayPlan::default()
    };
    let whatif = what_if(&reader, &plan, &mut |_| ())?;
    let (before, after) = (&whatif.before.allocators[0], &whatif.after.allocators[0]);
    let lines = vec![
        line("both caches, with kmalloc", held(before), &class, |kmalloc| kmalloc),
        line("both caches, with a cache of its own", held(after), &own, |own| own),
        Line::new(
            "the change".into(),
            held(after) - held(before),
            own.iter().zip(&class).map(|(own, class)| of(own) - of(class)).collect(),
            slab_bytes(&own[0]),
        ),
    ];
    let fast = |a: &Allocator| a.paths.get("alloc_fastpath").copied().unwrap_or(0) as f64;
    let note = format!(
        "predicted: {:+.2} % of allocations on the fast path, {:+} locks and atomics of {}",
        (fast(after) / fast(before) - 1.0) * 100.0,
        locks(after) - locks(before),
        locks(before)
    );
    Answer {
        question: "what would a cache of its own change for the audit contexts of forks?",
        facts: vec![format!("{}, audit=1, 2 CPUs", kernels[0].release()), describe(&path, &reader)],
        lines,
        notes: vec![note],
        trace: path,
    }
    .print(output)
}

fn line(what: &str, predicted: i64, guests: &[Recording], f: impl Fn(i64) -> i64) -> Line {
    let measured = guests.iter().map(|guest| f(of(guest))).collect();
    Line::new(what.into(), predicted, measured, slab_bytes(&guests[0]))
}

/// Returns what a guest holds for contexts and their class.
fn of(guest: &Recording) -> i64 {
    held_bytes(guest, &CACHES)
}

/// Returns what replay holds for them at the end.
fn held(allocator: &Allocator) -> i64 {
    let caches = allocator.caches.iter().filter(|cache| CACHES.contains(&cache.cache.as_str()));
    caches.map(|cache| cache.held_bytes_end.cast_signed()).sum()
}

fn locks(allocator: &Allocator) -> i64 {
    allocator.locks.values().sum::<u64>().cast_signed()
}

/// Returns the size of a slab of the class.
fn slab_bytes(guest: &Recording) -> i64 {
    let snapshot = snapshot(&guest.slabinfo);
    let class = snapshot.slabinfo().find(|line| line.name == CACHES[0]);
    class.map_or(4096, |line| (line.pagesperslab * 4096).cast_signed())
}
