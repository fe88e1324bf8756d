//! Totals and call sites as `perf kmem stat` counts them, with what was not freed.

use serde::Serialize;
use slablab_replay::{Fleet, PerfCounts, PerfTotals, SiteStat, TraceFacts, fragmentation_percent};
use slablab_report::{Cell, Document, Item, Section, Table, counted, field, human};
use slablab_trace::Recorded;

use super::trace::{facts, source};
use crate::output::Answer;

/// What `slablab stat` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct StatAnswer {
    /// Whose traces were added up; `None` for one trace
    #[serde(flatten)]
    pub(crate) fleet: Option<Fleet>,
    pub(crate) totals: PerfTotals,
    pub(crate) net_bytes: Option<u64>,
    pub(crate) wasted_bytes: u64,
    pub(crate) frag_percent: f64,
    pub(crate) sites: Vec<StatLine>,
    /// One in this many objects was recorded; the numbers are those of all of them
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) one_in: Option<u32>,
    /// What a sample does not tell of what was freed
    #[serde(skip)]
    pub(crate) doubt: Option<String>,
    /// Whether frees were recorded: where they were not, nothing tells what was not freed
    pub(crate) frees_recorded: bool,
    /// What to know of the traces
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<String>,
    /// Which table people see
    #[serde(skip)]
    pub(crate) view: StatView,
}

/// What people see of the numbers.
#[derive(Debug)]
pub(crate) enum StatView {
    /// Our own table, of the traces in this file
    Own { file: String, trace: Box<TraceFacts>, order: SiteOrder },
    /// The text of `perf kmem stat`, with at most this many call sites
    Perf { lines: Option<usize> },
}

/// In which order people see the call sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SiteOrder {
    /// Those first that keep most at the end
    Live,
    /// In the order of `--sort`
    Asked,
}

/// A call site.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct StatLine {
    #[serde(flatten)]
    pub(crate) stat: SiteStat,
    pub(crate) frag_percent: f64,
    /// An interval, where not all objects were recorded, that contains what all of them allocated; `null` where too
    /// few tell
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_alloc_interval: Option<Option<(u64, u64)>>,
}

impl StatLine {
    fn new(stat: SiteStat) -> Self {
        let frag_percent = fragmentation_percent(stat.bytes_req, stat.bytes_alloc);
        Self { stat, frag_percent, bytes_alloc_interval: None }
    }

    /// Returns the bytes that were allocated and not requested.
    pub(crate) fn waste_bytes(&self) -> u64 {
        self.stat.bytes_alloc.saturating_sub(self.stat.bytes_req)
    }
}

impl StatAnswer {
    /// Makes the answer of what was counted.
    pub(crate) fn new(counts: PerfCounts, view: StatView) -> Self {
        let totals = counts.totals;
        Self {
            fleet: None,
            totals,
            net_bytes: totals.bytes_net(),
            wasted_bytes: totals.bytes_wasted(),
            frag_percent: totals.frag_percent(),
            sites: counts.sites.into_iter().map(StatLine::new).collect(),
            one_in: None,
            doubt: None,
            frees_recorded: true,
            remarks: Vec::new(),
            view,
        }
    }

    /// Forgets what only frees tell.
    #[must_use]
    pub(crate) fn without_frees(self) -> Self {
        Self { frees_recorded: false, net_bytes: None, ..self }
    }

    /// Turns the numbers of a portion of the objects into those of all.
    #[must_use]
    pub(crate) fn of_all(mut self, portion: &Recorded) -> Self {
        let times = u64::from(portion.one_in);
        for line in &mut self.sites {
            let stat = &mut line.stat;
            line.bytes_alloc_interval = Some(portion.interval(&stat.callsite, stat.bytes_alloc));
            for number in [
                &mut stat.bytes_alloc,
                &mut stat.bytes_req,
                &mut stat.hit,
                &mut stat.pingpong,
                &mut stat.live_bytes_end,
                &mut stat.live_end,
            ] {
                *number *= times;
            }
        }
        let PerfTotals { bytes_requested, bytes_allocated, bytes_freed, allocs, cross_allocs } =
            &mut self.totals;
        for number in [bytes_requested, bytes_allocated, bytes_freed, allocs, cross_allocs] {
            *number = number.wrapping_mul(times);
        }
        self.net_bytes = self.totals.bytes_net();
        self.wasted_bytes = self.totals.bytes_wasted();
        self.one_in = Some(portion.one_in);
        self
    }
}

