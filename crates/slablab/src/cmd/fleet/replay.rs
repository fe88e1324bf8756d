//! `slablab replay` on many traces: what each allocator comes to on all of them.

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_pages::tables;
use slablab_replay::{
    FleetReplay, FleetReplaySum, ReplayPlan, SiteSum, Start, TraceReplay, replay,
};

use super::args::Many;
use super::each::{Question, each};
use super::{inputs, lines};
use crate::cmd::sheets::{self, Sheet};
use crate::output::{Cell, Page, Report, Table, field};

/// What is asked of every trace.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// None: the usual ones, and those of the recorded kernels
    pub(crate) allocators: &'a [BackendKind],
    pub(crate) memory_bytes: u64,
    pub(crate) start: Start,
    pub(crate) lines: usize,
    pub(crate) sheet: Sheet,
}

/// Replays all traces that were named.
pub(crate) fn of_many(many: &Many<'_>, asked: &Asked<'_>) -> Result<Answer> {
    if asked.sheet == Sheet::Series {
        bail!("--csv series goes with one trace: the moments of several do not add up");
    }
    let traces = inputs::find(&many.paths, many.damaged)?;
    let allocators = match asked.allocators {
        [] => usual(&traces),
        named => named.to_vec(),
    };
    let &Asked { memory_bytes, start, .. } = asked;
    let names: Vec<_> = allocators.iter().map(|kind| kind.name()).collect();
    let question = Question {
        schema: "slablab.replay.trace/1",
        asked: vec![names.join(","), memory_bytes.to_string(), format!("{start:?}")],
        resume: many.resume,
        doing: "replaying",
        passes: 1,
    };
    let plan = ReplayPlan { allocators, memory_bytes, start, ..ReplayPlan::default() }.of_many();
    let mut sum = FleetReplaySum::new(inputs::site_names(&traces));
    let of_one = |trace: &inputs::Input, progress: &mut dyn FnMut(u64)| {
        let reader = trace.open()?;
        Ok(TraceReplay::new(trace.origin.clone(), replay(&reader, &plan, progress)?))
    };
    each(&traces, &question, of_one, |trace| sum.add(trace))?;
    Ok(Answer {
        replay: sum.finish(),
        remarks: inputs::remarks(&traces),
        lines: asked.lines,
        sheet: asked.sheet,
    })
}

/// Returns the usual allocators, as far as they know the pages of all traces; what the recorded kernels had comes first.
fn usual(traces: &[inputs::Input]) -> Vec<BackendKind> {
    let recorded = |kind: &BackendKind| {
        traces.iter().any(|trace| BackendKind::of_release(&trace.release) == Some(*kind))
    };
    let (first, rest): (Vec<_>, Vec<_>) = BackendKind::ALL.iter().copied().partition(recorded);
    let rest = rest.into_iter().filter(|kind| BackendKind::USUAL.contains(kind));
    let fits = |kind: &BackendKind| traces.iter().all(|trace| kind.has_pages_of(trace.page_bytes));
    first.into_iter().chain(rest).filter(fits).collect()
}

/// What `slablab replay` says of many traces.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    #[serde(flatten)]
    replay: FleetReplay,
    /// What a reader should know
    remarks: Vec<String>,
    #[serde(skip)]
    lines: usize,
    #[serde(skip)]
    sheet: Sheet,
}

/// Returns the table of the call sites with most waste.
fn sites(replay: &FleetReplay, lines: usize) -> Table {
    let mut fields = vec![
        field::name("call site", "site", |s: &SiteSum| &s.site),
        field::name("cache", "cache", |s| if s.cache.is_empty() { "kmalloc" } else { &s.cache }),
        field::count("sites", "sites", |s| s.sites),
        field::count("allocs", "allocs", |s| s.allocs),
        field::bytes("requested", "requested_bytes", |s| s.requested_bytes),
        field::count("live, peaks", "live_peak", |s| s.live_peak),
    ];
    for (at, allocator) in replay.allocators.iter().enumerate() {
        let key = format!("{}_waste_bytes_peak", allocator.allocator);
        let waste = move |site: &SiteSum| Cell::Bytes(site.waste_bytes_peak[at]);
        fields.push(field::by(&format!("{} waste", allocator.allocator), &key, waste));
    }
    Table::of_fields(&replay.sites[..lines.min(replay.sites.len())], fields)
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.replay.fleet/1";

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn text(&self, page: &mut Page) {
        let allocators = &self.replay.allocators;
        lines::head(&self.replay.fleet, page);
        page.heading("Memory, all traces together; the peaks are those of each trace");
        page.table(&tables::memory(allocators));
        page.heading("Held at the peaks, over hosts");
        page.table(&lines::over_hosts(allocators, &self.replay.held_bytes_peak_over_hosts));
        page.heading("Paths");
        page.table(&tables::paths(allocators));
        page.heading("Locks taken, and atomic operations in place of one");
        page.table(&tables::locks(allocators));
        page.heading(&format!(
            "Call sites with most waste (allocated less requested, the most at once), {} of {}",
            self.lines.min(self.replay.sites.len()),
            self.replay.sites.len()
        ));
        page.table(&sites(&self.replay, self.lines));
        page.heading("Caches that held most");
        page.table(&tables::caches(allocators, self.lines));
        lines::remarks(&self.remarks, self.lines, page);
    }

    fn csv(&self) -> Table {
        let allocators = &self.replay.allocators;
        match self.sheet {
            Sheet::Totals | Sheet::Series => sheets::totals(allocators),
            Sheet::Sites => sites(&self.replay, usize::MAX),
            Sheet::Caches => sheets::caches(allocators),
        }
    }
}
