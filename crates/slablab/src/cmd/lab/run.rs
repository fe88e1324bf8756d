//! `slablab lab run`: runs an experiment, row by row, and prints its comparisons; or a shard of a plan.

use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_host::{folder_of, shell};
use slablab_lab::{
    Experiment, Outcome, Plan, Request, Shard, begin, compare_variants, find, plan, preset,
    result_files, run as carry_out,
};
use slablab_stats::Question;

use super::bars::Bars;
use super::request::{RequestArgs, install};
use super::result::ResultArgs;
use super::shard;
use super::{history, patch};
use crate::answers::comparison::CompareAnswer;
use crate::cli::OutputArgs;
use crate::cmd::kernel::options::InstallArgs;
use crate::cmd::outputs::{check_folder, check_replaced};
use crate::output::give;
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Each run is a row in FOLDER/raw.jsonl. A run that was interrupted continues when the same command is\n\
                        given again.\n\n\
                        Examples:\n  \
                        slablab lab run hackbench --kernels slub,slob --cpus 1,2 --yes\n  \
                        slablab lab run load --input load.sh --kernels debian:6.12,debian:7.3\n  \
                        slablab lab run fidelity --input t.parquet --kernels slub"
)]
pub(crate) struct Args {
    /// The experiment ('slablab lab list' has them), or the folder of a plan
    #[arg(value_name = "NAME|PLAN")]
    name: String,
    /// Of a plan: run shard K of N, made of every Nth point [default: 1/1]
    #[arg(long, value_name = "K/N", conflicts_with_all = ["baseline", "output", "report"])]
    shard: Option<Shard>,
    /// What the other variants are compared with [default: the first]
    #[arg(long, value_name = "VARIANT")]
    baseline: Option<String>,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    install: InstallArgs,
    #[command(flatten)]
    result: ResultArgs,
}

/// What to measure, and where its rows go.
pub(crate) struct Job<'a> {
    /// The experiment
    pub(crate) experiment: &'static dyn Experiment,
    /// What is asked of it
    pub(crate) request: Request,
    /// The RNG seed that was asked for
    pub(crate) seed: Option<u64>,
    /// The baseline, or the first variant
    pub(crate) baseline: Option<&'a str>,
    /// Whether packages may be installed
    pub(crate) install: InstallArgs,
    /// The result folder, and the page
    pub(crate) result: &'a ResultArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let folder = Path::new(&args.name);
    let is_known = find(&args.name).is_ok() || preset(&args.name, None).is_some();
    if !is_known && folder.join("plan.json").exists() {
        let answer = args.result.shown.answer();
        let shard = args.shard.unwrap_or(Shard::WHOLE);
        return shard::run(folder, shard, &args.given(), &args.install, output, &answer);
    }
    if args.shard.is_some() {
        bail!(
            "--shard goes with the folder of a plan, and {} is none; 'slablab lab plan {} -o FOLDER' makes one",
            args.name,
            shell::word(&args.name)
        );
    }
    if args.name == history::NAME {
        if let Some(baseline) = &args.baseline {
            bail!("--baseline {baseline}: a history compares each release with the one before it");
        }
        return history::run(&args.request, &args.install, &args.result, output);
    }
    if args.name == patch::NAME {
        if let Some(baseline) = &args.baseline {
            bail!("--baseline {baseline}: a patch is compared with the kernel without it");
        }
        return patch::run(&args.request, &args.install, &args.result, output);
    }
    let (experiment, request) = args.request.of(&args.name)?;
    let job = Job {
        experiment,
        request,
        seed: args.request.seed,
        baseline: args.baseline.as_deref(),
        install: args.install.clone(),
        result: &args.result,
    };
    measure(&job, output)
}

impl Args {
    /// Says what was given that a plan has already, or that a shard has no use for.
    fn given(&self) -> Result<(), &'static str> {
        if !self.request.is_empty() {
            return Err(
                "the plan says what to run: take away --engine, --smoke, --rounds, --seed, --input, --set and \
                        what stands for it",
            );
        }
        let result = &self.result;
        if self.baseline.is_some() || result.output.is_some() || result.report.is_some() {
            return Err(
                "a shard has its folder in the plan's: take away -o, --report and --baseline, which are for \
                    'slablab lab merge' and 'slablab lab compare'",
            );
        }
        Ok(())
    }
}

/// Runs `job`, or continues it, and prints its comparisons.
///
/// # Errors
///
/// If the experiment cannot do what is asked for, or a cell cannot be measured.
pub(crate) fn measure(job: &Job<'_>, output: &OutputArgs) -> Result<ExitCode> {
    let (folder, plan) = place(job)?;
    check_report(job, &folder)?;
    if let Some(name) = job.baseline
        && !plan.design.variants.iter().any(|variant| variant == name)
    {
        bail!("--baseline {name}: no such variant; there are: {}", plan.design.variants.join(", "));
    }
    install(&job.install, job.experiment, &plan)?;
    plan.summary().inspect(|summary| say(format_args!("slablab: {summary}")));
    let name = job.experiment.about().name;
    let mut bars = Bars::new(name);
    carry_out(job.experiment, &plan, &folder, &mut |now| bars.show(&now))?;
    drop(bars);
    let outcome = Outcome::read(&folder)?;
    let sides = compare_variants(&outcome, job.baseline, &Question::default())?;
    let answer = CompareAnswer::of_run(&outcome, &sides);
    give(&answer, output, &job.result.answer())?;
    say(format_args!("slablab: the rows are in {}", folder.display()));
    Ok(if answer.holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Refuses a page that cannot be written, or that would replace the input or what belongs to the result.
fn check_report(job: &Job<'_>, folder: &Path) -> Result<()> {
    let Some(file) = &job.result.report else { return Ok(()) };
    // The run makes the result folder.
    if absolute(folder_of(file))? != absolute(folder)? {
        check_folder("--report", file)?;
    }
    let own = result_files(folder);
    let own = own.iter().map(|file| ("a file of the result", file.as_path()));
    let input = job.request.input.iter().map(|file| ("--input", file.as_path()));
    check_replaced(&own.chain(input).collect::<Vec<_>>(), &[("--report", file)])
}

/// Returns where the rows go, and the plan: that of a run that was interrupted, where there is one.
fn place(job: &Job<'_>) -> Result<(PathBuf, Plan)> {
    let (experiment, request) = (job.experiment, &job.request);
    let Some(folder) = &job.result.output else {
        return Ok(begin(Path::new("slablab-results"), experiment, request, job.seed)?);
    };
    // Without --seed an interrupted run continues in the order in which it began.
    let begun = Plan::read(folder)?.map(|plan| plan.seed);
    let seed = job.seed.or(begun).unwrap_or(request.seed);
    Ok((folder.clone(), plan(experiment, &Request { seed, ..request.clone() })?))
}
