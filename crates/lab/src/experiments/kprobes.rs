//! `kprobes`: what index should map probe addresses to probes?
//!
//! In the user engine, the tables of `slablab-kprobe` hold `probes` probes at addresses as functions have them, sixteen-byte
//! aligned in 16 MiB of text. They are registered one by one, then looked up in random order, as breakpoints hit them. In
//! the kernel engine, a boot parameter picks the kernel's table. The guest takes the kernel's list of functions, shuffles it
//! with a fixed seed, and adds and enables one kprobe event after another. Each time it has added `step` of them, it sends
//! the seconds since the first and the free memory, and times a fixed number of system calls whose functions carry probes by
//! then. Jump optimisation is switched off, because an optimised probe does not look its address up.

use std::hint::black_box;
use std::time::Instant;

use slablab_kprobe::{CachedTree, Hash64, Hash512, HashResizing, Probe, ProbeTable, Tree};
use slablab_stats::Rng;

use serde_json::Value;
use slablab_vm::Spec;

use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::guest::{self, CPUS, KERNEL, Load, Options, Recipe, Variant};
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};

/// The values of the boot parameter `kprobe_table`, the present one first.
const TABLES: [&str; 4] = ["hash64", "hash512", "xarray", "xarray_cache"];

/// Where the text of an x86-64 kernel begins.
const TEXT: u64 = 0xffff_ffff_8100_0000;
/// The number of aligned addresses in it.
const FUNCTIONS: usize = (16 << 20) / 16;
/// The number of lookups that are timed.
const LOOKUPS: usize = 100_000;

const PROBES: Parameter =
    Parameter::new("probes", Kind::Numbers(1, FUNCTIONS as u64), "how many probes")
        .or("1000,2000,4000,8000,16000,32000")
        .in_smoke("1000,4000")
        .of_engine(Engine::User);
// kprobe events can be at this number of functions of the small kernel that is built.
const PROBES_MOST: Parameter = Parameter::new(
    "probes",
    Kind::Number(1, 100_000),
    "how many probes at most; a boot goes through 1,000, 2,000, ...",
)
.or("6000")
.in_smoke("200")
.of_engine(Engine::Kernel);

/// The experiment.
pub(crate) struct Kprobes;

