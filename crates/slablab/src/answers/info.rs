//! What traces hold, and how far each can be trusted.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use slablab_host::printable;
use slablab_linux::KmallocType;
use slablab_report::{Cell, Document, Fact, Item, Section, Table, counted, field};
use slablab_trace::{
    Kind, Meta, PageKind, Quality, RecordedCache, RecordedKmalloc, SlabSnapshot, TraceReader,
};

use super::growing;
use super::held_table::HeldTable;
use crate::cmd::traces::inputs::{self, Damaged, Input};
use crate::output::{Answer, bytes, duration, thousands};

/// What `slablab info` says of one trace or several.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct InfoAnswer {
    events: u64,
    hosts: u64,
    traces: Vec<TraceRow>,
    /// What a reader should know
    remarks: Vec<String>,
    /// The host's slabs at the begin of the first of several traces and at the end of each, where they tell them
    #[serde(skip_serializing_if = "Option::is_none")]
    slabs: Option<HeldTable>,
    /// Why these are not compared
    #[serde(skip_serializing_if = "Option::is_none")]
    slabs_unknown: Option<String>,
    /// The rest of what one trace says; of several only the rows above are known
    #[serde(flatten)]
    one: Option<TraceInfo>,
}

/// One trace of those that were named.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct TraceRow {
    trace: String,
    host: String,
    date: String,
    kernel_release: String,
    arch: String,
    cpus: u32,
    events: u64,
    duration_ns: u64,
    unplaced_share: f64,
    /// Identity of its content, by which the same recording is found twice among several
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

/// The facts that a trace states about itself.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct TraceInfo {
    trace: String,
    kernel_release: String,
    arch: String,
    build_id: String,
    cpu: String,
    memory_bytes: u64,
    hostname: String,
    cpus: u32,
    nodes: u32,
    recorder: String,
    recorder_version: String,
    source: String,
    command: Vec<String>,
    command_status: Option<i32>,
    start_unix_ns: Option<u64>,
    duration_ns: u64,
    events_by_kind: Vec<(String, u64)>,
    /// Events of pages, which `events` does not count; absent where none was recorded
    #[serde(skip_serializing_if = "Option::is_none")]
    page_events: Option<u64>,
    /// These by kind
    #[serde(skip_serializing_if = "Vec::is_empty")]
    page_events_by_kind: Vec<(String, u64)>,
    /// Frees of pages that were not seen allocated
    #[serde(skip_serializing_if = "Option::is_none")]
    page_frees_older: Option<u64>,
    sites: usize,
    /// Different call stacks
    stacks: usize,
    /// Allocations without a stack, in a trace that has stacks
    allocs_without_stack: u64,
    addresses_stripped: bool,
    /// The features of the recorded kernel that change its slabs, and their states; "not known" where the trace does
    /// not tell
    kernel_has: Vec<(String, String)>,
    /// What was recorded where not everything was
    only: Vec<String>,
    /// Why the recording ended before what was recorded did
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_early: Option<String>,
    /// The functions whose calls a probe recorded, beside the kernel's events
    probes: Vec<String>,
    /// One in this many objects was recorded, where not all were
    #[serde(skip_serializing_if = "Option::is_none")]
    one_in: Option<u32>,
    objects_live_peak: u32,
    /// What the recording lacks, in sentences
    lacks: Vec<String>,
    /// Whether frees were recorded
    has_lifetimes: bool,
    unplaced_share: f64,
    quality: Quality,
    caches: Vec<RecordedCache>,
}

impl InfoAnswer {
    /// Describes one trace.
    pub(crate) fn of_one(trace: &TraceReader) -> Self {
        let (path, meta) = (trace.path(), trace.meta());
        let row = TraceRow::new(path, meta, &inputs::host(path, meta), None);
        Self { one: Some(TraceInfo::new(path, meta)), ..Self::of_rows(vec![row], Vec::new()) }
    }

