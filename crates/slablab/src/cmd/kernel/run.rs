//! `slablab kernel run`: an experiment from nothing to its table.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use clap::{Subcommand, ValueEnum};
use slablab_klab::{Experiment, Lab, Plan, Size, audit_cache, hackbench, kprobes};
use slablab_vm::{Data, Need};

use super::options::{self, AccelArg, SpecArgs, StepBar, WorkshopArgs};
use super::report::Findings;
use crate::cli::OutputArgs;
use crate::output;
use crate::progress::Progress;

/// Run an experiment: build, boot, measure, compare
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  slablab kernel run hackbench --allocators slub,slob --cpus 1,2"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    experiment: Which,
}

/// The experiments.
#[derive(Subcommand, Debug)]
enum Which {
    /// How do the allocators compare on message passing?
    Hackbench(Hackbench),
    /// Would a kmem_cache of its own make fork's audit context faster?
    AuditCache(OneKernel),
    /// Which table behind get_kprobe() is fastest, by number of probes?
    Kprobes(OneKernel),
}

/// Options of `hackbench`.
#[derive(clap::Args, Debug)]
struct Hackbench {
    /// The allocators to compare; the first is the baseline [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    allocators: Vec<String>,
    /// Groups of 40 processes
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "1,10",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    groups: Vec<u32>,
    #[command(flatten)]
    common: Common,
}

/// Options of experiments that boot one kernel in several ways.
#[derive(clap::Args, Debug)]
struct OneKernel {
    /// Which allocator's kernel
    #[arg(long, value_name = "NAME", default_value = "slub")]
    allocator: String,
    #[command(flatten)]
    common: Common,
}

/// Options of every experiment.
#[derive(clap::Args, Debug)]
struct Common {
    /// Virtual CPUs
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "2",
          value_parser = clap::value_parser!(u32).range(1..=16))]
    cpus: Vec<u32>,
    /// How often each variant runs [default: what the experiment asks for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,
    /// What the random order is drawn from [default: from the clock, and recorded]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How much each run does
    #[arg(long, value_enum, default_value_t = SizeArg::Normal)]
    size: SizeArg,
    /// Hold the others against this variant [default: the first]
    #[arg(long, value_name = "VARIANT")]
    baseline: Option<String>,
    /// Give up when a guest sends nothing for so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    silence: u64,
    /// How guests run
    #[arg(long, value_enum, default_value_t = AccelArg::Auto)]
    accel: AccelArg,
    /// Where raw rows, consoles and the table go [default: slablab-results/<time>-<experiment>]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    spec: SpecArgs,
    #[command(flatten)]
    workshop: WorkshopArgs,
}

/// How much each run does.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum SizeArg {
    /// As little as shows that it works
    Smoke,
    /// 2 to 20 seconds a run in an emulated guest
    Normal,
    /// Ten times that; what KVM deserves
    Full,
}

impl From<SizeArg> for Size {
    fn from(arg: SizeArg) -> Self {
        match arg {
            SizeArg::Smoke => Self::Smoke,
            SizeArg::Normal => Self::Normal,
            SizeArg::Full => Self::Full,
        }
    }
}

/// Runs `slablab kernel run`.
pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let common = match &args.experiment {
        Which::Hackbench(args) => &args.common,
        Which::AuditCache(args) | Which::Kprobes(args) => &args.common,
    };
    let experiment = experiment(&args.experiment, common)?;
    if let Some(name) = &common.baseline
        && !experiment.variants.iter().any(|variant| variant.name == *name)
    {
        let known: Vec<_> = experiment.variants.iter().map(|v| v.name.as_str()).collect();
        bail!("--baseline {name}: no such variant; there are: {}", known.join(", "));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = common.seed.unwrap_or(now.as_nanos() as u64);
    let rounds = common.rounds.unwrap_or(experiment.rounds);
    let plan = Plan::draw(&experiment, &common.cpus, rounds, seed)?;
    let folder = common.output.clone().unwrap_or_else(|| {
        PathBuf::from(format!("slablab-results/{}-{}", stamp(now), experiment.name))
    });
    if folder.join("raw.jsonl").exists() {
        bail!("{}: has a raw.jsonl already. Name another folder with -o", folder.display());
    }
    let workshop = common.workshop.open(&[Need::BUILD, Need::BOOT])?;
    let lab = Lab {
        workshop: &workshop,
        accel: common.accel.into(),
        folder: &folder,
        command: env::args().collect(),
        silence: Duration::from_secs(common.silence),
    };
    let mut bar = StepBar::default();
    let mut boots: Option<Progress> = None;
    let summary = slablab_klab::run(&lab, &experiment, &plan, &mut |progress| match progress {
        slablab_klab::Progress::Step(step) => bar.show(&step),
        slablab_klab::Progress::Boot(done, total, what) => {
            bar.clear();
            let boots = boots.get_or_insert_with(|| Progress::new(what, total as u64));
            boots.message(what.to_owned());
            boots.set(done as u64);
        }
        _ => {}
    })?;
    drop(boots);
    let findings = Findings::of(&summary.raw, common.baseline.as_deref())?;
    output::print(&findings, output, None)?;
    Ok(ExitCode::SUCCESS)
}

fn experiment(which: &Which, common: &Common) -> Result<Experiment> {
    let (data, size) = (Data::find()?, common.size.into());
    let allocators = match which {
        Which::Hackbench(args) => options::allocators(&args.allocators, &data),
        Which::AuditCache(args) | Which::Kprobes(args) => vec![args.allocator.clone()],
    };
    common.spec.check(&data, &allocators)?;
    let mut experiment = match which {
        Which::Hackbench(args) => hackbench(&allocators, &args.groups, size),
        Which::AuditCache(args) => audit_cache(&args.allocator, size),
        Which::Kprobes(args) => kprobes(&args.allocator, size),
    };
    for variant in &mut experiment.variants {
        variant.spec = common.spec.spec(&variant.spec.allocator);
    }
    Ok(experiment)
}

/// Returns a time as `20261121-0500`, in UTC.
///
/// Source: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, `civil_from_days`.
fn stamp(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_utc() {
        assert_eq!(stamp(Duration::from_secs(0)), "19700101-000000");
        assert_eq!(stamp(Duration::from_secs(951_782_399)), "20000228-235959");
        assert_eq!(stamp(Duration::from_secs(1_795_236_028)), "20261121-044028");
    }
}
