//! Replays traces in real kernels and in the models of their allocators, event by event, and compares the slabs.
//!
//! Nothing gets lost on the way and nothing is older than the trace, so that whatever differs is the model's.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_replay::{CompactTrace, Fidelity, PathPair};
use slablab_trace::TraceReader;
use slablab_vm::{Data, Kernel, Origin, Spec};

use super::super::replayer::{Replayer, Told, folder_of, trace_for};
use super::site::{Common, Site};
use crate::cli::OutputArgs;
use crate::cmd::report;
use crate::output::{self, Cell, Column, Page, Report, Table};

/// Memory of the model, as the guests have: what magazines may hold depends on it.
const GUEST_BYTES: u64 = 1 << 30;
/// Moments at which kernel and model are compared.
const MOMENTS: usize = 32;
/// What is outside the limits, and why: `ALLOCATOR: WHAT: WHY`.
const DIFFERS: &str = include_str!("differs.txt");

/// What a model may be off by.
struct Limits {
    /// Bytes in slabs at the moments: in the median, and at worst
    off_shares_max: (f64, f64),
    /// Caches with as many slabs at the end, and with at most one more or less: at least so many of them
    caches_shares_min: (f64, f64),
    /// Each path that the kernel counts
    path_share_max: f64,
}

impl Limits {
    fn of(allocator: BackendKind) -> Self {
        // What is parked for each CPU depends on the moment more than slabs on a list do.
        let parks = matches!(allocator, BackendKind::Slab | BackendKind::SlubSheaves);
        Self {
            off_shares_max: if parks { (0.03, 0.08) } else { (0.02, 0.05) },
            caches_shares_min: (0.90, 0.97),
            path_share_max: 0.02,
        }
    }
}

/// Options of `slablab kernel predict trace`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The traces
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
    /// The kernels, which are built where they are not there yet: slub, build:6.12/slub, ...
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_value = "slub")]
    kernels: Vec<String>,
    /// Show this many caches, those that differ most first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    lines: usize,
    /// Also write a page that opens in a browser
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// One trace under one allocator.
#[derive(Debug, Serialize, JsonSchema)]
struct Pair {
    trace: String,
    allocator: String,
    release: String,
    events: usize,
    replay_ns: u64,
    left_kb: i64,
    off_share_median: f64,
    off_share_max: f64,
    caches_equal_share: f64,
    caches_within_a_slab_share: f64,
    paths_off_share_max: f64,
    /// What is outside the limits: `bytes`, `slabs` or `paths`, and why, if that is known
    outside: Vec<(&'static str, Option<&'static str>)>,
    #[serde(flatten)]
    fidelity: Fidelity,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Comparison {
    pairs: Vec<Pair>,
    #[serde(skip)]
    lines: usize,
    folder: PathBuf,
}

/// Runs `slablab kernel predict trace`; status 1 when a model is off by more than it may be and nobody has said why.
pub(super) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let data = Data::find()?;
    let specs: Vec<_> =
        args.kernels.iter().map(|name| Spec::named(&data, name)).collect::<Result<_, _>>()?;
    let (site, kernels) = Site::open(&args.common, "trace", &specs)?;
    let replayer = Replayer { builder: &site.builder, accel: site.accel, arguments: &[] };
    let mut pairs = Vec::new();
    for path in &args.traces {
        let whole = CompactTrace::read(&TraceReader::open(path)?)?;
        for kernel in &kernels {
            let kind = model_of(kernel)?;
            let trace = trace_for(kernel, &whole);
            let moments = trace.moments(MOMENTS);
            let folder = folder_of(&site.folder, path, kernel);
            let told = replayer.run(kernel, &trace, MOMENTS, &folder)?;
            told.check(&folder)?;
            let model = trace.model(kind, GUEST_BYTES, &moments)?;
            let fidelity = Fidelity::new(&trace, &moments, &told.replayed, &model);
            pairs.push(Pair::new(
                path.display().to_string(),
                kernel,
                kind,
                &trace,
                &told,
                fidelity,
            ));
        }
    }
    let holds = pairs.iter().flat_map(|pair| &pair.outside).all(|(_, why)| why.is_some());
    if let Some(page) = &args.report {
        let shown = pairs.iter().map(|pair| slablab_pages::KernelAndModel {
            trace: &pair.trace,
            kernel: format!("Linux {} with {}", pair.release, pair.allocator),
            fidelity: &pair.fidelity,
        });
        report::write(&slablab_pages::fidelity(&shown.collect::<Vec<_>>()), page)?;
    }
    let comparison = Comparison { pairs, lines: args.lines, folder: site.folder };
    output::print(&comparison, output, None)?;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl Pair {
    fn new(
        trace: String,
        kernel: &Kernel,
        kind: BackendKind,
        compact: &CompactTrace,
        told: &Told,
        fidelity: Fidelity,
    ) -> Self {
        let (off_share_median, off_share_max) = fidelity.off_shares();
        let paths = fidelity.paths.iter().map(PathPair::off_share);
        let mut pair = Self {
            trace,
            allocator: kind.name().to_owned(),
            release: kernel.release().to_owned(),
            events: compact.events(),
            replay_ns: told.replay_ns,
            left_kb: told.left_kb,
            off_share_median,
            off_share_max,
            caches_equal_share: fidelity.caches_within(0),
            caches_within_a_slab_share: fidelity.caches_within(1),
            paths_off_share_max: paths.fold(0.0, f64::max),
            outside: Vec::new(),
            fidelity,
        };
        let whats = pair.outside(&Limits::of(kind));
        pair.outside = whats.into_iter().map(|what| (what, reason(kind.name(), what))).collect();
        pair
    }

    /// Returns what is outside the limits.
    fn outside(&self, limits: &Limits) -> Vec<&'static str> {
        let (median_max, worst_max) = limits.off_shares_max;
        let (equal_min, within_min) = limits.caches_shares_min;
        let of_caches = (self.caches_equal_share, self.caches_within_a_slab_share);
        [
            ("bytes", self.off_share_median > median_max || self.off_share_max > worst_max),
            ("slabs", of_caches.0 < equal_min || of_caches.1 < within_min),
            ("paths", self.paths_off_share_max > limits.path_share_max),
        ]
        .into_iter()
        .filter_map(|(what, is_outside)| is_outside.then_some(what))
        .collect()
    }
}

