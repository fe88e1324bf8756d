//! Puts together the best setting of each cache, exactly.
//!
//! # How it works
//! The slabs of a cache depend on its own events only, and so do, nearly, its locks. So the bytes that a
//! mixture of settings holds at a moment are the sum over caches of what each holds under its own setting. The least for
//! every number of locks is found by adding one cache after the other to a list of sums, from which those are dropped
//! that are larger and slower than another. The moment that counts is the mixture's own highest, which is found by
//! trying.
//!
//! # Invariants
//! The points of a [`Frontier`] rise in bytes and fall in locks.
//!
//! # Differences from a whole replay
//! All caches share the page allocator's lists for each CPU, so locks come out slightly
//! different. Every choice is replayed before it is advised.

use crate::advice::tune::result::HeldAt;
use crate::advice::tune::trials::Tried;

/// Lists of more sums than this are thinned out; below, the choice is exact.
const POINTS_MAX: usize = 4096;
/// Moments are tried until the highest is the one that counted, or this often.
const MOMENTS_TRIED_MAX: usize = 4;

/// The cost of every cache under each of a few settings of caches.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) caches: Vec<Options>,
    moments: usize,
}

/// One cache.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) name: String,
    /// Bytes from one object to the next
    pub(crate) slab_size: u32,
    /// By setting: bytes held at each moment, and locks
    costs: Vec<(Vec<u64>, u64)>,
}

/// A sum of costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Bytes held at the highest moment
    pub(crate) held_bytes: u64,
    pub(crate) locks: u64,
}

impl Table {
    /// Makes the table from replays under one setting each, the same for all caches.
    pub(crate) fn new(tried: &[&Tried], held_at: HeldAt) -> Self {
        let costs_of = |name: &str| -> Vec<(Vec<u64>, u64)> {
            let of = |tried: &&Tried| {
                let cost = tried.costs.iter().find(|cost| cost.cache == name);
                cost.map_or_else(Default::default, |c| {
                    (held_at.of_moments(&c.cost.held_bytes), c.cost.locks)
                })
            };
            tried.iter().map(of).collect()
        };
        let named = tried.first().into_iter().flat_map(|tried| &tried.costs);
        let caches: Vec<_> = named
            .map(|cost| Options {
                name: cost.cache.clone(),
                slab_size: cost.slab_size,
                costs: costs_of(&cost.cache),
            })
            .collect();
        let lengths = caches.iter().flat_map(|cache| &cache.costs).map(|(held, _)| held.len());
        Self { moments: lengths.max().unwrap_or(0), caches }
    }

    /// Returns what a mixture costs: `picks` has the setting of each cache.
    pub(crate) fn cost(&self, picks: &[usize]) -> Sum {
        Mixture::new(self, picks.to_vec()).cost()
    }

    /// Returns the mixture that holds least at its highest moment with `locks_max` locks at most, if there is
    /// one.
    pub(crate) fn best(&self, locks_max: u64) -> Option<Vec<usize>> {
        let recorded = vec![0; self.caches.len()];
        let mut moment = highest(&Mixture::new(self, recorded).held);
        let mut best: Option<(Sum, Vec<usize>)> = None;
        let mut seen = Vec::new();
        for _ in 0..MOMENTS_TRIED_MAX {
            seen.push(moment);
            let picks = self.frontier(moment).picks(locks_max)?;
            let mixture = Mixture::new(self, picks);
            let cost = mixture.cost();
            moment = highest(&mixture.held);
            let key = |cost: &Sum| (cost.held_bytes, cost.locks);
            if best.as_ref().is_none_or(|(known, _)| key(&cost) < key(known)) {
                best = Some((cost, mixture.picks));
            }
            if seen.contains(&moment) {
                break;
            }
        }
        best.map(|(_, picks)| picks)
    }

    /// Returns the least bytes at a moment for every number of locks.
    fn frontier(&self, moment: usize) -> Frontier {
        let caches = self.caches.iter().map(|cache| {
            let at =
                |(held, locks): &(Vec<u64>, u64)| (held.get(moment).copied().unwrap_or(0), *locks);
            cache.costs.iter().map(at).collect::<Vec<_>>()
        });
        Frontier::new(caches)
    }
}

/// A setting for each cache, and their costs together.
#[derive(Debug)]
pub(crate) struct Mixture<'a> {
    table: &'a Table,
    pub(crate) picks: Vec<usize>,
    /// Bytes held at each moment
    held: Vec<u64>,
    locks: u64,
}

