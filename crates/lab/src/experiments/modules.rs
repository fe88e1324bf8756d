//! What experiments with kernel modules share: one C source, run in a process by `slablab-kapi`.
//!
//! # How it works
//! The module is compiled once. Each cell starts the command again as a child that loads it, with the allocator and
//! the parameters of the cell, so a crash of the module ends only the child. The lab reads the facts that the module
//! logs, `NAME: key=value key=value`, one on each line.
//!
//! The child is `slablab insmod --child`; so these experiments run only in the command, not in a program that uses this
//! library.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use slablab_host::shell;
use slablab_kapi::toolchain::{self, Built, Flavor};
use slablab_kapi::{Event, Job, host};
use slablab_vm::Data;

use super::allocators::allocator;
use crate::error::{Error, Result};
use crate::plan::Cell;
use crate::request::Request;

/// The longest that a module may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Memory of the machine that the module runs on.
const MEMORY_BYTES: u64 = 1 << 30;

/// The interfaces that are compared where the experiment requests blocks.
pub(super) const INTERFACES: [&str; 3] = ["kmalloc", "__get_free_pages", "vmalloc"];

/// A line that a module logged, without its name.
pub(super) type LogLine = BTreeMap<String, String>;

/// A compiled module, and the allocator on which it runs unless a cell names another.
pub(super) struct Host {
    built: Built,
    folder: tempfile::TempDir,
    command: [OsString; 3],
    allocator: String,
}

impl Host {
    /// Compiles the module `name` of `kernel/modules`, for the allocator that `request` names.
    ///
    /// # Errors
    ///
    /// If it or the allocator is not found, or there is no compiler.
    pub(super) fn build(name: &str, request: &Request) -> Result<Self> {
        let allocator = allocator(request)?.to_string();
        let failed = |reason: String| Error::Request(format!("module {name}: {reason}"));
        let data = Data::find().map_err(|e| failed(e.to_string()))?;
        let module = data.module(name).map_err(|e| failed(e.to_string()))?;
        let folder = tempfile::Builder::new()
            .prefix("slablab-module-")
            .tempdir()
            .map_err(Error::io(&std::env::temp_dir(), "make a folder for a module"))?;
        let request = toolchain::Request {
            source: module.folder(),
            module: None,
            version: None,
            flavor: Flavor::Plain,
        };
        let built = toolchain::build(&request, folder.path(), &|_, _| {})
            .map_err(|e| failed(e.to_string()))?;
        let exe = std::env::current_exe().map_err(|e| failed(format!("where is slablab? {e}")))?;
        let command = [exe.into(), "insmod".into(), "--child".into()];
        Ok(Self { built, folder, command, allocator })
    }

    /// Selects the allocator that the cell names.
    pub(super) fn under(&mut self, allocator: &str) -> &Self {
        allocator.clone_into(&mut self.allocator);
        self
    }

    /// Returns the command that a person types to run the module as [`Host::run`] does.
    pub(super) fn command(&self, params: &[String]) -> String {
        let module = shell::word(&format!("kernel/modules/{}", self.built.name));
        let params: String = params.iter().map(|param| shell::word(param) + " ").collect();
        format!("slablab insmod {module} {params}--allocator {} --memory 1G", self.allocator)
    }

    /// Runs the module and returns the facts it logged.
    ///
    /// # Errors
    ///
    /// If init fails, the module crashes or logs nothing.
    pub(super) fn run(&self, cell: &Cell, params: &[String]) -> Result<Vec<LogLine>> {
        let failed = |reason: &str| self::failed(cell, reason);
        let job = Job {
            image: self.built.image.clone(),
            name: self.built.name.clone(),
            needed: self.built.needed.clone(),
            version: self.built.version,
            params: params.to_vec(),
            allocator: self.allocator.clone(),
            cpus: 1,
            memory_bytes: MEMORY_BYTES,
            // Checks are off, because they put guards between objects.
            check: 0,
            explain: false,
            writes: Vec::new(),
            steps: Vec::new(),
            reads: Vec::new(),
            wait_ms: 0,
            rmmod: true,
            plain_pointers: true,
            asan: false,
        };
        let start = host::Start {
            command: &self.command,
            job: &job,
            dir: self.folder.path(),
            preload: self.built.preload.as_deref(),
            timeout: Some(TIMEOUT),
        };
        let (mut log, mut init) = (String::new(), None);
        let mut refused = None;
        let (end, errors) = host::run(&start, |event| match event {
            Event::Line { text, .. } => log += &format!("\n{text}"),
            Event::More { text, .. } => log += &text,
            Event::Refused { message } => refused = Some(message),
            Event::Init { result, .. } => init = Some(result),
            _ => {}
        })
        .map_err(|e| failed(&e.to_string()))?;
        if let Some(message) = refused {
            return Err(failed(&message));
        }
        if end != host::End::Done || init != Some(0) {
            let last = errors.lines().chain(log.lines()).rfind(|line| !line.is_empty());
            let said = last.map_or_else(String::new, |line| {
                format!(": {}", line.trim_start_matches("slablab: "))
            });
            return Err(failed(&format!("{}{said}", ending(&end, init))));
        }
        let prefix = format!("{}: ", self.built.name);
        let facts: Vec<LogLine> =
            log.lines().filter_map(|line| line.strip_prefix(&prefix)).map(fact).collect();
        if facts.is_empty() {
            return Err(failed("the module logged nothing"));
        }
        Ok(facts)
    }
}

/// Returns how a module failed, in words.
fn ending(end: &host::End, init: Option<i64>) -> String {
    match (end, init) {
        (host::End::TimedOut, _) => {
            format!("the module was not done after {} seconds", TIMEOUT.as_secs())
        }
        (host::End::Stopped { signal: Some(signal), .. }, _) => {
            format!("the module was ended by signal {signal}")
        }
        (host::End::Done, Some(errno)) => format!("the module's init returned {errno}"),
        (host::End::Stopped { .. }, None) => "the module could not be started".to_owned(),
        _ => "the module ended before it was done".to_owned(),
    }
}

/// Returns the error of a cell whose module did not report what the cell needs.
pub(super) fn failed(cell: &Cell, reason: &str) -> Error {
    Error::Cell { cell: cell.words(), reason: reason.to_owned() }
}

/// Returns the number in `fact` under `key`.
pub(super) fn number(fact: &LogLine, key: &str) -> Option<f64> {
    fact.get(key)?.parse().ok()
}

/// Returns the numbers in `fact` under `keys`, by key; those that are not there are left out.
pub(super) fn numbers(fact: &LogLine, keys: &[&str]) -> BTreeMap<String, f64> {
    keys.iter().filter_map(|key| Some(((*key).to_owned(), number(fact, key)?))).collect()
}

fn fact(line: &str) -> LogLine {
    line.split_whitespace()
        .filter_map(|word| word.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_module_is_read_as_numbers_and_words() {
        let line = fact("interface=kmalloc size=64 cycles_mean=179");
        assert_eq!(line["interface"], "kmalloc");
        assert_eq!(
            numbers(&line, &["cycles_mean", "none"]).into_values().collect::<Vec<_>>(),
            [179.0]
        );
    }
}
