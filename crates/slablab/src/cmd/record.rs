//! `slablab record`: the running kernel's allocations, recorded while a command runs.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use slablab_trace::{Keep, Portion, RecordOptions, SlabLimit, SlabPart};

use super::filter::parse_name;
use super::import::AddressArgs;
use super::size::{parse_bytes, parse_kib};
use super::written::{Written, refuse_output};
use crate::cli::OutputArgs;
use crate::output::bytes;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Records the whole system, as `perf kmem record` does, and leaves its own events out.\n\
                        When --duration is over, or on Ctrl-C, the command and all that it started get SIGTERM, and\n\
                        after two seconds SIGKILL. What a command leaves running when it ends by itself goes on,\n\
                        and is named. When the disk is full the recording ends, and the command goes on.\n\
                        Exit status: the command's; 1 when nothing of --caches, --sites and --callers had an event; 2 when\n\
                        nothing could be recorded.\n\n\
                        Examples:\n  \
                        slablab record -o t.parquet -- perf bench sched messaging -g 5 -l 100\n  \
                        slablab record --duration 10\n  \
                        slablab record --last --until-unreclaim 4G --duration 86400 -o leak.parquet"
)]
pub(crate) struct Args {
    /// The trace file to write, readable by its owner only
    #[arg(short, long, value_name = "FILE", default_value = "slablab.parquet")]
    output: PathBuf,
    /// Ring buffer for each CPU, in KiB or with K, M or G behind it [default: 64M, or less where memory is small]
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = parse_kib)]
    buffer: Option<u32>,
    /// Stop after this many seconds (without a command: or on Ctrl-C)
    #[arg(short, long, value_name = "SECONDS", value_parser = parse_seconds)]
    duration: Option<Duration>,
    /// Keep the last events only, as many as the ring buffers hold: nothing is written before the end
    #[arg(long)]
    last: bool,
    /// Stop when all slabs take more than this (Slab: of /proc/meminfo)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    until_slab: Option<u64>,
    /// Stop when slabs that the kernel does not give back take more than this (SUnreclaim:)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    until_unreclaim: Option<u64>,
    /// Record these caches only, by a filter in the kernel (not kmalloc's; Linux 6.8 on); what kfree() frees stays alive
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = parse_name)]
    caches: Vec<String>,
    /// Record only what these functions allocate, or one place of a function (FUNCTION+0x1c, as `stat` lists them), by a
    /// filter in the kernel; what is freed without an event stays alive
    #[arg(long, value_name = "SITE,...", value_delimiter = ',', value_parser = parse_name)]
    sites: Vec<String>,
    /// Record only what these functions led to
    #[arg(long, value_name = "F,...", value_delimiter = ',', value_parser = parse_name)]
    callers: Vec<String>,
    /// Record no frees, at half the cost
    #[arg(long)]
    no_frees: bool,
    /// Record the objects of one in N blocks of 32 KiB (2 to 256); `stat` estimates all, with 95 % intervals
    #[arg(long, value_name = "N", value_parser = parse_one_in)]
    sample: Option<u32>,
    /// Record call stacks: of 1 block in 32, or of =all
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "sample",
        hide_possible_values = true
    )]
    stacks: Option<Stacks>,
    /// Record the page allocator's events too, all
    #[arg(long, conflicts_with_all = ["callers", "no_frees"])]
    pages: bool,
    /// Set no kprobes at functions that allocate or free many objects in a call without events; estimate such frees
    #[arg(long)]
    no_probes: bool,
    #[command(flatten)]
    addresses: AddressArgs,
    /// Make the trace of an interrupted recording that was to be written to --output
    #[arg(long, conflicts_with_all = ["buffer", "duration", "last", "until_slab", "until_unreclaim", "caches", "sites",
                                      "sample", "no_probes", "stacks", "pages",
                                      "callers", "no_frees", "strip_addresses", "command"])]
    recover: bool,
    /// The command to run meanwhile
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Whose stacks are recorded, where nothing else chooses.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Stacks {
    /// The stacks of one page in [`STACKS_ONE_IN`]
    Sample,
    All,
}

