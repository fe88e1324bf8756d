//! `slablab advise --memory SIZE`: whether the load fits, and what makes it fit.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_replay::{Budget, Contender, Failure, budget};
use slablab_trace::TraceReader;

use super::super::question::QuestionArgs;
use crate::output::{Page, Report, Table, bytes, duration, field};
use crate::progress::Progress;

/// Machines on which the trace is replayed, about.
const REPLAYS: u64 = 42;

/// Replays the trace on machines of that memory.
pub(super) fn try_it(
    question: &QuestionArgs,
    trace: &TraceReader,
    kind: BackendKind,
) -> Result<Budget> {
    let progress = Progress::new("trying", trace.meta().events * REPLAYS);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    question.with_trace_name(budget(trace, kind, question.memory, &mut note))
}

/// What `slablab advise --memory` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BudgetAnswer {
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) budget: Budget,
}

impl Report for BudgetAnswer {
    const SCHEMA: &'static str = "slablab.budget/1";

    fn text(&self, page: &mut Page) {
        super::super::replay::header(&self.file, &self.budget.trace, page);
        page.line("");
        page.paragraph(&self.summary(), 0);
        page.heading("Allocators and settings on that memory");
        page.table(&self.csv());
        page.line("");
        page.paragraph(
            "needs: the least memory in which no allocation fails. largest free: the largest block of free pages at the end; \
             at worst: when it was smallest (4 MiB is the largest that Linux keeps).",
            0,
        );
        let failing =
            self.budget.contenders.iter().filter_map(|c| Some((c, c.first_failure.as_ref()?)));
        let failing: Vec<_> = failing.collect();
        if !failing.is_empty() {
            page.heading("First failures");
            failing.iter().for_each(|(contender, failure)| {
                page.paragraph(&format!("  {}: {}", name(contender), sentence(failure)), 4);
            });
        }
        if let Some(fit) = self.budget.first_fit().filter(|fit| !fit.setting.is_recorded()) {
            page.heading("To type for the first that fits");
            super::tune::block(&fit.typed, page);
        }
    }

    fn csv(&self) -> Table {
        let fields = [
            field::bytes("needs", "memory_bytes_min", |c: &Contender| c.memory_bytes_min),
            field::count("failed", "failed", |c| c.failed),
            field::bytes("held, peak", "held_bytes_peak", |c| c.held_bytes.peak),
            field::bytes("largest free", "free_largest_bytes_end", |c| c.free_end.largest_bytes()),
            field::bytes("at worst", "free_largest_bytes_worst", |c| c.free_worst.largest_bytes()),
            field::text("allocator", "allocator", name),
        ];
        Table::of(&self.budget.contenders, fields)
    }
}

fn name(contender: &Contender) -> String {
    match contender.setting.is_recorded() {
        true => contender.allocator.clone(),
        false => match contender.setting.short() {
            tiny if tiny.starts_with("SLUB_TINY") => tiny,
            setting => format!("{} {setting}", contender.allocator),
        },
    }
}

fn sentence(failure: &Failure) -> String {
    let cache = if failure.cache.is_empty() { "kmalloc" } else { &failure.cache };
    format!(
        "event {} ({} after the first) found no memory: {} asked {cache} for {}, with {} held and {} free, the largest block \
         {}.",
        failure.event,
        duration(failure.time_ns),
        failure.site,
        bytes(failure.requested_bytes),
        bytes(failure.held_bytes),
        bytes(failure.free.bytes()),
        bytes(failure.free.largest_bytes())
    )
}

impl BudgetAnswer {
    fn summary(&self) -> String {
        let budget = &self.budget;
        let Some(recorded) = budget.contenders.first() else { return String::new() };
        let verdict = match (recorded.fits(), budget.first_fit()) {
            (true, _) => format!(
                "The load fits into {} under {}.",
                bytes(budget.memory_bytes),
                name(recorded)
            ),
            (false, Some(fit)) => format!(
                "The load does not fit into {} under {}, which needs {}; under {} it fits.",
                bytes(budget.memory_bytes),
                name(recorded),
                bytes(recorded.memory_bytes_min),
                name(fit)
            ),
            (false, None) => format!(
                "The load fits into {} under none of these; {} needs {}.",
                bytes(budget.memory_bytes),
                name(recorded),
                bytes(recorded.memory_bytes_min)
            ),
        };
        let before = match budget.slab_bytes_before {
            0 => String::new(),
            held => format!(
                " The {} that the recorded machine held before the first event are left out: record from the boot on for a \
                 verdict on the whole machine.",
                bytes(held)
            ),
        };
        format!(
            "{verdict} Its live objects ask for {} at most. Counted are slabs and large blocks with the reserves of the page \
             allocator, not programs and page cache; no shrinker frees dentries or inodes here, as Linux's would.{before}",
            bytes(budget.requested_bytes_peak)
        )
    }
}
