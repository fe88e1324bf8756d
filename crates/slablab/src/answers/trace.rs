//! What every answer about traces tells about the traces, about allocators that ran out of memory, and about bytes over
//! time, over hosts and by call site.

use slablab_host::printable;
use slablab_replay::{
    Allocator, Fleet, HOSTS_FOR_INTERVAL, OverHosts, Replay, Sample, Site, TraceFacts,
};
use slablab_report::{
    AxisScale, Cell, Fact, Flame, Item, Lines, Plot, Point, Section, Series, Table, counted, field,
    human,
};
use slablab_trace::Meta;

use crate::output::{duration, thousands};

/// Says where the numbers come from, and how far the traces can be trusted.
pub(crate) fn source(file: &str, trace: &TraceFacts, fleet: Option<&Fleet>) -> String {
    if let Some(fleet) = fleet {
        return format!(
            "From {} of {}, {}: {}. {}",
            counted(fleet.traces, "trace"),
            counted(fleet.hosts.len() as u64, "host"),
            kernels(&fleet.builds),
            counted(fleet.events, "event"),
            placed(trace)
        );
    }
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

/// Says how many kernels there were. One whose build no trace tells may be one of those of its release that are known, and
/// counts only beside none.
fn kernels(builds: &[String]) -> String {
    let is_known =
        |build: &String| builds.iter().any(|other| other.starts_with(&format!("{build} ")));
    let told = builds.iter().filter(|build| !is_known(build)).count();
    let words = counted(told as u64, "kernel");
    if told == builds.len() { words } else { format!("{words}, or more builds of one") }
}

/// Names the recorded kernel.
fn kernel(trace: &TraceFacts) -> String {
    match trace.kernel_release.as_str() {
        "" => "an unnamed kernel".to_owned(),
        release => format!("Linux {release}"),
    }
}

/// Says what the recording lacks, and which share of the events could not be placed, and why.
fn placed(trace: &TraceFacts) -> String {
    if !trace.lacks.is_empty() {
        return trace.lacks.join(" ");
    }
    let causes = [
        ("lost", trace.lost),
        ("freed without an event", trace.implicit_frees.saturating_add(trace.estimated_frees)),
        ("frees of older objects", trace.older_frees),
        ("skipped", trace.skipped),
    ];
    let causes = causes.iter().filter(|(_, events)| *events > 0);
    let causes: Vec<_> =
        causes.map(|(cause, events)| format!("{} {cause}", thousands(*events))).collect();
    let share = trace.unplaced_share * 100.0;
    match causes.is_empty() {
        true if share == 0.0 => "Every event could be placed.".to_owned(),
        // Sums over several traces may lack the causes.
        true => format!("{share:.2} % of the events could not be placed."),
        false => {
            format!("{share:.2} % of the events could not be placed: {}.", causes.join(", "))
        }
    }
}

/// Says what the peaks of several traces are; nothing of one.
pub(crate) fn added_up(fleet: Option<&Fleet>) -> Option<String> {
    let words = "The peaks are those of each trace, added up: they were not at one time.";
    fleet.map(|_| words.to_owned())
}

/// Says what a trace of a sample does not tell.
pub(crate) fn sampled(trace: &TraceFacts) -> Option<String> {
    trace.one_in.map(|one_in| {
        format!(
            "The recording has the objects of 1 in {one_in} blocks of memory: all figures are of these, and slabs are \
             emptier than they were."
        )
    })
}

/// Names the caches whose objects may be gone although a sample counts them: some of their frees have no event, and only a
/// recording of all objects has enough of them for an estimate.
pub(crate) fn unseen_frees(meta: &Meta) -> Option<String> {
    meta.portion.as_ref()?;
    let mut caches: Vec<_> = meta.caches.iter().filter(|cache| cache.has_unseen_frees()).collect();
    caches.sort_by_key(|cache| std::cmp::Reverse(cache.implicit_frees));
    let names: Vec<_> = caches.iter().take(3).map(|cache| printable(&cache.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Many frees of {} have no event, and a sample does not estimate them: what seems to be left of these may be gone. \
             A recording without --sample, or with --stacks=all, tells.",
            names.join(", ")
        )
    })
}

