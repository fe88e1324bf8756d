//! Whether a load fits into a given memory, under which allocator and settings, and where it fails
//! first.
//!
//! # How it works
//! The trace is replayed on machines that have only the given memory, with zones and reserves like
//! Linux's. A failed allocation is a result; the load goes on without the object, as a driver would. The memory that
//! is needed is then found by halving, for all contenders at once.
//!
//! # Differences from Linux
//! Only the slab allocator and large blocks exist, no programs and no page cache. Memory is
//! not reclaimed: a shrinker that frees dentries and inodes may save what fails here.

use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_trace::{Meta, TraceReader};

use crate::advice::trial::Moments;
use crate::advice::tune::setting::{CacheSetting, Configured, Setting, Typed};
use crate::advice::tune::trials::{Looks, Measured, run_plans};
use crate::engine::replay;
use crate::error::Error;
use crate::metrics::failure::{Failure, FreeBlocks};
use crate::metrics::gauge::Level;
use crate::metrics::result::TraceFacts;
use crate::plan::{ReplayPlan, Start};

/// Moments at which free blocks are examined.
const MOMENTS: u64 = 256;
/// The least memory is found to within this share of it.
const PRECISION: u64 = 64;
/// Beyond twice what is held, this much is enough for watermarks and per-CPU lists.
const SPARE_BYTES: u64 = 16 << 20;
/// The least machine that boots.
const MEMORY_BYTES_MIN: u64 = 4 << 20;

/// Whether a load fits into a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Budget {
    /// What was replayed
    pub trace: TraceFacts,
    /// The memory asked about
    pub memory_bytes: u64,
    /// The most bytes that live objects asked for at once
    pub requested_bytes_peak: u64,
    /// Bytes in slabs that the recorded machine had before the first event, and these machines have not
    pub slab_bytes_before: u64,
    /// The recorded allocator first, then contenders that are less and less like it
    pub contenders: Vec<Contender>,
}

/// An allocator with settings on the machine in question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Contender {
    /// The allocator
    pub allocator: String,
    /// Its settings, where it is an allocator of the recorded kernel
    pub setting: Setting,
    /// The words to type for it
    pub typed: Typed,
    /// Bytes in slabs and large blocks
    pub held_bytes: Level,
    /// Allocations that found no memory
    pub failed: u64,
    /// The first of them
    pub first_failure: Option<Failure>,
    /// Free blocks of the page allocator at the end
    pub free_end: FreeBlocks,
    /// The free blocks at the moment when the largest of them was smallest
    pub free_worst: FreeBlocks,
    /// The least memory in which nothing failed
    pub memory_bytes_min: u64,
}

impl Contender {
    /// Returns whether every allocation found memory.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.failed == 0
    }
}

impl Budget {
    /// Returns the first contender that fits.
    #[must_use]
    pub fn first_fit(&self) -> Option<&Contender> {
        self.contenders.iter().find(|contender| contender.fits())
    }
}

