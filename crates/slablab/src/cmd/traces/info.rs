//! `slablab info` on many traces: whose they are, what they hold, and how far each can be trusted.

use std::path::Path;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_report::counted;
use slablab_trace::TraceReader;

use super::{inputs, lines};
use crate::output::{Page, Report, Table, field};

/// What `slablab info` says of many traces.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    events: u64,
    hosts: u64,
    traces: Vec<Row>,
    /// What a reader should know
    remarks: Vec<String>,
    #[serde(skip)]
    lines: usize,
}

/// One trace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Row {
    trace: String,
    host: String,
    date: String,
    kernel_release: String,
    arch: String,
    cpus: u32,
    events: u64,
    duration_ns: u64,
    unplaced_share: f64,
    /// Identity of its content
    key: String,
}

/// Describes all traces that `paths` mean, and shows `lines` of them, the least trustworthy first.
pub(crate) fn of_many(paths: &[&Path], damaged: inputs::Damaged, lines: usize) -> Result<Answer> {
    let inputs = inputs::find(paths, damaged)?;
    let row = |input: &inputs::Input| -> Result<Row> {
        let trace = TraceReader::open(&input.path)?;
        let meta = trace.meta();
        Ok(Row {
            trace: input.path.display().to_string(),
            host: input.origin.host.clone(),
            date: inputs::date(&input.path, meta),
            kernel_release: meta.kernel_release.clone(),
            arch: meta.arch.clone(),
            cpus: meta.cpus,
            events: meta.events,
            duration_ns: meta.time_last_ns - meta.time_first_ns,
            unplaced_share: meta.unplaced_share(),
            key: input.origin.key.clone(),
        })
    };
    let traces: Vec<Row> = inputs.iter().map(row).collect::<Result<_>>()?;
    let hosts: std::collections::BTreeSet<&str> =
        traces.iter().map(|row| row.host.as_str()).collect();
    Ok(Answer {
        events: traces.iter().map(|row| row.events).sum(),
        hosts: hosts.len() as u64,
        remarks: inputs::remarks(&inputs),
        traces,
        lines,
    })
}

fn table(rows: &[Row]) -> Table {
    let fields = [
        field::name("host", "host", |row: &Row| &row.host),
        field::name("date", "date", |row| &row.date),
        field::name("kernel", "kernel_release", |row| &row.kernel_release),
        field::count("events", "events", |row| row.events),
        field::share("unplaced", "unplaced_share", |row| row.unplaced_share),
        field::name("trace", "trace", |row| &row.trace),
    ];
    Table::of(rows, fields)
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.info.fleet/1";

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn text(&self, page: &mut Page) {
        page.line(format!(
            "{} of {}, {}",
            counted(self.traces.len() as u64, "trace"),
            counted(self.hosts, "host"),
            counted(self.events, "event")
        ));
        let mut worst = self.traces.clone();
        worst.sort_by(|a, b| b.unplaced_share.total_cmp(&a.unplaced_share));
        worst.truncate(self.lines);
        page.heading("Those with the largest share of events that could not be placed");
        page.table(&table(&worst));
        lines::remarks(&self.remarks, self.lines, page);
    }

    fn csv(&self) -> Table {
        table(&self.traces)
    }
}
