//! `slablab leaks`: who allocates slab memory on this machine and never frees it.
//!
//! How it works: [`slablab_hunt::Hunt`] is looked at once a second until the time is over, a leak is found, or a signal comes.
//! On a terminal the answer so far is drawn meanwhile ([`screen`]); the last one stays.

mod names;
mod screen;

use std::io::{IsTerminal, stdout};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;
use slablab_host::Interrupt;
use slablab_hunt::{Hunt, Options, Verdict};
use slablab_snapshot::parse_seconds;

use self::names::KernelNames;
use self::screen::Screen;
use super::filter::parse_name;
use super::outputs::check_before;
use super::size::parse_bytes;
use crate::answers::leaks::LeaksAnswer;
use crate::cli::{AnswerArgs, Format, OutputArgs};
use crate::output::{Answer, give};
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Counts every allocation by call site, and follows a sample from allocation to free: all objects of a call\n\
                  site that allocates little, a share of one that allocates much. What is old and still grows is a leak, or a\n\
                  cache that the kernel gives back when memory is short; what comes and goes follows the load. What the hunt\n\
                  could not see is counted. Objects that were there before are not judged.\n\n\
                  Needs root, Linux 6.1 or later with BPF and BTF, and no compiler. Nothing is left in the kernel when it\n\
                  ends, whatever ends it. Where BPF is refused, `slablab top` shows what grows, without stacks.\n\n\
                  Exit status: 0 no leak was found; 1 one was; 2 an error.\n\n\
                  Examples:\n  \
                  slablab leaks\n  \
                  slablab leaks --for 1d --until found --format json"
)]
pub(crate) struct Args {
    /// How long to hunt: 90s, 5m, 1d [default: 2m; on a terminal until Ctrl-C or q]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    duration: Option<Duration>,
    /// End before that time when a leak is found
    #[arg(long, value_enum, value_name = "WHAT")]
    until: Option<Until>,
    /// Show no live view: print one answer at the end
    #[arg(long)]
    once: bool,
    /// Memory for the tables in the kernel and what is read of them, besides 50M for the kernel's symbols; when they are full, a
    /// sample gets smaller, and nothing is lost unseen
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_ram)]
    ram: u64,
    /// Follow every object, whatever it costs: for a load that allocates little, or to name all that keeps sparse slabs
    #[arg(long)]
    every: bool,
    /// Functions that allocate for their callers, besides those that are known: the owner is who calls them
    #[arg(long, value_name = "FUNCTION,...", value_delimiter = ',', value_parser = parse_name)]
    helper: Vec<String>,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// What ends a hunt.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    // What a comment for rustdoc says here would stand in `--help`, and make it half as long again.
    Found,
}

const DURATION_DEFAULT: Duration = Duration::from_secs(120);
/// How often the maps are looked at, and how soon a wish to stop is heard.
const LOOK: Duration = Duration::from_secs(1);
const NAP: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    check_before(&args.answer, &LeaksAnswer::TABLES)?;
    let stop = Interrupt::on_signals().context("cannot catch signals")?;
    let names = KernelNames::read().context("the kernel's symbols are needed to name owners")?;
    for helper in args.helper.iter().filter(|name| !names.has(name)) {
        say(format_args!(
            "slablab: the running kernel has no function {helper:?}, which --helper names"
        ));
    }
    let options =
        Options { ram_bytes: args.ram as usize, helpers: args.helper.clone(), every: args.every };
    let hunt = Hunt::start(&options).context(
        "leaks needs root, and Linux 6.1 or later with BPF tracing and BTF (CONFIG_BPF_SYSCALL, CONFIG_DEBUG_INFO_BTF)",
    );
    let mut hunt = hunt?;
    let is_live = !args.once && output.format == Format::Table && stdout().is_terminal();
    let answer = {
        let mut screen =
            is_live.then(Screen::enter).transpose().context("the terminal cannot be used")?;
        hunt_on(args, &mut hunt, &names, screen.as_mut(), &stop)?
    };
    let mut shown = args.answer.clone();
    // A hunt of a day is not lost for a table that is empty this time.
    let document = answer.document();
    shown.show.retain(|name| {
        let is_there = document.has_content(name);
        if !is_there {
            say(format_args!("slablab: --show {name}: this answer has nothing to put into it"));
        }
        is_there
    });
    give(&answer, output, &shown)?;
    Ok(ExitCode::from(u8::from(answer.has_leak())))
}

/// Looks until the hunt is over; returns what was found.
fn hunt_on(
    args: &Args,
    hunt: &mut Hunt,
    names: &KernelNames,
    mut screen: Option<&mut Screen>,
    stop: &Interrupt,
) -> Result<LeaksAnswer> {
    let end = match (args.duration, &screen) {
        (Some(duration), _) => Some(duration),
        (None, None) => Some(DURATION_DEFAULT),
        (None, Some(_)) => None,
    };
    let name = |address| names.of(address);
    loop {
        let next = hunt.elapsed() + LOOK;
        let next = end.map_or(next, |end| next.min(end));
        let mut is_over = false;
        while !is_over && hunt.elapsed() < next {
            is_over = stop.is_set();
            match &mut screen {
                Some(screen) => is_over |= screen.is_left_within(NAP)?,
                None => std::thread::sleep(NAP),
            }
        }
        is_over |= end.is_some_and(|end| hunt.elapsed() >= end);
        let is_read = hunt.look(&name, is_over)?;
        let is_found = || hunt.findings().iter().any(|found| found.verdict == Verdict::Leak);
        is_over |= args.until == Some(Until::Found) && is_read && is_found();
        if is_over {
            return Ok(LeaksAnswer::new(hunt));
        }
        if let Some(screen) = screen.as_mut().filter(|_| is_read) {
            screen.draw(&LeaksAnswer::new(hunt)).context("the terminal cannot be written")?;
        }
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let seconds = parse_seconds(text)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "more time than a clock counts".to_owned())
}

fn parse_ram(text: &str) -> Result<u64, String> {
    const RAM: std::ops::RangeInclusive<u64> = 4 << 20..=16 << 30;
    let bytes = parse_bytes(text)?;
    let error = || format!("{text} is too much or too little: from 4M to 16G are of use");
    Some(bytes).filter(|bytes| RAM.contains(bytes)).ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_checked() {
        assert_eq!(parse_time("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_ram("64M"), Ok(64 << 20));
        for text in ["", "0", "-1", "m", "1e300d"] {
            parse_time(text).expect_err(text);
        }
        for text in ["1M", "17G", "x"] {
            parse_ram(text).expect_err(text);
        }
    }
}
