//! `slablab replay --engine kernel`: the trace in real kernels, and what their slabs hold.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_replay::{CompactTrace, MachineMoment};
use slablab_report::counted;
use slablab_trace::TraceReader;
use slablab_vm::{Data, KernelBuilder, Spec};

use crate::cli::OutputArgs;
use crate::cmd::kernel::options::{self, AccelArg, BuilderArgs};
use crate::cmd::kernel::replayer::{Replayer, Told, trace_for};
use crate::output::{Cell, Column, Page, Report, Table, print, thousands};
use crate::progress::Progress;

/// Moments at which the guests are looked at: a peak between two of them is not seen.
const MOMENTS: usize = 64;

/// What kernels made of a trace.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Outcome {
    file: String,
    events: usize,
    cpus: u32,
    kernels: Vec<InKernel>,
    #[serde(skip)]
    lines: usize,
}

/// What one kernel made of it.
#[derive(Debug, Serialize, JsonSchema)]
struct InKernel {
    kernel: String,
    release: String,
    failed: u64,
    replay_ns: u64,
    left_kb: i64,
    #[serde(skip)]
    new_threads: i64,
    slab_bytes_peak: u64,
    slab_bytes_end: u64,
    slab_bytes_mean: u64,
    caches: Vec<InCache>,
}

/// A cache of the trace in a kernel.
#[derive(Debug, Serialize, JsonSchema)]
struct InCache {
    cache: String,
    slabs_end: u64,
    held_bytes_end: u64,
    held_bytes_peak: u64,
}

/// What is asked for.
pub(super) struct Asked<'a> {
    pub(super) file: &'a Path,
    pub(super) kernels: &'a [String],
    /// Boot parameters besides the usual ones
    pub(super) arguments: &'a [String],
    pub(super) lines: usize,
    /// Where the result goes, if not to standard output
    pub(super) result: Option<&'a Path>,
}

/// Replays the trace in a guest of each kernel.
pub(super) fn run(
    asked: &Asked<'_>,
    output: &OutputArgs,
    reader: &TraceReader,
) -> Result<ExitCode> {
    let trace = CompactTrace::read(reader)?;
    let mut bar = Progress::default();
    let builder = BuilderArgs { source: None, cache: None, mirror: None, jobs: None };
    let data = Data::find()?;
    let specs: Vec<_> =
        asked.kernels.iter().map(|name| Spec::named(&data, name)).collect::<Result<_, _>>()?;
    let needs: Vec<_> = specs.iter().flat_map(Spec::needs).collect();
    let builder = KernelBuilder::open(&builder.places(), &needs)?;
    let kernels = options::build(&builder, &specs, &mut bar)?;
    let (accel, _) = AccelArg::Auto.resolve(&builder, &kernels[0], &mut bar)?;
    bar.clear();
    let replayer = Replayer { builder: &builder, accel, arguments: asked.arguments };
    let mut outcome = Outcome {
        file: asked.file.display().to_string(),
        events: trace.events(),
        cpus: trace.cpus,
        kernels: Vec::new(),
        lines: asked.lines,
    };
    for kernel in &kernels {
        let folder = tempfile::tempdir().context("cannot make a folder for the guest")?;
        let trace = trace_for(kernel, &trace);
        let told = replayer.run(kernel, &trace, MOMENTS, folder.path())?;
        told.check(folder.path())?;
        let release = kernel.release().to_owned();
        outcome.kernels.push(InKernel::new(kernel.spec.name(), release, &trace, &told));
    }
    print(&outcome, output, asked.result)?;
    Ok(ExitCode::SUCCESS)
}

