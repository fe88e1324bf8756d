//! `slablab lab bisect`: which release, setting, patch or commit moved a metric.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use slablab_host::shell;
use slablab_lab::bisect::{Bisect, BisectStage, Version, commits, kernels, series, settings};
use slablab_lab::{Engine, Request, Scale, find, plan};

use super::bars::Bars;
use super::releases::releases;
use super::request::install;
use crate::answers::bisect::BisectAnswer;
use crate::answers::kept::keep;
use crate::cli::{AnswerArgs, OutputArgs, ShownArgs};
use crate::cmd::kernel::options::InstallArgs;
use crate::output::give;
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Each comparison takes as many boots as it needs, and few where the difference is plain. Several steps are\n\
                        found as several. A version that does not build or boot is left out, and named. A run that was\n\
                        interrupted continues when the same command is given again. Exit status: 0 when nothing moved it,\n\
                        1 when something did, 2 for an error.\n\n\
                        Examples:\n  \
                        slablab lab bisect debian:6.12..7.3 --load boot\n  \
                        slablab lab bisect build:6.12/slub --series my-patches/ -- find / -xdev\n  \
                        slablab lab bisect slub --settings 'slub_max_order=0;slub_min_order=1'\n  \
                        slablab lab bisect v6.17 v6.18 --source linux/ --metric slab_peak"
)]
pub(crate) struct Args {
    /// The kernels in their order, the good one first, or a range (debian:6.12..7.3); or one, with --series or --settings; or
    /// two commits, with --source
    #[arg(value_name = "VERSION", required = true)]
    versions: Vec<String>,
    /// A git tree of Linux, whose commits are searched
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["series", "settings"])]
    source: Option<PathBuf>,
    /// A folder or mailbox of patches, each a version
    #[arg(long, value_name = "PATH", conflicts_with = "settings")]
    series: Option<PathBuf>,
    /// Boot parameters, each between semicolons a version
    #[arg(long, value_name = "WORDS;...")]
    settings: Option<String>,
    /// What moved: slab_end, slab_peak, slab_boot, cache:NAME, seconds, instructions (one emulated CPU), or what a script
    /// gives by `metric NAME VALUE`
    #[arg(long, value_name = "NAME", default_value = "slab_end")]
    metric: String,
    /// What a guest does: hackbench, boot, files (of a tmpfs), sockets (TCP over loopback), or a script with --input or
    /// behind --
    #[arg(
        long,
        value_enum,
        value_name = "LOAD",
        default_value = "hackbench",
        hide_possible_values = true
    )]
    load: Load,
    /// A script to run in each guest
    #[arg(long, value_name = "FILE", conflicts_with = "load")]
    input: Option<PathBuf>,
    /// Changes of at most this many percent do not matter
    #[arg(long, value_name = "PERCENT", default_value = "0.5")]
    ignore: f64,
    /// Boots of each version at most
    #[arg(long, value_name = "N", default_value = "20")]
    runs: usize,
    /// How probable a step may be where there is none
    #[arg(long, value_name = "P", default_value = "0.05")]
    alpha: f64,
    /// Set a parameter of the experiment `load`; 'slablab lab list load' has them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = super::request::parameter)]
    params: Vec<(String, String)>,
    #[command(flatten)]
    install: InstallArgs,
    /// The result folder
    #[arg(short, long, value_name = "FOLDER", default_value = "slablab-results/bisect")]
    output: PathBuf,
    /// Also write a page that opens in a browser
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    shown: ShownArgs,
    /// A command to run in each guest
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["load", "input"])]
    command: Vec<String>,
}

