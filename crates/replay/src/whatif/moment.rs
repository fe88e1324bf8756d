//! What each cache held at the moment when the recorded machine held most, with and without changes.
//!
//! # How it works
//! That moment is known once the trace was replayed, so the trace is replayed again up to there. At
//! that moment the caches add up to what the machine held, which their own peaks, each at its own time, do not.

use slablab_trace::TraceReader;

use crate::change::changes::Changes;
use crate::engine::replay::replay_all;
use crate::error::Error;
use crate::metrics::result::Allocator;
use crate::plan::ReplayPlan;
use crate::whatif::compare::WhatIf;

/// An allocator at the peak of the recorded machine; the ends of its levels are at that moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// As recorded
    pub before: Allocator,
    /// With the changes
    pub after: Allocator,
}

/// Returns each allocator of `plan` at the moment when it held most as recorded; `what_if` is the result of the
/// whole trace.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does.
pub fn at_peak(
    reader: &TraceReader,
    plan: &ReplayPlan,
    what_if: &WhatIf,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Moment>, Error> {
    let pairs = plan.allocators.iter().zip(&what_if.before.allocators);
    let plans: Vec<_> = pairs
        .flat_map(|(kind, recorded)| {
            let changed = ReplayPlan {
                allocators: vec![*kind],
                rows_max: Some(recorded.peak_event + 1),
                watched: Vec::new(),
                ..plan.clone()
            };
            [ReplayPlan { changes: Changes::default(), ..changed.clone() }, changed]
        })
        .collect();
    let replays = replay_all(reader, &plans, progress)?;
    let mut allocators = replays.into_iter().flat_map(|replay| replay.allocators);
    let next_pair = || Some(Moment { before: allocators.next()?, after: allocators.next()? });
    Ok(std::iter::from_fn(next_pair).collect())
}