    /// Describes all traces that `paths` mean.
    pub(crate) fn of_many(paths: &[&Path], damaged: Damaged) -> Result<Self> {
        let inputs = inputs::find(paths, damaged)?;
        let mut slabs = Vec::new();
        let row = |input: &Input| -> Result<TraceRow> {
            let (trace, origin) = (TraceReader::open(&input.path)?, &input.origin);
            slabs.extend(slabs_of(trace.meta()));
            Ok(TraceRow::new(&input.path, trace.meta(), &origin.host, Some(origin.key.clone())))
        };
        let rows = inputs.iter().map(row).collect::<Result<_>>()?;
        let answer = Self::of_rows(rows, inputs::remarks(&inputs));
        Ok(match answer.slabs_between(slabs) {
            Ok(slabs) => Self { slabs, ..answer },
            Err(why) => Self { slabs_unknown: Some(why), ..answer },
        })
    }

    /// Returns what becomes of the slabs from recording to recording of one host, or a sentence that says why that is not
    /// told; nothing of a single trace.
    fn slabs_between(&self, mut slabs: Vec<SlabsOf>) -> Result<Option<HeldTable>, String> {
        let all = self.traces.len();
        if all < 2 {
            return Ok(None);
        }
        if self.hosts > 1 {
            return Err(format!(
                "What grew between them is not told, as they are of {} hosts.",
                self.hosts
            ));
        }
        if slabs.len() < 2 {
            let told =
                if slabs.is_empty() { "none".to_owned() } else { format!("only {}", slabs.len()) };
            return Err(format!(
                "What grew between them cannot be told: {told} of the {all} has the machine's slabinfo of its begin and end, \
                 which `slablab record` keeps."
            ));
        }
        slabs.sort();
        let first = slabs[0][0].clone();
        let ends = slabs.into_iter().map(|[_, end]| end);
        let moments: Vec<(u64, String)> = std::iter::once(first).chain(ends).collect();
        let moments: Vec<(u64, &str)> =
            moments.iter().map(|(at, text)| (*at, text.as_str())).collect();
        HeldTable::of_slabinfo(&moments).map(Some)
    }

    fn of_rows(traces: Vec<TraceRow>, remarks: Vec<String>) -> Self {
        let hosts: BTreeSet<&str> = traces.iter().map(|row| row.host.as_str()).collect();
        let (hosts, events) = (hosts.len() as u64, traces.iter().map(|row| row.events).sum());
        Self { events, hosts, traces, remarks, slabs: None, slabs_unknown: None, one: None }
    }

    fn title(&self) -> String {
        match &self.one {
            Some(one) => one.trace.rsplit('/').next().unwrap_or(&one.trace).to_owned(),
            None => counted(self.traces.len() as u64, "trace"),
        }
    }

    /// Says of many traces how much they hold, and which is the least trustworthy.
    fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![format!(
            "{} of {} hold {}.",
            counted(self.traces.len() as u64, "trace"),
            counted(self.hosts, "host"),
            counted(self.events, "event")
        )];
        if let Some(worst) = by_trust(&self.traces).first().filter(|row| row.unplaced_share > 0.0) {
            let (share, trace) = (worst.unplaced_share * 100.0, &worst.trace);
            sentences.push(format!(
                "The largest share of events that could not be placed is {share:.2} %, in {trace}."
            ));
        }
        sentences.extend(self.slabs.as_ref().and_then(|slabs| slabs.growing().sentence()));
        sentences.extend(self.slabs_unknown.clone());
        sentences
    }
}

impl Answer for InfoAnswer {
    const SCHEMA: &'static str = "slablab.info/1";

