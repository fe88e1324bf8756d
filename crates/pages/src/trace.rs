//! What every page about a trace says: where the trace is from, and where its waste is.

use slablab_replay::{Allocator, Replay, Site, TraceFacts};
use slablab_report::{AxisScale, Fact, Flame, Item, Lines, Plot, Point, Series, counted, human};

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

/// Returns the frames of a site in a flame graph: how it allocates, in which module, and itself.
pub(crate) fn site_frames(site: &Site) -> [&str; 3] {
    let (name, module) = match site.site.split_once(" [") {
        Some((name, module)) => (name, module.trim_end_matches(']')),
        None => (site.site.as_str(), "vmlinux"),
    };
    let how = if site.cache.is_empty() { "kmalloc" } else { &site.cache };
    [how, module, name]
}

/// Returns an allocator's name, marked with a star where allocations failed.
pub fn label(allocator: &Allocator) -> String {
    let mark = if allocator.failed > 0 { "*" } else { "" };
    format!("{}{mark}", allocator.allocator)
}

/// Says of each allocator that failed allocations how many, and what that means: a warning to be read before its figures.
pub fn failures<'a>(allocators: impl IntoIterator<Item = &'a Allocator>) -> Vec<String> {
    let failing = allocators.into_iter().filter(|allocator| allocator.failed > 0);
    let sentence = |allocator: &Allocator| {
        format!(
            "* {} failed {}: it served less than the recorded load, so its figures cannot be compared with \
             the others'. If memory ran out, replay with more (--memory).",
            allocator.allocator,
            counted(allocator.failed, "allocation")
        )
    };
    failing.map(sentence).collect()
}

/// Says it of an allocator with and without a change: once, where both failed alike.
pub fn failures_of_change(before: &Allocator, after: &Allocator) -> Vec<String> {
    if before.failed == after.failed {
        return failures([before]);
    }
    let called = |allocator: &Allocator, when: &str| Allocator {
        allocator: format!("{} {when}", allocator.allocator),
        failed: allocator.failed,
        ..Allocator::default()
    };
    failures([&called(before, "as recorded"), &called(after, "with the change")])
}

/// Returns the waste by cache, module and call site; none where nothing is wasted.
pub(crate) fn waste_flame(name: &str, replay: &Replay) -> Option<Item> {
    let allocator = replay.allocators.first().map_or("", |a| a.allocator.as_str());
    let mut flame = Flame::new(
        format!("Bytes wasted at most at once, by call site, {name}, under {allocator}"),
        "B",
        "Internal fragmentation: bytes allocated less bytes requested.",
    );
    for site in &replay.sites {
        flame.add(site_frames(site), waste(site));
    }
    (flame.weight() > 0).then_some(Item::Flame(flame))
}

/// Returns the most bytes that a site wasted at once, under the first allocator.
pub(crate) fn waste(site: &Site) -> u64 {
    site.under.first().map_or(0, |under| under.waste_bytes_peak)
}

/// What a line of memory over time shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SampleKind {
    /// Bytes in pages
    Held,
    /// Bytes that callers asked for
    Requested,
}

/// Makes the plot of memory over time, a line for each name.
pub(crate) fn memory_over_time<'a>(
    how: &str,
    lines: impl Iterator<Item = (String, &'a Allocator, SampleKind)>,
) -> Plot {
    let series = lines.map(|(name, allocator, kind)| {
        let points = allocator.series.iter().map(|sample| {
            let y = match kind {
                SampleKind::Held => sample.held_bytes,
                SampleKind::Requested => sample.requested_bytes,
            };
            Point { x: sample.time_ns as f64, y: y as f64, spread: None }
        });
        Series { name, points: points.collect() }
    });
    let lines = Lines {
        x: ("time in the trace".to_owned(), "ns".to_owned()),
        y: ("memory".to_owned(), "B".to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::FromZero,
        series: series.collect(),
    };
    Plot::new("Memory held over time", how, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "slub failed 2 allocations" stood there twice, and of what was changed nobody knew which was which.
    #[test]
    fn a_change_says_once_what_failed_alike_and_else_which_failed() {
        let failed =
            |failed| Allocator { allocator: "slub".into(), failed, ..Allocator::default() };
        let said = |before, after| failures_of_change(&failed(before), &failed(after));
        assert!(said(0, 0).is_empty());
        assert_eq!(said(2, 2), failures([&failed(2)]));
        let [before, after] = &said(2, 5)[..] else { panic!("two that differ") };
        assert!(before.starts_with("* slub as recorded failed 2 allocations:"), "{before}");
        assert!(after.starts_with("* slub with the change failed 5 allocations:"), "{after}");
        assert_eq!(said(0, 5).len(), 1);
        assert!(said(0, 1)[0].contains(" failed 1 allocation: "));
    }
}
