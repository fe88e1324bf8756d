//! `slablab replay --timed`: real threads, and how long each operation took.

use schemars::JsonSchema;
use serde::Serialize;
use slablab_replay::{Latency, Timed};

use crate::output::{Page, Report, Table, field};

/// What `slablab replay --timed` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TimedOutcome {
    pub(super) file: String,
    pub(super) allocators: Vec<Timed>,
}

impl Report for TimedOutcome {
    const SCHEMA: &'static str = "slablab.replay-timed/1";

    fn text(&self, page: &mut Page) {
        page.line(format!(
            "{}: replayed on {} thread(s) as fast as possible; the times depend on this machine and its load.",
            self.file,
            self.allocators.first().map_or(0, |timed| timed.threads)
        ));
        page.heading("Throughput");
        page.table(&self.throughput());
        page.heading("Latency, including one reading of the clock");
        page.table(&self.latencies());
    }

    fn csv(&self) -> Table {
        self.latencies()
    }
}

impl TimedOutcome {
    fn throughput(&self) -> Table {
        let fields = [
            field::name("allocator", "allocator", |timed: &Timed| &timed.allocator),
            field::count("allocs", "allocs", |timed| timed.allocs),
            field::count("frees", "frees", |timed| timed.frees),
            field::count("failed", "failed", |timed| timed.failed),
            field::ns("elapsed", "elapsed_ns", |timed| timed.elapsed_ns),
            field::count("operations/s", "operations_per_second", |timed| {
                timed.operations_per_second
            }),
            field::count("locks taken", "locks", |timed| timed.locks.values().sum()),
            field::ns("waited for locks", "lock_wait_ns", |timed| timed.lock_wait_ns),
            field::count("waits for order", "waits", |timed| timed.waits),
            field::ns("clock", "clock_ns_p50", |timed| timed.clock_ns_p50),
        ];
        Table::of(&self.allocators, fields)
    }

    fn latencies(&self) -> Table {
        let mut rows: Vec<(&Timed, &str, &Latency)> = Vec::new();
        for timed in &self.allocators {
            rows.extend([(timed, "alloc", &timed.alloc), (timed, "free", &timed.free)]);
        }
        let fields = [
            field::name("allocator", "allocator", |(timed, ..): &(&Timed, &str, &Latency)| {
                &timed.allocator
            }),
            field::name("operation", "operation", |(_, operation, _)| operation),
            field::ns("median", "p50_ns", |(.., latency)| latency.p50_ns),
            field::ns("p90", "p90_ns", |(.., latency)| latency.p90_ns),
            field::ns("p99", "p99_ns", |(.., latency)| latency.p99_ns),
            field::ns("p99.9", "p999_ns", |(.., latency)| latency.p999_ns),
            field::ns("max", "max_ns", |(.., latency)| latency.max_ns),
        ];
        Table::of(&rows, fields)
    }
}