    fn document(&self) -> Document {
        let (answers, sections, facts) = match &self.one {
            Some(one) => (one.sentences(self.events), one.sections(), one.facts(self.events)),
            None => {
                let grows = self.slabs.as_ref().map(|slabs| {
                    let table = slabs.growing().table();
                    let table =
                        Item::table("What grew between the recordings", growing::HOW, table);
                    Section::first("growth", "", vec![table])
                });
                let sections = [traces(&self.traces)].into_iter().chain(grows).collect();
                (self.sentences(), sections, Vec::new())
            }
        };
        Document {
            title: self.title(),
            question: "What was recorded, and how far can it be trusted?".to_owned(),
            answers,
            sections,
            notes: self.remarks.clone(),
            facts,
            ..Document::default()
        }
    }
}

impl TraceRow {
    fn new(path: &Path, meta: &Meta, host: &str, key: Option<String>) -> Self {
        Self {
            trace: path.display().to_string(),
            host: host.to_owned(),
            date: inputs::date(path, meta),
            kernel_release: meta.kernel_release.clone(),
            arch: meta.arch.clone(),
            cpus: meta.cpus,
            events: meta.events,
            duration_ns: meta.time_last_ns - meta.time_first_ns,
            unplaced_share: meta.unplaced_share(),
            key,
        }
    }
}

/// A recording's begin and end in milliseconds since 1970, and slabinfo at both.
type SlabsOf = [(u64, String); 2];

/// Returns what a recording tells of the machine's slabs.
fn slabs_of(meta: &Meta) -> Option<SlabsOf> {
    const NS_PER_MS: u64 = 1_000_000;
    let (start, end) = (meta.start_unix_ns? / NS_PER_MS, meta.end_unix_ns? / NS_PER_MS);
    let text = |slabs: &Option<SlabSnapshot>| {
        slabs.as_ref().map(|slabs| slabs.slabinfo.clone()).filter(|text| !text.is_empty())
    };
    Some([(start, text(&meta.slabs_start)?), (end, text(&meta.slabs_end)?)])
}

/// Returns the traces, the least trustworthy first.
fn by_trust(traces: &[TraceRow]) -> Vec<&TraceRow> {
    let mut rows: Vec<_> = traces.iter().collect();
    rows.sort_by(|a, b| b.unplaced_share.total_cmp(&a.unplaced_share));
    rows
}

fn traces(traces: &[TraceRow]) -> Section {
    let fields = [
        field::name("host", "host", |row: &&TraceRow| &row.host),
        field::name("date", "date", |row: &&TraceRow| &row.date).where_room(),
        field::name("kernel", "kernel_release", |row: &&TraceRow| &row.kernel_release).where_room(),
        field::count("events", "events", |row| row.events),
        field::share("unplaced", "unplaced_share", |row| row.unplaced_share),
        field::name("trace", "trace", |row| &row.trace),
    ];
    let how = "Those with the largest share of events that could not be placed stand first.";
    let table = Table::of(&by_trust(traces), fields);
    Section::first("traces", "", vec![Item::table("Traces", how, table)])
}

impl TraceInfo {
    fn new(path: &Path, meta: &Meta) -> Self {
        let mut caches = meta.caches.clone();
        caches.retain(is_used);
        caches.sort_by(|a, b| {
            (b.allocs + b.frees).cmp(&(a.allocs + a.frees)).then(a.name.cmp(&b.name))
        });
        Self {
            trace: path.display().to_string(),
            kernel_release: meta.kernel_release.clone(),
            arch: meta.arch.clone(),
            build_id: meta.build_id.clone(),
            cpu: meta.cpu.clone(),
            memory_bytes: meta.memory_bytes,
            hostname: meta.hostname.clone(),
            cpus: meta.cpus,
            nodes: meta.nodes,
            recorder: meta.recorder.clone(),
            recorder_version: meta.recorder_version.clone(),
            source: meta.source.clone(),
            command: meta.command.clone(),
            command_status: meta.command_status,
            start_unix_ns: meta.start_unix_ns,
            duration_ns: meta.time_last_ns - meta.time_first_ns,
            events_by_kind: events_by_kind(meta),
            page_events: meta.pages.as_ref().map(|pages| pages.events),
            page_events_by_kind: page_events_by_kind(meta),
            page_frees_older: meta.pages.as_ref().map(|pages| pages.older_frees),
            sites: meta.sites.len(),
            stacks: meta.stacks.len(),
            allocs_without_stack: meta.stacks.allocs_without,
            addresses_stripped: meta.addresses_stripped,
            kernel_has: kernel_has(meta),
            ended_early: meta.ended_early.clone(),
            only: meta.only.clone(),
            probes: meta.probes.clone(),
            one_in: meta.portion.as_ref().map(|portion| portion.one_in),
            objects_live_peak: meta.object_slots,
            lacks: meta.lacks(),
            has_lifetimes: meta.lacks_lifetimes().is_none(),
            unplaced_share: meta.unplaced_share(),
            quality: meta.quality.clone(),
            caches,
        }
    }