/// Returns why an allocator's model is outside a limit, if that is written down.
fn reason(allocator: &str, what: &str) -> Option<&'static str> {
    DIFFERS.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let rest = line.strip_prefix(allocator)?.strip_prefix(": ")?;
        rest.strip_prefix(what)?.strip_prefix(": ")
    })
}

/// Returns the model of a kernel: that of its allocator, SLUB as its release has it.
pub(super) fn model_of(kernel: &Kernel) -> Result<BackendKind> {
    match &kernel.spec.origin {
        Origin::Build(_, allocator) if allocator != "slub" => {
            let model = if allocator == "slub_dense" { "dense" } else { allocator };
            model.replace('_', "-").parse().map_err(anyhow::Error::msg)
        }
        _ => Ok(BackendKind::of_release(kernel.release()).unwrap_or(BackendKind::Slub)),
    }
}

impl Report for Comparison {
    const SCHEMA: &'static str = "slablab.kernel-trace/1";

    fn text(&self, page: &mut Page) {
        page.line("bytes in slabs: the same events in real kernels and in the models");
        page.table(&self.csv());
        for pair in &self.pairs {
            let name = format!("{}, {} {}", pair.trace, pair.release, pair.allocator);
            let caches = pair.fidelity.caches.iter().filter(|cache| cache.off_slabs_max > 0);
            let caches: Vec<_> = caches.take(self.lines).collect();
            if !caches.is_empty() {
                page.heading(&format!("{name}: caches that differ most"));
                page.table(&slablab_pages::fidelity_caches(caches));
            }
            let paths: Vec<_> =
                pair.fidelity.paths.iter().filter(|path| path.off_share() > 0.0).collect();
            if !paths.is_empty() {
                page.heading(&format!("{name}: paths that differ"));
                page.table(&slablab_pages::fidelity_paths(paths));
            }
        }
        let outside = self.pairs.iter().flat_map(|pair| {
            pair.outside.iter().map(move |(what, why)| {
                let (trace, release, allocator) = (&pair.trace, &pair.release, &pair.allocator);
                let why = why.unwrap_or("nobody knows why");
                format!("{trace}, {release} {allocator}: {what} outside the limits: {why}")
            })
        });
        let outside: Vec<_> = outside.collect();
        if !outside.is_empty() {
            page.heading("Outside the limits");
            outside.iter().for_each(|line| page.line(line));
        }
        page.line("");
        page.line(format!("consoles and moments: {}", self.folder.display()));
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("trace", "trace"),
            Column::name("kernel", "kernel"),
            Column::number("events", "events"),
            Column::number("at the end: kernel", "kernel_bytes_end"),
            Column::number("model", "model_bytes_end"),
            Column::number("off by, median", "off_share_median"),
            Column::number("most", "off_share_max"),
            Column::number("caches", "caches"),
            Column::number("equal", "caches_equal_share"),
            Column::number("within a slab", "caches_within_a_slab_share"),
            Column::number("paths off, most", "paths_off_share_max"),
            Column::number("replay took", "replay_ns"),
        ]);
        for pair in &self.pairs {
            let end = pair.fidelity.moments.last();
            let by_cache = !pair.fidelity.caches.is_empty();
            let of_caches = |share: f64| if by_cache { Cell::Share(share) } else { Cell::Missing };
            table.row([
                Cell::text(&pair.trace),
                Cell::text(format!("{} {}", pair.release, pair.allocator)),
                Cell::Count(pair.events as u64),
                Cell::Bytes(end.map_or(0, |end| end.kernel_bytes)),
                Cell::Bytes(end.map_or(0, |end| end.model_bytes)),
                Cell::Share(pair.off_share_median),
                Cell::Share(pair.off_share_max),
                if by_cache {
                    Cell::Count(pair.fidelity.caches.len() as u64)
                } else {
                    Cell::Missing
                },
                of_caches(pair.caches_equal_share),
                of_caches(pair.caches_within_a_slab_share),
                match pair.fidelity.paths.is_empty() {
                    true => Cell::Missing,
                    false => Cell::Share(pair.paths_off_share_max),
                },
                Cell::Ns(pair.replay_ns),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(off: (f64, f64), caches: (f64, f64), paths: f64) -> Pair {
        Pair {
            trace: String::new(),
            allocator: String::new(),
            release: String::new(),
            events: 0,
            replay_ns: 0,
            left_kb: 0,
            off_share_median: off.0,
            off_share_max: off.1,
            caches_equal_share: caches.0,
            caches_within_a_slab_share: caches.1,
            paths_off_share_max: paths,
            outside: Vec::new(),
            fidelity: Fidelity { moments: Vec::new(), caches: Vec::new(), paths: Vec::new() },
        }
    }

    #[test]
    fn what_is_outside_the_limits_is_named() {
        let outside = |pair: Pair, kind| pair.outside(&Limits::of(kind));
        let (slub, slab) = (BackendKind::Slub, BackendKind::Slab);
        assert!(outside(pair((0.02, 0.05), (0.9, 0.97), 0.02), slub).is_empty());
        assert_eq!(outside(pair((0.021, 0.0), (1.0, 1.0), 0.0), slub), ["bytes"]);
        assert!(outside(pair((0.03, 0.08), (1.0, 1.0), 0.0), slab).is_empty());
        assert_eq!(outside(pair((0.0, 0.09), (0.9, 0.9), 0.03), slab), ["bytes", "slabs", "paths"]);
    }

    #[test]
    fn what_differs_is_a_line_of_an_allocator() {
        for line in DIFFERS.lines().filter(|line| !line.starts_with('#')) {
            let (allocator, rest) = line.split_once(": ").unwrap();
            let (what, why) = rest.split_once(": ").unwrap();
            allocator.parse::<BackendKind>().unwrap();
            assert_eq!(reason(allocator, what), Some(why));
        }
        assert_eq!(reason("slub", "bytes"), None);
    }
}
