//! `slablab lab sbatch`: the job array that runs a plan on a Slurm cluster.
//!
//! The script is a template with three words between at signs; a site changes the rest (`--template`). One task is one shard.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use slablab_host::{is_obeyed, printable, shell};
use slablab_lab::Sweep;

use crate::output::{write_result, write_whole};
use crate::say::say;

/// The template of sites that have none of their own.
const TEMPLATE: &str = include_str!("sweep.sbatch");
/// The words that are filled in.
const WORDS: [&str; 3] = ["@DIRECTIVES@", "@RETRIES@", "@RUN@"];

#[derive(clap::Args, Debug)]
#[command(
    after_help = "A task that is preempted, or whose node fails, is requeued by Slurm; one that fails or is killed requeues\n\
                        itself, this many times. All go on where they were. Submitting the script again runs what is left.\n\n\
                        Examples:\n  \
                        slablab lab sbatch plan/ && sbatch plan/sweep.sbatch\n  \
                        slablab lab sbatch --print-template > site.sbatch   # add partition, modules, container\n  \
                        slablab lab sbatch plan/ --template site.sbatch --time 2-00:00:00 --cpus 8"
)]
pub(crate) struct Args {
    /// The folder of the plan, seen by all nodes under this name
    #[arg(value_name = "PLAN", required_unless_present = "print_template")]
    plan: Option<PathBuf>,
    /// How many shards, a task each [default: one a point]
    #[arg(long, value_name = "N")]
    shards: Option<usize>,
    /// Time limit of a task, as sbatch takes it
    #[arg(long, value_name = "TIME", default_value = "12:00:00", value_parser = time)]
    time: String,
    /// How often a task that fails is started again
    #[arg(long, value_name = "N", default_value_t = 3)]
    retries: u32,
    /// CPUs of a task; the whole node without it, since neighbours disturb what is measured
    #[arg(long, value_name = "N")]
    cpus: Option<u32>,
    /// The site's template instead of ours
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// Print our template, to be made the site's
    #[arg(long, exclusive = true)]
    print_template: bool,
    /// The script to write [default: PLAN/sweep.sbatch]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Accepts what sbatch takes for a time: minutes, or days-hours:minutes:seconds with parts left out.
fn time(text: &str) -> Result<String, String> {
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = rest.split(':').collect();
    match is_number(days) && parts.len() <= 3 && parts.into_iter().all(is_number) {
        true => Ok(text.to_owned()),
        false => {
            Err("write MINUTES, HOURS:MINUTES:SECONDS or DAYS-HOURS:MINUTES:SECONDS".to_owned())
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let Some(folder) = &args.plan else {
        write_result(TEMPLATE.as_bytes(), None)?;
        return Ok(ExitCode::SUCCESS);
    };
    let sweep = Sweep::open(folder)?;
    let most = sweep.shards_max();
    let shards = args.shards.unwrap_or(most);
    if !(1..=most).contains(&shards) {
        bail!("--shards {shards}: {} has {most} points, so 1 to {most} shards", folder.display());
    }
    let template = match &args.template {
        Some(file) => std::fs::read_to_string(file)
            .with_context(|| format!("{}: cannot read", file.display()))?,
        None => TEMPLATE.to_owned(),
    };
    if let Some(missing) = WORDS.iter().find(|word| !template.contains(**word)) {
        let file = args.template.as_deref().unwrap_or(Path::new("the template")).display();
        bail!(
            "{file}: lacks {missing}; 'slablab lab sbatch --print-template' prints one that has all"
        );
    }
    let place =
        folder.canonicalize().with_context(|| format!("{}: cannot find", folder.display()))?;
    let [place_word, command] = [&place, &std::env::current_exe()?].map(|path| shell::path(path));
    let place_text = place.display().to_string();
    if place_text.contains(|c| is_obeyed(c) || "%\"\\$`".contains(c)) {
        bail!(
            "{}: sbatch cannot write logs into a folder with %, \", \\, $, ` or a line break in its name: plan into another \
             folder",
            printable(&place_text)
        );
    }
    let experiment = &sweep.plan.experiment;
    if !experiment.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        bail!("{}: its plan names an experiment that is none: {experiment:?}", folder.display());
    }
    let run = format!("{command} lab run {place_word} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\"");
    let cpus = match args.cpus {
        Some(cpus) => format!("cpus-per-task={cpus}"),
        None => "exclusive".to_owned(),
    };
    let directives = [
        format!("job-name=slablab-{experiment}"),
        format!("array=1-{shards}"),
        format!("time={}", args.time),
        cpus,
        "requeue".to_owned(),
        "open-mode=append".to_owned(),
        format!("output=\"{place_text}/%A_%a.log\""),
    ];
    let directives: Vec<String> = directives.iter().map(|d| format!("#SBATCH --{d}")).collect();
    let script = template
        .replace("@DIRECTIVES@", &directives.join("\n"))
        .replace("@RETRIES@", &args.retries.to_string())
        .replace("@RUN@", &run);
    let file = args.output.clone().unwrap_or_else(|| folder.join("sweep.sbatch"));
    write_whole(&file, script.as_bytes())?;
    say(format_args!("slablab: {shards} tasks; submit them by: sbatch {}", shell::path(&file)));
    Ok(ExitCode::SUCCESS)
}