    /// Says how far the trace can be trusted, what it holds and whose it is.
    fn sentences(&self, events: u64) -> Vec<String> {
        let mut sentences = Vec::new();
        let lost = self.quality.lost_total();
        if lost > 0 {
            let least = if self.quality.gaps_uncounted > 0 { "At least " } else { "" };
            let lost = counted(lost, "event");
            sentences.push(format!("{least}{lost} were lost before they could be stored."));
        }
        sentences.extend(self.lacks.iter().cloned());
        // What is not there cannot be placed, and all else can.
        if self.lacks.is_empty() || self.unplaced_share > 0.0 {
            sentences.push(format!(
                "{:.2} % of the events could not be placed.",
                self.unplaced_share * 100.0
            ));
        }
        sentences.push(format!(
            "The trace has {} in {} from {}{}.",
            counted(events, "event"),
            duration(self.duration_ns),
            counted(self.sites as u64, "call site"),
            match self.has_lifetimes {
                true => {
                    let peak = u64::from(self.objects_live_peak);
                    let were = if peak == 1 { "was" } else { "were" };
                    format!("; at most {} {were} alive", counted(peak, "object"))
                }
                false => String::new(),
            }
        ));
        sentences.extend(self.page_events.map(|events| {
            format!("It has {} beside (`slablab stat --pages`).", counted(events, "page event"))
        }));
        sentences.push(self.origin());
        sentences.extend(self.part());
        let early = self.ended_early.iter();
        sentences
            .extend(early.map(|why| format!("The recording ended early: {}.", printable(why))));
        sentences
    }

    /// Says which kernel, machine, recorder and command it is from.
    fn origin(&self) -> String {
        let kernel = match self.kernel_release.as_str() {
            "" => "a kernel that the recording does not name".to_owned(),
            release => format!("Linux {release} {}", self.arch).trim_end().to_owned(),
        };
        let recorder = match self.recorder.as_str() {
            "" => String::new(),
            name => format!(" by {}", format!("{name} {}", self.recorder_version).trim_end()),
        };
        let command = match self.command.join(" ") {
            command if command.is_empty() => String::new(),
            command => format!(" while it ran: {command}"),
        };
        format!("It was recorded{recorder} on {kernel}, {}{command}.", self.machine())
    }

    /// Says which part was recorded, where it is not all.
    fn part(&self) -> Option<String> {
        let portion =
            self.one_in.map(|one_in| format!("the objects of 1 in {one_in} blocks of memory"));
        let only: Vec<_> = portion.into_iter().chain(self.only.iter().cloned()).collect();
        (!only.is_empty()).then(|| format!("Only these were recorded: {}.", only.join(", ")))
    }

    /// Says how large the recorded machine is.
    fn machine(&self) -> String {
        let mut words = format!(
            "{} on {}",
            counted(self.cpus.into(), "CPU"),
            counted(self.nodes.into(), "NUMA node")
        );
        if self.memory_bytes > 0 {
            words += &format!(" with {}", bytes(self.memory_bytes));
        }
        words
    }

