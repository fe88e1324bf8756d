//! `audit-cache`: fork and clone allocate an audit context with kmalloc: would a kmem_cache of its own be faster?
//!
//! In the kernel engine, one kernel image has a boot parameter `audit_cache` that picks the variant, so that both run the
//! same code at the same addresses. There are two loads. `forks` is hackbench with many processes and hardly a message,
//! timed as a whole. In `pipes`, 20 groups of 40 processes exchange messages through pipes, and hackbench's own figure
//! counts, which leaves out the forks; such a change is commonly judged by this load. In the user engine, a trace of a
//! machine with audit on is replayed as recorded and with a cache for the sites that allocate the context.

use std::path::PathBuf;

use serde_json::Value;
use slablab_host::shell;
use slablab_kmem::BackendKind;
use slablab_replay::{Changes, Dedicated, ReplayPlan, select_sites};
use slablab_trace::TraceReader;
use slablab_vm::Spec;

use super::allocators::{ALLOCATOR, allocator, input};
use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::guest::{self, CPUS, KERNEL, Load, Options, Recipe, Variant};
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};

/// The present way, and the one with a cache.
const VARIANTS: [&str; 2] = ["kmalloc", "kmem_cache"];

const LOADS: Parameter = Parameter::new(
    "loads",
    Kind::Words(&["forks", "pipes"]),
    "forks (400 processes, hardly a message), pipes (20 groups of 40 that exchange messages)",
)
.or("forks,pipes")
.of_engine(Engine::Kernel);
// 8 runs take 3 to 4 seconds in an emulated guest.
const REPEATS: Parameter =
    Parameter::new("repeats", Kind::Number(1, 10_000), "how often 400 processes are forked")
        .or("8")
        .in_smoke("1")
        .of_engine(Engine::Kernel);
// This is hackbench's own default.
const LOOPS: Parameter = Parameter::new(
    "loops",
    Kind::Number(1, 1_000_000),
    "messages of each sender to each receiver of pipes",
)
.or("100")
.in_smoke("2")
.of_engine(Engine::Kernel);
// The function that allocates the context in Linux 6.1, `kernel/auditsc.c`, whether it is inlined into its
// caller or not.
const SITES: Parameter = Parameter::new("sites", Kind::Text, "the call sites that get the cache")
    .or("audit_alloc*")
    .of_engine(Engine::User);

/// The experiment.
pub(crate) struct AuditCache;

impl Experiment for AuditCache {
    fn about(&self) -> About {
        let sampled = |key, name, unit| Metric::less(key, name, unit, Nature::Sampled);
        let exact = |key, name, unit| Metric::less(key, name, unit, Nature::Exact);
        About {
            name: "audit-cache",
            question: "fork and clone allocate an audit context with kmalloc: would a kmem_cache of its own be faster?",
            engines: &[Engine::Kernel, Engine::User],
            metrics: vec![
                sampled("seconds", "time of the load", "s"),
                sampled("slab_kb", "memory in slabs after the run", "KiB"),
                exact("held_bytes_peak", "memory held at the peak", "B"),
                exact("held_bytes_mean", "memory held on average", "B"),
                exact("locks", "locks and atomic operations", ""),
            ],
            parameters: &[ALLOCATOR, KERNEL, LOADS, REPEATS, LOOPS, CPUS, SITES],
        }
    }

