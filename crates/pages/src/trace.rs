//! What every page about a trace says: where the trace is from, and what a call site wastes.

use slablab_replay::{Site, TraceFacts};
use slablab_report::{Fact, counted, human};

/// Returns what is known of the trace in `file`: where it is from, and how far it can be trusted.
pub(crate) fn facts(trace: &TraceFacts, file: &str) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("trace", file),
        Fact::new("recorded kernel", &trace.kernel_release),
        Fact::new(
            "recorded machine",
            format!(
                "{}, {}",
                counted(trace.cpus.into(), "CPU"),
                counted(trace.nodes.into(), "NUMA node")
            ),
        ),
        Fact::new("recorded command", trace.command.join(" ")),
        Fact::new("length", human(trace.duration_ns as f64, "ns")),
        Fact::new("events", human(trace.events as f64, "")),
        Fact::new("lost by the recorder", human(trace.lost as f64, "")),
        Fact::new("freed without an event", human(trace.implicit_frees as f64, "")),
        Fact::new("frees of objects older than the trace", human(trace.older_frees as f64, "")),
        Fact::new(
            "share of events that could not be placed",
            format!("{:.2} %", trace.unplaced_share * 100.0),
        ),
    ];
    facts.retain(|fact| !fact.value.trim().is_empty());
    facts
}

/// Returns the most bytes that a site wasted at once, under the first allocator.
pub(crate) fn waste(site: &Site) -> u64 {
    site.under.first().map_or(0, |under| under.waste_bytes_peak)
}