/// The loads that need no script.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Hackbench,
    Boot,
    Files,
    Sockets,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let bisect = args.bisect()?;
    bisect.check()?;
    let experiment = find("load")?;
    for version in &bisect.versions {
        let request = version.request(&bisect.request, bisect.runs_max);
        install(&args.install, experiment, &plan(experiment, &request)?)?;
    }
    let mut bars = Bars::new("bisect");
    let mut at = None;
    let found = bisect.run(&args.output, &mut |stage| match stage {
        BisectStage::Inner(stage) => bars.show(&stage),
        BisectStage::Run { version, run } if at.as_deref() != Some(version) && run == 1 => {
            say(format_args!("slablab: {version} is measured now"));
            at = Some(version.to_owned());
        }
        BisectStage::Run { .. } => {}
        BisectStage::Unusable { version, why } => {
            say(format_args!("slablab: {version} is left out: {why}"));
        }
    })?;
    drop(bars);
    let is_moved = !found.steps.is_empty();
    let answer = BisectAnswer::new(found, &bisect, &args.output)?;
    keep(&answer, &args.output)?;
    give(&answer, output, &AnswerArgs { report: args.report.clone(), ..args.shown.answer() })?;
    say(format_args!("slablab: the rows are in {}", args.output.display()));
    Ok(if is_moved { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

impl Args {
    /// Returns what is asked for; writes what it is made of below the result folder.
    fn bisect(&self) -> Result<Bisect> {
        let versions = self.versions()?;
        if versions.len() < 2 {
            bail!(
                "name two kernels or more, the good one first; or one with --series or --settings"
            );
        }
        let mut params: std::collections::BTreeMap<_, _> = self.params.iter().cloned().collect();
        let (metric, further) = metric(&self.metric);
        if let Some(name) = further {
            params.insert("metrics".to_owned(), name.to_owned());
        }
        if metric == "instructions" {
            for (name, value) in [("accel", "icount"), ("cpus", "1")] {
                params.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
        let input = match (&self.input, &self.command[..]) {
            (Some(file), _) => Some(file.clone()),
            (None, []) => None,
            (None, words) => Some(self.write_script(words)?),
        };
        if input.is_none() {
            let (load, name) = match self.load {
                Load::Hackbench => ("hackbench", "groups"),
                Load::Boot => ("boot", ""),
                Load::Files => ("files", ""),
                Load::Sockets => ("sockets", ""),
            };
            params.insert("load".to_owned(), load.to_owned());
            if !name.is_empty() {
                // One point: what a boot does with several numbers of groups would be several questions.
                params.entry(name.to_owned()).or_insert_with(|| "10".to_owned());
            }
        }
        let request = Request {
            engine: Engine::Kernel,
            scale: Scale::Full,
            params,
            input,
            rounds: None,
            seed: 1,
        };
        Ok(Bisect {
            request,
            versions,
            metric: metric.to_owned(),
            alpha: self.alpha,
            runs_max: self.runs,
            ignored_share: self.ignore / 100.0,
        })
    }

    fn versions(&self) -> Result<Vec<Version>> {
        let only = |option: &str| match &self.versions[..] {
            [kernel] => Ok(kernel.as_str()),
            _ => bail!("{option} is about one kernel; name one"),
        };
        if let Some(place) = &self.series {
            return Ok(series(only("--series")?, place, &self.output)?);
        }
        if let Some(words) = &self.settings {
            let words = words.split(';').map(str::trim).filter(|words| !words.is_empty());
            let words: Vec<String> = words.map(str::to_owned).collect();
            if words.is_empty() {
                bail!(
                    "--settings: name boot parameters, as in 'slub_max_order=0;slub_min_order=1'"
                );
            }
            return Ok(settings(only("--settings")?, &words));
        }
        let Some(source) = &self.source else { return Ok(kernels(&self.versions, releases)?) };
        match &self.versions[..] {
            [good, bad] => Ok(commits("slub", source, (good, bad), &self.output)?),
            _ => bail!("--source searches the commits from a good one to a bad one; name two"),
        }
    }

    /// Writes the script that runs a command.
    fn write_script(&self, words: &[String]) -> Result<PathBuf> {
        fs::create_dir_all(&self.output)
            .with_context(|| format!("{}: cannot make the folder", self.output.display()))?;
        let path: &Path = &self.output.join("load.sh");
        fs::write(path, format!("{}\n", shell::line(words)))
            .with_context(|| format!("{}: cannot write the script", path.display()))?;
        Ok(path.to_owned())
    }
}

/// Returns the key of a metric, and the name of one that a script gives.
fn metric(name: &str) -> (&str, Option<&str>) {
    match name {
        "slab_end" => ("slab_kb", None),
        "slab_peak" => ("slab_peak_kb", None),
        "slab_boot" => ("slab_boot_kb", None),
        "slab_kb" | "slab_peak_kb" | "slab_boot_kb" | "seconds" | "instructions" => (name, None),
        cache if cache.starts_with("cache:") => (name, None),
        other => (other, Some(other)),
    }
}
