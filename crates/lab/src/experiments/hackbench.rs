//! `hackbench`: how do the allocators compare on message passing?
//!
//! Kernel engine: groups of 20 senders and 20 receivers pass messages of 100 bytes through unix sockets, by the numbers of
//! groups and of CPUs, in guests of so much memory; each message is an `sk_buff` and a data block, allocated by one task
//! and freed by another, often on another CPU. User engine: a trace of that, replayed in real time by a number of
//! threads, with the objects handed from thread to thread as recorded.

use std::path::PathBuf;

use serde_json::{Value, json};
use slablab_host::shell;
use slablab_replay::{ReplayPlan, replay_timed};
use slablab_trace::TraceReader;

use super::allocators::{input, kind};
use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::guest::{self, Load, Options, Recipe, Variant};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale, number};

/// The allocators: those of the library, and each has a kernel.
const ALLOCATORS: [&str; 4] = ["slub", "slab", "slob", "slmb"];

/// Messages of each sender to each receiver, divided by the groups: with 400, SLUB takes 2 to 3 seconds in an
/// emulated guest with 2 CPUs and SLOB 5 to 15.
const LOOPS_BY_GROUPS: u32 = 400;

/// SLUB as one sets it for little memory: slabs of one page where objects fit, and none kept that is empty or a CPU's own
/// beside the one that it allocates from.
const TUNED: (&str, &str) = ("slub-tuned", "slub_max_order=0");

/// Sets what SLUB has for each cache, in a guest that was booted with the rest of [`TUNED`].
const TUNE: &str = "if grep -q slub_max_order=0 /proc/cmdline; then
    for file in /sys/kernel/slab/*/cpu_partial /sys/kernel/slab/*/min_partial; do
        { echo 0 > $file; } 2> /dev/null || true
    done
fi
";

/// Memory of a guest that ten groups have room in.
const MEMORY_MIB: u32 = 1024;

/// The experiment.
pub(crate) struct Hackbench;