/// Returns what is known of the traces in `file`.
pub(crate) fn facts(file: &str, trace: &TraceFacts, fleet: Option<&Fleet>) -> Vec<Fact> {
    let hosts = fleet.map_or_else(String::new, |fleet| fleet.hosts.join(", "));
    let mut facts = vec![
        Fact::new("trace", file),
        Fact::new("recorded hosts", hosts),
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

/// Says of an allocator that failed allocations with or without a change how many: once, where both failed alike.
pub(crate) fn failures_of_change(before: &Allocator, after: &Allocator) -> Vec<String> {
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

/// Draws memory over time: a line for each name, of what `bytes` reads in each sample.
pub(crate) fn memory_over_time<'a>(
    how: &str,
    lines: impl IntoIterator<Item = (String, &'a Allocator, fn(&Sample) -> u64)>,
) -> Item {
    let series = lines.into_iter().map(|(name, allocator, bytes)| {
        let point = |sample: &Sample| Point {
            x: sample.time_ns as f64,
            y: bytes(sample) as f64,
            spread: None,
        };
        Series { name, points: allocator.series.iter().map(point).collect() }
    });
    let lines = Lines {
        x: ("time in the trace".to_owned(), "ns".to_owned()),
        y: ("memory".to_owned(), "B".to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::FromZero,
        series: series.collect(),
    };
    Plot::new("Memory held over time", how, lines).into()
}

/// Returns the frames of a call site in a flame graph: how it allocates, in which module, and itself.
pub(crate) fn site_frames(site: &Site) -> [&str; 3] {
    let (name, module) = match site.site.split_once(" [") {
        Some((name, module)) => (name, module.trim_end_matches(']')),
        None => (site.site.as_str(), "vmlinux"),
    };
    [cache_name(site), module, name]
}

/// Returns the cache of a call site; that of kmalloc has no name in the trace.
pub(crate) fn cache_name(site: &Site) -> &str {
    if site.cache.is_empty() { "kmalloc" } else { &site.cache }
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
        let waste = site.under.first().map_or(0, |under| under.waste_bytes_peak);
        flame.add(site_frames(site), waste);
    }
    (flame.weight() > 0).then_some(Item::Flame(flame))
}

/// Returns the section of bytes over hosts, a row an allocator; empty where there are none.
pub(crate) fn over_hosts(title: &str, allocators: &[Allocator], over: &[&OverHosts]) -> Section {
    let rows: Vec<(&Allocator, &OverHosts)> = allocators.iter().zip(over.iter().copied()).collect();
    let fields = [
        field::name("allocator", "allocator", |(a, _): &(&Allocator, &OverHosts)| &a.allocator),
        field::cell("all", "all_bytes", |(_, over)| Cell::SignedBytes(over.sum)),
        field::cell("95 % interval", "interval", |(_, over)| match &over.interval {
            Some(i) => Cell::text(format!(
                "{} .. {}",
                Cell::SignedBytes(i.low as i64).short(),
                Cell::SignedBytes(i.high as i64).short()
            )),
            None => Cell::text(format!("under {HOSTS_FOR_INTERVAL} hosts")),
        }),
        field::cell("median host", "median_bytes", |(_, over)| Cell::SignedBytes(over.median)),
        field::cell("p90", "p90_bytes", |(_, over)| Cell::SignedBytes(over.p90)),
        field::cell("most on", "most_on", |(_, over)| match over.most_on.first() {
            Some((host, most)) => {
                Cell::text(format!("{host} {}", Cell::SignedBytes(*most).short()))
            }
            None => Cell::Missing,
        }),
    ];
    let how = "The sum over each host's traces. The interval is that of the sum if the hosts were drawn anew; half and a \
               tenth of the hosts have at least the median and p90.";
    Section::named("hosts", title, vec![Item::table("", how, Table::of(&rows, fields))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_a_build_id_is_no_third_one() {
        let of =
            |builds: &[&str]| kernels(&builds.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["6.1 x86_64"]), "1 kernel");
        assert_eq!(of(&["6.1 x86_64 01", "6.1 x86_64 02"]), "2 kernels");
        assert_eq!(of(&["6.1 x86_64", "6.1 x86_64 01"]), "1 kernel, or more builds of one");
    }

    /// "slub failed 2 allocations" used to stand there twice, and nothing told which of them was with the
    /// change.
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
