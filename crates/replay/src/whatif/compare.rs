//! The same trace with and without changes, side by side.
//!
//! Both replays run in one pass over the trace; everything that is in a [`Replay`] is there twice, and
//! [`WhatIf::differences`] lists what changed.

use serde::Serialize;
use slablab_trace::{Meta, TraceReader};

use crate::change::changes::{Changes, Dedication};
use crate::change::check::ChangeError;
use crate::engine::replay::replay_all;
use crate::error::Error;
use crate::many::hosts::OverHosts;
use crate::metrics::result::{Allocator, Replay};
use crate::plan::{ReplayPlan, Vectors};

/// A map of the objects of more caches than this tells nothing.
const WATCHED_CACHES_MAX: usize = 8;

impl Changes {
    /// Returns the call sites whose objects are worth a map: those with a cache of their own.
    fn sites_to_watch(&self) -> Vec<u32> {
        match self.dedicated.len() {
            0..=WATCHED_CACHES_MAX => {
                self.dedicated.iter().flat_map(|dedicated| &dedicated.sites).copied().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A trace with and without changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// As recorded
    pub before: Replay,
    /// With the changes
    pub after: Replay,
    /// Traces that lack what is to be changed, and count unchanged; `None` for one trace
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traces_unchanged: Option<u64>,
    /// Bytes held less at the peaks of each host's traces: an entry for each allocator, none for one
    /// trace
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub saved_bytes_at_peak_over_hosts: Vec<OverHosts>,
}

/// A number that changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The allocator
    pub allocator: String,
    /// What is counted, unit last
    pub metric: &'static str,
    /// As recorded
    pub before: u64,
    /// With the changes
    pub after: u64,
}

/// Replays a trace with and without the changes of `plan`. Unless `plan` names call sites to watch, those that get
/// a cache of their own are watched.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does; returns [`Error::Change`] when the changes cannot be made.
pub fn what_if(
    reader: &TraceReader,
    plan: &ReplayPlan,
    progress: &mut dyn FnMut(u64),
) -> Result<WhatIf, Error> {
    plan.changes.check(reader.meta())?;
    let mut changed = plan.clone();
    if changed.watched.is_empty() {
        changed.watched = plan.changes.sites_to_watch();
    }
    if !plan.changes.accounting.is_none() {
        // Both sides count vectors alike, whenever the recording begins.
        changed.vectors = Vectors::Computed;
    }
    let recorded = ReplayPlan { changes: Changes::default(), ..changed.clone() };
    let mut replays = replay_all(reader, &[recorded, changed], progress)?.into_iter();
    let (Some(before), Some(after)) = (replays.next(), replays.next()) else {
        unreachable!("two plans give two replays");
    };
    check_sites(&plan.changes, reader.meta(), &before)?;
    let saved_bytes_at_peak_over_hosts = Vec::new();
    Ok(WhatIf { before, after, traces_unchanged: None, saved_bytes_at_peak_over_hosts })
}

/// Refuses a dedicated site that does not allocate by kmalloc: the change would have no effect.
fn check_sites(changes: &Changes, meta: &Meta, before: &Replay) -> Result<(), ChangeError> {
    if changes.dedication == Dedication::Every {
        return Ok(());
    }
    for dedicated in &changes.dedicated {
        let names = || dedicated.sites.iter().map(|site| meta.sites[*site as usize].name.as_str());
        let by_cache =
            |name: &str| before.sites.iter().find(|s| s.site == name && !s.cache.is_empty());
        // A pattern may cover both kinds; it is wrong when it covers no kmalloc at all.
        if names().all(|name| by_cache(name).is_some())
            && let Some(site) = names().find_map(by_cache)
        {
            return Err(ChangeError::NotKmalloc {
                site: site.site.clone(),
                cache: site.cache.clone(),
            });
        }
    }
    Ok(())
}

impl WhatIf {
    /// Returns the numbers of each allocator that changed, and those that readers look for first whether
    /// they changed or not.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let pairs = self.before.allocators.iter().zip(&self.after.allocators);
        pairs.flat_map(|(before, after)| compare(before, after)).collect()
    }
}

fn compare(before: &Allocator, after: &Allocator) -> Vec<Difference> {
    type Read = fn(&Allocator) -> u64;
    const METRICS: [(&str, Read); 16] = [
        ("held_bytes_peak", |a| a.held_bytes.peak),
        ("held_bytes_mean", |a| a.held_bytes.mean),
        ("held_bytes_end", |a| a.held_bytes.end),
        ("slab_bytes_peak", |a| a.slab_bytes.peak),
        ("slab_bytes_mean", |a| a.slab_bytes.mean),
        ("slab_bytes_end", |a| a.slab_bytes.end),
        ("slabs_peak", |a| a.slabs.peak),
        ("slabs_end", |a| a.slabs.end),
        ("requested_bytes_peak", |a| a.requested_bytes.peak),
        ("allocated_bytes_peak", |a| a.allocated_bytes.peak),
        ("allocated_bytes_mean", |a| a.allocated_bytes.mean),
        ("allocated_bytes_end", |a| a.allocated_bytes.end),
        ("alloc_fastpath", |a| a.paths.get("alloc_fastpath").copied().unwrap_or(0)),
        ("free_fastpath", |a| a.paths.get("free_fastpath").copied().unwrap_or(0)),
        ("locks", |a| a.locks.values().sum()),
        ("failed", |a| a.failed),
    ];
    let differences = METRICS.iter().map(|(metric, read)| Difference {
        allocator: before.allocator.clone(),
        metric,
        before: read(before),
        after: read(after),
    });
    differences.filter(|d| d.before != d.after || d.metric.starts_with("held_bytes")).collect()
}
