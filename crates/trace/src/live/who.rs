//! Who allocates at a call site: the programs, and of a helper such as `kstrdup` the functions that called it.
//!
//! # How it works
//! An event says which thread it happened in. `/proc` has the name of a thread that lives, and tracefs keeps the names of the
//! last that are gone (`saved_cmdlines`). What happened in an interrupt counts for the thread that it interrupted.
//!
//! A helper is named by [`Helpers`]. Of the helpers that allocated most, the next slice asks for a number of call stacks:
//! the trigger `stacktrace` of the kernel has a filter by call site, and a count after which it writes none.
//!
//! Linux counterpart: `stacktrace_count_trigger` in `kernel/trace/trace_events_trigger.c` @ 6.1 and 6.18.

use std::fs;

use rustc_hash::FxHashMap;
use slablab_linux::Helpers;

use crate::record::tracefs::{Instance, Tracefs};
use crate::{Error, Symbols};

/// Call sites of helpers whose stacks a slice asks for, and how many of each event it gets.
const ASKED_MAX: usize = 8;
const STACKS_MAX: u32 = 128;
/// Threads of a slice whose names are read.
const THREADS_MAX: usize = 512;

/// By name, how often it was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally(FxHashMap<String, u64>);

impl Tally {
    /// Adds to a name.
    pub(super) fn add(&mut self, name: String, times: u64) {
        *self.0.entry(name).or_default() += times;
    }

    /// Adds another's.
    pub(super) fn add_all(&mut self, other: &Tally) {
        other.0.iter().for_each(|(name, times)| self.add(name.clone(), *times));
    }

    /// Returns what was seen most, with its share; of equals the first by name.
    pub(super) fn most(&self) -> Option<(&str, f64)> {
        let (name, times) = self.0.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))?;
        Some((name, *times as f64 / self.0.values().sum::<u64>().max(1) as f64))
    }
}

/// Returns the names of those of `threads` that allocated most: of each thread its number and how often it did.
pub(super) fn thread_names(
    tracefs: &Tracefs,
    threads: &FxHashMap<u32, u64>,
) -> FxHashMap<u32, String> {
    let mut most: Vec<_> = threads.iter().map(|(thread, times)| (*times, *thread)).collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    most.truncate(THREADS_MAX);
    let mut saved = None;
    let name = |thread: u32| {
        if let Ok(name) = fs::read_to_string(format!("/proc/{thread}/comm")) {
            return Some(program(name.trim_end_matches('\n')).to_owned());
        }
        let saved = saved.get_or_insert_with(|| saved_names(tracefs));
        saved.get(&thread).cloned()
    };
    let mut name = name;
    most.into_iter().filter_map(|(_, thread)| Some((thread, name(thread)?))).collect()
}

/// Returns the name of a program: `/proc` adds to that of a kernel's worker what it works at.
fn program(comm: &str) -> &str {
    let is_worker = comm.starts_with("kworker/");
    comm.split(['-', '+']).next().filter(|_| is_worker).unwrap_or(comm)
}

/// Returns the names that tracefs keeps, by thread.
fn saved_names(tracefs: &Tracefs) -> FxHashMap<u32, String> {
    let text = fs::read(tracefs.root.join("saved_cmdlines")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = |line: &str| {
        let (thread, name) = line.split_once(' ')?;
        Some((thread.parse().ok()?, name.to_owned())).filter(|(_, name)| name != "<...>")
    };
    text.lines().filter_map(line).collect()
}

/// Asks the kernel for stacks of what call sites allocate. A trigger is pulled also while nothing is recorded, so that it may
/// only be there during a slice.
pub(super) fn ask(instance: &Instance, events: &[&str], sites: &[u64]) -> Result<(), Error> {
    let test: Vec<_> = sites.iter().map(|site| format!("call_site == {site:#x}")).collect();
    let trigger = format!("stacktrace:{STACKS_MAX} if {}", test.join(" || "));
    events
        .iter()
        .filter(|event| event.contains("alloc"))
        .try_for_each(|event| write(instance, event, &trigger))
}

/// Takes back what [`ask`] did, or a part of it.
pub(super) fn cease(instance: &Instance, events: &[&str]) -> Result<(), Error> {
    let has_one = |event: &&&str| {
        let triggers = instance.read(&format!("events/kmem/{event}/trigger"));
        triggers.is_ok_and(|text| text.contains("stacktrace:"))
    };
    let mut asked = events.iter().filter(|event| event.contains("alloc")).filter(has_one);
    asked.try_for_each(|event| write(instance, event, "!stacktrace"))
}

fn write(instance: &Instance, event: &str, trigger: &str) -> Result<(), Error> {
    instance.write(&format!("events/kmem/{event}/trigger"), trigger)
}

/// Returns those of the call sites, with how often each allocated, that are of helpers: those that allocated most.
pub(super) fn helpers(sites: impl Iterator<Item = (u64, u64)>, symbols: &Symbols) -> Vec<u64> {
    let known = Helpers::known();
    let mut found: Vec<_> = sites
        .filter(|(address, _)| *address != 0 && known.has(&symbols.site_name(*address)))
        .map(|(address, times)| (times, address))
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(ASKED_MAX);
    found.into_iter().map(|(_, address)| address).collect()
}

/// Returns the function in a stack that allocated for itself; `None` where all that it has are helpers.
pub(super) fn owner(stack: &[u64], symbols: &Symbols) -> Option<String> {
    let known = Helpers::known();
    let names = stack.iter().map(|address| symbols.site_name(*address));
    names.into_iter().find(|name| !known.has(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_a_tally_is_told_with_its_share() {
        let mut tally = Tally::default();
        assert_eq!(tally.most(), None);
        let mut other = Tally::default();
        other.add("b".into(), 2);
        other.add("a".into(), 2);
        tally.add_all(&other);
        assert_eq!(tally.most(), Some(("a", 0.5)));
        tally.add("b".into(), 4);
        assert_eq!(tally.most(), Some(("b", 0.75)));
    }

    #[test]
    fn a_worker_is_named_without_its_work() {
        assert_eq!(program("kworker/1:2-mm_percpu_wq"), "kworker/1:2");
        assert_eq!(program("a-program+x"), "a-program+x");
    }
}
