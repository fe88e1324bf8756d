//! The advice on many traces, in every format.

use schemars::JsonSchema;
use serde::Serialize;
use slablab_replay::{FleetAdvice, FleetSite, HOSTS_FOR_INTERVAL};

use super::lines::{self, signed};
use crate::output::{Cell, Page, Report, Table, bytes, field};

/// A page is the least that a cache can save.
const WORTH_BYTES_MIN: i64 = 4096;

/// What `slablab advise` says of many traces.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    allocator: &'static str,
    #[serde(flatten)]
    fleet: FleetAdvice,
    /// What a reader should know
    remarks: Vec<String>,
    #[serde(skip)]
    lines: usize,
}

impl Answer {
    pub(crate) fn new(
        allocator: &'static str,
        fleet: FleetAdvice,
        remarks: Vec<String>,
        lines: usize,
    ) -> Self {
        Self { allocator, fleet, remarks, lines }
    }
}

fn table(sites: &[FleetSite]) -> Table {
    let saved = |n: i64| Cell::text(signed(n));
    let fields = [
        field::name("call site", "site", |site: &FleetSite| &site.site),
        field::by("class", "class_bytes", |site: &FleetSite| {
            Cell::text(site.class_bytes.to_string())
        }),
        field::count("hosts", "hosts", |site| site.hosts),
        field::by("saved", "saved_bytes_at_peak", move |site: &FleetSite| {
            saved(site.saved_bytes_at_peak)
        }),
        field::by("95 % interval", "interval", move |site: &FleetSite| {
            match &site.saved_bytes_at_peak_interval {
                Some(i) => {
                    Cell::text(format!("{} .. {}", signed(i.low as i64), signed(i.high as i64)))
                }
                None => Cell::text(format!("under {HOSTS_FOR_INTERVAL} hosts")),
            }
        }),
        field::by("median host", "host_median", move |site: &FleetSite| {
            saved(site.host_saved_bytes_median)
        }),
        field::by("p90", "host_p90", move |site: &FleetSite| saved(site.host_saved_bytes_p90)),
    ];
    Table::of(sites, fields)
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.advise.fleet/1";

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn text(&self, page: &mut Page) {
        let fleet = &self.fleet;
        lines::head(&fleet.fleet, page);
        page.line(format!(
            "{}: {} held at the peaks, all traces together",
            self.allocator,
            bytes(fleet.held_bytes_peak)
        ));
        if fleet.sites_unseen > 0 {
            page.line(format!(
                "{} call sites are not ranked: fewer than 90 % of their frees were seen.",
                fleet.sites_unseen
            ));
        }
        let useful = fleet.sites.iter().filter(|site| site.saved_bytes_at_peak >= WORTH_BYTES_MIN);
        let useful: Vec<FleetSite> = useful.cloned().collect();
        let shown = &useful[..self.lines.min(useful.len())];
        if useful.is_empty() {
            page.heading("No call site saves a page of memory with a cache of its own.");
        } else {
            page.heading("A cache of its own, by memory saved at the peaks");
            page.table(&table(shown));
            page.line("");
            for (at, site) in shown.iter().enumerate() {
                let on =
                    site.most_on.iter().map(|(host, saved)| format!("{host} {}", signed(*saved)));
                let worse = match site.hosts_worse {
                    0 => String::new(),
                    n => format!("; it costs memory on {n}"),
                };
                let on = on.collect::<Vec<_>>().join(", ");
                page.line(format!("{:>2}. {}: most on {on}{worse}", at + 1, site.site));
            }
        }
        lines::remarks(&self.remarks, self.lines, page);
    }

    fn csv(&self) -> Table {
        let sites = &self.fleet.sites;
        let number = |n: i64| Cell::Number(n as f64, 0);
        let fields = [
            field::name("site", "site", |site: &FleetSite| &site.site),
            field::count("class_bytes", "class_bytes", |site| site.class_bytes),
            field::count("object_bytes", "object_bytes", |site| site.object_bytes),
            field::count("traces", "traces", |site| site.traces),
            field::count("hosts", "hosts", |site| site.hosts),
            field::count("allocs", "allocs", |site| site.allocs),
            field::by("saved_bytes_at_peak", "saved_bytes_at_peak", move |site: &FleetSite| {
                number(site.saved_bytes_at_peak)
            }),
            field::by("saved_bytes_mean", "saved_bytes_mean", move |site: &FleetSite| {
                number(site.saved_bytes_mean)
            }),
            field::by("host_median", "host_saved_bytes_median", move |site: &FleetSite| {
                number(site.host_saved_bytes_median)
            }),
            field::by("host_p90", "host_saved_bytes_p90", move |site: &FleetSite| {
                number(site.host_saved_bytes_p90)
            }),
            field::count("hosts_worse", "hosts_worse", |site| site.hosts_worse),
        ];
        Table::of(sites, fields)
    }
}
