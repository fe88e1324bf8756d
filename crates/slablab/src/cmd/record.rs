//! `slablab record`: the running kernel's allocations, recorded while a command runs.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use slablab_trace::{RecordOptions, RecordSummary};

use super::size::parse_kib;
use crate::cli::OutputArgs;
use crate::output::{bytes, thousands};
use crate::progress::Progress;

/// Options of `slablab record`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Records the whole system, as `perf kmem record` does, and leaves its own events out.\n\
                        Exit status: the command's, or 2 when nothing could be recorded.\n\n\
                        Examples:\n  \
                        slablab record -o t.parquet -- perf bench sched messaging -g 5 -l 100\n  \
                        slablab record --duration 10"
)]
pub(crate) struct Args {
    /// The trace file to write
    #[arg(short, long, value_name = "FILE", default_value = "slablab.parquet")]
    output: PathBuf,
    /// Ring buffer for each CPU, in KiB or with K, M or G behind it [default: 64M, or less where memory is small]
    #[arg(short = 'm', long, value_name = "SIZE", value_parser = parse_kib)]
    buffer: Option<u32>,
    /// Stop after so many seconds (without a command: or on Ctrl-C)
    #[arg(short, long, value_name = "SECONDS", value_parser = parse_seconds)]
    duration: Option<Duration>,
    /// The command to run meanwhile
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs `slablab record`.
pub(crate) fn run(args: &Args, _output: &OutputArgs) -> Result<ExitCode> {
    let options = RecordOptions {
        output: args.output.clone(),
        command: args.command.clone(),
        duration: args.duration,
        buffer_kib: args.buffer,
    };
    let mut progress = Progress::default();
    let summary = slablab_trace::record(&options, &mut |step| progress.step(step))?;
    drop(progress);
    eprintln!("{}", sentence(&summary, args));
    Ok(ExitCode::from(u8::try_from(summary.exit_status).unwrap_or(1)))
}

/// Says what was recorded, in perf's manner.
fn sentence(summary: &RecordSummary, args: &Args) -> String {
    let quality = &summary.meta.quality;
    let size = std::fs::metadata(&args.output).map_or(0, |file| file.len());
    let lost = match quality.lost_total() {
        0 => "none lost".to_owned(),
        lost => format!(
            "{} LOST ({:.1} %; a larger --buffer may keep them)",
            thousands(lost),
            100.0 * lost as f64 / (lost + summary.meta.events) as f64
        ),
    };
    format!(
        "[ slablab record: {} events in {:.2} s, {lost}; {} written to {} ]",
        thousands(summary.meta.events),
        summary.elapsed.as_secs_f64(),
        bytes(size),
        args.output.display()
    )
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("a number of seconds greater than 0 is needed".to_owned()),
    }
}