impl Experiment for Kprobes {
    fn about(&self) -> About {
        let less = |key, name, unit| Metric::less(key, name, unit, Nature::Sampled);
        About {
            name: "kprobes",
            question: "What index should map 1,000 to 32,000 probe addresses to probes: hashes, XArray, or XArray \
                       behind a cache?",
            engines: &[Engine::User, Engine::Kernel],
            metrics: vec![
                less("lookup_ns", "time per lookup", "ns"),
                less("register_seconds", "time to register all", "s"),
                Metric::less("table_bytes", "memory of the table", "B", Nature::Exact),
                less("seconds", "time to add the probes", "s"),
                less("hit_seconds", "time of system calls that hit probes", "s"),
                Metric::more("mem_free_kb", "free memory", "KiB", Nature::Sampled),
            ],
            parameters: &[PROBES, PROBES_MOST, KERNEL, CPUS],
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
        let full = request.scale == Scale::Full;
        if request.engine == Engine::Kernel {
            recipe(request)?;
            let (most, step) = range(request)?;
            let points = guest::cpus(request)?;
            if points.len() != 1 {
                return Err(Error::Request(
                    "cpus: the probes are the points here, so take one number of CPUs".to_owned(),
                ));
            }
            // A boot goes through all numbers of probes.
            let points_per_cell = most.div_ceil(step);
            let rounds = if full { 7 } else { 2 };
            let design = Design::at_points(TABLES, ("probes", points), rounds, 0);
            return Ok(Design { points_per_cell, ..design });
        }
        let points = PROBES.numbers(request)?.iter().map(u64::to_string).collect();
        let variants =
            [Hash64::NAME, Hash512::NAME, HashResizing::NAME, Tree::NAME, CachedTree::NAME];
        Ok(Design::at_points(variants, ("probes", points), if full { 31 } else { 7 }, 1))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        match setup.request.engine {
            Engine::User => Ok(Box::new(Tables)),
            Engine::Kernel => {
                let (recipe, options) = recipe(setup.request)?;
                guest::prepare(recipe, &options, setup)
            }
        }
    }
}

/// Returns what to boot and to run.
fn recipe(request: &Request) -> Result<(Recipe, Options)> {
    let options = Options::of(request)?;
    let spec = options.patched(KERNEL.text(request))?;
    let (most, step) = range(request)?;
    let variants = TABLES.map(|table| Variant {
        name: table.to_owned(),
        spec: spec.clone(),
        arguments: vec![format!("kprobe_table={table}")],
        memory_mib: None,
    });
    let script = format!("kprobes {most} {step}\n");
    let recipe = Recipe {
        variants: variants.into(),
        loads: vec![Load { name: "probes".to_owned(), script }],
        is_in_order: false,
        metrics: ["seconds", "hit_seconds", "mem_free_kb"].map(str::to_owned).to_vec(),
        point: |_: &Load, _: u32, row: &Value| row["probes"].to_string(),
        tools: vec!["hackbench".to_owned()],
        memory_mib: 3072,
        setup: String::new(),
        limit_seconds: 3600,
    };
    Ok((recipe, options))
}

/// Returns the most probes of a boot, and how many it adds between two rows.
fn range(request: &Request) -> Result<(usize, usize)> {
    let step = if request.scale == Scale::Full { 1_000 } else { 100 };
    let most = PROBES_MOST.number(request)? as usize;
    Ok((most, step.min(most)))
}

struct Tables;

impl Fixture for Tables {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let probes = PROBES.read(&cell.point)? as usize;
        match cell.variant.as_str() {
            Hash64::NAME => measure::<Hash64>(probes, cell),
            Hash512::NAME => measure::<Hash512>(probes, cell),
            HashResizing::NAME => measure::<HashResizing>(probes, cell),
            Tree::NAME => measure::<Tree>(probes, cell),
            CachedTree::NAME => measure::<CachedTree>(probes, cell),
            other => Err(Error::Request(format!("there is no probe table '{other}'"))),
        }
    }
}

fn measure<T: ProbeTable>(probes: usize, cell: &Cell) -> Result<Observation> {
    let failed = |reason: String| Error::Cell { cell: cell.words(), reason };
    let addresses = addresses(probes);
    let table = T::new();
    let start = Instant::now();
    for address in &addresses {
        table.register(Probe::new(*address)).map_err(|e| failed(e.to_string()))?;
    }
    let register_seconds = start.elapsed().as_secs_f64();
    // Every table of a round gets the same hits; another round gets others.
    let mut rng = Rng::new(cell.round as u64);
    let hits: Vec<u64> = (0..LOOKUPS).map(|_| addresses[rng.below(probes)]).collect();
    let start = Instant::now();
    let mut found = 0;
    for address in &hits {
        // A breakpoint is a read-side section of its own.
        let guard = slablab_xarray::pin();
        found += usize::from(table.lookup(black_box(*address), &guard).is_some());
    }
    let lookup_ns = start.elapsed().as_nanos() as f64 / LOOKUPS as f64;
    if found != LOOKUPS {
        return Err(failed(format!("{} of {LOOKUPS} lookups found nothing", LOOKUPS - found)));
    }
    Ok(Observation::of([
        ("lookup_ns", lookup_ns),
        ("register_seconds", register_seconds),
        ("table_bytes", table.table_bytes() as f64),
    ]))
}

/// Returns distinct addresses in random order, the same for every table.
fn addresses(probes: usize) -> Vec<u64> {
    let mut all: Vec<usize> = (0..FUNCTIONS).collect();
    let mut rng = Rng::new(probes as u64);
    for i in 0..probes {
        let other = i + rng.below(FUNCTIONS - i);
        all.swap(i, other);
    }
    all[..probes].iter().map(|at| TEXT + 16 * *at as u64).collect()
}
