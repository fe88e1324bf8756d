//! `commands`: do two commands, or one command under two settings, differ in time and slab memory?
//!
//! # How it works
//! A variant is a command with files to write before it (sysfs attributes, sysctls), which get their old content back
//! after it. While the command runs, `Slab` of `/proc/meminfo` is read every [`LOOK`]; on request the kernel counts its
//! allocations and frees. The lab itself does order, pairs and verdicts. All numbers are the machine's, so other
//! programs on it count too; interleaved rounds keep that apart from the commands.
//!
//! A signal ends the command, puts the settings back, and then ends the run; after SIGKILL the next run in the folder
//! puts them back (`settings`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use slablab_host::{Child, Signals, find_program};
use slablab_trace::EventCounter;
use slablab_vm::Step;

use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};
use crate::settings::{Before, Written, value};

/// The default number of rounds: enough for a verdict on three metrics.
const ROUNDS: usize = 10;
/// Time between two reads of `Slab`.
const LOOK: Duration = Duration::from_millis(5);

const COMMANDS: Parameter =
    Parameter::new("commands", Kind::Text, "the variants as JSON; 'slablab bench' writes it");
const EVENTS: Parameter =
    Parameter::new("events", YES_OR_NO, "also count allocations and frees (root)").or("no");
const IGNORE_FAILURE: Parameter =
    Parameter::new("ignore_failure", YES_OR_NO, "a command may fail").or("no");
const SHOW_OUTPUT: Parameter =
    Parameter::new("show_output", YES_OR_NO, "show what the commands print").or("no");
/// A switch.
const YES_OR_NO: Kind = Kind::Word(&["yes", "no"]);

/// A variant: a command, and files that are written before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandVariant {
    /// Its name in rows and tables
    pub name: String,
    /// Program and arguments
    pub words: Vec<String>,
    /// Files, and what is written into them while the command runs
    pub settings: Vec<(PathBuf, String)>,
}

/// The experiment.
pub(crate) struct Commands;

impl Experiment for Commands {
    fn about(&self) -> About {
        let less = |key, name, unit| Metric::less(key, name, unit, Nature::Sampled);
        About {
            name: "commands",
            question: "Do commands, or one command under two settings, differ in time and slab memory?",
            engines: &[Engine::User],
            metrics: vec![
                less("seconds", "time", "s"),
                less("slab_peak_kb", "memory in slabs at the peak", "KiB"),
                less("slab_kb", "memory in slabs at the end", "KiB"),
            ],
            parameters: &[COMMANDS, EVENTS, IGNORE_FAILURE, SHOW_OUTPUT],
        }
    }

    fn metrics_of(&self, request: &Request) -> Result<Vec<Metric>> {
        let mut metrics = self.about().metrics;
        if is_set(EVENTS, request) {
            metrics.push(Metric::less("events", "allocations and frees", "", Nature::Sampled));
        }
        Ok(metrics)
    }

    fn design(&self, request: &Request) -> Result<Design> {
        let names = variants(request)?.into_iter().map(|variant| variant.name);
        let rounds = if request.scale == Scale::Smoke { 1 } else { ROUNDS };
        let warmups = usize::from(request.scale == Scale::Full);
        Ok(Design::without_points(names, request.rounds.unwrap_or(rounds), warmups))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let request = setup.request;
        let variants = variants(request)?;
        // Before anything runs, it is checked that all programs and settings exist and that the settings may
        // be written.
        for variant in &variants {
            if find_program(&variant.words[0]).is_none() {
                return Err(Error::Request(format!(
                    "cannot run {}: no such program, or it may not be executed",
                    variant.words[0]
                )));
            }
        }
        let settings = || variants.iter().flat_map(|variant| &variant.settings);
        for (path, _) in settings() {
            let writable = fs::OpenOptions::new().write(true).open(path);
            writable.map_err(Error::io(path, "write the setting (sysfs takes root)"))?;
        }
        let counter = if is_set(EVENTS, request) {
            let started = EventCounter::start();
            Some(started.map_err(|error| Error::Request(format!("--events: {error}")))?)
        } else {
            None
        };
        let signals = Signals::catch();
        let signals = signals.map_err(Error::io(Path::new("/proc/self"), "catch signals"))?;
        let before = Before::of_run(setup.folder, settings().map(|(path, _)| path.as_path()))?;
        before.put_back()?.iter().for_each(|line| (setup.watch)(Step::Note(line)));
        for (path, new) in settings() {
            if value(path)? == *new {
                (setup.watch)(Step::Note(&format!(
                    "{} is {new} already, so that nothing will differ; has a bench that was killed left it so?",
                    path.display()
                )));
            }
        }
        Ok(Box::new(Bench {
            variants,
            counter,
            signals,
            ignore_failure: is_set(IGNORE_FAILURE, request),
            show_output: is_set(SHOW_OUTPUT, request),
        }))
    }
}