impl Answer for StatAnswer {
    const SCHEMA: &'static str = "slablab.stat/1";

    fn document(&self) -> Document {
        match &self.view {
            StatView::Perf { lines } => Document {
                title: "perf kmem stat".to_owned(),
                sections: vec![
                    Section::first("perf", "", vec![Item::Lines(self.perf_lines(*lines))]),
                    Section::data("sites", "Call sites", self.table(&self.sites)),
                ],
                notes: self.remarks.clone(),
                ..Document::default()
            },
            StatView::Own { file, trace, order } => {
                let mut sites = self.sites.clone();
                if *order == SiteOrder::Live && self.frees_recorded {
                    sites.sort_by_key(|line| std::cmp::Reverse(line.stat.live_bytes_end));
                }
                let fleet = self.fleet.as_ref();
                Document {
                    title: format!("Allocations of {file}"),
                    question: "What was allocated, by which call sites, and what was not freed?"
                        .to_owned(),
                    answers: self.sentences(),
                    sections: vec![Section::first(
                        "sites",
                        "",
                        vec![Item::table("Call sites", HOW, self.table(&sites))],
                    )],
                    source: source(file, trace, fleet),
                    notes: self.remarks.clone(),
                    facts: facts(file, trace, fleet),
                    ..Document::default()
                }
            }
        }
    }
}

/// The meaning of the table's columns.
const HOW: &str = "Not freed: what was allocated in the trace and was alive at its end. Waste: bytes allocated and not \
                   requested, of all allocations.";

impl StatAnswer {
    fn sentences(&self) -> Vec<String> {
        let PerfTotals { bytes_allocated, allocs, cross_allocs, .. } = self.totals;
        let bytes = |n: u64| human(n as f64, "B");
        let mut sentences = Vec::new();
        sentences.extend(self.one_in.map(|one_in| {
            format!(
                "The objects of 1 in {one_in} blocks of memory were recorded: these are the numbers of all, with the \
                 95 % interval of what was allocated. A call site of few blocks has no interval (-)."
            )
        }));
        sentences.push(format!(
            "{} of {} at {}.",
            counted(allocs, "allocation"),
            bytes(bytes_allocated),
            counted(self.sites.len() as u64, "call site"),
        ));
        let most = |read: fn(&StatLine) -> u64| {
            self.sites.iter().rev().max_by_key(|line| read(line)).filter(|line| read(line) > 0)
        };
        let live: u64 = self.sites.iter().map(|line| line.stat.live_bytes_end).sum();
        sentences.push(match most(|line| line.stat.live_bytes_end) {
            _ if !self.frees_recorded => {
                "Frees were not recorded: nothing tells what of it is still there.".to_owned()
            }
            None if allocs == 0 => "No allocation was recorded.".to_owned(),
            None => "All of it was freed.".to_owned(),
            Some(line) => format!(
                "{} of it was not freed, most at {}: {} in {}.",
                bytes(live),
                line.stat.callsite,
                bytes(line.stat.live_bytes_end),
                counted(line.stat.live_end, "object")
            ),
        });
        sentences.extend(self.doubt.clone().filter(|_| self.frees_recorded));
        sentences.extend(most(StatLine::waste_bytes).map(|line| {
            format!(
                "{} ({:.1} %) was allocated and not requested, most at {}: {}.",
                bytes(self.wasted_bytes),
                self.frag_percent,
                line.stat.callsite,
                bytes(line.waste_bytes())
            )
        }));
        if cross_allocs > 0 {
            sentences.push(format!(
                "{} asked for memory of another NUMA node than their CPU's.",
                counted(cross_allocs, "allocation")
            ));
        }
        sentences
    }

