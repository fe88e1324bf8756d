//! `slablab advise --classes K`: which further kmalloc size classes fit the trace best.

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_replay::{ClassAdvice, ClassSetFit, advise_classes};
use slablab_trace::TraceReader;

use super::super::question::QuestionArgs;
use crate::output::{Page, Report, Table, bytes, field};
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
        page.paragraph(&self.summary(), 0);
        page.heading("Size classes");
        page.table(&self.csv());
        if let Some(best) = self.advice.proposals.last() {
            page.heading("To try the last one");
            let classes: Vec<_> = best.classes.iter().map(u32::to_string).collect();
            page.line(format!("  slablab whatif {} --classes {}", self.file, classes.join(",")));
        }
    }

    fn csv(&self) -> Table {
        let added = |fit: &&ClassSetFit| match fit.added.is_empty() {
            true => "as recorded".to_owned(),
            false => fit.added.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
        };
        let rows: Vec<_> =
            std::iter::once(&self.advice.recorded).chain(&self.advice.proposals).collect();
        let fields = [
            field::text("further classes", "added", added),
            field::bytes("allocated, mean", "allocated_bytes_mean", |fit| fit.allocated_bytes_mean),
            field::bytes("held, peak", "held_bytes_peak", |fit| fit.held_bytes.peak),
            field::bytes("mean", "held_bytes_mean", |fit| fit.held_bytes.mean),
            field::bytes("end", "held_bytes_end", |fit| fit.held_bytes.end),
        ];
        Table::of(&rows, fields)
    }
}

impl ClassesAnswer {
    fn summary(&self) -> String {
        let recorded = &self.advice.recorded;
        let mut text = format!(
            "The objects of kmalloc's {} classes had {} on average. Of all sets with so many further classes, those below \
             allocate the least; what slabs then hold was replayed under {}, from an empty machine.",
            recorded.classes.len(),
            bytes(recorded.allocated_bytes_mean),
            self.advice.allocator
        );
        let saves = |fit: &&ClassSetFit| fit.held_bytes.peak < recorded.held_bytes.peak;
        text += match self.advice.proposals.iter().any(|fit| saves(&fit)) {
            true => "",
            false if self.advice.proposals.is_empty() => " No further class saves anything.",
            false => {
                " None of them holds less at the peak: more classes are more slabs that are not full."
            }
        };
        text
    }
}
