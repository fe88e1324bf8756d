//! `slablab watch`: the running kernel's tables of slab memory, moment after moment, in a file that stays small for days.
//!
//! # How it works
//! A moment is a text that `slablab info` reads ([`sample`]), behind a line with its length and sum, and is on the disk before
//! the next sleep. Where the file would become larger than its limit, every second moment of the older half goes
//! ([`store`]). With `--exporter` the moment is written as OpenMetrics instead ([`metrics`]).

mod metrics;
mod sample;
mod store;

use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use slablab_host::{Access, Signals, write_whole};

use self::sample::Sources;
use self::store::Store;
use super::size::parse_bytes;
use crate::cli::{Format, OutputArgs};
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
                  slablab watch --every 60s -o series\n  \
                  slablab info series\n  \
                  slablab watch --exporter --every 60s -o /var/lib/node_exporter/slablab.prom")]
pub(crate) struct Args {
    /// Time between moments (60s, 5m, 1h)
    #[arg(long, value_name = "TIME", value_parser = slablab_snapshot::parse_seconds, default_value = "60s")]
    every: f64,
    /// The file of the moments, which is continued if it is there [default: standard output, one moment]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Size of the file, at most: older moments become rarer
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "16M")]
    limit: u64,
    /// End after this number of moments
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Write OpenMetrics of the last moment, for Prometheus
    #[arg(long)]
    exporter: bool,
}

/// The least limit: a few moments of a large machine.
const LIMIT_MIN: u64 = 256 << 10;
/// Reading the tables more often than this would cost too much.
const EVERY_SECONDS_MIN: f64 = 0.1;

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    if output.format != Format::Table {
        bail!(
            "--format: moments are text that `slablab info` reads, or OpenMetrics with --exporter"
        );
    }
    if args.limit < LIMIT_MIN {
        bail!("--limit: a file of moments needs 256K at least");
    }
    if args.every < EVERY_SECONDS_MIN {
        bail!("--every: moments are 0.1 s apart at least");
    }
    let mut sources = Sources::of_this_machine();
    let Some(path) = &args.output else {
        if args.count.is_some_and(|count| count != 1) {
            bail!("--count: name a file for several moments (-o FILE)");
        }
        let text = moment(&mut sources, args)?;
        stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut store = match args.exporter {
        true => None,
        false => Some(Store::open(path, args.limit)?),
    };
    let mut signals = Signals::catch().context("cannot wait for signals")?;
    if stdout().is_terminal() {
        say(format_args!(
            "slablab: a moment each {} s goes to {}; Ctrl-C ends",
            args.every,
            path.display()
        ));
    }
    let start = Instant::now();
    for at in 1.. {
        let text = moment(&mut sources, args)?;
        match &mut store {
            Some(store) => store.append(&text)?,
            None => write_whole(path, text.as_bytes(), Access::Umask)
                .with_context(|| format!("{}: cannot write", path.display()))?,
        }
        let next = start + Duration::from_secs_f64(args.every * at as f64);
        if args.count == Some(at) || waits(&mut signals, next) {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Sleeps until then, and returns whether somebody asks for an end.
fn waits(signals: &mut Signals, until: Instant) -> bool {
    while Instant::now() < until {
        if signals.wait(Some(until)).is_some() {
            return true;
        }
    }
    false
}

fn moment(sources: &mut Sources, args: &Args) -> Result<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let text = sources.moment(now)?;
    match args.exporter {
        true => metrics::of_moment(&text),
        false => Ok(text),
    }
}
