//! `replay`: what would each allocator have made of a recorded trace? Exact: one round is enough.

use std::collections::BTreeMap;
use std::path::PathBuf;

use slablab_kmem::BackendKind;
use slablab_replay::{Allocator, Plan};
use slablab_trace::TraceReader;

use super::traces::{input, kind};
use crate::error::Result;
use crate::experiment::{Experiment, Fixture, Observation, Setup};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

/// The experiment.
pub(crate) struct Replay;

impl Experiment for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn question(&self) -> &'static str {
        "How much memory would each allocator have held for this trace, and how many locks would it have taken?"
    }

    fn engines(&self) -> &'static [Engine] {
        &[Engine::User]
    }

    fn metrics(&self) -> Vec<Metric> {
        let exact = |key, name, unit| Metric::less(key, name, unit, Nature::Exact);
        vec![
            exact("held_bytes_peak", "memory held at the peak", "B"),
            exact("held_bytes_mean", "memory held on average", "B"),
            exact("requested_bytes_peak", "memory asked for at the peak", "B"),
            exact("locks", "locks and atomic operations", ""),
            exact("slabs_peak", "slabs at the peak", ""),
        ]
    }

    fn parameters(&self) -> &'static [(&'static str, &'static str)] {
        &[("allocators", "which ones, by comma; slab,slub,slob,slmb by default")]
    }

    fn design(&self, request: &Request) -> Result<Design> {
        input(request, self.name())?;
        let names: Vec<&str> = BackendKind::USUAL.iter().map(|kind| kind.name()).collect();
        let variants = request.list("allocators", &names);
        variants.iter().try_for_each(|name| kind(name).map(|_| ()))?;
        Ok(Design::without_points(variants, 1, 0))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let path = input(setup.request, self.name())?.to_owned();
        Ok(Box::new(TraceReplay { reader: TraceReader::open(&path)?, path }))
    }
}

struct TraceReplay {
    reader: TraceReader,
    path: PathBuf,
}

impl Fixture for TraceReplay {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let plan = Plan { allocators: vec![kind(&cell.variant)?], ..Plan::default() };
        let replay = slablab_replay::replay(&self.reader, &plan, &mut |_| ())?;
        let allocator = &replay.allocators[0];
        Ok(Observation {
            values: values(allocator),
            detail: serde_json::json!({
                "paths": allocator.paths, "locks": allocator.locks, "failed": allocator.failed,
                "unplaced_share": replay.trace.unplaced_share,
            }),
            command: format!(
                "slablab replay {} --allocators {}",
                self.path.display(),
                cell.variant
            ),
            ..Observation::default()
        })
    }
}

fn values(allocator: &Allocator) -> BTreeMap<String, f64> {
    let locks: u64 = allocator.locks.values().sum();
    [
        ("held_bytes_peak", allocator.held_bytes.peak),
        ("held_bytes_mean", allocator.held_bytes.mean),
        ("requested_bytes_peak", allocator.requested_bytes.peak),
        ("locks", locks),
        ("slabs_peak", allocator.slabs.peak),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value as f64))
    .collect()
}
