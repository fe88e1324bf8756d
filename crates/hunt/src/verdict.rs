//! What a group of objects is: a leak, a cache, a population, or not yet to be told.
//!
//! # How it works
//! Objects that leak have three marks. They go on coming: each part of the time since the first has some that are alive, and
//! that time is a quarter of the hunt at least. Those that were settled halfway are alive at the end. And their number rises,
//! by the judge of [`slablab_snapshot::growth`]. Where the kernel frees objects of that cache under pressure, the same marks make
//! a cache that fills. Objects that come and go, or whose number does not rise, are a population that follows the load.
//!
//! # Invariants
//! A leak rests on at least [`SETTLED_MIN`] objects that were seen themselves, over at least [`SECONDS_MIN`] seconds. What could
//! still become one is not yet told, with the time by which it will be.

use serde::Serialize;
use slablab_snapshot::{Entry, Moment, Pace, growth};

use crate::group::{Group, Point, SETTLE_SECONDS};

/// Objects, seen and settled, that a verdict needs.
pub(crate) const SETTLED_MIN: usize = 12;
/// Time that it needs.
pub(crate) const SECONDS_MIN: f64 = 45.0;
/// Parts of the time: nearly all of them have to have survivors.
const PARTS: usize = 8;
const PARTS_MIN: usize = 7;
/// Share of those that were settled halfway that has to be alive.
const SURVIVAL_MIN: f64 = 0.9;
/// Below this share of survivors, objects come and go.
const SURVIVAL_POPULATION: f64 = 0.6;

/// Share of the objects that come late, from which those that stay may be a leak in bursts.
const LATE_MIN: f64 = 0.2;
/// Objects of the greatest weight, from which their spread is known.
const HEAVY_MIN: usize = 12;
/// Where none was seen of objects that were followed with a small share, they are in 95 of 100 cases at most three times what
/// one stands for.
const UNSEEN_WEIGHTS: f64 = 3.0;

/// What the objects of a group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// They stay, and more come
    Leak,
    /// More come, and the kernel gives them back when memory is short
    Cache,
    /// Too few, or for too short a time, to tell
    NotYet,
    /// They follow the load
    Population,
}

/// A verdict and its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// Objects that stay, a second
    pub(crate) per_second: f64,
    /// Interval of 95 %
    pub(crate) interval: Option<(f64, f64)>,
    /// Share of those that were settled halfway which is alive
    pub(crate) survival: Option<f64>,
    /// Seconds of the hunt at which the verdict will be told, where that is to be foreseen
    pub(crate) until: Option<f64>,
}

/// Judges a group `now` seconds after the hunt began.
pub(crate) fn judge(group: &Group, now: f64, is_given_back: bool) -> Judged {
    let settled = group.settled(now);
    let time = now - SETTLE_SECONDS;
    let rate = group.born_until(time).0 / time.max(1.0);
    let survival = survival(group, now);
    let not_yet = Judged {
        verdict: Verdict::NotYet,
        per_second: rate,
        interval: None,
        survival,
        until: None,
    };
    let comes_and_goes = survival.is_some_and(|share| share < SURVIVAL_POPULATION);
    if comes_and_goes && settled >= SETTLED_MIN {
        return Judged { verdict: Verdict::Population, ..not_yet };
    }
    let begin = group.births.first().map_or(now, |birth| birth.seconds);
    let span = time - begin;
    let span_min = (SECONDS_MIN - SETTLE_SECONDS).max(now / 4.0);
    if settled < SETTLED_MIN || span < span_min {
        // One that goes on like this has enough objects by then.
        let enough = begin + SETTLED_MIN as f64 * span / settled.max(1) as f64 + SETTLE_SECONDS;
        let long = begin + (SECONDS_MIN.max(SETTLE_SECONDS + begin / 3.0)).max(0.0);
        let until = (settled > 1).then(|| enough.max(long).max(now));
        return Judged { until, ..not_yet };
    }
    let since = group.points.partition_point(|point| point.seconds < begin + SETTLE_SECONDS);
    let series = &group.points[since.saturating_sub(1)..];
    let (pace, interval) = pace(series);
    let not_yet = Judged { per_second: group.born_until(time).0 / span, ..not_yet };
    let rate = not_yet.per_second;
    let bytes_each =
        series.last().filter(|last| last.objects > 0.0).map(|last| last.bytes / last.objects);
    let interval = interval.zip(bytes_each).map(|((low, high), bytes)| (low / bytes, high / bytes));
    let interval = with_sampling(rate, interval, group, settled, span);
    // Where the time begins and ends between two objects, one more or less is in it.
    let of_one = 1.0 / span.max(1.0);
    let interval =
        interval.map(|(low, high)| (low.min(rate - of_one).max(0.0), high.max(rate + of_one)));
    let judged = Judged { interval, ..not_yet };
    let stays_and_comes = has_survivors_of_all_times(group, begin, time)
        && survival.is_none_or(|share| share >= SURVIVAL_MIN);
    match pace {
        // What comes all the time and stays cannot be a wave, and nothing of it is taken back.
        Pace::Grows | Pace::MayGrow if stays_and_comes => {
            let verdict = if is_given_back { Verdict::Cache } else { Verdict::Leak };
            Judged { verdict, ..judged }
        }
        Pace::Grows | Pace::MayGrow => Judged { until: Some(now * 2.0), ..judged },
        Pace::Rose => Judged { until: Some(now + SECONDS_MIN), ..judged },
        // What comes all the time and stays must grow: the sample is too small to show it.
        Pace::Flat | Pace::Shrinks if stays_and_comes => {
            Judged { until: Some(now * 2.0), ..judged }
        }
        // What comes in bursts and stays may be either.
        Pace::Flat | Pace::Shrinks
            if survival.is_some_and(|share| share >= SURVIVAL_MIN)
                && late(group, time) >= LATE_MIN =>
        {
            Judged { until: Some(now * 2.0), ..judged }
        }
        Pace::Flat | Pace::Shrinks => Judged { verdict: Verdict::Population, ..judged },
    }
}

