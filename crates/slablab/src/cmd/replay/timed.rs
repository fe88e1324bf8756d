//! `slablab replay --timed`: real threads, and how long each operation took.

use serde::Serialize;
use slablab_replay::{Latency, Timed};

use crate::output::{Cell, Column, Page, Report, Table};

/// What `slablab replay --timed` says.
#[derive(Debug, Serialize)]
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
        let mut table = Table::new([
            Column::name("allocator", "allocator"),
            Column::number("allocs", "allocs"),
            Column::number("frees", "frees"),
            Column::number("failed", "failed"),
            Column::number("elapsed", "elapsed_ns"),
            Column::number("operations/s", "operations_per_second"),
            Column::number("locks taken", "locks"),
            Column::number("waited for locks", "lock_wait_ns"),
            Column::number("waits for order", "waits"),
            Column::number("clock", "clock_ns_p50"),
        ]);
        for timed in &self.allocators {
            table.row([
                Cell::text(&timed.allocator),
                Cell::Count(timed.allocs),
                Cell::Count(timed.frees),
                Cell::Count(timed.failed),
                Cell::Ns(timed.elapsed_ns),
                Cell::Count(timed.operations_per_second),
                Cell::Count(timed.locks.values().sum()),
                Cell::Ns(timed.lock_wait_ns),
                Cell::Count(timed.waits),
                Cell::Ns(timed.clock_ns_p50),
            ]);
        }
        table
    }

    fn latencies(&self) -> Table {
        let mut table = Table::new([
            Column::name("allocator", "allocator"),
            Column::name("operation", "operation"),
            Column::number("median", "p50_ns"),
            Column::number("p90", "p90_ns"),
            Column::number("p99", "p99_ns"),
            Column::number("p99.9", "p999_ns"),
            Column::number("max", "max_ns"),
        ]);
        for timed in &self.allocators {
            for (operation, latency) in [("alloc", &timed.alloc), ("free", &timed.free)] {
                let Latency { p50_ns, p90_ns, p99_ns, p999_ns, max_ns } = *latency;
                let mut cells = vec![Cell::text(&timed.allocator), Cell::text(operation)];
                cells.extend([p50_ns, p90_ns, p99_ns, p999_ns, max_ns].map(Cell::Ns));
                table.row(cells);
            }
        }
        table
    }
}
