//! `slablab top`: what the kernel's slabs do now, by call site or by cache.
//!
//! How it works: a thread looks at the kernel once an interval ([`slablab_trace::Live`]) and sends what it saw; this one
//! waits for keys and draws ([`screen`]). [`view`] is what is shown: which rows, in which order.

mod screen;
mod view;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_host::Interrupt;
use slablab_trace::{Live, LiveFrame, LiveOptions, LiveRow};

use self::view::{By, SortBy, View};
use crate::cli::{Format, OutputArgs, ResultFile};
use crate::output::{Cell, Page, Report, Table, field, print, thousands};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Levels are those of /proc/slabinfo, and by line of the source of /proc/allocinfo where the kernel has it;\n\
                  they cost next to nothing. Rates need root: allocations are counted by perf counters all the time, and\n\
                  divided among call sites as in slices of each interval in which the kmem events are on (--trace sets how\n\
                  large a share, and so what it costs). Where perf counters are refused, rates are those of the slices,\n\
                  which are too low for a load that the events slow. A * marks what grew at each of\n\
                  the last ten looks: a possible leak, or a cache that is still being filled.\n\n\
                  Keys: Tab changes between call sites and caches, < and > the column to sort by, r turns the order, / asks for\n\
                  a part of a name, p stops and goes on, arrows and page keys scroll, ? shows the keys, q ends.\n\n\
                  Examples:\n  \
                  slablab top\n  \
                  slablab top --by cache --trace 0\n  \
                  slablab top --once --seconds 5 --format json"
)]
pub(crate) struct Args {
    /// Begin with call sites or with caches
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = By::Site)]
    by: By,
    /// Sort by this column, the greatest first [default: allocs for sites, slabs for caches]
    #[arg(short, long, value_enum, value_name = "COLUMN")]
    sort: Option<SortBy>,
    /// Only rows whose names have this in them
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Look once in so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_interval)]
    interval: f64,
    /// Percent of the time in which the kmem events are on; 0 for never
    #[arg(long, value_name = "PERCENT", default_value_t = 15, value_parser = clap::value_parser!(u8).range(0..=50))]
    trace: u8,
    /// Print one table of --seconds, or of the time until Ctrl-C, and end
    #[arg(long)]
    once: bool,
    /// How long to look with --once
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, requires = "once", value_parser = parse_interval)]
    seconds: f64,
    /// Show this many rows with --once
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    lines: usize,
    #[command(flatten)]
    result: ResultFile,
}

/// Looks whose rates are shown together.
const LOOKS_LIVE: usize = 4;

/// Returns in how many looks `seconds` are divided: many slices see more of what changes than few long ones.
fn looks_once(seconds: f64) -> usize {
    const LOOKS_PER_SECOND: f64 = 4.0;
    ((seconds * LOOKS_PER_SECOND) as usize).max(LOOKS_LIVE)
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let looks = if args.once { looks_once(args.seconds) } else { LOOKS_LIVE };
    // Before the instance of tracefs is made: a signal that kills would leave it behind.
    let stop = Interrupt::on_signals().context("cannot catch signals")?;
    let live = Live::open(LiveOptions { traced_share: f64::from(args.trace) / 100.0, looks })?;
    let view = View::new(args.by, args.sort, &args.filter);
    if args.once {
        return once(args, live, &stop, &view, output);
    }
    if output.format != Format::Table || args.result.output.is_some() {
        bail!("a live view is for a terminal: add --once for JSON, CSV or a file");
    }
    screen::run(live, view, Duration::from_secs_f64(args.interval), &stop)?;
    Ok(ExitCode::SUCCESS)
}

