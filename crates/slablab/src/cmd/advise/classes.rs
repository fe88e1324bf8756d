//! `slablab advise --classes K`: which further kmalloc size classes fit the trace best.

use std::path::Path;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_host::shell;
use slablab_kmem::BackendKind;
use slablab_pages::{classes_sentence, tables};
use slablab_replay::{ClassAdvice, advise_classes};
use slablab_trace::TraceReader;

use super::super::question::QuestionArgs;
use crate::output::{Page, Report, Table};
use crate::progress::Progress;

/// Finds the classes.
pub(super) fn search(
    question: &QuestionArgs,
    trace: &TraceReader,
    kind: BackendKind,
    further: usize,
) -> Result<ClassAdvice> {
    let progress = Progress::new("replaying", trace.meta().events);
    let mut note = |done| progress.set(done);
    let advice = advise_classes(trace, kind, question.memory, further, &mut note);
    question.with_trace_name(advice)
}

/// What `slablab advise --classes` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClassesAnswer {
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) advice: ClassAdvice,
}

impl Report for ClassesAnswer {
    const SCHEMA: &'static str = "slablab.classes/1";

    fn text(&self, page: &mut Page) {
        super::super::replay::header(&self.file, &self.advice.trace, page);
        page.line("");
        page.paragraph(&classes_sentence(&self.advice), 0);
        page.heading("Size classes");
        page.table(&self.csv());
        if let Some(best) = self.advice.proposals.last() {
            page.heading("To try the last one");
            let classes: Vec<_> = best.classes.iter().map(u32::to_string).collect();
            let file = shell::path(Path::new(&self.file));
            page.line(format!("  slablab whatif {file} --classes {}", classes.join(",")));
        }
    }

    fn csv(&self) -> Table {
        tables::classes(&self.advice)
    }
}
