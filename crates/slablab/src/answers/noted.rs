//! Call sites that are worth reading for another reason than a cache of their own.

use slablab_replay::{AdviceList, NotedSite};
use slablab_report::{Cell, Item, Section, Table, field};

/// Returns the sections of call sites that are worth reading for another reason than a cache of their own.
pub(super) fn noted(list: &AdviceList) -> [Section; 3] {
    let table =
        |fields, sites: &[NotedSite]| vec![Item::table("", "", Table::of_fields(sites, fields))];
    let sizes = |site: &NotedSite| match site.profile.allocs_of_other_sizes {
        0 => site.profile.sizes.len().to_string(),
        _ => format!("more than {}", site.profile.sizes.len()),
    };
    let site = || field::name("call site", "site", |site: &NotedSite| &site.site);
    let object = || field::bytes("object", "object_bytes", |site: &NotedSite| site.object_bytes);
    let waste = || field::bytes("waste", "waste_bytes", |site: &NotedSite| site.waste_bytes);
    let live = || field::count("live, peak", "live_peak", |site: &NotedSite| site.live_peak);
    let over_class = vec![
        site(),
        object(),
        field::bytes("over by", "over_bytes", |site| site.object_bytes - site.class_bytes_below),
        field::bytes("class below", "class_bytes_below", |site| site.class_bytes_below),
        field::bytes("slot", "class_bytes", |site| site.class_bytes),
        live(),
        waste(),
    ];
    let many_sizes = vec![site(), waste(), live(), field::text("sizes", "sizes", sizes), object()];
    let hot = vec![
        site(),
        field::cell("allocs/s", "allocs_per_second", |site| match site.profile.allocs_per_second {
            // Of a trace of one instant, or less than one in a second.
            0 => Cell::Missing,
            rate => Cell::Count(rate),
        }),
        object(),
        field::share("freed on another CPU", "freed_elsewhere_share", |site| {
            site.profile.freed_elsewhere_share
        }),
        field::share("slow path", "slow_share", |site| site.profile.slow_share),
        field::cell("half live under", "lifetime_ns_p50", |site| {
            match site.profile.lifetime.ended {
                0 => Cell::Missing,
                _ => Cell::Ns(site.profile.lifetime.p50_ns),
            }
        }),
    ];
    [
        Section::named(
            "over-class",
            "A few bytes too large for the class below",
            table(over_class, &list.over_class),
        ),
        Section::named(
            "sizes",
            "Several sizes: further classes (slablab classes) may help, one cache does not",
            table(many_sizes, &list.many_sizes),
        ),
        Section::named(
            "hot",
            "Most often called, however little they hold",
            table(hot, &list.hot),
        )
        .with_method(
            "On the slow path are allocations and frees that take a lock, or change memory that CPUs share.",
        ),
    ]
}