    fn table(&self, lines: &[StatLine]) -> Table {
        let is_known = self.frees_recorded;
        let mut fields = vec![
            field::name("call site", "callsite", |line: &StatLine| &line.stat.callsite),
            field::by("not freed", "live_bytes_end", move |line: &StatLine| match is_known {
                true => Cell::Bytes(line.stat.live_bytes_end),
                false => Cell::Missing,
            }),
            field::by("objects", "live_end", move |line: &StatLine| match is_known {
                true => Cell::Count(line.stat.live_end),
                false => Cell::Missing,
            })
            .where_room(),
            field::bytes("allocated", "bytes_alloc", |line| line.stat.bytes_alloc),
            field::bytes("requested", "bytes_req", |line: &StatLine| line.stat.bytes_req).on_page(),
            field::count("allocs", "hit", |line| line.stat.hit),
            field::bytes("waste", "waste_bytes", StatLine::waste_bytes),
            field::count("freed on another CPU", "pingpong", |line: &StatLine| line.stat.pingpong)
                .on_page(),
            field::cell("waste, %", "frag_percent", |line: &StatLine| {
                Cell::Number(line.frag_percent, 6)
            })
            .as_data(),
        ];
        if self.one_in.is_some() {
            fields.extend([
                field::cell("allocated, low", "bytes_alloc_low", |line: &StatLine| {
                    bound(line, |(low, _)| low)
                }),
                field::cell("high", "bytes_alloc_high", |line: &StatLine| {
                    bound(line, |(_, high)| high)
                }),
            ]);
        }
        Table::of_fields(lines, fields)
    }

    /// Returns perf's text: the same columns, widths and words, so that eyes and scripts find their way.
    fn perf_lines(&self, lines_max: Option<usize>) -> Vec<String> {
        let rule = "-".repeat(105);
        let shown = &self.sites[..lines_max.unwrap_or(usize::MAX).min(self.sites.len())];
        let mut lines = vec![
            rule.clone(),
            format!(
                " {:<34} | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag",
                "Callsite"
            ),
            rule.clone(),
        ];
        lines.extend(shown.iter().map(|StatLine { stat, frag_percent, .. }| {
            let hits = stat.hit.max(1);
            format!(
                " {:<34} | {:>9}/{:<5} | {:>9}/{:<5} | {:>8} | {:>9} | {:6.3}%",
                stat.callsite,
                stat.bytes_alloc,
                stat.bytes_alloc / hits,
                stat.bytes_req,
                stat.bytes_req / hits,
                stat.hit,
                stat.pingpong,
                frag_percent
            )
        }));
        if shown.len() < self.sites.len() {
            let dots = ["...".to_owned(), format!("{:<15}", "...")];
            lines.push(format!(
                " {:<34} | {} | {} | {:<8} | {:<9} | ...",
                dots[0], dots[1], dots[1], "...", "..."
            ));
        }
        let totals = &self.totals;
        lines.extend([
            rule,
            String::new(),
            "SUMMARY (SLAB allocator)".to_owned(),
            "========================".to_owned(),
            format!("Total bytes requested: {}", totals.bytes_requested),
            format!("Total bytes allocated: {}", totals.bytes_allocated),
            format!("Total bytes freed:     {}", totals.bytes_freed),
        ]);
        lines.extend(self.net_bytes.map(|net| format!("Net total bytes allocated: {net}")));
        lines.extend([
            format!("Total bytes wasted on internal fragmentation: {}", self.wasted_bytes),
            format!("Internal fragmentation: {:.6}%", self.frag_percent),
            format!("Cross CPU allocations: {}/{}", totals.cross_allocs, totals.allocs),
        ]);
        lines
    }
}

/// Returns an end of the interval of what a call site allocated.
fn bound(line: &StatLine, end: fn((u64, u64)) -> u64) -> Cell {
    line.bytes_alloc_interval.flatten().map_or(Cell::Missing, |of| Cell::Bytes(end(of)))
}
