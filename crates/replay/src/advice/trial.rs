//! Changes tried out, many at a time, each on the part of the machine that it can touch.
//!
//! # How it works
//! Under SLUB and SLAB a cache's slabs depend on that cache's own events only. So the effect of a
//! change to one kmalloc site shows on a machine that replays only the classes from which the site allocates, once
//! as recorded and once changed. That costs the events of a class or two instead of those of the trace, and makes it
//! affordable to try every site that matters. All trials share one pass over the trace, divided among as many
//! threads as there are processors; where memory is short, there are several passes. Which rows belong to which class is
//! found out once for all trials of a pass ([`crate::advice::partition`]).
//!
//! # Differences from a whole replay
//! Other caches do not take pages in between, so numbers of slabs and pages are
//! exact, but distances between slabs are not.

use std::sync::Arc;

use slablab_kmem::{Backend, BackendKind, Machine, WithBackend};
use slablab_trace::{Meta, TraceReader};

use crate::advice::partition::{Partition, PartitionedBatch};
use crate::engine::broadcast::{Feed, broadcast, job, jobs_at_once};
use crate::engine::machine;
use crate::engine::runner::{Outcome, Runner};
use crate::engine::sites::UnderBySite;
use crate::error::Error;
use crate::metrics::requests::{ClassSet, Classes};
use crate::metrics::result::Allocator;
use crate::metrics::span_peaks::SpanPeak;
use crate::plan::ReplayPlan;

/// A change to try, and the kmalloc classes that it can touch.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// The change; none for the classes as recorded
    pub(crate) plan: ReplayPlan,
    /// The classes of the recorded kernel that take part
    pub(crate) classes: ClassSet,
}

impl Trial {
    /// Returns the live objects of the cache that the trial makes; bytes of live objects if it makes none.
    fn live<B: Backend>(&self, machine: &Machine<B>) -> u64 {
        let Some(made) = self.plan.changes.dedicated.first() else {
            return machine.gauges().live_bytes;
        };
        let made = machine.cache_by_name(&made.name).and_then(|id| machine.cache_stats(id));
        made.map_or(0, |stats| stats.objects_live)
    }
}

/// The bytes that a trial's part of the machine held.
#[derive(Debug, Clone)]
pub(crate) struct TrialResult {
    pub(crate) allocator: Allocator,
    pub(crate) sites: UnderBySite,
    /// By moment: bytes held
    pub(crate) held_bytes: Vec<u64>,
    /// By evenly spaced moment: live objects of the cache that the trial makes; bytes of live objects if it makes none
    pub(crate) live: Vec<u64>,
}

/// The rows after which all trials are examined.
#[derive(Debug)]
pub(crate) struct Moments {
    /// Rising
    rows: Vec<u64>,
    /// By row: whether it is one of those spread evenly, or the one in which the whole machine held
    /// most
    is_even: Vec<bool>,
    /// What the whole machine held when a part of the trace was at its highest, with the places of those rows
    span_peaks: Vec<(usize, u64)>,
}

impl Moments {
    /// Spreads `moments` over a trace of `events` rows, and adds the one in which the whole machine held
    /// most.
    pub(crate) fn new(moments: u64, events: u64, peak_event: u64) -> Self {
        let even = (1..=moments).map(|i| (events * i / moments).saturating_sub(1));
        let mut rows: Vec<_> = even.chain([peak_event]).collect();
        rows.sort_unstable();
        rows.dedup();
        Self { is_even: vec![true; rows.len()], rows, span_peaks: Vec::new() }
    }

    /// Adds the rows in which the whole machine held most, part by part of the trace.
    pub(crate) fn with_span_peaks(self, span_peaks: &[SpanPeak]) -> Self {
        let even = self.rows;
        let mut rows: Vec<_> =
            even.iter().copied().chain(span_peaks.iter().map(|c| c.row)).collect();
        rows.sort_unstable();
        rows.dedup();
        let place = |row: u64| rows.partition_point(|known| *known < row);
        let span_peaks = span_peaks.iter().map(|peak| (place(peak.row), peak.held_bytes)).collect();
        let is_even = rows.iter().map(|row| even.binary_search(row).is_ok()).collect();
        Self { rows, is_even, span_peaks }
    }

    /// Returns by how much the peak of the whole machine is lower where `after` replaces `before`; both give the bytes
    /// held by moment.
    pub(crate) fn peak_less(&self, before: &[u64], after: &[u64]) -> i64 {
        let at = |held: &[u64], place: usize| held.get(place).copied().unwrap_or(0) as i64;
        let recorded = self.span_peaks.iter().map(|(_, held)| *held as i64).max();
        let changed = self
            .span_peaks
            .iter()
            .map(|(place, held)| *held as i64 - at(before, *place) + at(after, *place))
            .max();
        recorded.unwrap_or(0) - changed.unwrap_or(0)
    }

