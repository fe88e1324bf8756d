//! `slablab bench`: two commands, or one before and after a setting, compared in time and slab memory.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_lab::{CommandVariant, Engine, Request, Scale, find};

use super::kernel::options::InstallArgs;
use super::lab::request::seed_of_the_clock;
use super::lab::result::ResultArgs;
use super::lab::run::{Job, measure};
use crate::cli::OutputArgs;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "The commands take turns in random order, each round once; what else runs on the machine meets both alike.\n\
                        A run that was interrupted continues when the same command is given again.\n\n\
                        Examples:\n  \
                        slablab bench -- sh -c 'find /usr > /dev/null' -- ls -lR /usr\n  \
                        slablab bench --set /sys/kernel/slab/dentry/cpu_partial=0 -- perf bench sched messaging"
)]
pub(crate) struct Args {
    /// Compare the command with itself while this file (or sysctl) has this value; the old one is put back
    #[arg(long, value_name = "FILE=VALUE", value_parser = setting)]
    set: Vec<(PathBuf, String)>,
    /// Name a command in the answer, in their order
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Also count the kernel's allocations and frees (as root); all processes together
    #[arg(long)]
    events: bool,
    /// How many rounds, each with every command once
    #[arg(long, value_name = "N", default_value = "10")]
    rounds: usize,
    /// Go on when a command fails
    #[arg(short, long)]
    ignore_failure: bool,
    /// Show what the commands print
    #[arg(long)]
    show_output: bool,
    /// RNG seed of the random order [default: from the clock, and recorded]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    result: ResultArgs,
    /// The commands, each behind its own --; the first is the baseline
    #[arg(last = true, required = true, value_name = "COMMAND [ARG]... [-- COMMAND [ARG]...]")]
    commands: Vec<String>,
}

/// Reads `FILE=VALUE`, or `vm.swappiness=10`.
fn setting(text: &str) -> Result<(PathBuf, String), String> {
    let (file, value) = text.split_once('=').ok_or("write FILE=VALUE")?;
    if file.starts_with('/') {
        return Ok((file.into(), value.to_owned()));
    }
    let sysctl = PathBuf::from("/proc/sys").join(file.replace('.', "/"));
    if file.is_empty() || !sysctl.is_file() {
        return Err(format!("{file:?} is neither a path from / nor a sysctl of this kernel"));
    }
    Ok((sysctl, value.to_owned()))
}

/// Refuses a setting that this machine does not have.
fn check_is_there(file: &Path) -> Result<()> {
    match std::fs::metadata(file) {
        Ok(found) if found.is_dir() => {
            bail!("--set {}: is a folder; name a file in it", file.display())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("--set {}: there is no such file on this machine", file.display())
        }
        // Other faults of the file are reported when it is opened.
        _ => Ok(()),
    }
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let variants = variants(args)?;
    args.set.iter().try_for_each(|(file, _)| check_is_there(file))?;
    let yes = |key: &str, set: bool| set.then(|| (key.to_owned(), "yes".to_owned()));
    let commands = ("commands".to_owned(), serde_json::to_string(&variants)?);
    let params: BTreeMap<String, String> = [
        Some(commands),
        yes("events", args.events),
        yes("ignore_failure", args.ignore_failure),
        yes("show_output", args.show_output),
    ]
    .into_iter()
    .flatten()
    .collect();
    let experiment = find("commands")?;
    let request = Request {
        engine: Engine::User,
        scale: Scale::Full,
        params,
        input: None,
        rounds: Some(args.rounds),
        seed: args.seed.unwrap_or_else(seed_of_the_clock),
    };
    let job = Job {
        experiment,
        request,
        seed: args.seed,
        baseline: None,
        install: InstallArgs::default(),
        result: &args.result,
    };
    measure(&job, output)
}

/// Returns what is compared, each under a name of its own.
fn variants(args: &Args) -> Result<Vec<CommandVariant>> {
    let commands: Vec<&[String]> = args.commands.split(|word| word == "--").collect();
    if commands.iter().any(|words| words.is_empty()) {
        bail!("a command is missing: write slablab bench -- COMMAND [ARG]... -- COMMAND [ARG]...");
    }
    let mut variants: Vec<CommandVariant> = Vec::new();
    let mut add = |usual: String, words: &[String], settings: Vec<(PathBuf, String)>| {
        let name = args.name.get(variants.len()).cloned().unwrap_or(usual);
        let same = |name: &str| variants.iter().any(|variant| variant.name == name);
        // A command beside itself shows the effect of chance.
        let others = (2..).map(|number| format!("{name} ({number})"));
        let name = [name.clone()].into_iter().chain(others).find(|name| !same(name));
        let name = name.unwrap_or_default();
        variants.push(CommandVariant { name, words: words.to_vec(), settings });
    };
    match commands.as_slice() {
        [_] if args.set.is_empty() => {
            bail!(
                "one command alone is compared with nothing; add -- and another, or --set FILE=VALUE"
            )
        }
        [words] => {
            let with = args.set.iter().map(|(file, value)| format!("{}={value}", file.display()));
            let with = with.collect::<Vec<_>>().join(" ");
            add("as it is".to_owned(), words, Vec::new());
            add(with, words, args.set.clone());
        }
        _ if !args.set.is_empty() => {
            bail!("--set compares one command with itself; give one command, or leave --set out")
        }
        several => several.iter().for_each(|words| add(words.join(" "), words, Vec::new())),
    }
    if args.name.len() > variants.len() {
        bail!("--name is given {} times for {} commands", args.name.len(), variants.len());
    }
    Ok(variants)
}