impl<'a> Mixture<'a> {
    pub(crate) fn new(table: &'a Table, picks: Vec<usize>) -> Self {
        let mut held = vec![0; table.moments];
        let mut locks = 0;
        for (cache, pick) in table.caches.iter().zip(&picks) {
            let (bytes, own) = &cache.costs[*pick];
            held.iter_mut().zip(bytes).for_each(|(sum, bytes)| *sum += bytes);
            locks += own;
        }
        Self { table, picks, held, locks }
    }

    pub(crate) fn cost(&self) -> Sum {
        Sum { held_bytes: self.held.iter().copied().max().unwrap_or(0), locks: self.locks }
    }

    /// Returns the cost with another setting of one cache.
    pub(crate) fn cost_with(&self, place: usize, pick: usize) -> Sum {
        let held_bytes = self.held_with(place, pick).max().unwrap_or(0);
        Sum { held_bytes, locks: self.locks_with(place, pick) }
    }

    /// Changes the setting of one cache.
    pub(crate) fn set(&mut self, place: usize, pick: usize) {
        let (held, locks) = (self.held_with(place, pick).collect(), self.locks_with(place, pick));
        (self.held, self.locks, self.picks[place]) = (held, locks, pick);
    }

    fn held_with(&self, place: usize, pick: usize) -> impl Iterator<Item = u64> {
        let costs = &self.table.caches[place].costs;
        let (before, after) = (&costs[self.picks[place]].0, &costs[pick].0);
        let at = |held: &[u64], moment: usize| held.get(moment).copied().unwrap_or(0);
        let held = self.held.iter().enumerate();
        held.map(move |(moment, sum)| sum - at(before, moment) + at(after, moment))
    }

    fn locks_with(&self, place: usize, pick: usize) -> u64 {
        let costs = &self.table.caches[place].costs;
        self.locks - costs[self.picks[place]].1 + costs[pick].1
    }
}

fn highest(held: &[u64]) -> usize {
    let place = held.iter().enumerate().max_by_key(|(place, bytes)| (**bytes, usize::MAX - place));
    place.map_or(0, |(place, _)| place)
}

/// Sums, all of them such that no other sum is both smaller and faster.
#[derive(Debug)]
struct Frontier {
    /// Bytes and locks
    points: Vec<(u64, u64)>,
    /// By cache and point: the point of the previous caches, and the setting
    steps: Vec<Vec<(u32, u16)>>,
}

impl Frontier {
    /// Adds up caches, each with the bytes and locks of its settings.
    fn new(caches: impl Iterator<Item = Vec<(u64, u64)>>) -> Self {
        let mut frontier = Self { points: vec![(0, 0)], steps: Vec::new() };
        caches.for_each(|options| frontier.add(&options));
        frontier
    }

    fn add(&mut self, options: &[(u64, u64)]) {
        let mut useful: Vec<(u64, u64, u16)> =
            options.iter().zip(0..).map(|(&(bytes, locks), place)| (bytes, locks, place)).collect();
        useful.sort_unstable();
        keep_faster(&mut useful, |option| option.1);
        let mut sums = Vec::with_capacity(self.points.len() * useful.len());
        for (before, (bytes, locks)) in (0u32..).zip(&self.points) {
            let sum = |&(b, l, place): &(u64, u64, u16)| (bytes + b, locks + l, before, place);
            sums.extend(useful.iter().map(sum));
        }
        sums.sort_unstable();
        keep_faster(&mut sums, |sum| sum.1);
        thin_out(&mut sums);
        self.points = sums.iter().map(|&(bytes, locks, ..)| (bytes, locks)).collect();
        self.steps.push(sums.iter().map(|&(_, _, before, place)| (before, place)).collect());
    }

    /// Returns the setting of each cache in the smallest sum with `locks_max` locks at most.
    fn picks(&self, locks_max: u64) -> Option<Vec<usize>> {
        let mut point = self.points.iter().position(|(_, locks)| *locks <= locks_max)?;
        let mut picks = Vec::with_capacity(self.steps.len());
        for step in self.steps.iter().rev() {
            let (before, place) = step[point];
            picks.push(usize::from(place));
            point = before as usize;
        }
        picks.reverse();
        Some(picks)
    }
}

/// Keeps those of a rising list that take fewer locks than all earlier ones.
fn keep_faster<T>(list: &mut Vec<T>, locks: impl Fn(&T) -> u64) {
    let mut least = u64::MAX;
    list.retain(|one| {
        let faster = locks(one) < least;
        least = least.min(locks(one));
        faster
    });
}

