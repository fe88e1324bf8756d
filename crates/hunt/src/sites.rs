//! Call sites: how much each allocates, and which share of it is tracked.
//!
//! # How it works
//! Programs count every allocation by call site. From the counts of the last look follows what each site does in a second,
//! and with it the share that is tracked: all of a site that allocates little, a power of two less of one that allocates much, so
//! that what is tracked in a second stays within a budget. The busiest sites give way first: what is below the common limit is
//! tracked whole. A leak of one object a second is seen whole beside a million others a second of other sites.
//!
//! # Invariants
//! An object keeps the share by which it was chosen, so that what it stands for never changes. A site that turns busy between
//! two looks halves its own share each time it used up what it was left.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::object::THRESHOLD_ALL;
use crate::tracer::Tracer;

/// Tracked allocations of a site, on one CPU, until its share is halved: of one that is new, or that allocated little.
pub(crate) const LEFT: u64 = 64;
/// A site that is new is tracked whole, until it is known or `LEFT` is used up.
pub(crate) const THRESHOLD_NEW: u64 = THRESHOLD_ALL;
/// The least share: one in 65,536.
const HALVINGS_MAX: u32 = 16;

const COUNT: usize = 1;
const THRESHOLD: usize = 2;
const LEFT_AT: usize = 3;
const WORDS: usize = 4;

/// What a call site did since the last look.
#[derive(Debug, Clone, Copy, Default)]
struct Site {
    count: u64,
    /// Allocations a second, which falls slowly and rises at once
    per_second: f64,
}

/// The call sites, and the budget that they share.
#[derive(Debug)]
pub(crate) struct Sites {
    sites: FxHashMap<u64, Site>,
    /// Tracked allocations a second of all of them
    budget: f64,
    /// Tracked allocations of a site, on one CPU, until its share is halved
    left: u64,
    allocations: u64,
}

impl Sites {
    pub(crate) fn new(budget: f64, left: u64) -> Self {
        Self { sites: FxHashMap::default(), budget, left, allocations: 0 }
    }

    /// Reads the counts of the `seconds` since the last look, and sets the shares anew.
    pub(crate) fn look(&mut self, tracer: &Tracer, seconds: f64) {
        let words = tracer.sites.words();
        let mut counts: FxHashMap<u64, u64> = FxHashMap::default();
        let entries = tracer.tables.site_bytes() / 8 / WORDS;
        let at = |entry: usize, word: usize| words[entry * WORDS + word].load(Ordering::Relaxed);
        for entry in 0..entries {
            let site = at(entry, 0);
            if site != 0 {
                *counts.entry(site).or_default() += at(entry, COUNT);
            }
        }
        self.allocations = counts.values().sum();
        for (address, count) in counts {
            let site = self.sites.entry(address).or_default();
            let now = (count - site.count.min(count)) as f64 / seconds.max(1e-3);
            *site = Site { count, per_second: now.max(site.per_second / 2.0) };
        }
        let limit = limit(self.sites.values().map(|site| site.per_second), self.budget);
        for entry in 0..entries {
            let Some(site) = self.sites.get(&at(entry, 0)) else { continue };
            let halvings = halvings(site.per_second, limit);
            // What goes on as before stays at its share: only a burst uses up twice as many.
            let tracked = 2.0 * site.per_second / f64::from(1u32 << halvings);
            let left = self.left.max(tracked as u64);
            words[entry * WORDS + THRESHOLD].store(THRESHOLD_ALL >> halvings, Ordering::Relaxed);
            words[entry * WORDS + LEFT_AT].store(left, Ordering::Relaxed);
        }
    }

    /// Returns the allocations that were counted.
    pub(crate) fn allocations(&self) -> u64 {
        self.allocations
    }

    /// Returns what a site allocates in a second, and all its allocations.
    pub(crate) fn of(&self, site: u64) -> (f64, u64) {
        self.sites.get(&site).map_or((0.0, 0), |site| (site.per_second, site.count))
    }

    /// Returns the sites that have been seen.
    pub(crate) fn count(&self) -> usize {
        self.sites.len()
    }
}

/// Returns the budget of a machine: a thousand tracked allocations a second cost 0.2 % of a CPU.
pub(crate) fn budget(cpus: usize) -> f64 {
    const PER_CPU: f64 = 1_000.0;
    PER_CPU * cpus as f64
}

/// Returns by which limit of each the sum of rates comes down to the budget.
fn limit(rates: impl Iterator<Item = f64>, budget: f64) -> f64 {
    let mut rates: Vec<f64> = rates.filter(|rate| *rate > 0.0).collect();
    rates.sort_by(f64::total_cmp);
    let mut left = budget;
    for (at, rate) in rates.iter().enumerate() {
        let share = left / (rates.len() - at) as f64;
        if *rate > share {
            return share;
        }
        left -= rate;
    }
    f64::INFINITY
}

/// Returns how often a site's share is halved, so that it stays within the limit.
fn halvings(per_second: f64, limit: f64) -> u32 {
    let times = (per_second / limit).log2().ceil();
    if times > 0.0 { (times as u32).min(HALVINGS_MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_give_way_and_the_others_are_tracked_whole() {
        let rates = [1.0, 10.0, 100.0, 500_000.0, 1_000_000.0];
        let limit = limit(rates.into_iter(), 2_000.0);
        let tracked: Vec<f64> =
            rates.iter().map(|rate| rate / f64::from(1u32 << halvings(*rate, limit))).collect();
        assert_eq!(tracked[..3], rates[..3]);
        assert!(tracked.iter().sum::<f64>() <= 2_000.0, "{tracked:?}");
        assert!(tracked[4] > 400.0, "{tracked:?}");
    }

    #[test]
    fn what_is_within_the_budget_is_tracked_whole() {
        let limit = limit([5.0, 7.0].into_iter(), 100.0);
        assert_eq!((limit, halvings(7.0, limit)), (f64::INFINITY, 0));
        assert_eq!(halvings(0.0, 0.0), 0);
        assert_eq!(halvings(1e12, 1.0), HALVINGS_MAX);
    }
}
