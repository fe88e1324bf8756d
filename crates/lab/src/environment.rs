//! The machine that a row comes from: enough to judge the row, and to refuse a comparison with another machine's.
//!
//! # How it works
//! Everything that can change a measurement has a name ([`Environment::factors`]) and goes into the key, which is
//! equal where all factors are. The frequency governor and the git revision are recorded and named, but not refused.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};
use slablab_host::KeyHasher;

/// Facts about a machine; a fact is empty where the system does not tell it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The host's name
    pub host: String,
    /// The processor's name
    pub cpu: String,
    /// How many processors are online
    pub cpus: usize,
    /// The kernel's release
    pub kernel: String,
    /// The frequency governor of the first processor
    pub governor: String,
    /// The git revision of the working folder, with a `+` when it has changes
    pub commit: String,
    /// The version of slablab
    pub slablab: String,
}

impl Environment {
    /// Reads the facts from the system.
    pub fn of_this_machine() -> Self {
        let line = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        Self {
            host: line("/proc/sys/kernel/hostname"),
            cpu: cpu_name(&line("/proc/cpuinfo")),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: line("/proc/sys/kernel/osrelease"),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            commit: commit(),
            slablab: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Environment {
    /// Returns what must be equal for two measurements to be comparable, each with the name of the factor.
    pub fn factors(&self) -> [(&'static str, String); 3] {
        let cpu = format!("{}, {} online", self.cpu, self.cpus);
        [("cpu", cpu), ("kernel", self.kernel.clone()), ("slablab", self.slablab.clone())]
    }

    /// Returns the identity of the environment: a hash of its factors.
    pub fn key(&self) -> String {
        let mut hasher = KeyHasher::new("environment of a measurement");
        self.factors().iter().for_each(|(_, value)| hasher.update(value));
        hasher.finish().to_string()
    }
}

/// Returns the load average over the last minute; zero where the system does not tell it.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

fn cpu_name(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(':'))
        .map_or_else(String::new, |(_, name)| name.trim().to_owned())
}

fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(revision) = git(&["rev-parse", "--short=12", "HEAD"]) else { return String::new() };
    match git(&["status", "--porcelain", "--untracked-files=no"]).as_deref() {
        Some("") => revision,
        _ => revision + "+",
    }
}
