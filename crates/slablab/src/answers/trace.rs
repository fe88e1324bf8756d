//! What every answer about a trace says of the trace, and of allocators that ran out of memory.

use slablab_replay::{Allocator, TraceFacts};
use slablab_report::{Fact, counted, human};

use crate::output::{duration, thousands};

/// Says where the numbers come from, and how far the trace can be trusted.
pub(crate) fn source(file: &str, trace: &TraceFacts) -> String {
    let command = match trace.command.join(" ") {
        command if command.is_empty() => String::new(),
        command => format!(" ({command})"),
    };
    format!(
        "From {file}: {} in {} on {}, {}{command}. {}",
        counted(trace.events, "event"),
        duration(trace.duration_ns),
        kernel(trace),
        counted(trace.cpus.into(), "CPU"),
        placed(trace)
    )
}

/// Names the recorded kernel.
fn kernel(trace: &TraceFacts) -> String {
    match trace.kernel_release.as_str() {
        "" => "an unnamed kernel".to_owned(),
        release => format!("Linux {release}"),
    }
}

/// Says which share of the events could not be placed, and why.
fn placed(trace: &TraceFacts) -> String {
    let causes = [
        ("lost", trace.lost),
        ("freed without an event", trace.implicit_frees),
        ("frees of older objects", trace.older_frees),
        ("skipped", trace.skipped),
    ];
    let causes = causes.iter().filter(|(_, events)| *events > 0);
    let causes: Vec<_> =
        causes.map(|(cause, events)| format!("{} {cause}", thousands(*events))).collect();
    match causes.is_empty() {
        true => "Every event could be placed.".to_owned(),
        false => format!(
            "{:.2} % of the events could not be placed: {}.",
            trace.unplaced_share * 100.0,
            causes.join(", ")
        ),
    }
}

/// Says what a trace of a sample of pages does not tell.
pub(crate) fn sampled(trace: &TraceFacts) -> Option<String> {
    trace.one_in.map(|one_in| {
        format!(
            "The recording has the objects of 1 in {one_in} pages: all figures are of these, and slabs are emptier than \
             they were."
        )
    })
}

/// Returns what is known of the trace in `file`.
pub(crate) fn facts(file: &str, trace: &TraceFacts) -> Vec<Fact> {
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
        Fact::new("events", thousands(trace.events)),
        Fact::new("lost by the recorder", thousands(trace.lost)),
        Fact::new("freed without an event", thousands(trace.implicit_frees)),
        Fact::new("frees of objects older than the trace", thousands(trace.older_frees)),
        Fact::new(
            "share of events that could not be placed",
            format!("{:.2} %", trace.unplaced_share * 100.0),
        ),
    ];
    facts.retain(|fact| !fact.value.trim().is_empty());
    facts
}

/// Returns an allocator's name, marked with a star where allocations failed.
pub(crate) fn label(allocator: &Allocator) -> String {
    let mark = if allocator.failed > 0 { "*" } else { "" };
    format!("{}{mark}", allocator.allocator)
}

/// Says of each allocator that failed allocations how many, and what that means for its figures.
pub(crate) fn failures<'a>(allocators: impl IntoIterator<Item = &'a Allocator>) -> Vec<String> {
    let failing = allocators.into_iter().filter(|allocator| allocator.failed > 0);
    let sentence = |allocator: &Allocator| {
        format!(
            "* {} failed {}: it served less than the recorded load, so its figures cannot be compared with the others'. \
             If memory ran out, replay with more (--memory).",
            allocator.allocator,
            counted(allocator.failed, "allocation")
        )
    };
    failing.map(sentence).collect()
}
