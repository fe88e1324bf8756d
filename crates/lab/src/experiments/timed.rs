//! `timed`: how long do allocations and frees of a recorded trace take under each allocator?
//!
//! The trace is replayed in real time by a number of threads, with the objects handed from thread to thread as recorded.

use std::path::PathBuf;

use serde_json::json;
use slablab_replay::{ReplayPlan, replay_timed};
use slablab_trace::TraceReader;

use super::allocators::{ALLOCATORS, input, kind, kinds};
use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Fixture, Observation, Setup};
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request, Scale};

const THREADS: Parameter = Parameter::new(
    "threads",
    Kind::Numbers(1, 64),
    "threads that replay, at most one for each CPU of the trace",
)
.or("1,2");

/// The experiment.
pub(crate) struct Timed;

impl Experiment for Timed {
    fn about(&self) -> About {
        let less = |key, name, unit| Metric::less(key, name, unit, Nature::Sampled);
        About {
            name: "timed",
            question: "How long do the allocations and frees of a trace take under each allocator, by threads?",
            engines: &[Engine::User],
            metrics: vec![
                less("operation_ns", "time per operation", "ns"),
                less("alloc_ns_p50", "latency of alloc, median", "ns"),
                less("alloc_ns_p99", "latency of alloc, p99", "ns"),
                less("free_ns_p99", "latency of free, p99", "ns"),
                less("lock_wait_share", "share of time waiting for locks", "%"),
            ],
            parameters: &[ALLOCATORS, THREADS],
        }
    }

    fn design(&self, request: &Request) -> Result<Design> {
        input(request, self.about().name)?;
        let points = THREADS.numbers(request)?.iter().map(u64::to_string).collect();
        let rounds = if request.scale == Scale::Full { 31 } else { 7 };
        Ok(Design::at_points(kinds(request)?, ("threads", points), rounds, 1))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let path = input(setup.request, self.about().name)?.to_owned();
        Ok(Box::new(TimedReplay { reader: TraceReader::open(&path)?, path }))
    }
}

/// A trace that is replayed in real time.
struct TimedReplay {
    reader: TraceReader,
    path: PathBuf,
}

impl Fixture for TimedReplay {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let failed = |reason: &str| Error::Cell { cell: cell.words(), reason: reason.to_owned() };
        let plan = ReplayPlan { allocators: vec![kind(&cell.variant)?], ..ReplayPlan::default() };
        let threads = THREADS.read(&cell.point)?;
        let timed = replay_timed(&self.reader, &plan, threads as u32)?;
        let timed = timed.first().ok_or_else(|| failed("the replay said nothing"))?;
        let operations = timed.allocs + timed.frees;
        if operations == 0 {
            return Err(failed("the trace has nothing to replay"));
        }
        let thread_ns = f64::from(timed.threads) * timed.elapsed_ns as f64;
        Ok(Observation {
            detail: json!({
                "threads": timed.threads, "allocs": timed.allocs, "frees": timed.frees, "failed": timed.failed,
                "waits": timed.waits, "locks": timed.locks, "clock_ns_p50": timed.clock_ns_p50,
            }),
            command: format!(
                "slablab lab run timed --input {} --set allocators={} --set threads={}",
                self.path.display(),
                cell.variant,
                cell.point
            ),
            ..Observation::of([
                ("operation_ns", timed.elapsed_ns as f64 / operations as f64),
                ("alloc_ns_p50", timed.alloc.p50_ns as f64),
                ("alloc_ns_p99", timed.alloc.p99_ns as f64),
                ("free_ns_p99", timed.free.p99_ns as f64),
                ("lock_wait_share", 100.0 * timed.lock_wait_ns as f64 / thread_ns),
            ])
        })
    }
}
