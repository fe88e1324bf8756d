//! What grows from moment to moment.
//!
//! # How it works
//! Each cache or call site has a series of bytes: those of its objects where the table tells them, or else what it holds.
//! A moment in which it is missing says nothing, and is left out. Two moments tell a difference and no more. From
//! [`MOMENTS_MIN`] on, [`slablab_stats::trend`] decides whether the series rises; over three days and more it tells a rise
//! from a daily wave.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Serialize;
use slablab_stats::{Trend, TrendKind, trend};

use crate::entry::{Entry, Moment};
use crate::holders::family_name;

/// Fewer moments can come in this order by chance: 1 of 60 orders of five rises throughout.
pub(crate) const MOMENTS_MIN: usize = 5;

/// How a series goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// It rises, and neither chance nor steps nor a daily wave explain it
    Grows,
    /// It may rise: a daily wave, memory that is freed later, or chance that lasts explain it as well
    MayGrow,
    /// It is higher at the end than at the begin, and the moments are too few to say more
    Rose,
    /// No rise is shown
    Flat,
    /// It falls
    Shrinks,
}

/// How fast it rises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Rise {
    /// Bytes a second; bytes a moment where no times are told
    pub bytes_per_step: f64,
    /// Its interval of 95 %; `None` where the moments are too few for one
    pub interval: Option<(f64, f64)>,
    /// Whether a step is a second
    pub is_timed: bool,
}

/// A series of one entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Growth {
    /// The cache, with its copies, or the call site
    pub name: String,
    /// Where it allocates; empty for a cache
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Moments that name it
    pub moments: usize,
    /// Bytes in the first of them
    pub first_bytes: u64,
    /// Bytes in the last
    pub last_bytes: u64,
    /// How it goes on
    pub pace: Pace,
    /// How fast
    pub rise: Rise,
}

impl Growth {
    /// Returns by how many bytes it is higher at the end.
    #[must_use]
    pub fn change_bytes(&self) -> i128 {
        i128::from(self.last_bytes) - i128::from(self.first_bytes)
    }
}

/// Times, and the bytes at each of them.
type Points = Vec<(f64, u64)>;

/// Returns how the entries of a table go on, those that grow most first; nothing with a single moment. `every_seconds` is
/// the time between moments that tell none.
#[must_use]
pub fn growth(moments: &[Moment], every_seconds: Option<f64>) -> Vec<Growth> {
    if moments.len() < 2 {
        return Vec::new();
    }
    let is_timed = moments.iter().all(|moment| moment.time_seconds.is_some());
    let time = |at: usize| match (moments[at].time_seconds, every_seconds) {
        (Some(seconds), _) if is_timed => seconds,
        (_, Some(every)) => at as f64 * every,
        _ => at as f64,
    };
    let is_timed = is_timed || every_seconds.is_some();
    let mut series: HashMap<(Cow<'_, str>, &str), Points> = HashMap::new();
    for (at, moment) in moments.iter().enumerate() {
        for entry in &moment.entries {
            let Some(bytes) = bytes(entry) else { continue };
            let points = series.entry((family_name(&entry.name), &entry.place)).or_default();
            match points.last_mut() {
                Some((last, sum)) if *last == time(at) => *sum = sum.saturating_add(bytes),
                _ => points.push((time(at), bytes)),
            }
        }
    }
    let several = series.into_iter().filter(|(_, points)| points.len() > 1);
    let mut grown: Vec<Growth> = several
        .map(|((name, place), points)| {
            judge(name.into_owned(), place.to_owned(), &points, is_timed)
        })
        .collect();
    grown.sort_by(|a, b| {
        let rank = |growth: &Growth| (growth.pace != Pace::Grows, -growth.change_bytes());
        rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name)).then_with(|| a.place.cmp(&b.place))
    });
    grown
}

/// Returns the bytes whose growth counts: objects, which do not jump by a slab, or else what is held.
fn bytes(entry: &Entry) -> Option<u64> {
    entry.live_bytes().or_else(|| entry.held_bytes())
}

fn judge(name: String, place: String, points: &[(f64, u64)], is_timed: bool) -> Growth {
    let (first, last) = (points[0], points[points.len() - 1]);
    let rise = |trend: &Trend| Rise {
        bytes_per_step: trend.slope,
        interval: Some((trend.low, trend.high)),
        is_timed,
    };
    let difference = || {
        let slope = (last.1 as f64 - first.1 as f64) / (last.0 - first.0);
        Rise { bytes_per_step: slope, interval: None, is_timed }
    };
    let (pace, rise) = if points.len() < MOMENTS_MIN {
        let pace = match last.1.cmp(&first.1) {
            std::cmp::Ordering::Greater => Pace::Rose,
            std::cmp::Ordering::Equal => Pace::Flat,
            std::cmp::Ordering::Less => Pace::Shrinks,
        };
        (pace, difference())
    } else {
        let day = is_timed.then_some(86_400.0);
        let values: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x, *y as f64)).collect();
        let trend = trend(&values, day);
        let pace = match trend.kind {
            TrendKind::Rises => Pace::Grows,
            TrendKind::MayRise => Pace::MayGrow,
            TrendKind::Falls => Pace::Shrinks,
            TrendKind::None => Pace::Flat,
        };
        (pace, rise(&trend))
    };
    Growth {
        name,
        place,
        moments: points.len(),
        first_bytes: first.1,
        last_bytes: last.1,
        pace,
        rise,
    }
}
