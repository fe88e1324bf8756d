//! Replays traces in real kernels and in the models of their allocators, event by event, and compares the slabs.
//!
//! Nothing gets lost on the way and nothing is older than the trace, so that whatever differs is the model's.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_replay::{CompactTrace, Fidelity};
use slablab_trace::TraceReader;
use slablab_vm::{Data, Spec};

use super::super::replayer::{Replayer, folder_of};
use super::site::{Common, Site};
use crate::cli::OutputArgs;
use crate::cmd::report;
use crate::output::{self, Cell, Column, Page, Report, Table};

/// Moments at which kernel and model are compared.
const MOMENTS: usize = 32;
/// What a model may be off by at the moments: in the median, and at worst.
const OFF_SHARES_MAX: (f64, f64) = (0.03, 0.08);

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
#[derive(Debug, Serialize)]
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
    #[serde(flatten)]
    fidelity: Fidelity,
}

#[derive(Debug, Serialize)]
struct Comparison {
    pairs: Vec<Pair>,
    #[serde(skip)]
    lines: usize,
    folder: PathBuf,
}

/// Runs `slablab kernel predict trace`; status 1 when a model is off by more than it may be.
pub(super) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let data = Data::find()?;
    let specs: Vec<_> =
        args.kernels.iter().map(|name| Spec::named(&data, name)).collect::<Result<_, _>>()?;
    let (site, kernels) = Site::open(&args.common, "trace", &specs)?;
    let replayer = Replayer { builder: &site.builder, accel: site.accel };
    let mut pairs = Vec::new();
    for path in &args.traces {
        let trace = CompactTrace::read(&TraceReader::open(path)?)?;
        let moments = trace.moments(MOMENTS);
        for (name, kernel) in args.kernels.iter().zip(&kernels) {
            let kind = model_of(name, kernel.release())?;
            let folder = folder_of(&site.folder, path, kernel);
            let told = replayer.run(kernel, &trace, &moments, &folder)?;
            told.check(&folder)?;
            let model = trace.model(kind, 16 << 30, &moments)?;
            let fidelity = Fidelity::new(&trace, &moments, &told.moments, &model);
            let (off_share_median, off_share_max) = fidelity.off_shares();
            pairs.push(Pair {
                trace: path.display().to_string(),
                allocator: kind.name().to_owned(),
                release: kernel.release().to_owned(),
                events: trace.events(),
                replay_ns: told.replay_ns,
                left_kb: told.left_kb,
                off_share_median,
                off_share_max,
                caches_equal_share: fidelity.caches_within(0),
                caches_within_a_slab_share: fidelity.caches_within(1),
                fidelity,
            });
        }
    }
    let (median_max, worst_max) = OFF_SHARES_MAX;
    let holds =
        |pair: &Pair| pair.off_share_median <= median_max && pair.off_share_max <= worst_max;
    let holds = pairs.iter().all(holds);
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

/// Returns the model of a kernel: what its name says behind the slash, SLUB as its release has it.
fn model_of(name: &str, release: &str) -> Result<BackendKind> {
    match name.rsplit('/').next().unwrap_or(name) {
        "slub" => Ok(BackendKind::of_release(release).unwrap_or(BackendKind::Slub)),
        allocator => allocator.parse().map_err(anyhow::Error::msg),
    }
}

impl Report for Comparison {
    const SCHEMA: &'static str = "slablab.kernel-trace/1";

    fn text(&self, page: &mut Page) {
        page.line("bytes in slabs: the same events in real kernels and in the models");
        page.table(&self.csv());
        for pair in &self.pairs {
            let different: Vec<_> =
                pair.fidelity.caches.iter().filter(|c| c.off_slabs_max > 0).collect();
            if different.is_empty() {
                continue;
            }
            page.heading(&format!("{}, {}: caches that differ most", pair.trace, pair.allocator));
            let most = different.into_iter().take(self.lines);
            page.table(&slablab_pages::fidelity_caches(most));
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
                Cell::Ns(pair.replay_ns),
            ]);
        }
        table
    }
}