fn is_set(switch: Parameter, request: &Request) -> bool {
    switch.text(request) == "yes"
}

/// Reads the variants of a request.
fn variants(request: &Request) -> Result<Vec<CommandVariant>> {
    let unreadable = |why: String| {
        Error::Request(format!("commands: {why}; 'slablab bench' asks for this experiment"))
    };
    let text = COMMANDS.given(request).ok_or_else(|| unreadable("none are given".into()))?;
    let variants: Vec<CommandVariant> =
        serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
    if variants.len() < 2 || variants.iter().any(|variant| variant.words.is_empty()) {
        return Err(unreadable("two commands at least are compared".into()));
    }
    Ok(variants)
}

struct Bench {
    variants: Vec<CommandVariant>,
    counter: Option<EventCounter>,
    signals: Signals,
    ignore_failure: bool,
    show_output: bool,
}

impl Fixture for Bench {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let failed = |reason: String| Error::Cell { cell: cell.words(), reason };
        let variant = self.variants.iter().find(|variant| variant.name == cell.variant);
        let variant = variant.ok_or_else(|| failed("there is no such variant".into()))?.clone();
        let written = Written::write(&variant.settings)?;
        let events = |counter: &Option<EventCounter>| -> Result<Option<u64>> {
            let count = counter.as_ref().map(EventCounter::count).transpose();
            count.map_err(|error| failed(error.to_string()))
        };
        let before = events(&self.counter)?;
        let (mut peak, start) = (slab_kib()?, Instant::now());
        let (program, arguments) = (&variant.words[0], &variant.words[1..]);
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        if !self.show_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let child = Child::start(&mut command);
        let mut child = child.map_err(|error| failed(format!("cannot run {program}: {error}")))?;
        let status = loop {
            let ended = child.ended().map_err(|error| failed(format!("cannot wait: {error}")))?;
            if let Some(status) = ended {
                break status;
            }
            if let Some(signal) = self.signals.wait(Some(Instant::now() + LOOK)) {
                child.end();
                return Err(Error::Request(format!(
                    "ended by signal {signal} in {}; the same command, given again, continues from there",
                    cell.words()
                )));
            }
            peak = peak.max(slab_kib()?);
        };
        let seconds = start.elapsed().as_secs_f64();
        let (end, after) = (slab_kib()?, events(&self.counter)?);
        drop(child);
        written.restore()?;
        if !status.success() && !self.ignore_failure {
            let why = "--ignore-failure lets it, --show-output shows what it said";
            return Err(failed(format!("{program} {}; {why}", ending(status))));
        }
        let values =
            [("seconds", seconds), ("slab_peak_kb", peak.max(end) as f64), ("slab_kb", end as f64)];
        let mut observation = Observation::of(values);
        if let (Some(before), Some(after)) = (before, after) {
            observation.values.insert("events".to_owned(), after.saturating_sub(before) as f64);
        }
        observation.command = variant.words.join(" ");
        Ok(observation)
    }
}

/// Returns how a command ended, in words.
fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("failed with exit status {code}"),
        (None, signal) => format!("was ended by signal {}", signal.unwrap_or(0)),
    }
}

/// Returns `Slab` of `/proc/meminfo`.
fn slab_kib() -> Result<u64> {
    let path = Path::new("/proc/meminfo");
    let text = fs::read_to_string(path).map_err(Error::io(path, "read"))?;
    let slab = text.lines().find_map(|line| line.strip_prefix("Slab:"));
    let kib = slab.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok());
    kib.ok_or_else(|| Error::Unreadable {
        path: path.to_owned(),
        reason: "has no line 'Slab: N kB'".to_owned(),
    })
}
