//! `slablab lab run`: runs an experiment, row by row, and prints its comparisons; or a shard of a plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use clap::ValueEnum;
use slablab_host::{folder_of, shell};
use slablab_lab::{
    Engine, Experiment, Outcome, Plan, Request, Scale, Shard, begin, compare_variants, find, plan,
    result_files, run as carry_out,
};
use slablab_stats::Question;

use super::answer::{Answer, Layout};
use super::bars::Bars;
use super::shard;
use crate::cli::OutputArgs;
use crate::cmd::outputs::{check_folder, check_replaced};
use crate::cmd::report;
use crate::output::print;
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Each run is a row in FOLDER/raw.jsonl, on the disk before the next begins. A run that was interrupted\n\
                        continues when the same command is given again.\n\n\
                        Examples:\n  \
                        slablab lab run replay --input t.parquet\n  \
                        slablab lab run lifo --smoke --report lifo.html\n  \
                        slablab lab run plan/ --shard 2/4"
)]
pub(crate) struct Args {
    /// The experiment ('slablab lab list' has them all), or the folder of a plan
    #[arg(value_name = "NAME|PLAN")]
    name: String,
    #[command(flatten)]
    request: RequestArgs,
    /// Of a plan: run shard K of N, made of every Nth point [default: 1/1]
    #[arg(long, value_name = "K/N", conflicts_with_all = ["baseline", "output", "report"])]
    shard: Option<Shard>,
    /// The baseline: the variant that the others are compared with [default: the first]
    #[arg(long, value_name = "VARIANT")]
    baseline: Option<String>,
    /// The result folder [default: slablab-results/NAME-ENGINE, or the next that is free]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Also write a page about it to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// What to measure, of an experiment.
#[derive(clap::Args, Debug, PartialEq)]
pub(crate) struct RequestArgs {
    /// Where it runs [default: the first engine of the experiment]
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Option<EngineName>,
    /// A smoke run: as little as shows that it works, instead of as many runs as the answer needs
    #[arg(long)]
    smoke: bool,
    /// As many runs as the answer needs: the default
    #[arg(long, hide = true, conflicts_with = "smoke")]
    full: bool,
    /// How many rounds, each with every variant once [default: as many as the answer needs]
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// RNG seed of the random order [default: from the clock, and recorded]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The trace or file that the experiment works on
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Set a parameter of the experiment
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parameter)]
    params: Vec<(String, String)>,
}

impl RequestArgs {
    /// Returns the parameters.
    fn params(&self) -> Result<BTreeMap<String, String>> {
        let params: BTreeMap<String, String> = self.params.iter().cloned().collect();
        if params.len() < self.params.len() {
            bail!("--set: a parameter is set twice");
        }
        Ok(params)
    }

    fn scale(&self) -> Scale {
        if self.smoke { Scale::Smoke } else { Scale::Full }
    }

    /// Returns what is asked of `experiment`.
    pub(crate) fn request(&self, experiment: &dyn Experiment) -> Result<Request> {
        Ok(Request {
            engine: self.engine.map_or(experiment.about().engines[0], Engine::from),
            scale: self.scale(),
            params: self.params()?,
            input: self.input.clone(),
            rounds: self.rounds,
            seed: self.seed.unwrap_or_else(seed_of_the_clock),
        })
    }

    fn is_empty(&self) -> bool {
        let nothing = Self {
            engine: None,
            smoke: false,
            full: false,
            rounds: None,
            seed: None,
            input: None,
            params: Vec::new(),
        };
        *self == nothing
    }
}

/// The engines.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum EngineName {
    /// Our library in a process
    User,
    /// A real Linux in QEMU
    Kernel,
}

