//! The moments of a trace at which someone looks, and the programs of its threads.
//!
//! How it works: rows are told one after the other, and each moment is noted before the first row behind it. So the rows of
//! slab events and those of page events have their moments found alike.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use slablab_trace::Meta;

/// A moment of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// When most bytes were alive that the trace saw allocated
    Peak,
    /// Behind the last event
    End,
    /// Behind the last event up to this time of the trace's clock
    At(u64),
}

/// Returns how often the rows are read for these moments.
#[must_use]
pub fn passes(moments: &[When]) -> u64 {
    1 + u64::from(moments.contains(&When::Peak))
}

/// The moments that rows have not reached yet, each with its place among those that were asked for.
pub(super) struct Moments {
    left: Vec<(usize, When)>,
    /// Rows up to the peak
    peak: u64,
    rows: u64,
    time_ns: u64,
}

impl Moments {
    /// Begins at `time_ns`; `peak` rows come before the peak.
    pub(super) fn new(moments: &[When], peak: u64, time_ns: u64) -> Self {
        let left = moments.iter().copied().enumerate().collect();
        Self { left, peak, rows: 0, time_ns }
    }

    /// Takes the time of the next row; `look` is told each moment that comes before it, with the time of the row before.
    #[inline]
    pub(super) fn pass(&mut self, time_ns: u64, mut look: impl FnMut(usize, u64)) {
        let (rows, peak, before_ns) = (self.rows, self.peak, self.time_ns);
        self.left.retain(|(place, when)| {
            let is_over = match *when {
                When::Peak => rows == peak,
                When::End => false,
                When::At(ns) => time_ns > ns,
            };
            if is_over {
                look(*place, before_ns);
            }
            !is_over
        });
        (self.rows, self.time_ns) = (rows + 1, time_ns);
    }

    /// Tells `look` the moments behind the last row.
    pub(super) fn end(self, mut look: impl FnMut(usize, u64)) {
        self.left.iter().for_each(|(place, _)| look(*place, self.time_ns));
    }
}

/// The programs of a trace's threads, by number.
pub(super) struct Programs {
    /// Their names; the first is "", for threads whose name is not in the trace
    pub(super) names: Vec<String>,
    of_threads: FxHashMap<u32, u32>,
}

impl Programs {
    pub(super) fn of(meta: &Meta) -> Self {
        let mut programs = Self { names: vec![String::new()], of_threads: FxHashMap::default() };
        let mut by_name: BTreeMap<&str, u32> = BTreeMap::new();
        for (pid, name) in &meta.comms {
            let number = *by_name.entry(name).or_insert_with(|| {
                programs.names.push(name.clone());
                programs.names.len() as u32 - 1
            });
            programs.of_threads.insert(*pid, number);
        }
        programs
    }

    /// Returns the number of a thread's program.
    #[inline]
    pub(super) fn number(&self, pid: u32) -> u32 {
        self.of_threads.get(&pid).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_noted_before_the_first_row_behind_it() {
        let mut noted = Vec::new();
        let mut moments = Moments::new(&[When::End, When::Peak, When::At(25), When::At(5)], 2, 10);
        for time_ns in [10, 20, 30] {
            moments.pass(time_ns, |place, before_ns| noted.push((place, before_ns)));
        }
        moments.end(|place, before_ns| noted.push((place, before_ns)));
        assert_eq!(noted, [(3, 10), (1, 20), (2, 20), (0, 30)]);
    }
}
