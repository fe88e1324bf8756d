//! `replay`: what would each allocator have made of a recorded trace? The result is exact, so one
//! round is enough.

use std::path::PathBuf;

use slablab_host::shell;
use slablab_replay::ReplayPlan;
use slablab_trace::TraceReader;

use super::allocators::{ALLOCATORS, input, kind, kinds};
use crate::error::Result;
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

/// The experiment.
pub(crate) struct Replay;

impl Experiment for Replay {
    fn about(&self) -> About {
        let exact = |key, name, unit| Metric::less(key, name, unit, Nature::Exact);
        About {
            name: "replay",
            question: "How much memory would each allocator have held for this trace, and how many locks would it have taken?",
            engines: &[Engine::User],
            metrics: vec![
                exact("held_bytes_peak", "memory held at the peak", "B"),
                exact("held_bytes_mean", "memory held on average", "B"),
                exact("requested_bytes_peak", "memory asked for at the peak", "B"),
                exact("locks", "locks and atomic operations", ""),
                exact("slabs_peak", "slabs at the peak", ""),
            ],
            parameters: &[ALLOCATORS],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        input(request, self.about().name)?;
        Ok(Design::without_points(kinds(request)?, 1, 0))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let path = input(setup.request, self.about().name)?.to_owned();
        Ok(Box::new(TraceReplay { reader: TraceReader::open(&path)?, path }))
    }
}

struct TraceReplay {
    reader: TraceReader,
    path: PathBuf,
}

impl Fixture for TraceReplay {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let plan = ReplayPlan { allocators: vec![kind(&cell.variant)?], ..ReplayPlan::default() };
        let replay = slablab_replay::replay(&self.reader, &plan, &mut |_| ())?;
        let allocator = &replay.allocators[0];
        Ok(Observation {
            detail: serde_json::json!({
                "paths": allocator.paths, "locks": allocator.locks, "failed": allocator.failed,
                "unplaced_share": replay.trace.unplaced_share,
            }),
            command: format!(
                "slablab replay {} --allocators {}",
                shell::path(&self.path),
                shell::word(&cell.variant)
            ),
            ..Observation::of([
                ("held_bytes_peak", allocator.held_bytes.peak as f64),
                ("held_bytes_mean", allocator.held_bytes.mean as f64),
                ("requested_bytes_peak", allocator.requested_bytes.peak as f64),
                ("locks", allocator.locks.values().sum::<u64>() as f64),
                ("slabs_peak", allocator.slabs.peak as f64),
            ])
        })
    }
}
