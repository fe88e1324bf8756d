//! `slablab stat`: the totals and the per-call-site table of `perf kmem stat`, in the same words.
//!
//! With `--compat perf` a `perf.data` gives perf's own numbers, to the last digit; without, objects that were
//! freed without an event (bulk frees) count as freed when their address is used again, and allocations that failed,
//! which perf counts as objects at address 0, do not count.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_replay::{
    Fleet, FleetStat, PerfAlloc, PerfCounts, PerfKmem, PerfSite, PerfTotals, SiteStat,
    fragmentation_percent,
};
use slablab_trace::{Format, Input, Kind, Recorded, TraceReader};

use super::filter::FilterArgs;
use super::fleet;
use super::fleet::args::{FILTERS, Many, ManyArgs, refuse};
use super::import;
use super::question::check_outputs;
use crate::cli::{OutputArgs, ResultFile};
use crate::output::{Cell, Page, Report, Table, field, print};
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The trace, or a recording that can be imported; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    #[command(flatten)]
    many: ManyArgs,
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
            Self::Frag => b.frag_percent.total_cmp(&a.frag_percent),
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
    check_outputs(&args.many.all(&args.trace), [("--output", args.result.output.as_ref())])?;
    let mut stat = match (args.many.with(&args.trace)?, args.compat) {
        (Some(many), _) => of_many(args, &many)?,
        (None, Some(Compat::Perf)) => of_perf_data(&args.trace, args.raw_ip)?,
        (None, None) => {
            let reader = import::open(&args.trace, &args.filter)?;
            let progress = Progress::new("counting", reader.meta().events);
            of_trace(&reader, args.raw_ip, &mut |done| progress.set(done))?
        }
    };
    stat.lines_max = args.lines;
    // Stable, and the sites come in order of address: where all keys are equal, perf's order.
    stat.sites.sort_by(|a, b| {
        args.sort.iter().map(|key| key.compare(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    });
    print(&stat, output, args.result.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Counts many traces, and adds up.
fn of_many(args: &Args, many: &Many<'_>) -> Result<Stat> {
    refuse(&[
        ("--compat", args.compat.is_some()),
        ("--raw-ip", args.raw_ip),
        (FILTERS, !args.filter.is_empty()),
    ])?;
    let (FleetStat { fleet, counts }, remarks) = fleet::stat::of_many(many, |reader, progress| {
        if reader.meta().portion.is_some() {
            bail!(
                "holds a portion of the objects: ask for its numbers alone, with their intervals"
            );
        }
        let stat = of_trace(reader, false, progress)?;
        let sites = stat.sites.into_iter().map(|line| line.stat).collect();
        Ok(PerfCounts { totals: stat.totals, sites })
    })?;
    let lines = counts.sites.into_iter().map(|stat| Line::new(stat, 0));
    Ok(Stat { fleet: Some(fleet), remarks, ..Stat::new(counts.totals, lines.collect()) })
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
    Ok(Stat::of(&perf, |address| (name(address), address)))
}

/// Counts by object slot, so that an implicit free is a free, and what is no object (an allocation that failed, a free of
/// NULL) is none; `progress` is told the rows done so far.
fn of_trace(reader: &TraceReader, raw_ip: bool, progress: &mut dyn FnMut(u64)) -> Result<Stat> {
    let meta = reader.meta();
    let mut perf = PerfKmem::default().with_whole_sizes();
    let mut done = 0;
    for batch in reader.batches() {
        let batch = batch?;
        for event in batch.events().filter(|event| event.object != slablab_trace::NONE) {
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
        progress(done);
    }
    let name = |site: u64| match meta.sites.get(site as usize) {
        Some(site) if raw_ip => (format!("{:#x}", site.address), site.address),
        Some(site) => (site.name.clone(), site.address),
        None => ("(call site not recorded)".to_owned(), u64::MAX),
    };
    let mut stat = Stat::of(&perf, name);
    stat.sites.sort_by_key(|line| line.address);
    Ok(match &meta.portion {
        Some(portion) if !raw_ip => stat.of_all(portion),
        _ => stat,
    })
}

/// What `slablab stat` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Stat {
    /// Of many traces
    #[serde(flatten)]
    fleet: Option<Fleet>,
    totals: PerfTotals,
    net_bytes: Option<u64>,
    wasted_bytes: u64,
    frag_percent: f64,
    sites: Vec<Line>,
    /// One in so many objects was recorded; the numbers are those of all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    one_in: Option<u32>,
    /// What a reader should know
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
    #[serde(skip)]
    lines_max: Option<usize>,
}

/// A line of the table.
#[derive(Debug, Serialize, JsonSchema)]
struct Line {
    #[serde(flatten)]
    stat: SiteStat,
    #[serde(skip)]
    address: u64,
    frag_percent: f64,
    /// Of a portion of the objects: between what lies what all of them allocated; `null` where too few tell
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_alloc_interval: Option<Option<(u64, u64)>>,
}

impl Line {
    fn new(stat: SiteStat, address: u64) -> Self {
        let frag_percent = fragmentation_percent(stat.bytes_req, stat.bytes_alloc);
        Self { stat, address, frag_percent, bytes_alloc_interval: None }
    }
}

impl Stat {
    /// Takes what was counted; `name` gives the name and the address of a call site.
    fn of(perf: &PerfKmem, name: impl Fn(u64) -> (String, u64)) -> Self {
        let line = |(key, site): (u64, PerfSite)| {
            let (callsite, address) = name(key);
            let PerfSite { bytes_alloc, bytes_req, hit, pingpong } = site;
            let (hit, pingpong) = (hit.into(), pingpong.into());
            Line::new(SiteStat { callsite, bytes_alloc, bytes_req, hit, pingpong }, address)
        };
        Self::new(perf.totals(), perf.sites().map(line).collect())
    }

    fn new(totals: PerfTotals, sites: Vec<Line>) -> Self {
        Self {
            fleet: None,
            totals,
            net_bytes: totals.bytes_net(),
            wasted_bytes: totals.bytes_wasted(),
            frag_percent: totals.frag_percent(),
            sites,
            one_in: None,
            remarks: Vec::new(),
            lines_max: None,
        }
    }

    /// Makes of the numbers of a portion of the objects those of all.
    fn of_all(mut self, portion: &Recorded) -> Self {
        let times = u64::from(portion.one_in);
        for line in &mut self.sites {
            let SiteStat { callsite, bytes_alloc, bytes_req, hit, pingpong } = &mut line.stat;
            line.bytes_alloc_interval = Some(portion.interval(callsite, *bytes_alloc));
            for number in [bytes_alloc, bytes_req, hit, pingpong] {
                *number *= times;
            }
        }
        let PerfTotals { bytes_requested, bytes_allocated, bytes_freed, allocs, cross_allocs } =
            &mut self.totals;
        for number in [bytes_requested, bytes_allocated, bytes_freed, allocs, cross_allocs] {
            *number = number.wrapping_mul(times);
        }
        let lines_max = self.lines_max;
        Self { one_in: Some(portion.one_in), lines_max, ..Self::new(self.totals, self.sites) }
    }

    fn shown(&self) -> &[Line] {
        &self.sites[..self.lines_max.unwrap_or(usize::MAX).min(self.sites.len())]
    }
}

impl Report for Stat {
    const SCHEMA: &'static str = "slablab.stat/1";

    fn schema(&self) -> &'static str {
        if self.fleet.is_some() { "slablab.stat.fleet/1" } else { Self::SCHEMA }
    }

    /// Prints perf's table: the same columns, widths and words, so that eyes and scripts find their way.
    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn text(&self, page: &mut Page) {
        self.fleet.iter().for_each(|fleet| fleet::lines::head(fleet, page));
        if let Some(one_in) = self.one_in {
            page.line(format!(
                "The objects of 1 in {one_in} pages were recorded: these are the numbers of all, with the 95 % interval of \
                 Total_alloc; \"few\" where it comes from too few pages."
            ));
        }
        let rule = "-".repeat(105);
        page.line(&rule);
        page.line(format!(
            " {:<34} | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag",
            "Callsite"
        ));
        page.line(&rule);
        for line in self.shown() {
            let Line { stat, frag_percent, .. } = line;
            let hits = stat.hit.max(1);
            let interval = match line.bytes_alloc_interval {
                None => String::new(),
                Some(None) => " | few".to_owned(),
                Some(Some((low, high))) => format!(" | {low} .. {high}"),
            };
            page.line(format!(
                " {:<34} | {:>9}/{:<5} | {:>9}/{:<5} | {:>8} | {:>9} | {:6.3}%{interval}",
                stat.callsite,
                stat.bytes_alloc,
                stat.bytes_alloc / hits,
                stat.bytes_req,
                stat.bytes_req / hits,
                stat.hit,
                stat.pingpong,
                frag_percent
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
        fleet::lines::remarks(&self.remarks, self.lines_max.unwrap_or(usize::MAX), page);
    }

    fn csv(&self) -> Table {
        let fields = [
            field::name("Callsite", "callsite", |line: &Line| &line.stat.callsite),
            field::bytes("Total_alloc", "bytes_alloc", |line| line.stat.bytes_alloc),
            field::bytes("Total_req", "bytes_req", |line| line.stat.bytes_req),
            field::count("Hit", "hit", |line| line.stat.hit),
            field::count("Ping-pong", "pingpong", |line| line.stat.pingpong),
            field::cell("Frag", "frag_percent", |line| Cell::Number(line.frag_percent, 6)),
        ];
        if self.one_in.is_none() {
            return Table::of(self.shown(), fields);
        }
        let bound = |pick: fn((u64, u64)) -> u64| {
            move |line: &Line| {
                line.bytes_alloc_interval
                    .flatten()
                    .map_or(Cell::Missing, |of| Cell::Count(pick(of)))
            }
        };
        let bounds = [
            field::by("low", "bytes_alloc_low", bound(|of| of.0)),
            field::by("high", "bytes_alloc_high", bound(|of| of.1)),
        ];
        Table::of_fields(self.shown(), fields.into_iter().chain(bounds).collect::<Vec<_>>())
    }
}
