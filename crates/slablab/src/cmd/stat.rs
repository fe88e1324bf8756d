//! `slablab stat`: the totals and the per-call-site table of `perf kmem stat`, in the same words.
//!
//! With `--compat perf` a `perf.data` gives perf's own numbers, to the last digit; without, objects that were
//! freed without an event (bulk frees) count as freed when their address is used again.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ValueEnum;
use serde::Serialize;
use slablab_replay::{PerfAlloc, PerfKmem, PerfSite, PerfTotals};
use slablab_trace::{Format, Input, Kind};

use super::filter::FilterArgs;
use super::import;
use crate::cli::{OutputArgs, ResultFile};
use crate::output::{Cell, Page, Report, Table, field, print};
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The trace, or a recording that can be imported; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Give the numbers of another tool, to the last digit
    #[arg(long, value_enum, value_name = "TOOL")]
    compat: Option<Compat>,
    /// Sort by these keys, the first one first
    #[arg(short, long, value_enum, value_delimiter = ',', value_name = "KEY,...",
          default_values_t = [SortKey::Frag, SortKey::Hit, SortKey::Bytes])]
    sort: Vec<SortKey>,
    /// Show this many call sites [default: all]
    #[arg(short = 'n', long, short_alias = 'l', alias = "line", value_name = "N")]
    lines: Option<usize>,
    /// Show addresses instead of symbols
    #[arg(long)]
    raw_ip: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    result: ResultFile,
}

/// Tools whose numbers we give.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Compat {
    /// perf kmem --caller stat, from a perf.data
    Perf,
}

/// What to sort by; each key descends, as in perf.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum SortKey {
    /// Internal fragmentation
    Frag,
    /// Allocations
    Hit,
    /// Bytes allocated
    Bytes,
    /// Objects freed on another CPU
    Pingpong,
    /// Address of the call site (ascending)
    Callsite,
}