    fn kernels(&self, request: &Request) -> Result<Vec<Spec>> {
        match request.engine {
            Engine::User => Ok(Vec::new()),
            Engine::Kernel => {
                Options::of(request)?.patched(KERNEL.text(request)).map(|spec| vec![spec])
            }
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        if request.engine == Engine::User {
            input(request, self.about().name)?;
            allocator(request)?;
            return Ok(Design::without_points(VARIANTS, 1, 0));
        }
        let (recipe, _) = recipe(request)?;
        let rounds = if request.scale == Scale::Full { 31 } else { 2 };
        // A boot goes through all loads.
        let points_per_cell = recipe.loads.len();
        let points = ("load, CPUs", guest::cpus(request)?);
        Ok(Design { points_per_cell, ..Design::at_points(VARIANTS, points, rounds, 0) })
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let request = setup.request;
        if request.engine == Engine::Kernel {
            let (recipe, options) = recipe(request)?;
            return guest::prepare(recipe, &options, setup);
        }
        let path = input(request, self.about().name)?.to_owned();
        let reader = TraceReader::open(&path)?;
        let pattern = SITES.text(request).to_owned();
        let sites = select_sites(reader.meta(), &pattern)
            .map_err(|e| Error::Request(format!("{}: {e}", path.display())))?;
        Ok(Box::new(CacheReplay { reader, path, kind: allocator(request)?, pattern, sites }))
    }
}

/// Returns what to boot and to run.
fn recipe(request: &Request) -> Result<(Recipe, Options)> {
    let options = Options::of(request)?;
    let spec = options.patched(KERNEL.text(request))?;
    let repeats = REPEATS.number(request)?;
    let variants = VARIANTS.into_iter().zip(0..).map(|(name, value)| Variant {
        name: name.to_owned(),
        spec: spec.clone(),
        arguments: vec!["audit=1".to_owned(), format!("audit_cache={value}")],
        memory_mib: None,
    });
    let loops = LOOPS.number(request)?;
    let forks = format!(
        "begin=$(now_ns)\n\
         i=0\n\
         while [ $i -lt {repeats} ]; do\n\
         hackbench -g 10 -l 1 -s 100 > /tmp/hackbench\n\
         i=$((i + 1))\n\
         done\n\
         end=$(now_ns)\n\
         observe \"\\\"seconds\\\":$(seconds $((end - begin))),\\\"slab_kb\\\":$(meminfo Slab)\"\n"
    );
    let pipes = format!(
        "hackbench -p -g 20 -l {loops} -s 100 > /tmp/hackbench\n\
         observe \"\\\"seconds\\\":$(sed -n 's/^Time: //p' /tmp/hackbench),\\\"slab_kb\\\":$(meminfo Slab)\"\n"
    );
    let load = |name: String| {
        let script = if name == "forks" { forks.clone() } else { pipes.clone() };
        Load { name, script }
    };
    let recipe = Recipe {
        variants: variants.collect(),
        loads: LOADS.list(request).into_iter().map(load).collect(),
        is_in_order: false,
        metrics: ["seconds", "slab_kb"].map(str::to_owned).to_vec(),
        point: |load: &Load, cpus: u32, _: &Value| format!("{}, {cpus}", load.name),
        tools: vec!["hackbench".to_owned()],
        memory_mib: 1024,
        setup: "hackbench -g 10 -l 1 > /tmp/warm-up\n".to_owned(),
        limit_seconds: 600,
    };
    Ok((recipe, options))
}

/// A trace with the sites in question.
struct CacheReplay {
    reader: TraceReader,
    path: PathBuf,
    kind: BackendKind,
    pattern: String,
    sites: Vec<u32>,
}

impl Fixture for CacheReplay {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let name = "audit_context".to_owned();
        let dedicated = Dedicated { name, sites: self.sites.clone(), align: 0, sizes: None };
        let dedicated = if cell.variant == VARIANTS[1] { vec![dedicated] } else { Vec::new() };
        let changes = Changes { dedicated, ..Changes::default() };
        let plan = ReplayPlan { allocators: vec![self.kind], changes, ..ReplayPlan::default() };
        let replay = slablab_replay::replay(&self.reader, &plan, &mut |_| ())?;
        let allocator = &replay.allocators[0];
        Ok(Observation {
            detail: serde_json::json!({ "unplaced_share": replay.trace.unplaced_share }),
            command: format!(
                "slablab whatif {} --dedicate {}",
                shell::path(&self.path),
                shell::word(&format!("{}=audit_context", self.pattern))
            ),
            ..Observation::of([
                ("held_bytes_peak", allocator.held_bytes.peak as f64),
                ("held_bytes_mean", allocator.held_bytes.mean as f64),
                ("locks", allocator.locks.values().sum::<u64>() as f64),
            ])
        })
    }
}