    /// Returns those of values by moment that belong to moments spread evenly.
    pub(crate) fn even<'a>(&'a self, values: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        let pairs = values.iter().zip(&self.is_even);
        pairs.filter(|(_, is_even)| **is_even).map(|(value, _)| *value)
    }

    /// Returns the moments among `rows` rows of the trace that come after `before` others, as places among those rows.
    pub(crate) fn within(&self, before: u64, rows: usize) -> impl Iterator<Item = usize> {
        let first = self.rows.partition_point(|row| *row < before);
        let places = self.rows[first..].iter().map(move |row| (row - before) as usize);
        places.take_while(move |row| *row < rows)
    }
}

/// Tries everything, at most `fitting` trials in a pass; `meta` has the caches of all trials, each under a name of its own.
#[allow(clippy::too_many_arguments, reason = "one call, which has all of them as variables")]
pub(crate) fn try_all(
    reader: &TraceReader,
    meta: &Meta,
    kind: BackendKind,
    classes: &Classes,
    trials: &[Trial],
    moments: &Moments,
    fitting: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<TrialResult>, Error> {
    let passes = trials.len().div_ceil(fitting).max(1);
    let mut results = Vec::with_capacity(trials.len());
    for (pass, trials) in (0..).zip(trials.chunks(trials.len().div_ceil(passes).max(1))) {
        let share = trials.len().div_ceil(jobs_at_once(reader)).max(1);
        let mut partition = Partition::new(classes, meta.events);
        let jobs = trials.chunks(share).map(|trials| {
            job(move |batches| kind.dispatch(Work { meta, trials, moments, batches }))
        });
        let prepare = |batch| Arc::new(partition.batch(batch));
        let sent = |_: &_, done| progress((pass * meta.events + done) / passes as u64);
        results.extend(broadcast(reader, jobs, prepare, sent)?.into_iter().flatten());
    }
    Ok(results)
}

/// One thread's trials.
struct Work<'a, 'f> {
    meta: &'a Meta,
    trials: &'a [Trial],
    moments: &'a Moments,
    batches: Feed<'f, Arc<PartitionedBatch>>,
}

impl WithBackend for Work<'_, '_> {
    type Output = Result<Vec<TrialResult>, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let machines: Result<Vec<Machine<B>>, Error> =
            self.trials.iter().map(|t| machine::build(self.meta, &t.plan)).collect();
        let machines = machines?;
        let pairs = machines.iter().zip(self.trials);
        let runners: Result<Vec<_>, Error> =
            pairs.map(|(machine, trial)| Runner::new(machine, self.meta, &trial.plan)).collect();
        let mut runners = runners?;
        let mut looks = vec![(Vec::new(), Vec::new()); runners.len()];
        let mut seen = 0;
        for part in self.batches {
            let (batch, rows) = (&part.batch, part.batch.len());
            for (i, runner) in runners.iter_mut().enumerate() {
                let own = part.rows(self.trials[i].classes);
                let mut left = &own[..];
                let mut first = 0;
                for end in self.moments.within(seen, rows).map(|row| row + 1) {
                    let before = left.partition_point(|own| (own.row as usize) < end);
                    runner.own_rows(batch, first..end, &left[..before])?;
                    (first, left) = (end, &left[before..]);
                    let (held_bytes, live) = &mut looks[i];
                    let is_even = self.moments.is_even[held_bytes.len()];
                    held_bytes.push(machines[i].gauges().held_bytes());
                    if is_even {
                        live.push(self.trials[i].live(&machines[i]));
                    }
                }
                runner.own_rows(batch, first..rows, left)?;
            }
            seen += rows as u64;
        }
        let ends = runners.into_iter().zip(looks);
        ends.map(|(runner, (held_bytes, live))| {
            let Outcome { allocator, sites } = runner.finish()?;
            Ok(TrialResult { allocator, sites, held_bytes, live })
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_spread_over_the_trace_and_meet_its_peak() {
        let moments = Moments::new(64, 6_400, 250);
        assert_eq!(moments.rows[..5], [99, 199, 250, 299, 399]);
        assert_eq!(moments.rows.len(), 65);
        assert_eq!(moments.within(200, 200).collect::<Vec<_>>(), [50, 99, 199]);
        // A row that is already among the evenly spaced ones is not added again.
        assert_eq!(
            (Moments::new(64, 6_400, 299).rows.len(), Moments::new(64, 1, 0).rows.len()),
            (64, 1)
        );
    }

    /// `advise` used to compare the bytes held where the recorded machine first held most, `whatif` the
    /// two peaks.
    #[test]
    fn a_peak_that_only_comes_later_is_not_saved() {
        let peak = |row, held_bytes| SpanPeak { row, held_bytes };
        let moments = Moments::new(2, 8, 2).with_span_peaks(&[peak(2, 100), peak(5, 100)]);
        assert_eq!(moments.rows, [2, 3, 5, 7]);
        let before = [100, 100, 100, 50];
        assert_eq!(moments.peak_less(&before, &[60, 60, 100, 20]), 0);
        assert_eq!(moments.peak_less(&before, &[60, 60, 70, 20]), 30);
        assert_eq!(moments.even(&before).collect::<Vec<_>>(), [100, 100, 50]);
    }
}
