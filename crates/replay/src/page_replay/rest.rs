//! What the rest of a machine sees of slabs: free blocks, what fails, what is stolen, with a replay's slabs in place of the
//! recorded ones.
//!
//! # How it works
//! The page events are replayed three times: as recorded; with the slabs that a replay makes under the recorded settings; and
//! with those of changed settings. The second says how far a replay's slabs are from the recorded ones. The difference between
//! the second and the third is what the settings do. Of a trace without page events the machine begins with free lists that
//! were told, and only slabs move.
//!
//! # Differences from Linux
//! Slabs that are older than the recording stay as they were recorded, also where other settings would have made others. What
//! the kernel reclaims is what it reclaimed when recorded.

use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_trace::TraceReader;

use super::plan::RestPlan;
use super::replay::replay_with;
use super::result::{PageReplay, median};
use super::slab_owners::SlabOwners;
use super::slabs::Slabs;
use crate::advice::tune::setting::Setting;
use crate::engine::replay::replay_all;
use crate::error::Error;
use crate::metrics::result::Allocator;
use crate::plan::ReplayPlan;

/// What the rest of the machine sees of slabs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RestOfMachine {
    /// The allocator whose slabs these are
    pub allocator: String,
    /// With the slabs that were recorded; absent where the trace has no events of pages
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<PageReplay>,
    /// With those of a replay of the recorded settings
    pub before: PageReplay,
    /// With those of changed settings
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<PageReplay>,
    /// How far the replay's slabs are from those recorded; absent as these
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart: Option<SlabsApart>,
}

/// How far the slabs of a replay are from those recorded. Its pages are of slabs that came since the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SlabsApart {
    /// Pages of slabs at the end, as recorded
    pub recorded_pages_end: u64,
    /// Those of the replay
    pub replayed_pages_end: u64,
    /// The median over moments of the pages by which they differ, of those recorded
    pub off_share_median: f64,
    /// Slabs that were seen to be made
    pub slabs: u64,
    /// Those of them whose cache no event tells
    pub slabs_of_unknown_caches: u64,
}

/// Replays page events with the slabs of an allocator as it was recorded, and perhaps with changes. Both have to be of replays
/// with [`ReplayPlan::slab_pages`](crate::ReplayPlan::slab_pages). `progress` is told the page rows done so far.
///
/// # Errors
/// When the trace is damaged, names zones that no machine has, or the machine's tables do not fit.
pub fn rest_of_machine(
    trace: &TraceReader,
    plan: RestPlan<'_>,
    before: &Allocator,
    after: Option<&Allocator>,
    progress: &mut dyn FnMut(u64),
) -> Result<RestOfMachine, Error> {
    let meta = trace.meta();
    let has_pages = meta.pages.as_ref().is_some_and(|pages| pages.events > 0);
    let owners = SlabOwners::of(trace)?;
    let rows = meta.pages.as_ref().map_or(0, |pages| pages.events);
    let mut run = 0;
    let mut replayed = |slabs: Option<&Allocator>| {
        let slabs = Slabs::new(meta, &owners, slabs.map(|slabs| &slabs.slab_pages));
        let before = rows * run;
        run += 1;
        let mut told = |done| progress(before + done);
        replay_with(trace, plan, slabs, &mut told)
    };
    let recorded = if has_pages { Some(replayed(None)?) } else { None };
    let with_slabs = replayed(Some(before))?;
    let with_changes = after.map(|after| replayed(Some(after))).transpose()?;
    let apart = recorded.as_ref().map(|recorded| apart(recorded, &with_slabs, &owners));
    Ok(RestOfMachine {
        allocator: before.allocator.clone(),
        recorded,
        before: with_slabs,
        after: with_changes,
        apart,
    })
}

/// Replays slabs under a setting and as recorded, and the page events with both; `None` where the allocator
/// does not choose orders of slabs. `progress` is told the slab rows, and then the page rows, done so far.
///
/// # Errors
/// Fails as [`rest_of_machine`] and [`replay()`](crate::replay()) do.
pub fn rest_of_setting(
    trace: &TraceReader,
    kind: BackendKind,
    setting: &Setting,
    plan: RestPlan<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<RestOfMachine>, Error> {
    if !kind.takes_geometry() {
        return Ok(None);
    }
    let base = ReplayPlan { slab_pages: true, locality: false, ..ReplayPlan::default() };
    let plans = [Setting::default(), setting.clone()].map(|of| of.plan(kind, &base, trace.meta()));
    let replays = replay_all(trace, &plans, progress)?;
    let [before, after] = &replays[..] else { return Ok(None) };
    let (Some(before), Some(after)) = (before.allocators.first(), after.allocators.first()) else {
        return Ok(None);
    };
    let rows = trace.meta().events;
    rest_of_machine(trace, plan, before, Some(after), &mut |done| progress(rows + done)).map(Some)
}

fn apart(recorded: &PageReplay, replayed: &PageReplay, owners: &SlabOwners) -> SlabsApart {
    let pages = |of: &PageReplay| of.moments.last().and_then(|end| end.slab_pages).unwrap_or(0);
    let pairs = recorded.moments.iter().zip(&replayed.moments);
    let off = pairs.filter_map(|(one, other)| {
        let (recorded, replayed) = (one.slab_pages?, other.slab_pages?);
        (recorded > 0).then(|| recorded.abs_diff(replayed) as f64 / recorded as f64)
    });
    SlabsApart {
        recorded_pages_end: pages(recorded),
        replayed_pages_end: pages(replayed),
        off_share_median: median(off.collect()).unwrap_or(0.0),
        slabs: owners.rows.len() as u64,
        slabs_of_unknown_caches: owners.rows.iter().filter(|(_, cache)| *cache == 0).count() as u64,
    }
}