/// Keeps the last sum of each of many steps of equal length in bytes, and the first of all.
fn thin_out(sums: &mut Vec<(u64, u64, u32, u16)>) {
    let (Some(first), Some(last)) = (sums.first().copied(), sums.last()) else { return };
    if sums.len() <= POINTS_MAX {
        return;
    }
    let step = (last.0 - first.0).div_ceil(POINTS_MAX as u64 - 1).max(1);
    let mut thinned = vec![first];
    for sum in sums.drain(..).skip(1) {
        let bucket = |sum: &(u64, u64, u32, u16)| (sum.0 - first.0) / step;
        match thinned.last_mut() {
            Some(before) if *before != first && bucket(before) == bucket(&sum) => *before = sum,
            _ => thinned.push(sum),
        }
    }
    *sums = thinned;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(caches: &[&[(&[u64], u64)]]) -> Table {
        let options = |costs: &&[(&[u64], u64)]| Options {
            name: String::new(),
            slab_size: 8,
            costs: costs.iter().map(|(held, locks)| (held.to_vec(), *locks)).collect(),
        };
        Table { caches: caches.iter().map(options).collect(), moments: 2 }
    }

    /// Returns the least bytes of all mixtures with `locks_max` locks at most.
    fn brute_force(table: &Table, locks_max: u64) -> Option<u64> {
        let mut mixtures = vec![Vec::new()];
        for cache in &table.caches {
            let longer = |mixture: &Vec<usize>| -> Vec<Vec<usize>> {
                (0..cache.costs.len()).map(|pick| [&mixture[..], &[pick]].concat()).collect()
            };
            mixtures = mixtures.iter().flat_map(longer).collect();
        }
        let costs = mixtures.iter().map(|picks| table.cost(picks));
        costs.filter(|cost| cost.locks <= locks_max).map(|cost| cost.held_bytes).min()
    }

    #[test]
    fn the_best_mixture_is_that_of_brute_force() {
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for _ in 0..200 {
            let costs: Vec<Vec<([u64; 2], u64)>> = (0..5)
                // The second moment is the lower one in every setting.
                .map(|_| (0..4).map(|_| ([50 + next(50), next(50)], next(30))).collect())
                .collect();
            let borrowed: Vec<Vec<(&[u64], u64)>> = costs
                .iter()
                .map(|cache| cache.iter().map(|(held, locks)| (&held[..], *locks)).collect())
                .collect();
            let table = table(&borrowed.iter().map(Vec::as_slice).collect::<Vec<_>>());
            for locks_max in [0, 20, 40, 60, 1_000] {
                let found = table.best(locks_max).map(|picks| table.cost(&picks).held_bytes);
                assert_eq!(found, brute_force(&table, locks_max), "{costs:?} {locks_max}");
            }
        }
    }

    #[test]
    fn one_cache_set_otherwise_costs_what_the_whole_mixture_costs_anew() {
        let first: [(&[u64], u64); 3] = [(&[7, 9], 3), (&[8, 2], 5), (&[], 1)];
        let second: [(&[u64], u64); 2] = [(&[4, 1], 2), (&[1, 6], 9)];
        let table = table(&[&first, &second]);
        for (place, pick) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)] {
            let mut mixture = Mixture::new(&table, vec![1, 0]);
            let told = mixture.cost_with(place, pick);
            mixture.set(place, pick);
            assert_eq!((told, mixture.cost()), (table.cost(&mixture.picks), told));
        }
    }

    #[test]
    fn the_moment_that_counts_is_the_mixtures_own_highest() {
        // As recorded the first moment is the highest; the setting that saves most there holds more at
        // the second.
        let table = table(&[&[(&[100, 90], 5), (&[10, 200], 5), (&[80, 85], 5)]]);
        assert_eq!(table.best(5), Some(vec![2]));
        assert_eq!(table.best(4), None);
    }

    #[test]
    fn a_long_list_is_thinned_out_and_keeps_both_ends() {
        let mut sums: Vec<_> = (0..10_000).map(|i| (i * 4096, 20_000 - i, 0, 0)).collect();
        thin_out(&mut sums);
        assert!(sums.len() <= POINTS_MAX + 1, "{}", sums.len());
        assert_eq!((sums[0].0, sums.last().unwrap().0), (0, 9_999 * 4096));
        assert!(sums.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1));
    }
}
