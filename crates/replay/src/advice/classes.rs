//! Which further kmalloc size classes fit a trace best, exactly.
//!
//! # How it works
//! The bytes that a set of classes allocates on average are a sum over sizes: the time that all objects of
//! a size lived, times the bytes of the class that serves them. One pass over the trace gives the first. The classes
//! that minimise the sum are then found by dynamic programming over the sizes, since the best classes below a class do
//! not depend on those above it. Bytes held in slabs are not such a sum, so they are replayed.
//!
//! # Invariants
//! The recorded kernel's classes stay; every other class is a multiple of 8, and is a requested size, rounded
//! up.

use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_trace::{Kind, Meta, NONE, TraceReader};

use crate::change::changes::Changes;
use crate::engine::caches;
use crate::engine::replay::replay_all;
use crate::error::Error;
use crate::metrics::gauge::Level;
use crate::metrics::result::TraceFacts;
use crate::plan::{ReplayPlan, Start};
use crate::slots::Slots;

/// Sizes are rounded up to this many bytes (`KMALLOC_MIN_SIZE` of most machines).
const STEP_BYTES: u32 = 8;

/// The best further size classes of a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClassAdvice {
    /// What was replayed
    pub trace: TraceFacts,
    /// The allocator it holds for
    pub allocator: String,
    /// The recorded kernel's classes
    pub recorded: ClassSetFit,
    /// The best sets with one further class, two, and so on, as long as one more saves anything
    pub proposals: Vec<ClassSetFit>,
}

/// The effect of a set of classes on a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClassSetFit {
    /// The further classes, in bytes
    pub added: Vec<u32>,
    /// All classes, in bytes
    pub classes: Vec<u32>,
    /// Bytes of classes given to live objects of kmalloc's classes, mean over the trace
    pub allocated_bytes_mean: u64,
    /// Bytes in slabs and large blocks, replayed
    pub held_bytes: Level,
    /// Allocations that found no memory
    pub failed: u64,
}

