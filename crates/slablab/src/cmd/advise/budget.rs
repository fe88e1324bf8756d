//! `slablab advise --memory SIZE`: whether the load fits, and what makes it fit.

use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_pages::{BUDGET_COLUMNS, budget_sentence, first_failures, tables};
use slablab_replay::{Budget, Contender, budget};
use slablab_trace::TraceReader;

use super::super::question::QuestionArgs;
use super::typed;
use crate::output::{Page, Report, Table};
use crate::progress::Progress;

/// Machines on which the trace is replayed, about.
const REPLAYS: u64 = 56;

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
        verdict(&self.budget, page);
    }

    fn csv(&self) -> Table {
        tables::budget(&self.budget)
    }
}

/// Says whether the load fits, what each allocator needs, and what fails first.
pub(super) fn verdict(budget: &Budget, page: &mut Page) {
    page.paragraph(&budget_sentence(budget), 0);
    page.heading("Allocators and settings on that memory");
    page.table(&tables::budget(budget));
    page.line("");
    page.paragraph(BUDGET_COLUMNS, 0);
    let failing: Vec<_> = first_failures(budget).collect();
    if !failing.is_empty() {
        page.heading("First failures");
        failing.iter().for_each(|(contender, failure)| {
            page.paragraph(&format!("  {contender}: {failure}"), 4);
        });
    }
    if let Some(fit) = budget.first_fit().filter(|fit| !fit.setting.is_recorded()) {
        page.heading("To type for the first that fits");
        typed::block(&fit.typed, page);
    }
}

/// Returns the command's status: 1 where the load does not fit under the recorded allocator.
pub(super) fn status(budget: &Budget) -> ExitCode {
    let fits = budget.contenders.first().is_some_and(Contender::fits);
    if fits { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
