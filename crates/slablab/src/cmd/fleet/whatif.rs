//! `slablab whatif` on many traces: a change where it can be made, side by side with what was recorded.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slablab_kmem::BackendKind;
use slablab_pages::tables;
use slablab_replay::{
    Changes, Difference, FleetWhatIf, FleetWhatIfSum, ReplayPlan, TraceReplay, TraceWhatIf, replay,
    what_if,
};
use slablab_report::counted;
use slablab_trace::{Meta, TraceReader};

use super::args::Many;
use super::each::{Question, each};
use super::{inputs, lines};
use crate::output::{Page, Report, Table};

/// What is asked of every trace.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) allocators: &'a [BackendKind],
    pub(crate) memory_bytes: u64,
    /// The changes as they were asked for
    pub(crate) changes: String,
    pub(crate) lines: usize,
}

/// What becomes of a call site or cache that is named and that a trace lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It is an error.
    Refused,
    /// It is left out: of many traces some may lack it.
    LeftOut,
}

/// What comes of the changes in one trace.
pub(crate) struct ChangesHere {
    /// Nothing where the trace lacks what is to be changed
    pub(crate) changes: Changes,
    /// In words
    pub(crate) described: Vec<String>,
}

/// What is kept of a trace.
#[derive(Serialize, Deserialize)]
struct Kept {
    described: Vec<String>,
    what_if: TraceWhatIf,
}

/// Replays all traces that were named with and without the changes that `here` makes of a trace's metadata.
pub(crate) fn of_many(
    many: &Many<'_>,
    asked: &Asked<'_>,
    here: impl Fn(&Meta, Absent) -> Result<ChangesHere> + Sync,
) -> Result<Answer> {
    let traces = inputs::find(&many.paths, many.damaged)?;
    check(&traces, &here)?;
    let &Asked { memory_bytes, .. } = asked;
    let allocators = asked.allocators.to_vec();
    let names: Vec<_> = allocators.iter().map(|kind| kind.name()).collect();
    let question = Question {
        schema: "slablab.whatif.trace/1",
        asked: vec![names.join(","), memory_bytes.to_string(), asked.changes.clone()],
        resume: many.resume,
        doing: "replaying",
        passes: 1,
    };
    let plan = ReplayPlan { allocators, memory_bytes, ..ReplayPlan::default() }.of_many();
    let of_one = |trace: &inputs::Input, progress: &mut dyn FnMut(u64)| {
        let reader = trace.open()?;
        let origin = trace.origin.clone();
        let ChangesHere { changes, described } = here(reader.meta(), Absent::LeftOut)?;
        if changes.is_empty() {
            let before = TraceReplay::new(origin, replay(&reader, &plan, progress)?);
            return Ok(Kept { described, what_if: TraceWhatIf { before, after: None } });
        }
        let plan = ReplayPlan { changes, ..plan.clone() };
        let what_if = TraceWhatIf::new(origin, what_if(&reader, &plan, progress)?);
        Ok(Kept { described, what_if })
    };
    let mut sum = FleetWhatIfSum::new(inputs::site_names(&traces));
    let mut changes: BTreeMap<String, u64> = BTreeMap::new();
    each(&traces, &question, of_one, |kept| {
        kept.described.into_iter().for_each(|words| *changes.entry(words).or_default() += 1);
        sum.add(kept.what_if);
    })?;
    let what_if = sum.finish();
    Ok(Answer {
        changes: changes.into_iter().map(|(change, traces)| Made { change, traces }).collect(),
        differences: what_if.differences(),
        what_if,
        remarks: inputs::remarks(&traces),
        lines: asked.lines,
    })
}

/// Refuses changes that can be made in none of the traces, in the words for the first of them.
fn check(
    traces: &[inputs::Input],
    here: &impl Fn(&Meta, Absent) -> Result<ChangesHere>,
) -> Result<()> {
    for trace in traces {
        let reader = trace.open()?;
        if !here(reader.meta(), Absent::LeftOut)?.changes.is_empty() {
            return Ok(());
        }
    }
    let Some(first) = traces.first() else { return Ok(()) };
    let reader = TraceReader::open(&first.path)?;
    let refused =
        |meta: &Meta| -> Result<()> { Ok(here(meta, Absent::Refused)?.changes.check(meta)?) };
    refused(reader.meta()).with_context(|| match traces.len() {
        1 => first.path.display().to_string(),
        n => format!("{}, and the {} others likewise", first.path.display(), n - 1),
    })
}

/// A change, and in how many traces it was made.
#[derive(Debug, Serialize, JsonSchema)]
struct Made {
    change: String,
    traces: u64,
}

/// What `slablab whatif` says of many traces.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    changes: Vec<Made>,
    differences: Vec<Difference>,
    #[serde(flatten)]
    what_if: FleetWhatIf,
    /// What a reader should know
    remarks: Vec<String>,
    #[serde(skip)]
    lines: usize,
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.whatif.fleet/1";

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn text(&self, page: &mut Page) {
        let FleetWhatIf { before, after, .. } = &self.what_if;
        let traces = before.fleet.traces;
        lines::head(&before.fleet, page);
        page.heading("What if");
        for made in self.changes.iter().take(self.lines) {
            match made.traces == traces {
                true => page.line(format!("  {}", made.change)),
                false => page.line(format!("  {} (in {} of them)", made.change, made.traces)),
            }
        }
        if self.what_if.traces_unchanged > 0 {
            let lacking = self.what_if.traces_unchanged;
            page.line(format!(
                "Nothing to change is in {lacking} of {}; they count as they are.",
                counted(traces, "trace")
            ));
        }
        for (before, after) in before.allocators.iter().zip(&after.allocators) {
            page.heading(&format!(
                "{}: all traces together, the peaks those of each",
                before.allocator
            ));
            page.table(&tables::totals(before, after));
            page.heading(&format!("{}: caches that changed", before.allocator));
            page.table_or(&tables::changed_caches(before, after, self.lines), "none");
        }
        page.heading("Saved at the peaks, over hosts");
        let saved = &self.what_if.saved_bytes_at_peak_over_hosts;
        page.table(&lines::over_hosts(&before.allocators, saved));
        lines::remarks(&self.remarks, self.lines, page);
    }

    fn csv(&self) -> Table {
        tables::differences(&self.differences)
    }
}