impl Experiment for Hackbench {
    fn about(&self) -> About {
        let less = |key, name, unit| Metric::less(key, name, unit, Nature::Sampled);
        About {
            name: "hackbench",
            question: "How do SLAB, SLUB, SLOB and SLMB compare on message passing, by CPU count and group count?",
            engines: &[Engine::Kernel, Engine::User],
            metrics: vec![
                less("seconds", "time per run", "s"),
                less("slab_peak_kb", "memory in slabs at the peak", "KiB"),
                less("slab_kb", "memory in slabs after the run", "KiB"),
                less("operation_ns", "time per operation, all threads together", "ns"),
                less("alloc_ns_p50", "latency of alloc, median", "ns"),
                less("alloc_ns_p99", "latency of alloc, p99", "ns"),
                less("free_ns_p99", "latency of free, p99", "ns"),
                less(
                    "lock_wait_share",
                    "share of the threads' time that they waited for locks",
                    "%",
                ),
            ],
            parameters: &[
                (
                    "allocators",
                    "which ones, or which kernels, by comma; SLUB, SLAB, SLOB and SLMB by default; in kernels also slub-tuned, \
                     SLUB as one sets it for little memory",
                ),
                (
                    "groups",
                    "groups of 40 processes, by comma; 1 and 10, or as many as have room, by default; engine kernel only",
                ),
                ("memory", "memory of each guest in MiB; 1024 by default; engine kernel only"),
                (
                    "loops",
                    "messages of each sender to each receiver, times groups; 400 by default; engine kernel only",
                ),
                guest::CPUS,
                ("threads", "threads that replay, by comma; 1,2 by default; engine user only"),
            ],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        let variants = request.list("allocators", &ALLOCATORS);
        let full = request.scale == Scale::Full;
        if request.engine == Engine::User {
            input(request, self.about().name)?;
            variants.iter().try_for_each(|name| kind(name).map(|_| ()))?;
            let points = request.numbers("threads", &["1", "2"], 1..=64)?;
            return Ok(Design::at_points(
                variants,
                ("threads", points),
                if full { 31 } else { 7 },
                1,
            ));
        }
        let (recipe, _) = recipe(request, &variants)?;
        let points = ("groups, CPUs", guest::cpus(request)?);
        // A boot goes through all numbers of groups.
        let points_per_cell = recipe.loads.len();
        let rounds = if full { 7 } else { 2 };
        Ok(Design { points_per_cell, ..Design::at_points(variants, points, rounds, 0) })
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        if setup.request.engine == Engine::User {
            let path = input(setup.request, self.about().name)?.to_owned();
            return Ok(Box::new(TimedReplay { reader: TraceReader::open(&path)?, path }));
        }
        let (recipe, options) = recipe(setup.request, &setup.design.variants)?;
        guest::prepare(recipe, &options, setup)
    }
}

/// Returns what to boot and to run.
fn recipe(request: &Request, allocators: &[String]) -> Result<(Recipe, Options)> {
    let options = Options::of(request)?;
    let most = if request.scale == Scale::Full { LOOPS_BY_GROUPS } else { LOOPS_BY_GROUPS / 20 };
    let loops = guest::count(request, "loops", most, 1_000_000)?;
    let memory_mib = guest::count(request, "memory", MEMORY_MIB, 1_048_576)?;
    // 40 processes take 2 MB and more.
    let room = (memory_mib / 32).clamp(1, 10).to_string();
    let usual = if room == "1" { vec!["1"] } else { vec!["1", &room] };
    let groups = request.list("groups", &usual);
    let variant = |name: &String| {
        let is_tuned = name == TUNED.0;
        let spec = options.spec(if is_tuned { "slub" } else { name })?;
        let arguments = is_tuned.then(|| TUNED.1.to_owned()).into_iter().collect();
        Ok(Variant { name: name.clone(), spec, arguments, memory_mib: None })
    };
    let recipe = Recipe {
        variants: allocators.iter().map(variant).collect::<Result<_>>()?,
        loads: groups.iter().map(|groups| load(groups, loops)).collect::<Result<_>>()?,
        metrics: ["seconds", "slab_peak_kb", "slab_kb"].map(str::to_owned).to_vec(),
        point: |load: &Load, cpus: u32, _: &Value| format!("{}, {cpus}", load.name),
        tools: vec!["hackbench".to_owned()],
        memory_mib,
        // The first run after a boot pays for page faults and for caches that fill for the first time.
        setup: format!("{TUNE}hackbench -g 1 -l 10 > /tmp/warm-up\n"),
        limit_seconds: 1800,
    };
    Ok((recipe, options))
}

fn load(groups: &str, loops_by_groups: u32) -> Result<Load> {
    let loops = (u64::from(loops_by_groups) / number("groups", groups, &(1..=1000))?).max(1);
    let script = format!(
        "rm -f /tmp/slab_stop /tmp/slab_peak\n\
         watch_slab &\n\
         watch=$!\n\
         hackbench -g {groups} -l {loops} -s 100 | tee /tmp/hackbench\n\
         : > /tmp/slab_stop\n\
         wait $watch\n\
         seconds=$(sed -n 's/^Time: //p' /tmp/hackbench)\n\
         observe \"\\\"seconds\\\":$seconds,\\\"slab_peak_kb\\\":$(cat /tmp/slab_peak),\\\"slab_kb\\\":$(meminfo Slab)\"\n"
    );
    Ok(Load { name: groups.to_owned(), script })
}

/// A trace that is replayed in real time.
struct TimedReplay {
    reader: TraceReader,
    path: PathBuf,
}

impl Fixture for TimedReplay {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let failed = |reason: &str| Error::Cell { cell: cell.words(), reason: reason.to_owned() };
        let plan = ReplayPlan { allocators: vec![kind(&cell.variant)?], ..ReplayPlan::default() };
        let threads = number("threads", &cell.point, &(1..=64))?;
        let timed = replay_timed(&self.reader, &plan, threads as u32)?;
        let timed = timed.first().ok_or_else(|| failed("the replay said nothing"))?;
        let operations = timed.allocs + timed.frees;
        if operations == 0 {
            return Err(failed("the trace has nothing to replay"));
        }
        let thread_ns = f64::from(timed.threads) * timed.elapsed_ns as f64;
        let values = Observation::of([
            ("operation_ns", timed.elapsed_ns as f64 / operations as f64),
            ("alloc_ns_p50", timed.alloc.p50_ns as f64),
            ("alloc_ns_p99", timed.alloc.p99_ns as f64),
            ("free_ns_p99", timed.free.p99_ns as f64),
            ("lock_wait_share", 100.0 * timed.lock_wait_ns as f64 / thread_ns),
        ]);
        Ok(Observation {
            detail: json!({
                "threads": timed.threads, "allocs": timed.allocs, "frees": timed.frees, "failed": timed.failed,
                "waits": timed.waits, "locks": timed.locks, "clock_ns_p50": timed.clock_ns_p50,
            }),
            command: format!(
                "slablab replay {} --timed --allocators {} --threads {}",
                shell::path(&self.path),
                shell::word(&cell.variant),
                shell::word(&cell.point)
            ),
            ..values
        })
    }
}