    fn sections(&self) -> Vec<Section> {
        let counts = |rows: &[(String, u64)], head: &str| {
            let fields = [
                field::name(head, head, |(name, _): &(String, u64)| name),
                field::count("events", "events", |(_, events)| *events),
            ];
            Table::of(rows, fields)
        };
        let causes = counts(&causes(&self.quality), "cause");
        let mut kinds = self.events_by_kind.clone();
        kinds.extend(self.page_events_by_kind.iter().cloned());
        let kinds = counts(&kinds, "kind");
        let features = [
            field::name("feature", "feature", |(what, _): &(String, String)| what),
            field::name("state", "state", |(_, state)| state),
        ];
        let features = Table::of(&self.kernel_has, features);
        let how = "Why an event could not be placed, or is doubted.";
        vec![
            Section::first("caches", "", vec![Item::table("Caches", "", self.caches())]),
            Section::first("causes", "", vec![Item::table("Quality", how, causes)]),
            Section::named("kinds", "", vec![Item::table("Events by kind", "", kinds)]),
            Section::named("kernel", "", vec![Item::table("What changes slabs", "", features)]),
        ]
    }

    fn facts(&self, events: u64) -> Vec<Fact> {
        let status = match self.command_status {
            None | Some(0) => String::new(),
            Some(status) => format!(" (exit status {status})"),
        };
        let addresses =
            if self.addresses_stripped { "stripped" } else { "of call sites are in the trace" };
        let mut facts = vec![
            Fact::new("trace", &self.trace),
            Fact::new("kernel", format!("{} {}", self.kernel_release, self.arch)),
            Fact::new("build id", &self.build_id),
            Fact::new("machine", format!("{} {}", self.machine(), self.cpu)),
            Fact::new("host", &self.hostname),
            Fact::new("recorder", format!("{} {}", self.recorder, self.recorder_version)),
            Fact::new("source", &self.source),
            Fact::new("command", self.command.join(" ") + &status),
            Fact::new("duration", duration(self.duration_ns)),
            Fact::new("events", thousands(events)),
            Fact::new("only", self.only.join(", ")),
            Fact::new("probes", self.probes.join(", ")),
            Fact::new("addresses", addresses),
        ];
        facts.retain(|fact| !fact.value.trim().is_empty());
        facts
    }

    fn caches(&self) -> Table {
        let fields = [
            field::name("cache", "cache", |cache: &RecordedCache| &cache.name),
            field::count("allocs", "allocs", |cache| cache.allocs),
            field::count("frees", "frees", |cache| cache.frees),
            field::cell("frees seen", "frees_seen_share", |cache| {
                cache.frees_seen_share().map_or(Cell::Missing, Cell::Share)
            }),
            field::count("implicit", "implicit_frees", |cache: &RecordedCache| {
                cache.implicit_frees
            })
            .where_room(),
            field::count("estimated", "estimated_frees", |cache: &RecordedCache| {
                cache.estimated_frees
            })
            .where_room(),
            field::count("older frees", "older_frees", |cache: &RecordedCache| cache.older_frees)
                .where_room(),
            field::count("name inferred", "inferred", |cache: &RecordedCache| cache.inferred)
                .where_room(),
            field::text("shared with", "aliases", others).where_room(),
        ];
        Table::of(&self.caches, fields)
    }
}

/// The state of a feature that a trace does not tell.
const NOT_KNOWN: &str = "not known";