/// Replays a trace on machines with this much memory; `progress` gets rows times machines.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does; returns [`Error::MachineTooSmall`] for less memory than a machine boots with.
pub fn budget(
    reader: &TraceReader,
    kind: BackendKind,
    memory_bytes: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Budget, Error> {
    let meta = reader.meta();
    let roomy = ReplayPlan { allocators: vec![kind], start: Start::Cold, ..ReplayPlan::default() };
    let whole = replay::replay(reader, &roomy, progress)?;
    let recorded = &whole.allocators[0];
    let requested_bytes_peak = recorded.requested_bytes.peak;
    if memory_bytes < MEMORY_BYTES_MIN {
        let memory_bytes_min = MEMORY_BYTES_MIN;
        return Err(Error::MachineTooSmall { memory_bytes, memory_bytes_min });
    }
    let moments = Moments::new(MOMENTS, meta.events, recorded.peak_event);
    let contenders = contenders(kind);
    let enough = recorded.held_bytes.peak.saturating_mul(2).saturating_add(SPARE_BYTES);
    let trying = Trying { reader, meta, moments, contenders: &contenders };
    let at_budget = trying.on(&vec![memory_bytes; contenders.len()], progress)?;
    let least = trying.least(&at_budget, memory_bytes, enough.max(memory_bytes), progress)?;
    let release = &meta.kernel_release;
    let measured = contenders.into_iter().zip(at_budget).zip(least);
    let contenders = measured
        .map(|(((kind, setting), measured), memory_bytes_min)| Contender {
            allocator: kind.name().to_owned(),
            typed: setting.typed(release),
            setting,
            held_bytes: measured.allocator.held_bytes,
            failed: measured.allocator.failed,
            first_failure: measured.allocator.first_failure,
            free_end: measured.free_end,
            free_worst: measured.free_worst,
            memory_bytes_min,
        })
        .collect();
    let slab_bytes_before = meta.samples.slab_bytes().first().copied().unwrap_or(0);
    let trace = whole.trace;
    Ok(Budget { trace, memory_bytes, requested_bytes_peak, slab_bytes_before, contenders })
}

/// Returns the contenders that may replace the recorded allocator.
fn contenders(recorded: BackendKind) -> Vec<(BackendKind, Setting)> {
    let plain = Setting::default;
    let mut contenders = vec![(recorded, plain())];
    if recorded.takes_geometry() {
        let has_cpu_partial = matches!(recorded, BackendKind::Slub | BackendKind::SlubHybrid);
        let cpu_partial = has_cpu_partial.then_some(0);
        let every = CacheSetting { cpu_partial, min_partial: Some(0), ..CacheSetting::default() };
        let order_max = Some(0);
        contenders.extend([
            (recorded, Setting { order_max, ..plain() }),
            (recorded, Setting { every, ..plain() }),
            (recorded, Setting { order_max, every, ..plain() }),
        ]);
    }
    if recorded != BackendKind::SlubTiny {
        let configured = Configured::SlubTiny;
        let tiny = Setting { configured, ..plain() };
        let kind = BackendKind::SlubTiny;
        contenders.extend([(kind, tiny.clone()), (kind, Setting { order_max: Some(0), ..tiny })]);
    }
    let others = [BackendKind::Dense, BackendKind::Slmb];
    contenders
        .extend(others.into_iter().filter(|kind| *kind != recorded).map(|kind| (kind, plain())));
    contenders
}

/// The contenders on machines of any memory.
struct Trying<'a> {
    reader: &'a TraceReader,
    meta: &'a Meta,
    moments: Moments,
    contenders: &'a [(BackendKind, Setting)],
}

impl Trying<'_> {
    /// Replays every contender on a machine of its own memory.
    fn on(&self, memories: &[u64], progress: &mut dyn FnMut(u64)) -> Result<Vec<Measured>, Error> {
        let plans: Vec<_> = self
            .contenders
            .iter()
            .zip(memories)
            .map(|((kind, setting), memory_bytes)| {
                let base = ReplayPlan {
                    memory_bytes: Some(*memory_bytes),
                    start: Start::Cold,
                    ..ReplayPlan::default()
                };
                setting.plan(*kind, &base, self.meta)
            })
            .collect();
        run_plans(self.reader, &plans, &self.moments, Looks::AtFreeBlocks, progress)
    }

    /// Returns the least memory in which each contender does not fail, given its result with
    /// `memory_bytes`.
    fn least(
        &self,
        at_budget: &[Measured],
        memory_bytes: u64,
        enough: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<u64>, Error> {
        let mut bounds: Vec<(u64, u64)> = at_budget
            .iter()
            .map(|measured| match measured.allocator.failed {
                // The machine must have at least the bytes that are held.
                0 => (
                    measured.allocator.held_bytes.peak.max(MEMORY_BYTES_MIN).min(memory_bytes),
                    memory_bytes,
                ),
                _ => (memory_bytes, enough),
            })
            .collect();
        // Where the smallest machine may do, halving would only come near it.
        let smallest = |(less, more): &(u64, u64)| *less == MEMORY_BYTES_MIN && more > less;
        if bounds.iter().any(smallest) {
            let least: Vec<u64> = bounds.iter().map(|(less, _)| *less).collect();
            let found = self.on(&least, progress)?;
            for (bound, measured) in bounds.iter_mut().zip(found) {
                if smallest(bound) && measured.allocator.failed == 0 {
                    bound.1 = bound.0;
                }
            }
        }
        // The steps are ratios, since the answer is near the bytes held, and the memory in question may be a hundred
        // times as much.
        while bounds.iter().any(|(less, more)| more - less > less / PRECISION) {
            let middle = |(less, more): &(u64, u64)| (*less as f64 * *more as f64).sqrt() as u64;
            let middles: Vec<u64> = bounds.iter().map(middle).collect();
            let found = self.on(&middles, progress)?;
            for ((bound, middle), measured) in bounds.iter_mut().zip(middles).zip(found) {
                match measured.allocator.failed {
                    0 => bound.1 = middle,
                    _ => bound.0 = middle,
                }
            }
        }
        Ok(bounds.into_iter().map(|(_, more)| more).collect())
    }
}
