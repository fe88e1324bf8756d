//! A recording that is being read: its events, the names that they use, and what it says of itself.

use crate::meta::{Site, Skipped};
use crate::symbols::Symbols;
use crate::{Error, Meta, RawEvent};

/// A reader of one recording.
pub trait Source: std::fmt::Debug {
    /// Appends the next events to `to`, in time order over all CPUs; returns false at the end. (Before it
    /// nothing may be appended, too, while what is read has to be sorted.)
    ///
    /// # Errors
    /// When the rest cannot be used. What can be skipped is counted in [`Source::facts`] instead.
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error>;

    /// Returns the names that [`RawEvent`]s index. Grows while events are read.
    fn tables(&self) -> &Tables;

    /// Returns what the recording says of itself. Complete when [`Source::read`] has returned false.
    fn facts(&self) -> &Facts;

    /// Returns the symbols of the recorded kernel, as far as they could be had.
    fn symbols(&self) -> &Symbols;

    /// Returns how much of the recording has been read, and how much there is, in bytes.
    fn progress(&self) -> (u64, u64);
}

/// The names that [`RawEvent`]s index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// The call sites, in order of first appearance. `name` is "" where the source gave an address.
    pub sites: Vec<Site>,
    /// The names of caches, in order of first appearance.
    pub caches: Vec<String>,
}

/// What a recording says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Kernel, machine, recorder, command, times: whatever the source knows.
    pub meta: Meta,
    /// Records or lines left out, by reason.
    pub skipped: Vec<Skipped>,
}

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Parquet with the columns of a trace, also one that was filtered or rewritten by another program
    Parquet,
    /// `perf.data` of `perf kmem record` or `perf record -e kmem:...`
    PerfData,
    /// Text of `perf script`
    PerfScript,
    /// Text of `trace-cmd report`
    TraceCmdReport,
    /// Text of tracefs `trace` or `trace_pipe`
    Trace,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [
        Format::Parquet,
        Format::PerfData,
        Format::PerfScript,
        Format::TraceCmdReport,
        Format::Trace,
    ];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::PerfData => "perf-data",
            Format::PerfScript => "perf-script",
            Format::TraceCmdReport => "trace-cmd",
            Format::Trace => "trace",
        }
    }
}
