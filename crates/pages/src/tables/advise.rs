//! An advice: a row a change.

use slablab_replay::{Advice, Change, Layout, NotedSite};
use slablab_report::{Cell, Table, field};

/// Returns the table of changes.
pub fn advice(advice: &[&Advice]) -> Table {
    // The objects of a class are in no one list that code walks; those of a site may be there in no snapshot.
    let lines = |advice: &&Advice, layout: Layout| match advice.change {
        Change::Dedicate { .. } if layout.objects_per_walk > 0 => {
            Cell::Count(layout.lines_per_walk)
        }
        Change::Dedicate { .. } | Change::Class { .. } => Cell::Missing,
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
        field::cell("while loaded", "saved_bytes_loaded", |a| {
            Cell::SignedBytes(a.saved_bytes_loaded)
        }),
        field::bytes("varies by", "saved_bytes_spread", |a| a.saved_bytes_spread),
        field::text("verdict", "worth", |a| a.worth.to_string()),
    ];
    Table::of(advice, fields)
}

/// Returns the table of advice that fits a terminal.
pub fn advice_in_short(advice: &[&Advice]) -> Table {
    let fields = [
        field::name("call site or class", "subject", |a: &&Advice| &a.subject),
        field::text("change", "change", |a| a.change.to_string()),
        field::count("live", "live_peak", |a| a.live_peak),
        field::cell("saved, peak", "saved_bytes_at_peak", |a| {
            Cell::SignedBytes(a.saved_bytes_at_peak)
        }),
        field::cell("mean", "saved_bytes_mean", |a| Cell::SignedBytes(a.saved_bytes_mean)),
        field::text("verdict", "worth", |a| a.worth.to_string()),
    ];
    Table::of(advice, fields)
}

/// Returns the table of call sites that are worth reading for what they waste.
pub fn noted_by_waste(sites: &[NotedSite]) -> Table {
    let sizes = |site: &NotedSite| match site.profile.allocs_of_other_sizes {
        0 => site.profile.sizes.len().to_string(),
        _ => format!("more than {}", site.profile.sizes.len()),
    };
    let fields = [
        field::name("call site", "site", |site: &NotedSite| &site.site),
        field::bytes("wasted", "waste_bytes", |site| site.waste_bytes),
        field::count("live", "live_peak", |site| site.live_peak),
        field::text("sizes", "sizes", sizes),
        field::bytes("largest", "object_bytes", |site| site.object_bytes),
    ];
    Table::of(sites, fields)
}

/// Returns the table of the call sites that allocate most often.
pub fn noted_by_rate(sites: &[NotedSite]) -> Table {
    let half = |site: &NotedSite| match site.profile.lifetime.ended {
        0 => Cell::Missing,
        _ => Cell::Ns(site.profile.lifetime.p50_ns),
    };
    let fields = [
        field::name("call site", "site", |site: &NotedSite| &site.site),
        field::cell("a second", "allocs_per_second", |site| match site.profile.allocs_per_second {
            // Of a trace of one instant, or less than one in a second.
            0 => Cell::Missing,
            rate => Cell::Count(rate),
        }),
        field::bytes("object", "object_bytes", |site| site.object_bytes),
        field::share("freed by another CPU", "freed_elsewhere_share", |site| {
            site.profile.freed_elsewhere_share
        }),
        field::share("slow path", "slow_share", |site| site.profile.slow_share),
        field::cell("half live under", "lifetime_ns_p50", half),
    ];
    Table::of(sites, fields)
}
