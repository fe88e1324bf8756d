//! `slablab tune`: which settings of the recorded kernel hold less memory, as what to type.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_replay::{HeldAt, tune, tune_sheaves};

use super::aged::AgedArgs;
use super::allocators::AllocatorArgs;
use super::question::QuestionArgs;
use crate::answers::script::script;
use crate::answers::tune::{TuneAnswer, advised};
use crate::cli::OutputArgs;
use crate::output::{give, write_whole};
use crate::progress::Progress;

/// Settings that are tried, about; the bar need not be exact.
const SETTINGS: u64 = 40;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Boot parameters, files under /sys/kernel/slab and the configuration are searched for the settings that hold\n\
                        least. Each is replayed on a machine that is empty before the first event.\n\n\
                        Examples:\n  \
                        slablab tune t.parquet\n  \
                        slablab tune t.parquet --max-locks +10% --apply-script tune.sh\n  \
                        slablab tune t.parquet --sheaves --report frontier.html"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    allocator: AllocatorArgs,
    /// The most locks and atomic operations that an answer may take, beyond those of the recorded kernel
    #[arg(long, value_name = "+N%", default_value = "+10%", value_parser = parse_share)]
    max_locks: f64,
    /// Which memory should be least: at its peak, on average (mean), or at the end
    #[arg(long, value_name = "WHEN", default_value = "peak", value_parser = parse_held_at)]
    least: HeldAt,
    /// Search capacities of sheaves and limits of barns instead, which are constants of the source of
    /// Linux 7.0 and later: the answer is a change of it
    #[arg(long)]
    sheaves: bool,
    #[command(flatten)]
    aged: AgedArgs,
    /// Also write the answer within --max-locks as a script of shell, which can undo what it does
    #[arg(long, value_name = "FILE")]
    apply_script: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    let script_file = ("--apply-script", args.apply_script.as_ref());
    if args.sheaves && args.apply_script.is_some() {
        bail!(
            "--apply-script: no script sets constants of the kernel's source; leave it or --sheaves out"
        );
    }
    question.check_outputs(&[question.path()], &[script_file])?;
    let trace = question.open()?;
    let meta = trace.meta();
    let progress = Progress::new("trying", meta.events * SETTINGS);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let kind = args.allocator.of(meta);
    let tuning = if args.sheaves {
        args.allocator.check_has_sheaves()?;
        if let Some(portion) = &meta.portion {
            bail!(
                "{}: the recording has the objects of 1 in {} pages, and sheaves do not shrink with them; record without \
                 --sample",
                question.file(),
                portion.one_in
            );
        }
        tune_sheaves(&trace, None, args.max_locks, args.least, &mut note)
    } else {
        tune(&trace, kind, None, args.max_locks, args.least, &mut note)
    };
    let tuning = question.with_trace_name(tuning)?;
    drop(progress);
    let setting = advised(&tuning).map(|answer| &answer.outcome.setting);
    let rest = args.aged.rest_of_setting(&trace, question.is_about_all(), kind, setting)?;
    let answer = TuneAnswer { file: question.file(), tuning, rest };
    give(&answer, output, &question.answer)?;
    if let Some(path) = &args.apply_script {
        let text = script(advised(&answer.tuning), &meta.kernel_release, &answer.file);
        write_whole(path, text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads `peak`, `mean` or `end`.
fn parse_held_at(text: &str) -> Result<HeldAt, String> {
    match text {
        "peak" => Ok(HeldAt::Peak),
        "mean" => Ok(HeldAt::Mean),
        "end" => Ok(HeldAt::End),
        _ => Err("memory is counted at its peak, on average (mean) or at the end".to_owned()),
    }
}

/// Reads `+10%` or `10%`: this much more than as recorded.
fn parse_share(text: &str) -> Result<f64, String> {
    let error = || format!("{text:?} is not a share; shares look like +10%");
    let number = text.trim().trim_start_matches('+').strip_suffix('%').ok_or_else(error)?;
    let percent: f64 = number.trim().parse().map_err(|_| error())?;
    if !(0.0..=100_000.0).contains(&percent) {
        return Err(format!("{text:?}: a share is from 0% to 100000%"));
    }
    Ok(1.0 + percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent_more() {
        assert_eq!((parse_share("+10%"), parse_share("50 %")), (Ok(1.1), Ok(1.5)));
        for text in ["", "10", "-5%", "x%", "nan%", "%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }
}