/// Looks for the time that was asked for, or until a signal comes; rates are those of all of it.
fn once(
    args: &Args,
    mut live: Live,
    stop: &Interrupt,
    view: &View,
    output: &OutputArgs,
) -> Result<ExitCode> {
    let mut frame = LiveFrame::default();
    let looks = looks_once(args.seconds) as u32;
    for _ in 0..looks {
        frame = live.look(Duration::from_secs_f64(args.seconds) / looks, &|| stop.is_set())?;
        if stop.is_set() {
            break;
        }
    }
    let rows = view.rows(&frame).into_iter().map(Row::new).collect();
    let top = Top {
        by: view.by,
        sources: live.sources(),
        seconds: frame.elapsed.as_secs_f64(),
        traced_seconds: frame.traced.as_secs_f64(),
        events_lost: frame.lost,
        allocs_counted: frame.is_counted,
        rows,
        lines: args.lines,
    };
    drop(live);
    print(&top, output, args.result.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// What `slablab top --once` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Top {
    by: By,
    sources: String,
    seconds: f64,
    traced_seconds: f64,
    events_lost: u64,
    /// Whether all allocations were counted, so that rates are right even where events were lost.
    allocs_counted: bool,
    rows: Vec<Row>,
    #[serde(skip)]
    lines: usize,
}

/// A line of the table.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    name: String,
    place: String,
    objects: Option<u64>,
    live_bytes: Option<u64>,
    slab_bytes: Option<u64>,
    growth_bytes: Option<i64>,
    allocs_per_second: Option<f64>,
    frees_per_second: Option<f64>,
    bytes_per_second: Option<f64>,
    waste_share: Option<f64>,
}

impl Row {
    fn new(row: &LiveRow) -> Self {
        let LiveRow { name, place, objects, live_bytes, slab_bytes, growth_bytes, .. } =
            row.clone();
        let LiveRow { allocs_per_second, frees_per_second, bytes_per_second, waste_share, .. } =
            *row;
        Self {
            name,
            place,
            objects,
            live_bytes,
            slab_bytes,
            growth_bytes,
            allocs_per_second,
            frees_per_second,
            bytes_per_second,
            waste_share,
        }
    }
}

impl Top {
    fn table(&self, rows: &[Row]) -> Table {
        let rate =
            |rate: Option<f64>| rate.map_or(Cell::Missing, |rate| Cell::Count(rate.round() as u64));
        let (head, place) = match self.by {
            By::Site => ("call site", "cache or place"),
            By::Cache => ("cache", "grows by"),
        };
        let fields = [
            field::name(head, "name", |row: &Row| &row.name),
            field::by("allocs/s", "allocs_per_second", move |row: &Row| {
                rate(row.allocs_per_second)
            }),
            field::by("frees/s", "frees_per_second", move |row: &Row| rate(row.frees_per_second)),
            field::cell("given/s", "bytes_per_second", |row| {
                row.bytes_per_second.map_or(Cell::Missing, |bytes| Cell::Bytes(bytes as u64))
            }),
            field::cell("waste", "waste_share", |row| {
                row.waste_share.map_or(Cell::Missing, Cell::Share)
            }),
            field::cell("live", "live_bytes", |row| {
                row.live_bytes.map_or(Cell::Missing, Cell::Bytes)
            }),
            field::cell("slabs", "slab_bytes", |row| {
                row.slab_bytes.map_or(Cell::Missing, Cell::Bytes)
            }),
            field::name(place, "place", |row| &row.place),
        ];
        Table::of(rows, fields)
    }
}

impl Report for Top {
    const SCHEMA: &'static str = "slablab.top/1";

    fn text(&self, page: &mut Page) {
        page.line(format!("{:.1} s by {}", self.seconds, self.sources));
        if self.events_lost > 0 {
            let so = view::events_lost_mean(self.allocs_counted);
            page.line(format!("{} events were lost: {so}", thousands(self.events_lost)));
        }
        page.table_or(
            &self.table(&self.rows[..self.lines.min(self.rows.len())]),
            "nothing to show: nothing was allocated or measured, or --filter and -n leave no row",
        );
    }

    fn csv(&self) -> Table {
        self.table(&self.rows)
    }
}

fn parse_interval(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds from 0.1 to 3600 is needed".to_owned())
}
