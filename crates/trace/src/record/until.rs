//! The events of a source up to a time, read until somebody asks to end.
//!
//! # How it works
//! Where a recorder was killed, the kernel went on writing events into its buffers; those behind its last sign of life are
//! not of the recording. A signal (Ctrl-C) is looked for between two reads.

use std::time::Instant;

use slablab_host::Signals;

use crate::source::{Facts, Source};
use crate::{Error, RawEvent};

/// The events of a source until `until_ns`, or until a signal comes.
#[derive(Debug)]
pub(super) struct Until<'a, S> {
    pub(super) source: S,
    until_ns: u64,
    signals: &'a mut Signals,
}

impl<'a, S: Source> Until<'a, S> {
    pub(super) fn new(source: S, until_ns: Option<u64>, signals: &'a mut Signals) -> Self {
        Self { source, until_ns: until_ns.unwrap_or(u64::MAX), signals }
    }
}

impl<S: Source> Source for Until<'_, S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        if self.signals.wait(Some(Instant::now())).is_some() {
            return Err(Error::Interrupted);
        }
        let before = to.len();
        let goes_on = self.source.read(to)?;
        // They are in order of time, but for those of one CPU whose clock ran backwards.
        if self.until_ns != u64::MAX
            && to[before..].iter().any(|event| event.time_ns > self.until_ns)
        {
            let dropped = to.extract_if(before.., |event| event.time_ns > self.until_ns);
            dropped.for_each(drop);
        }
        Ok(goes_on)
    }

    fn facts(&self) -> &Facts {
        self.source.facts()
    }
}
