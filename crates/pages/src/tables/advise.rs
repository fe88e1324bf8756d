//! An advice: a row a change.

use slablab_replay::{Advice, Change, Layout};
use slablab_report::{Cell, Table, field};

/// Returns the table of changes.
pub fn advice(advice: &[&Advice]) -> Table {
    // The objects of a class are in no one list that code walks.
    let lines = |advice: &&Advice, layout: Layout| match advice.change {
        Change::Dedicate { .. } => Cell::Count(layout.lines_per_walk),
        Change::Class { .. } => Cell::Missing,
    };
    let fields = [
        field::name("call site or class", "subject", |a: &&Advice| &a.subject),
        field::text("change", "change", |a| a.change.to_string()),
        field::bytes("object", "object_bytes", |a| a.object_bytes),
        field::bytes("slot", "class_bytes", |a| a.class_bytes),
        field::count("live, peak", "live_peak", |a| a.live_peak),
        field::cell("saved, peak", "saved_bytes_at_peak", |a| {
            Cell::SignedBytes(a.saved_bytes_at_peak)
        }),
        field::cell("saved, mean", "saved_bytes_mean", |a| Cell::SignedBytes(a.saved_bytes_mean)),
        field::by("lines/walk", "lines_per_walk_before", move |a: &&Advice| lines(a, a.before)),
        field::by("after", "lines_per_walk_after", move |a: &&Advice| lines(a, a.after)),
        field::share("fast path", "fast_share_before", |a| a.fast_share_before),
        field::share("after", "fast_share_after", |a| a.fast_share_after),
        field::text("verdict", "worth", |a| a.worth.to_string()),
    ];
    Table::of(advice, fields)
}
