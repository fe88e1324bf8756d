//! `commands`: do two commands, or one command under two settings, differ in time and slab memory?
//!
//! # How it works
//! A variant is a command with files to write before it (sysfs attributes, sysctls), which get their old content back
//! after it. While the command runs, `Slab` of `/proc/meminfo` is read every [`LOOK`]; on request the kernel counts its
//! allocations and frees. Order, pairs and verdicts are the lab's. All numbers are the machine's: what else runs on it
//! counts too, and interleaved rounds are what keeps that apart from the commands.
//!
//! A signal ends the command, puts the settings back, and then the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use slablab_host::{Child, Signals, find_program};
use slablab_trace::EventCounter;

use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};

/// Rounds without `--rounds`: enough for a verdict on three metrics.
const ROUNDS: usize = 10;
/// How often `Slab` is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// A variant: a command, and files that are written before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandVariant {
    /// Its name in rows and tables
    pub name: String,
    /// Program and arguments
    pub words: Vec<String>,
    /// Files and what is written into them for the time of the command
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
            parameters: &[
                ("commands", "the variants as JSON; 'slablab bench' writes it"),
                ("events", "yes: also count allocations and frees (root)"),
                ("ignore_failure", "yes: a command may fail"),
                ("show_output", "yes: what the commands print is shown"),
            ],
        }
    }

    fn metrics_of(&self, request: &Request) -> Result<Vec<Metric>> {
        let mut metrics = self.about().metrics;
        if is_set(request, "events") {
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
        // Before anything runs: whether all programs and settings are there, and the settings may be written.
        for variant in &variants {
            if find_program(&variant.words[0]).is_none() {
                return Err(Error::Request(format!(
                    "cannot run {}: no such program, or it may not be executed",
                    variant.words[0]
                )));
            }
        }
        for (path, _) in variants.iter().flat_map(|variant| &variant.settings) {
            let writable = fs::OpenOptions::new().write(true).open(path);
            writable.map_err(Error::io(path, "write the setting (sysfs takes root)"))?;
        }
        let counter = if is_set(request, "events") {
            let started = EventCounter::start();
            Some(started.map_err(|error| Error::Request(format!("--events: {error}")))?)
        } else {
            None
        };
        let signals = Signals::catch();
        Ok(Box::new(Bench {
            variants,
            counter,
            signals: signals.map_err(Error::io(Path::new("/proc/self"), "catch signals"))?,
            ignore_failure: is_set(request, "ignore_failure"),
            show_output: is_set(request, "show_output"),
        }))
    }
}

fn is_set(request: &Request, key: &str) -> bool {
    request.param(key, "no") == "yes"
}

/// Reads the variants of a request.
fn variants(request: &Request) -> Result<Vec<CommandVariant>> {
    let unreadable = |why: String| {
        Error::Request(format!("commands: {why}; 'slablab bench' asks for this experiment"))
    };
    let text = request.params.get("commands").ok_or_else(|| unreadable("none are given".into()))?;
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
                return Err(failed(format!("ended by signal {signal}; the same command goes on")));
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

/// Files that were written, with what they held before; that is written back when this is dropped.
struct Written(Vec<(PathBuf, String)>);

impl Written {
    fn write(settings: &[(PathBuf, String)]) -> Result<Self> {
        let mut written = Self(Vec::new());
        for (path, value) in settings {
            let old = fs::read_to_string(path).map_err(Error::io(path, "read the old setting"))?;
            written.0.push((path.clone(), old_value(&old)));
            fs::write(path, value).map_err(Error::io(path, "write the setting"))?;
        }
        Ok(written)
    }

    /// Writes the old content back, the last file first.
    fn restore(mut self) -> Result<()> {
        while let Some((path, old)) = self.0.pop() {
            fs::write(&path, old).map_err(Error::io(&path, "write the old setting back"))?;
        }
        Ok(())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        for (path, old) in self.0.drain(..).rev() {
            // The run ends with another error; it is told, and this one is not worth more.
            let _ = fs::write(path, old);
        }
    }
}

/// Returns what to write back: of a choice such as `always [madvise] never` the one in brackets.
fn old_value(text: &str) -> String {
    let chosen = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(text.trim_end()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_written_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (number, choice) = (folder.path().join("number"), folder.path().join("choice"));
        fs::write(&number, "30\n").unwrap();
        fs::write(&choice, "always [madvise] never\n").unwrap();
        let settings = vec![(number.clone(), "0".to_owned()), (choice.clone(), "never".to_owned())];
        let written = Written::write(&settings).unwrap();
        assert_eq!(fs::read_to_string(&number).unwrap(), "0");
        drop(written);
        assert_eq!(fs::read_to_string(&number).unwrap(), "30");
        assert_eq!(fs::read_to_string(&choice).unwrap(), "madvise");
        let missing =
            vec![(number.clone(), "5".to_owned()), (folder.path().join("x/y"), "1".into())];
        assert!(Written::write(&missing).is_err());
        assert_eq!(fs::read_to_string(&number).unwrap(), "30", "written back after an error");
    }
}