impl InKernel {
    fn new(kernel: String, release: String, trace: &CompactTrace, told: &Told) -> Self {
        let held: Vec<u64> = told.replayed.moments.iter().map(MachineMoment::slab_bytes).collect();
        let mut caches = Vec::new();
        for (i, cache) in trace.caches.iter().enumerate() {
            let at = |moment: &MachineMoment| moment.caches.get(i).copied().unwrap_or_default();
            let end = told.replayed.moments.last().map(at).unwrap_or_default();
            let peak =
                told.replayed.moments.iter().map(|moment| at(moment).bytes).max().unwrap_or(0);
            caches.push(InCache {
                cache: cache.name.clone(),
                slabs_end: end.slabs,
                held_bytes_end: end.bytes,
                held_bytes_peak: peak,
            });
        }
        caches.retain(|cache| cache.held_bytes_peak > 0);
        caches
            .sort_by(|a, b| b.held_bytes_peak.cmp(&a.held_bytes_peak).then(a.cache.cmp(&b.cache)));
        Self {
            kernel,
            release,
            failed: told.failed,
            replay_ns: told.replay_ns,
            left_kb: told.left_kb,
            new_threads: told.new_threads,
            slab_bytes_peak: held.iter().copied().max().unwrap_or(0),
            slab_bytes_end: held.last().copied().unwrap_or(0),
            slab_bytes_mean: held.iter().sum::<u64>() / held.len().max(1) as u64,
            caches,
        }
    }
}

impl InKernel {
    /// Returns what slabs held more after the replay than before it, and the threads that the kernel started meanwhile.
    fn left(&self) -> String {
        match self.new_threads.max(0).cast_unsigned() {
            0 => format!("{:+} kB", self.left_kb),
            threads => format!("{:+} kB, {} more", self.left_kb, counted(threads, "thread")),
        }
    }
}

impl Report for Outcome {
    const SCHEMA: &'static str = "slablab.replay-kernel/1";

    fn text(&self, page: &mut Page) {
        page.line(format!(
            "{}: {} events on {}, in real kernels, in the trace's order",
            self.file,
            thousands(self.events as u64),
            counted(self.cpus.into(), "CPU")
        ));
        page.heading("Memory");
        let mut columns = vec![Column::name("", "what")];
        let heads = self.kernels.iter();
        columns.extend(
            heads.map(|k| Column::number(format!("{} {}", k.release, k.kernel), &k.kernel)),
        );
        let mut table = Table::new(columns);
        let mut row = |name: &str, cell: &dyn Fn(&InKernel) -> Cell| {
            let mut cells = vec![Cell::text(name)];
            cells.extend(self.kernels.iter().map(cell));
            table.row(cells);
        };
        row("slabs, peak", &|k| Cell::Bytes(k.slab_bytes_peak));
        row("slabs, end", &|k| Cell::Bytes(k.slab_bytes_end));
        row("slabs, mean", &|k| Cell::Bytes(k.slab_bytes_mean));
        row("replay took", &|k| Cell::Ns(k.replay_ns));
        row("Slab after and before", &|k| Cell::text(k.left()));
        page.table(&table);
        for kernel in self.kernels.iter().filter(|kernel| !kernel.caches.is_empty()) {
            page.heading(&format!("Caches that held most, {}", kernel.kernel));
            page.table(&caches([kernel], self.lines));
        }
    }

    fn csv(&self) -> Table {
        caches(&self.kernels, usize::MAX)
    }
}

fn caches<'a>(kernels: impl IntoIterator<Item = &'a InKernel>, lines: usize) -> Table {
    let mut table = Table::new([
        Column::name("kernel", "kernel"),
        Column::name("cache", "cache"),
        Column::number("slabs, end", "slabs_end"),
        Column::number("held, end", "held_bytes_end"),
        Column::number("held, peak", "held_bytes_peak"),
    ]);
    for kernel in kernels {
        for cache in kernel.caches.iter().take(lines) {
            table.row([
                Cell::text(&kernel.kernel),
                Cell::text(&cache.cache),
                Cell::Count(cache.slabs_end),
                Cell::Bytes(cache.held_bytes_end),
                Cell::Bytes(cache.held_bytes_peak),
            ]);
        }
    }
    table
}