/// One block in 32 with stacks costs hackbench less than 1.3 times its untraced time; one in 16 costs a little more.
const STACKS_ONE_IN: u32 = 32;

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    refuse_output(&args.output)?;
    let mut progress = Progress::default();
    if args.recover {
        let summary = slablab_trace::recover(&args.output, &mut |step| progress.step(step))?;
        drop(progress);
        Written::recorded(&args.output, summary).print(output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let slab_limits = args.slab_limits()?;
    let options = RecordOptions {
        command: args.command.clone(),
        duration: args.duration,
        buffer_kib: args.buffer,
        keep: if args.last { Keep::Last } else { Keep::All },
        slab_limits,
        caches: args.caches.clone(),
        sites: args.sites.clone(),
        probes: !args.no_probes,
        pages: args.pages,
        callers: args.callers.clone(),
        frees: !args.no_frees,
        stacks: args.stacks.is_some() || !args.callers.is_empty(),
        one_in: args.one_in(),
        addresses: args.addresses.addresses(),
        ..RecordOptions::new(&args.output)
    };
    let summary = slablab_trace::record(&options, &mut |step| progress.step(step))?;
    drop(progress);
    let asked = args.caches.len() + args.sites.len() + args.callers.len();
    let silent = summary.silent.len() + summary.silent_caches.len() + summary.silent_callers.len();
    let is_empty = asked > 0 && silent == asked;
    let status = match u8::try_from(summary.exit_status).unwrap_or(1) {
        0 if is_empty => 1,
        status => status,
    };
    Written::recorded(&args.output, summary).print(output)?;
    Ok(ExitCode::from(status))
}

impl Args {
    /// Returns the limits of slab memory, and refuses one that is exceeded before anything is recorded.
    fn slab_limits(&self) -> Result<Vec<SlabLimit>> {
        let limits = [
            ("--until-slab", "slabs", SlabPart::All, self.until_slab),
            (
                "--until-unreclaim",
                "unreclaimable slabs",
                SlabPart::Unreclaimable,
                self.until_unreclaim,
            ),
        ];
        let mut asked = Vec::new();
        for (option, slabs, part, bytes_max) in limits {
            let Some(bytes_max) = bytes_max else { continue };
            let now = part.bytes_now();
            if now > bytes_max {
                bail!(
                    "{option}: the machine has {} in {slabs} already, so the recording would end at once; give more",
                    bytes(now)
                );
            }
            let memory = SlabPart::memory_bytes();
            if memory > 0 && bytes_max >= memory {
                bail!(
                    "{option}: the machine has {} of memory, so the recording would not end; give less",
                    bytes(memory)
                );
            }
            asked.push(SlabLimit { part, bytes_max });
        }
        Ok(asked)
    }

    /// Returns which portion of the objects is recorded.
    fn one_in(&self) -> Option<u32> {
        let chosen = [&self.caches, &self.sites, &self.callers];
        let is_chosen = chosen.iter().any(|chosen| !chosen.is_empty());
        let by_stacks = self.stacks == Some(Stacks::Sample) && !is_chosen;
        self.sample.or(by_stacks.then_some(STACKS_ONE_IN))
    }
}

fn parse_one_in(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix("1/").unwrap_or(text).parse().ok();
    number
        .filter(|n| Portion::ONE_IN.contains(n))
        .ok_or_else(|| "a sample is one in 2, 4, 8, 16, 32, 64, 128 or 256 objects".to_owned())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Err(_) if seconds >= 1.0 => {
            Err("more seconds than a clock counts; leave --duration out to record without an end"
                .to_owned())
        }
        _ => Err("a number of seconds greater than 0 is needed".to_owned()),
    }
}
