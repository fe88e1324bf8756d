//! The report of traces in real kernels and in the models of their allocators.

use slablab_replay::{BytesAt, CachePair, Fidelity, PathPair};
use slablab_report::{
    AxisScale, Cell, Column, Document, Item, Lines, Plot, Point, Section, Series, Table, human,
};

/// A trace in a kernel and in its model.
#[derive(Debug)]
pub struct KernelAndModel<'a> {
    /// The trace's file
    pub trace: &'a str,
    /// Which kernel, with which allocator
    pub kernel: String,
    /// What came of it
    pub fidelity: &'a Fidelity,
}

/// Makes the report: both curves on one plot, for each trace and kernel.
#[must_use]
pub fn fidelity(pairs: &[KernelAndModel<'_>]) -> Document {
    Document {
        title: "The same trace in kernels and in their models".to_owned(),
        question: "How far is replay from a real kernel that does the same?".to_owned(),
        answers: pairs.iter().map(answer).collect(),
        sections: pairs.iter().map(section).collect(),
        facts: Vec::new(),
        ..Document::default()
    }
}

fn answer(pair: &KernelAndModel<'_>) -> String {
    let (median, most) = pair.fidelity.off_shares();
    let (median, most) = (median * 100.0, most * 100.0);
    let end = pair.fidelity.moments.last();
    let end = end.map_or(0, |end| end.kernel_bytes) as f64;
    format!(
        "{}, {}: {} in slabs at the end; the model is off by {median:.1} % (median of {} moments), {most:.1} % at most.",
        pair.trace,
        pair.kernel,
        human(end, "B"),
        pair.fidelity.moments.len()
    )
}

fn section(pair: &KernelAndModel<'_>) -> Section {
    let line = |name: &str, bytes: fn(&BytesAt) -> u64| Series {
        name: name.to_owned(),
        points: pair
            .fidelity
            .moments
            .iter()
            .map(|at| Point { x: at.time_ns as f64, y: bytes(at) as f64, spread: None })
            .collect(),
    };
    let lines = Lines {
        x: ("time in the trace".to_owned(), "ns".to_owned()),
        y: ("memory in slabs".to_owned(), "B".to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::FromZero,
        series: vec![line("kernel", |at| at.kernel_bytes), line("model", |at| at.model_bytes)],
    };
    let how = "Bytes in slabs after the same events, in the kernel (/proc/slabinfo, or Slab in /proc/meminfo where caches \
               share pages) and in the model.";
    let mut items = vec![Plot::new("Memory in slabs over time", how, lines).into()];
    if !pair.fidelity.caches.is_empty() {
        let how = "At the end, those that differ most first; and the most by which the two differ at any moment.";
        items.push(Item::table("Slabs of each cache", how, caches(&pair.fidelity.caches)));
    }
    if !pair.fidelity.paths.is_empty() {
        let how = "How often each path was taken, summed over the caches, where the kernel counts (CONFIG_SLUB_STATS).";
        items.push(Item::table("Paths", how, paths(&pair.fidelity.paths)));
    }
    Section::new(
        format!("{}, {}", pair.trace, pair.kernel),
        "The kernel module slabreplay does the events in the trace's order, each on its CPU, in caches of its own that \
         are merged with none; the model does the same.",
        items,
    )
}

/// Returns the table of caches, for a terminal as well.
#[must_use]
pub fn caches<'a>(pairs: impl IntoIterator<Item = &'a CachePair>) -> Table {
    let mut table = Table::new([
        Column::name("cache", "cache"),
        Column::number("slabs at the end: kernel", "kernel_slabs"),
        Column::number("model", "model_slabs"),
        Column::number("bytes: kernel", "kernel_bytes"),
        Column::number("model", "model_bytes"),
        Column::number("slabs off, most", "off_slabs_max"),
    ]);
    for pair in pairs {
        table.row([
            Cell::text(&pair.cache),
            Cell::Count(pair.kernel_slabs),
            Cell::Count(pair.model_slabs),
            Cell::Bytes(pair.kernel_bytes),
            Cell::Bytes(pair.model_bytes),
            Cell::Count(pair.off_slabs_max),
        ]);
    }
    table
}

/// Returns the table of paths, for a terminal as well.
#[must_use]
pub fn paths<'a>(pairs: impl IntoIterator<Item = &'a PathPair>) -> Table {
    let mut table = Table::new([
        Column::name("path", "path"),
        Column::number("kernel", "kernel"),
        Column::number("model", "model"),
        Column::number("off by", "off_share"),
    ]);
    for pair in pairs {
        table.row([
            Cell::text(&pair.path),
            Cell::Count(pair.kernel),
            Cell::Count(pair.model),
            Cell::Share(pair.off_share()),
        ]);
    }
    table
}