impl SortKey {
    fn compare(self, a: &Line, b: &Line) -> Ordering {
        match self {
            Self::Frag => b.stat.frag_percent().total_cmp(&a.stat.frag_percent()),
            Self::Hit => b.stat.hit.cmp(&a.stat.hit),
            Self::Bytes => b.stat.bytes_alloc.cmp(&a.stat.bytes_alloc),
            Self::Pingpong => b.stat.pingpong.cmp(&a.stat.pingpong),
            Self::Callsite => a.address.cmp(&b.address),
        }
    }
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    if args.compat.is_some() && !args.filter.is_empty() {
        bail!(
            "--compat counts all of a perf.data: leave out --time, --cpu, --pid, --comm, --cache and --site"
        );
    }
    let mut stat = match args.compat {
        Some(Compat::Perf) => of_perf_data(&args.trace, args.raw_ip)?,
        None => of_trace(&args.trace, &args.filter, args.raw_ip)?,
    };
    stat.lines_max = args.lines;
    // Stable, and the sites come in order of address: where all keys are equal, perf's order.
    stat.sites.sort_by(|a, b| {
        args.sort.iter().map(|key| key.compare(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    });
    print(&stat, output, args.result.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Counts as perf does.
fn of_perf_data(path: &Path, raw_ip: bool) -> Result<Stat> {
    let input = Input::open(path)?;
    if input.is_parquet() {
        bail!(
            "{}: a trace holds no addresses, and perf counts by address; give the perf.data that it was \
             imported from, or leave out --compat",
            path.display()
        );
    }
    let mut source = slablab_trace::read_raw(input, Some(Format::PerfData))?;
    let mut perf = PerfKmem::default();
    let mut progress = Progress::default();
    let mut events = Vec::new();
    loop {
        events.clear();
        if !source.read(&mut events)? {
            break;
        }
        progress.step(source.facts().progress());
        let sites = &source.facts().names.sites;
        for event in &events {
            if event.kind.is_alloc() {
                perf.alloc(&PerfAlloc {
                    call_site: sites.get(event.site as usize).map_or(0, |site| site.address),
                    ptr: event.ptr,
                    bytes_req: event.bytes_req,
                    bytes_alloc: event.bytes_alloc,
                    cpu: event.cpu,
                    node: event.node,
                });
            } else {
                perf.free(event.ptr, event.cpu);
            }
        }
    }
    let symbols = &source.facts().symbols;
    let name = |address: u64| match raw_ip {
        true => format!("{address:#x}"),
        false => symbols.perf_name(address),
    };
    Ok(Stat::new(&perf, |address| (name(address), address)))
}

/// Counts by object slot, so that an implicit free is a free.
fn of_trace(path: &Path, filter: &FilterArgs, raw_ip: bool) -> Result<Stat> {
    let reader = import::open(path, filter)?;
    let meta = reader.meta();
    let mut perf = PerfKmem::default();
    let progress = Progress::new("counting", meta.events);
    let mut done = 0;
    for batch in reader.batches() {
        let batch = batch?;
        for event in batch.events() {
            let ptr = u64::from(event.object);
            match event.kind {
                Kind::Kmalloc | Kind::KmemCacheAlloc => perf.alloc(&PerfAlloc {
                    call_site: u64::from(event.site),
                    ptr,
                    bytes_req: event.bytes_req,
                    bytes_alloc: event.bytes_alloc,
                    cpu: u32::from(event.cpu),
                    node: i32::from(event.node),
                }),
                Kind::Kfree | Kind::KmemCacheFree => perf.free(ptr, u32::from(event.cpu)),
                Kind::ImplicitFree | Kind::EstimatedFree => perf.free_unseen(ptr),
            }
        }
        done += batch.len() as u64;
        progress.set(done);
    }
    let name = |site: u64| match meta.sites.get(site as usize) {
        Some(site) if raw_ip => (format!("{:#x}", site.address), site.address),
        Some(site) => (site.name.clone(), site.address),
        None => ("(call site not recorded)".to_owned(), u64::MAX),
    };
    let mut stat = Stat::new(&perf, name);
    stat.sites.sort_by_key(|line| line.address);
    Ok(stat)
}

/// What `slablab stat` says.
#[derive(Debug, Serialize)]
struct Stat {
    totals: PerfTotals,
    net_bytes: Option<u64>,
    wasted_bytes: u64,
    frag_percent: f64,
    sites: Vec<Line>,
    #[serde(skip)]
    lines_max: Option<usize>,
}

/// A line of the table.
#[derive(Debug, Serialize)]
struct Line {
    callsite: String,
    #[serde(skip)]
    address: u64,
    #[serde(flatten)]
    stat: PerfSite,
    frag_percent: f64,
}

impl Stat {
    fn new(perf: &PerfKmem, name: impl Fn(u64) -> (String, u64)) -> Self {
        let totals = perf.totals();
        let sites = perf
            .sites()
            .map(|(key, stat)| {
                let (callsite, address) = name(key);
                Line { callsite, address, stat, frag_percent: stat.frag_percent() }
            })
            .collect();
        Self {
            totals,
            net_bytes: totals.bytes_net(),
            wasted_bytes: totals.bytes_wasted(),
            frag_percent: totals.frag_percent(),
            sites,
            lines_max: None,
        }
    }

    fn shown(&self) -> &[Line] {
        &self.sites[..self.lines_max.unwrap_or(usize::MAX).min(self.sites.len())]
    }
}

impl Report for Stat {
    const SCHEMA: &'static str = "slablab.stat/1";

    /// Prints perf's table: the same columns, widths and words, so that eyes and scripts find their way.
    fn text(&self, page: &mut Page) {
        let rule = "-".repeat(105);
        page.line(&rule);
        page.line(format!(
            " {:<34} | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag",
            "Callsite"
        ));
        page.line(&rule);
        for Line { callsite, stat, .. } in self.shown() {
            let hits = u64::from(stat.hit).max(1);
            page.line(format!(
                " {:<34} | {:>9}/{:<5} | {:>9}/{:<5} | {:>8} | {:>9} | {:6.3}%",
                callsite,
                stat.bytes_alloc,
                stat.bytes_alloc / hits,
                stat.bytes_req,
                stat.bytes_req / hits,
                stat.hit,
                stat.pingpong,
                stat.frag_percent()
            ));
        }
        if self.shown().len() < self.sites.len() {
            let dots = ["...".to_owned(), format!("{:<15}", "...")];
            page.line(format!(
                " {:<34} | {} | {} | {:<8} | {:<9} | ...",
                dots[0], dots[1], dots[1], "...", "..."
            ));
        }
        page.line(&rule);
        page.line("");
        page.line("SUMMARY (SLAB allocator)");
        page.line("========================");
        page.line(format!("Total bytes requested: {}", self.totals.bytes_requested));
        page.line(format!("Total bytes allocated: {}", self.totals.bytes_allocated));
        page.line(format!("Total bytes freed:     {}", self.totals.bytes_freed));
        if let Some(net) = self.net_bytes {
            page.line(format!("Net total bytes allocated: {net}"));
        }
        page.line(format!("Total bytes wasted on internal fragmentation: {}", self.wasted_bytes));
        page.line(format!("Internal fragmentation: {:.6}%", self.frag_percent));
        page.line(format!(
            "Cross CPU allocations: {}/{}",
            self.totals.cross_allocs, self.totals.allocs
        ));
    }

    fn csv(&self) -> Table {
        let fields = [
            field::name("Callsite", "callsite", |line: &Line| &line.callsite),
            field::bytes("Total_alloc", "bytes_alloc", |line| line.stat.bytes_alloc),
            field::bytes("Total_req", "bytes_req", |line| line.stat.bytes_req),
            field::count("Hit", "hit", |line| line.stat.hit.into()),
            field::count("Ping-pong", "pingpong", |line| line.stat.pingpong.into()),
            field::cell("Frag", "frag_percent", |line| Cell::Number(line.frag_percent, 6)),
        ];
        Table::of(self.shown(), fields)
    }
}
