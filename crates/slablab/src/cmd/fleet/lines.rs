//! The lines and tables that the answers on many traces share.

use slablab_replay::{Allocator, Fleet, OverHosts};
use slablab_report::counted;

use crate::output::{Cell, Page, Table, bytes, field};

/// Says what was added up.
pub(crate) fn head(fleet: &Fleet, page: &mut Page) {
    page.line(format!(
        "{} of {}, {}: {}, {:.1} % of what happened could not be placed",
        counted(fleet.traces, "trace"),
        counted(fleet.hosts.len() as u64, "host"),
        counted(fleet.builds.len() as u64, "kernel"),
        counted(fleet.events, "event"),
        100.0 * fleet.unplaced_share
    ));
}

/// Says what a reader should know, so many lines of it.
pub(crate) fn remarks(remarks: &[String], lines: usize, page: &mut Page) {
    if !remarks.is_empty() {
        page.line("");
        remarks.iter().take(lines).for_each(|remark| page.line(remark));
    }
}

/// Formats bytes that may be fewer than none.
pub(super) fn signed(n: i64) -> String {
    format!("{}{}", if n < 0 { "-" } else { "" }, bytes(n.unsigned_abs()))
}

/// Returns a table of bytes over hosts, a line an allocator, and where they are most.
pub(super) fn over_hosts(allocators: &[Allocator], over: &[OverHosts]) -> Table {
    let rows: Vec<(&Allocator, &OverHosts)> = allocators.iter().zip(over).collect();
    let fields = [
        field::name("allocator", "allocator", |(a, _): &(&Allocator, &OverHosts)| &a.allocator),
        field::cell("all", "all", |(_, over)| Cell::text(signed(over.sum))),
        field::cell("95 % interval", "interval", |(_, over)| match &over.interval {
            Some(i) => Cell::text(format!("{} .. {}", signed(i.low as i64), signed(i.high as i64))),
            None => Cell::text("one host"),
        }),
        field::cell("median host", "median", |(_, over)| Cell::text(signed(over.median))),
        field::cell("p90", "p90", |(_, over)| Cell::text(signed(over.p90))),
        field::cell("most on", "most_on", |(_, over)| match over.most_on.first() {
            Some((host, most)) => Cell::text(format!("{host} {}", signed(*most))),
            None => Cell::Missing,
        }),
    ];
    Table::of(&rows, fields)
}