impl From<EngineName> for Engine {
    fn from(name: EngineName) -> Self {
        match name {
            EngineName::User => Self::User,
            EngineName::Kernel => Self::Kernel,
        }
    }
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// What to measure, and where its rows go.
pub(crate) struct Job<'a> {
    /// The experiment's name
    pub(crate) name: &'a str,
    /// Where it runs, or the first engine that it has
    pub(crate) engine: Option<Engine>,
    /// How thoroughly
    pub(crate) scale: Scale,
    /// Its parameters
    pub(crate) params: BTreeMap<String, String>,
    /// The file that it works on
    pub(crate) input: Option<PathBuf>,
    /// How many rounds, or as the scale says
    pub(crate) rounds: Option<usize>,
    /// The RNG seed of the random order, or one from the clock
    pub(crate) seed: Option<u64>,
    /// The baseline, or the first variant
    pub(crate) baseline: Option<&'a str>,
    /// The result folder, or one that is free
    pub(crate) folder: Option<&'a Path>,
    /// Where a page goes
    pub(crate) report: Option<&'a Path>,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let folder = Path::new(&args.name);
    if find(&args.name).is_err() && folder.join("plan.json").exists() {
        return shard::run(folder, args.shard.unwrap_or(Shard::WHOLE), &args.given(), output);
    }
    if args.shard.is_some() {
        bail!(
            "--shard goes with the folder of a plan, and {} is none; 'slablab lab plan {} -o FOLDER' makes one",
            args.name,
            shell::word(&args.name)
        );
    }
    let request = &args.request;
    let job = Job {
        name: &args.name,
        engine: request.engine.map(Engine::from),
        scale: request.scale(),
        params: request.params()?,
        input: request.input.clone(),
        rounds: request.rounds,
        seed: request.seed,
        baseline: args.baseline.as_deref(),
        folder: args.output.as_deref(),
        report: args.report.as_deref(),
    };
    measure(&job, output)
}

impl Args {
    /// Says what was given that a plan has already, or that a shard has no use for.
    fn given(&self) -> Result<(), &'static str> {
        if !self.request.is_empty() {
            return Err(
                "the plan says what to run: take away --engine, --smoke, --rounds, --seed, --input and --set",
            );
        }
        if self.baseline.is_some() || self.output.is_some() || self.report.is_some() {
            return Err(
                "rows of a shard stay in the plan's folder: --baseline, --output and --report go with \
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
    let experiment = find(job.name)?;
    let request = Request {
        engine: job.engine.unwrap_or(experiment.about().engines[0]),
        scale: job.scale,
        params: job.params.clone(),
        input: job.input.clone(),
        rounds: job.rounds,
        seed: job.seed.unwrap_or_else(seed_of_the_clock),
    };
    let (folder, plan) = place(job, experiment, &request)?;
    check_report(job, &folder)?;
    if let Some(name) = job.baseline
        && !plan.design.variants.iter().any(|variant| variant == name)
    {
        bail!("--baseline {name}: no such variant; there are: {}", plan.design.variants.join(", "));
    }
    plan.summary().inspect(|summary| say(format_args!("slablab: {summary}")));
    let mut bars = Bars::new(job.name);
    carry_out(experiment, &plan, &folder, &mut |now| bars.show(&now))?;
    drop(bars);
    let outcome = Outcome::read(&folder)?;
    let question = Question::default();
    let sides = compare_variants(&outcome, job.baseline, &question)?;
    print(&Answer::of_run(&outcome, sides, Layout::Plain), output, None)?;
    say(format_args!("slablab: the rows are in {}", folder.display()));
    if let Some(file) = job.report {
        report::write(&slablab_pages::run(&outcome, job.baseline, &question)?, file)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a page that cannot be written, or that would replace the input or what belongs to the result.
fn check_report(job: &Job<'_>, folder: &Path) -> Result<()> {
    let Some(file) = job.report else { return Ok(()) };
    // The result folder is made by the run.
    if absolute(folder_of(file))? != absolute(folder)? {
        check_folder("--report", file)?;
    }
    let own = result_files(folder);
    let own = own.iter().map(|file| ("a file of the result", file.as_path()));
    let input = job.input.iter().map(|file| ("--input", file.as_path()));
    check_replaced(&own.chain(input).collect::<Vec<_>>(), &[("--report", file)])
}

/// Returns where the rows go, and the plan: that of a run that was interrupted, where there is one.
fn place(job: &Job<'_>, experiment: &dyn Experiment, request: &Request) -> Result<(PathBuf, Plan)> {
    let Some(folder) = job.folder else {
        return Ok(begin(Path::new("slablab-results"), experiment, request, job.seed)?);
    };
    // Without --seed an interrupted run continues in the order in which it began.
    let begun = Plan::read(folder)?.map(|plan| plan.seed);
    let seed = job.seed.or(begun).unwrap_or(request.seed);
    Ok((folder.to_owned(), plan(experiment, &Request { seed, ..request.clone() })?))
}

/// Returns a seed that differs from run to run; it is recorded, so that the order can be had again.
fn seed_of_the_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |t| t.as_nanos() as u64 % 1_000_000_007)
}
