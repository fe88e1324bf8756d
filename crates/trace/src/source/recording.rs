//! A recording that is being read: its events, the names that they use, and what it says of itself.

use std::collections::BTreeSet;

use super::names::Names;
use crate::cgroups::CgroupChange;
use crate::symbols::Symbols;
use crate::{Error, Meta, Progress, RawEvent};

/// Events of other kinds that an error names.
pub(crate) const OTHER_EVENTS_MAX: usize = 6;

/// Says that a recording has no event of slabs or pages, and which events of other kinds it has.
pub(crate) fn no_kmem_events<'a>(others: impl IntoIterator<Item = &'a String>) -> String {
    let others: Vec<_> = others.into_iter().map(String::as_str).collect();
    match &others[..] {
        [] => "holds no kmem events".to_owned(),
        [first @ .., last] if others.len() <= OTHER_EVENTS_MAX => {
            let and = if first.is_empty() { "" } else { " and " };
            format!("{NO_EVENT}: its events are {}{and}{last}", first.join(", "))
        }
        _ => format!(
            "{NO_EVENT}: its events are {} and others",
            others[..OTHER_EVENTS_MAX].join(", ")
        ),
    }
}

const NO_EVENT: &str = "holds no event of slabs or pages";

/// A reader of one recording.
pub trait Source: std::fmt::Debug {
    /// Appends the next events to `to`, in time order over all CPUs; returns false at the end. (Before it
    /// nothing may be appended, too, while what is read has to be sorted.)
    ///
    /// # Errors
    /// If the rest cannot be used. What can be skipped is counted in [`Meta::quality`] instead.
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error>;

    /// Returns what the recording says of itself.
    fn facts(&self) -> &Facts;

    /// Returns whether [`Meta::samples`] are to place the frees that made no event.
    fn is_sampled(&self) -> bool {
        false
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        (**self).read(to)
    }

    fn facts(&self) -> &Facts {
        (**self).facts()
    }

    fn is_sampled(&self) -> bool {
        (**self).is_sampled()
    }
}

/// What a recording says of itself: complete when [`Source::read`] has returned false.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Kernel, machine, recorder, command, times, losses: whatever the source knows.
    pub meta: Meta,
    /// The names that [`RawEvent`]s index.
    pub names: Names,
    /// The symbols of the recorded kernel, as far as they could be had.
    pub symbols: Symbols,
    /// What events told of threads' cgroups, with their times, in any order.
    pub cgroup_changes: Vec<(u64, CgroupChange)>,
    /// Events of other kinds that the recording has, the first ones of them.
    pub other_events: BTreeSet<String>,
    /// Bytes read so far.
    pub bytes_read: u64,
    /// Bytes that there are, 0 when that is not known.
    pub bytes: u64,
}

impl Facts {
    /// Returns how far the reading has come.
    pub fn progress(&self) -> Progress {
        Progress { phase: "reading", done: self.bytes_read, total: self.bytes, unit: "bytes" }
    }
}

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Parquet with the columns of a trace, also one that was filtered or rewritten by another program
    Parquet,
    /// `perf.data` of `perf kmem record` or `perf record -e kmem:...`
    PerfData,
    /// `trace.dat` of `trace-cmd record -e kmem`
    TraceDat,
    /// Trace of Perfetto with `ftrace_events: "kmem/*"`
    Perfetto,
    /// Text of `perf script`
    PerfScript,
    /// Text of `trace-cmd report`
    TraceCmdReport,
    /// Text of tracefs `trace` or `trace_pipe`
    Trace,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 7] = {
        use Format::*;
        [Parquet, PerfData, TraceDat, Perfetto, PerfScript, TraceCmdReport, Trace]
    };

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::PerfData => "perf-data",
            Format::TraceDat => "trace-dat",
            Format::Perfetto => "perfetto",
            Format::PerfScript => "perf-script",
            Format::TraceCmdReport => "trace-cmd",
            Format::Trace => "trace",
        }
    }
}