/// Proposes up to `further` size classes for a trace under one allocator.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does; returns [`Error::SharedPages`] for an allocator without
/// classes.
pub fn advise_classes(
    reader: &TraceReader,
    kind: BackendKind,
    memory_bytes: Option<u64>,
    further: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<ClassAdvice, Error> {
    if !kind.has_kmalloc_caches() {
        return Err(Error::SharedPages { allocator: kind.name().to_owned() });
    }
    let meta = reader.meta();
    let recorded = caches::kmalloc(meta, &Changes::default()).classes;
    let demand = Demand::of(reader, meta, recorded.last().copied().unwrap_or(0))?;
    let mut sets = vec![recorded.clone()];
    for count in 1..=further {
        let best = demand.best(&recorded, count);
        let saves = demand.allocated(&best) < demand.allocated(sets.last().unwrap_or(&recorded));
        if !saves {
            break;
        }
        sets.push(best);
    }
    let plan = |classes: &Vec<u32>| ReplayPlan {
        allocators: vec![kind],
        memory_bytes,
        start: Start::Cold,
        changes: Changes { classes: Some(classes.clone()), ..Changes::default() },
        ..ReplayPlan::default()
    };
    let plans: Vec<_> = sets.iter().map(plan).collect();
    let replays = replay_all(reader, &plans, progress)?;
    let facts = replays.first().map(|replay| replay.trace.clone());
    let allocators = replays.into_iter().flat_map(|replay| replay.allocators);
    let mut fits = sets.iter().zip(allocators).map(|(classes, allocator)| ClassSetFit {
        added: classes.iter().copied().filter(|class| !recorded.contains(class)).collect(),
        classes: classes.clone(),
        allocated_bytes_mean: demand.mean(classes),
        held_bytes: allocator.held_bytes,
        failed: allocator.failed,
    });
    let (Some(trace), Some(first)) = (facts, fits.next()) else {
        unreachable!("a plan gives a replay with its allocator");
    };
    let proposals = fits.collect();
    Ok(ClassAdvice { trace, allocator: kind.name().to_owned(), recorded: first, proposals })
}

/// The time that all objects of each size lived, together.
#[derive(Debug, Default)]
struct Demand {
    /// By bytes asked for, divided by [`STEP_BYTES`] and rounded up: object nanoseconds
    lived: Vec<u128>,
    duration_ns: u64,
}

impl Demand {
    fn of(reader: &TraceReader, meta: &Meta, largest: u32) -> Result<Self, Error> {
        let duration_ns = meta.time_last_ns.saturating_sub(meta.time_first_ns).max(1);
        let mut demand = Self { lived: vec![0; (largest / STEP_BYTES) as usize + 1], duration_ns };
        // By slot: the steps of the live object, 0 for none, and the time of its allocation.
        let mut live: Slots<(u32, u64)> = Slots::new(meta.events);
        for batch in reader.batches_without_pid() {
            let batch = batch?;
            for row in 0..batch.len() {
                let (object, now_ns) = (batch.object[row], batch.time_ns[row]);
                if object == NONE {
                    continue;
                }
                let entry = live.entry(object as usize);
                demand.add(std::mem::take(entry), now_ns);
                let steps = batch.bytes_req[row].max(1).div_ceil(u64::from(STEP_BYTES));
                if batch.kind[row] == Kind::Kmalloc && steps < demand.lived.len() as u64 {
                    *entry = (steps as u32, now_ns);
                }
            }
        }
        // A trace of one instant has no mean except the state at its end.
        let is_instant = meta.time_last_ns <= meta.time_first_ns;
        let end_ns = if is_instant { meta.time_last_ns + 1 } else { meta.time_last_ns };
        live.values().for_each(|&left| demand.add(left, end_ns));
        Ok(demand)
    }

    fn add(&mut self, (steps, born_ns): (u32, u64), now_ns: u64) {
        if steps > 0 {
            self.lived[steps as usize] += u128::from(now_ns.saturating_sub(born_ns));
        }
    }

    /// Returns the bytes of classes times nanoseconds of all objects.
    fn allocated(&self, classes: &[u32]) -> u128 {
        let sizes = (0u32..).zip(&self.lived).map(|(steps, lived)| (steps * STEP_BYTES, lived));
        let class = |size: u32| classes[classes.partition_point(|class| *class < size)];
        sizes
            .filter(|(_, lived)| **lived > 0)
            .map(|(size, lived)| u128::from(class(size)) * lived)
            .sum()
    }

    /// Returns the mean bytes of classes that live objects have.
    fn mean(&self, classes: &[u32]) -> u64 {
        u64::try_from(self.allocated(classes) / u128::from(self.duration_ns)).unwrap_or(u64::MAX)
    }

    /// Returns the classes with `further` more that allocate least; of equals, the set with fewer classes.
    fn best(&self, recorded: &[u32], further: usize) -> Vec<u32> {
        // A class may end where a recorded class ends, and at any requested size.
        let is_recorded = |steps: usize| recorded.contains(&(steps as u32 * STEP_BYTES));
        let ends: Vec<usize> = (1..self.lived.len())
            .filter(|steps| self.lived[*steps] > 0 || is_recorded(*steps))
            .collect();
        // By end and number of further classes: the least, and the previous end.
        let mut least = vec![vec![(u128::MAX, 0usize); further + 1]; ends.len() + 1];
        least[0].iter_mut().for_each(|entry| *entry = (0, 0));
        for place in 1..=ends.len() {
            let (end, mut lived) = (ends[place - 1], 0);
            let extra = usize::from(!is_recorded(end));
            for before in (0..place).rev() {
                lived += self.lived[ends[before]];
                let cost = lived * (end as u128 * u128::from(STEP_BYTES));
                for used in extra..=further {
                    let sum = least[before][used - extra].0.saturating_add(cost);
                    if sum < least[place][used].0 {
                        least[place][used] = (sum, before);
                    }
                }
                // A recorded class cannot be left out.
                if before > 0 && is_recorded(ends[before - 1]) {
                    break;
                }
            }
        }
        let (mut place, mut used, mut classes) = (ends.len(), further, Vec::new());
        while place > 0 {
            let end = ends[place - 1];
            classes.push(end as u32 * STEP_BYTES);
            let before = least[place][used].1;
            used -= usize::from(!is_recorded(end));
            place = before;
        }
        classes.reverse();
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(lived: &[(u32, u128)], largest: u32) -> Demand {
        let mut by_steps = vec![0; (largest / STEP_BYTES) as usize + 1];
        lived.iter().for_each(|(size, ns)| by_steps[(size / STEP_BYTES) as usize] += ns);
        Demand { lived: by_steps, duration_ns: 1 }
    }

    /// Returns the least that any set with `further` more classes allocates.
    fn brute_force(demand: &Demand, classes: &[u32], further: usize) -> u128 {
        let least = demand.allocated(classes);
        if further == 0 {
            return least;
        }
        let largest = *classes.last().unwrap();
        let more = (STEP_BYTES..largest).step_by(STEP_BYTES as usize);
        let with = more.filter(|class| !classes.contains(class)).map(|class| {
            let mut with = [classes, &[class]].concat();
            with.sort_unstable();
            brute_force(demand, &with, further - 1)
        });
        with.min().unwrap_or(least).min(least)
    }

    #[test]
    fn the_best_classes_are_those_of_brute_force() {
        let mut random = 7u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        let recorded = [8, 32, 64, 96, 128];
        for _ in 0..60 {
            let sizes = 1 + next(14);
            let lived: Vec<_> = (0..sizes)
                .map(|_| (8 * (1 + next(16)) as u32, u128::from(next(1_000) * next(50))))
                .collect();
            let demand = demand(&lived, 128);
            for further in 1..=4 {
                let best = demand.best(&recorded, further);
                assert!(recorded.iter().all(|class| best.contains(class)), "{best:?}");
                assert!(best.len() <= recorded.len() + further, "{best:?}");
                let least = brute_force(&demand, &recorded, further);
                assert_eq!(demand.allocated(&best), least, "{lived:?} {further} {best:?}");
            }
        }
    }

    #[test]
    fn a_class_that_saves_nothing_is_not_added() {
        let demand = demand(&[(64, 100), (8, 3)], 64);
        assert_eq!(demand.best(&[8, 32, 64], 3), [8, 32, 64]);
    }

    /// Requested sizes of the sample traces up to which every set of three and four is tried.
    const SIZES_OF_ALL_SETS_MAX: usize = 40;

    #[test]
    fn proposals_for_the_sample_traces_are_those_of_brute_force() {
        for name in ["boot", "build", "hackbench"] {
            let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces");
            let reader = TraceReader::open(format!("{traces}/{name}.parquet")).unwrap();
            let recorded = caches::kmalloc(reader.meta(), &Changes::default()).classes;
            let demand = Demand::of(&reader, reader.meta(), *recorded.last().unwrap()).unwrap();
            // The best classes end at requested sizes.
            let sizes: Vec<u32> = (0u32..)
                .zip(&demand.lived)
                .filter(|(_, lived)| **lived > 0)
                .map(|(steps, _)| steps * STEP_BYTES)
                .filter(|size| !recorded.contains(size))
                .collect();
            let most = if sizes.len() <= SIZES_OF_ALL_SETS_MAX { 4 } else { 2 };
            for further in 1..=most {
                let best = demand.best(&recorded, further);
                let least = least_of_sets(&demand, &recorded, &sizes, further);
                assert_eq!(demand.allocated(&best), least, "{name}, {further} of {}", sizes.len());
            }
        }
    }

    fn least_of_sets(demand: &Demand, classes: &[u32], sizes: &[u32], further: usize) -> u128 {
        let own = demand.allocated(classes);
        if further == 0 {
            return own;
        }
        let with = (0..sizes.len()).map(|place| {
            let mut with = [classes, &[sizes[place]]].concat();
            with.sort_unstable();
            least_of_sets(demand, &with, &sizes[place + 1..], further - 1)
        });
        with.min().map_or(own, |least| least.min(own))
    }
}