/// Says which features that change slabs the recorded kernel has, by the names of its caches and its configuration.
fn kernel_has(meta: &Meta) -> Vec<(String, String)> {
    let kmalloc = RecordedKmalloc::of(meta);
    let by_names = |state: String| {
        if kmalloc.types.is_empty() { NOT_KNOWN.to_owned() } else { state }
    };
    let has = |kind| by_names(if kmalloc.types.contains(&kind) { "on" } else { "off" }.to_owned());
    let copies = match kmalloc.copies {
        0 | 1 => "off".to_owned(),
        copies => format!("{copies} copies of each cache ({}NN)", kmalloc.copies_prefix),
    };
    let set = |symbol: &str| meta.config.get(symbol).map(String::as_str);
    let profiling = match (set("vm.mem_profiling"), set("CONFIG_MEM_ALLOC_PROFILING")) {
        (Some("0"), _) | (None, Some("n")) => "off",
        (Some(_), _) => "on",
        (None, _) => NOT_KNOWN,
    };
    [
        ("kmalloc partitions", by_names(copies)),
        ("no-objext caches", has(KmallocType::NoObjExt)),
        ("accounting by control group", has(KmallocType::Cgroup)),
        ("allocation profiling", profiling.to_owned()),
    ]
    .map(|(what, state)| (what.to_owned(), state))
    .into()
}

/// Returns how many rows there are of each kind; estimated frees only where there are any.
fn events_by_kind(meta: &Meta) -> Vec<(String, u64)> {
    let known = meta.events_by_kind.iter().fold(0, |sum: u64, events| sum.saturating_add(*events));
    let rest = meta.events.saturating_sub(known);
    let estimated = Some(rest).filter(|frees| *frees > 0);
    let counts = meta.events_by_kind.into_iter().chain(estimated);
    Kind::ALL.iter().zip(counts).map(|(kind, rows)| (kind.name().to_owned(), rows)).collect()
}

/// Returns whether any event is of a cache: a recording of one call site knows the names of others.
fn is_used(cache: &RecordedCache) -> bool {
    let RecordedCache { allocs, frees, implicit_frees, estimated_frees, older_frees, .. } = cache;
    [allocs, frees, implicit_frees, estimated_frees, older_frees].iter().any(|count| **count > 0)
}

/// Returns the other names of a cache that several share.
fn others(cache: &RecordedCache) -> String {
    let others = cache.aliases.iter().filter(|alias| **alias != cache.name);
    others.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Counts the events of pages by kind.
fn page_events_by_kind(meta: &Meta) -> Vec<(String, u64)> {
    let counts = meta
        .pages
        .iter()
        .flat_map(|pages| PageKind::ALL.map(|kind| (kind.name().to_owned(), pages.count(kind))));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Names the events that were lost, and how many gaps the recorder did not count.
fn lost(quality: &Quality) -> String {
    let words = "lost before they could be stored".to_owned();
    match quality.gaps_uncounted {
        0 => words,
        gaps => format!("{words} (at least: {} not counted)", counted(gaps, "gap")),
    }
}

/// Returns every cause for which an event could not be placed or was doubted, with its count.
fn causes(quality: &Quality) -> Vec<(String, u64)> {
    let mut causes = vec![
        (lost(quality), quality.lost_total()),
        ("implicit frees (address given again without a free)".to_owned(), quality.implicit_frees),
        (
            "estimated frees (the kernel had fewer objects in use)".to_owned(),
            quality.estimated_frees,
        ),
        ("frees of objects older than the trace".to_owned(), quality.older_frees),
        ("frees of NULL".to_owned(), quality.null_frees),
        ("allocations that failed".to_owned(), quality.failed_allocs),
        ("allocations of 0 bytes".to_owned(), quality.zero_allocs),
        ("out of time order".to_owned(), quality.disordered),
        ("cache name inferred".to_owned(), quality.caches_inferred),
        ("cache name unknown".to_owned(), quality.caches_unknown),
    ];
    for skipped in &quality.skipped {
        let first = match skipped.first.as_str() {
            "" => String::new(),
            first => format!(" (first at {first})"),
        };
        causes.push((format!("skipped: {}{first}", skipped.reason), skipped.count));
    }
    causes.retain(|(_, events)| *events > 0);
    causes
}