/// Returns the share of what was settled halfway that is alive; `None` where nothing was.
fn survival(group: &Group, now: f64) -> Option<f64> {
    let half = |point: &&Point| point.seconds <= now * 0.6;
    let point = group.points.iter().rfind(half).filter(|point| point.objects > 0.0)?;
    // A sample that was thinned out may seem to have more now than it had.
    Some((group.born_until(point.seconds - SETTLE_SECONDS).0 / point.objects).min(1.0))
}

/// Returns which share of what is settled at `time` was born in the second half until then.
fn late(group: &Group, time: f64) -> f64 {
    let (all, early) = (group.born_until(time).0, group.born_until(time / 2.0).0);
    (all - early) / all.max(1.0)
}

/// Tells whether nearly each part of the time between has objects that are alive.
fn has_survivors_of_all_times(group: &Group, begin: f64, time: f64) -> bool {
    let mut has = [false; PARTS];
    for birth in group.births.iter().filter(|birth| birth.seconds < time) {
        has[(((birth.seconds - begin) / (time - begin) * PARTS as f64) as usize).min(PARTS - 1)] =
            true;
    }
    has.iter().filter(|has| **has).count() >= PARTS_MIN && has[PARTS - 1]
}

/// Returns whether the settled bytes rise, and the interval of their rise in a second.
fn pace(series: &[Point]) -> (Pace, Option<(f64, f64)>) {
    let moment = |point: &Point| Moment {
        time_seconds: Some(point.seconds),
        entries: vec![Entry { live_bytes: Some(point.bytes as u64), ..Entry::default() }],
    };
    let moments: Vec<Moment> = series.iter().map(moment).collect();
    let grown = growth(&moments, None);
    grown.first().map_or((Pace::Rose, None), |grown| (grown.pace, grown.rise.interval))
}

