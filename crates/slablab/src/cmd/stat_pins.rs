//! `slablab stat --pins`: slabs by how full they are, and whose objects keep the sparse ones.

use std::path::Path;

use anyhow::{Context, Result, bail};
use slablab_kmem::BackendKind;
use slablab_replay::{By, TraceFacts, pin_groups, pins};
use slablab_trace::{Meta, TraceReader};

use super::filter::FilterArgs;
use super::groups::GroupArgs;
use super::import;
use crate::answers::pins::{PinsAnswer, PinsView};
use crate::progress::Progress;

/// Replays a trace, and looks who keeps sparse slabs at its end.
pub(crate) fn of_trace(path: &Path, groups: &GroupArgs, filter: &FilterArgs) -> Result<PinsAnswer> {
    if filter.divides_slabs() {
        bail!(
            "--pins needs all objects of a slab: leave out --cpu, --pid, --comm, --cgroup, --site and --callers, and say --at \
             for --time"
        );
    }
    let trace = import::open(path, filter)?;
    if let Some(why) = lacks(trace.meta()) {
        bail!("{}: {why}", path.display());
    }
    of(path, groups, &trace)
}

/// Looks who keeps sparse slabs at the end of a trace that has all objects of its slabs.
pub(super) fn of(path: &Path, groups: &GroupArgs, trace: &TraceReader) -> Result<PinsAnswer> {
    let meta = trace.meta();
    let told = BackendKind::of_release(&meta.kernel_release);
    let kind = told.unwrap_or(BackendKind::Slub);
    let progress = Progress::new("replaying", meta.events);
    let until_ns = match groups.moments.at {
        Some(moment) => {
            moment.time_ns(meta).with_context(|| format!("{}: --at", path.display()))?
        }
        None => Some(meta.time_last_ns),
    };
    let Some(until_ns) = until_ns else {
        bail!("--pins shows a moment in time: say --at 50%, or --at 1.5 for seconds");
    };
    let (occupancy, holdings) = pins(trace, kind, until_ns, &mut |done| progress.set(done))?;
    drop(progress);
    let labels = groups.labels(path, meta, &holdings)?;
    let mut by = groups.by();
    if by.is_empty() {
        by.push((By::Owner, "owner".to_owned()));
    }
    let (by, names): (Vec<_>, Vec<_>) = by.into_iter().unzip();
    let found = pin_groups(&occupancy, &holdings, &labels, &by);
    let remarks = match told {
        Some(_) => Vec::new(),
        None => vec![format!(
            "The trace does not tell which allocator its kernel has: {kind} is assumed."
        )],
    };
    let view = PinsView {
        file: path.display().to_string(),
        trace: Box::new(TraceFacts::new(meta)),
        end_ns: until_ns,
        when: groups.moments.at.map_or_else(|| "at the end".to_owned(), |moment| moment.words()),
        has_stacks: !meta.stacks.is_empty(),
        remarks,
    };
    Ok(PinsAnswer::new(names, &occupancy, found, view))
}

/// Says why a trace does not have all objects of its slabs, which would look emptier than they are.
pub(super) fn lacks(meta: &Meta) -> Option<String> {
    if let Some(portion) = &meta.portion {
        return Some(format!(
            "has the objects of 1 in {} pages, which do not tell how full other slabs are: record all of them, or those of one \
             cache (record --caches)",
            portion.one_in
        ));
    }
    if let Some(only) = meta.only.iter().find(|only| !only.starts_with("cache ")) {
        return Some(format!(
            "has the objects of {only} alone, and slabs have others too: record all of them, or a cache"
        ));
    }
    meta.lacks_lifetimes().map(|lack| format!("{lack} Nothing tells which objects are alive"))
}
