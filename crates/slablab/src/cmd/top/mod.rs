//! `slablab top`: what the kernel's slabs do now, by call site or by cache.
//!
//! # How it works
//! A thread looks at the kernel once in each interval ([`slablab_trace::Live`]) and sends the result; this
//! one waits for keys and draws ([`screen`]). [`view`] is the visible part: which rows, in which order.

mod screen;
pub(crate) mod view;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use slablab_host::Interrupt;
use slablab_trace::{Live, LiveFrame, LiveOptions};

use self::view::{By, SortBy, View};
use super::outputs::check_before;
use crate::answers::top::TopAnswer;
use crate::cli::{AnswerArgs, Format, OutputArgs};
use crate::output::give;

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
    /// Look once every this many seconds
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
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Looks whose rates are shown together.
const LOOKS_LIVE: usize = 4;

/// Returns in how many looks `seconds` are divided: many slices see more of what changes than few long ones.
fn looks_once(seconds: f64) -> usize {
    const LOOKS_PER_SECOND: f64 = 4.0;
    ((seconds * LOOKS_PER_SECOND) as usize).max(LOOKS_LIVE)
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    check_before(&args.answer, &[args.by.plural()])?;
    let looks = if args.once { looks_once(args.seconds) } else { LOOKS_LIVE };
    // Before the instance of tracefs is made: a signal that kills would leave it behind.
    let stop = Interrupt::on_signals().context("cannot catch signals")?;
    let live = Live::open(LiveOptions { traced_share: f64::from(args.trace) / 100.0, looks })?;
    let view = View::new(args.by, args.sort, &args.filter);
    if args.once {
        return once(args, live, &stop, &view, output);
    }
    if output.format != Format::Table
        || args.answer.outputs().iter().any(|(_, file)| file.is_some())
    {
        bail!("a live view is for a terminal: add --once for JSON, CSV or a file");
    }
    screen::run(live, view, Duration::from_secs_f64(args.interval), &stop)?;
    Ok(ExitCode::SUCCESS)
}

/// Looks for the requested time, or until a signal comes; rates are those of all of it.
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
    let answer = TopAnswer::new(view, &frame, live.sources());
    drop(live);
    give(&answer, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}

fn parse_interval(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds from 0.1 to 3600 is needed".to_owned())
}