/// Widens an interval by what the sample leaves open: its objects are few, and each stands for others.
fn with_sampling(
    rate: f64,
    trend: Option<(f64, f64)>,
    group: &Group,
    settled: usize,
    span: f64,
) -> Option<(f64, f64)> {
    let (low, high) = trend?;
    let old = &group.births[..settled];
    // Each object was chosen for itself, with the probability of 1 by its weight.
    let variance: f64 = old.iter().map(|birth| birth.weight * (birth.weight - 1.0)).sum();
    let all: f64 = old.iter().map(|birth| birth.weight).sum();
    let share = 1.96 * variance.sqrt() / all.max(1.0);
    let heavy = old.iter().filter(|birth| birth.weight * 2.0 > group.weight_max).count();
    let is_known = group.weight_max <= 1.0 || heavy >= HEAVY_MIN;
    let unseen = if is_known { 0.0 } else { UNSEEN_WEIGHTS * group.weight_max / span.max(1.0) };
    Some(((low - rate * share).max(0.0), high + rate * share + unseen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Birth;

    /// A group whose objects are born at these times and die at those, looked at every two seconds.
    fn group(lives: &[(f64, f64)], now: f64) -> Group {
        let alive = |at: f64| {
            lives
                .iter()
                .filter(move |(born, dies)| *born <= at && *dies > at)
                .map(|(born, _)| *born)
        };
        let points = (0..).map(|look| f64::from(look) * 2.0).take_while(|at| *at <= now);
        let points = points.filter(|at| *at > SETTLE_SECONDS).map(|at| {
            let objects = alive(at).filter(|born| *born <= at - SETTLE_SECONDS).count() as f64;
            Point { seconds: at, objects, bytes: objects * 64.0 }
        });
        let births = alive(now).map(|seconds| Birth { seconds, weight: 1.0, bytes: 64 });
        Group { points: points.collect(), births: births.collect(), ..Group::default() }
    }

    const FOR_EVER: f64 = f64::INFINITY;

    #[test]
    fn one_object_a_second_that_stays_is_a_leak_within_two_minutes() {
        let lives: Vec<_> = (0..110).map(|at| (f64::from(at), FOR_EVER)).collect();
        let judged = judge(&group(&lives, 100.0), 100.0, false);
        assert_eq!(judged.verdict, Verdict::Leak);
        let (low, high) = judged.interval.unwrap();
        assert!(low <= 1.05 && high >= 0.95 && (judged.per_second - 1.0).abs() < 0.1, "{judged:?}");
        assert_eq!(judge(&group(&lives, 100.0), 100.0, true).verdict, Verdict::Cache);
        let early = judge(&group(&lives, 20.0), 20.0, false);
        assert_eq!((early.verdict, early.until), (Verdict::NotYet, Some(SECONDS_MIN)));
    }

    #[test]
    fn what_comes_and_goes_is_a_population() {
        let lives: Vec<_> = (0..200).map(|at| (f64::from(at), f64::from(at) + 25.0)).collect();
        let judged = judge(&group(&lives, 120.0), 120.0, false);
        assert_eq!(judged.verdict, Verdict::Population, "{judged:?}");
    }

    #[test]
    fn what_comes_in_bursts_and_stays_is_not_yet_told() {
        let burst = |at: i32| {
            (0..20).map(move |one| (f64::from(at * 40 + 5) + f64::from(one) / 10.0, FOR_EVER))
        };
        let lives: Vec<_> = (0..3).flat_map(burst).collect();
        let judged = judge(&group(&lives, 108.0), 108.0, false);
        assert_ne!(judged.verdict, Verdict::Population, "{judged:?}");
        // What came at the begin and stays follows the load.
        let judged = judge(&group(&burst(0).collect::<Vec<_>>(), 108.0), 108.0, false);
        assert_eq!(judged.verdict, Verdict::Population, "{judged:?}");
    }

    #[test]
    fn what_a_small_share_may_have_missed_is_in_the_interval() {
        let lives: Vec<_> = (0..110).map(|at| (f64::from(at), FOR_EVER)).collect();
        let group = |weight_max| Group { weight_max, ..group(&lives, 100.0) };
        let high = |weight_max| judge(&group(weight_max), 100.0, false).interval.unwrap().1;
        assert!(high(1.0) < 1.1 && high(100.0) > 4.0, "{} {}", high(1.0), high(100.0));
    }

    #[test]
    fn a_step_is_no_leak() {
        let lives: Vec<_> = (0..500).map(|at| (30.0 + f64::from(at) / 100.0, FOR_EVER)).collect();
        let judged = judge(&group(&lives, 120.0), 120.0, false);
        assert_ne!(judged.verdict, Verdict::Leak, "{judged:?}");
    }

    #[test]
    fn a_leak_that_began_late_is_told_later() {
        let lives: Vec<_> = (100..301).map(|at| (f64::from(at), FOR_EVER)).collect();
        let judged = judge(&group(&lives, 130.0), 130.0, false);
        assert_eq!(judged.verdict, Verdict::NotYet, "{judged:?}");
        let until = judged.until.unwrap();
        assert!((140.0..160.0).contains(&until), "{until}");
        assert_eq!(judge(&group(&lives, until + 2.0), until + 2.0, false).verdict, Verdict::Leak);
    }

    #[test]
    fn few_objects_are_not_yet_told() {
        let lives = [(1.0, FOR_EVER), (40.0, FOR_EVER), (80.0, FOR_EVER)];
        let judged = judge(&group(&lives, 100.0), 100.0, false);
        assert_eq!(judged.verdict, Verdict::NotYet);
        assert!(judged.until.unwrap() > 100.0, "{judged:?}");
    }
}
