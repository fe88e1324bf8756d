//! `slablab info`: what a trace holds, and how far it can be trusted.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_linux::KmallocType;
use slablab_report::counted;
use slablab_trace::{Kind, Meta, Quality, RecordedCache, RecordedKmalloc};

use super::filter::FilterArgs;
use super::fleet;
use super::fleet::args::{DamagedArgs, FILTERS, refuse};
use super::import::{self, Opened};
use super::question::check_outputs;
use super::snapshot;
use crate::cli::{OutputArgs, ResultFile};
use crate::output::{Cell, Page, Report, Table, bytes, duration, field, print, thousands};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The trace, a recording that can be imported, or snapshots of /proc/slabinfo or allocinfo; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Further traces, or folders and patterns of them: a line for each
    #[arg(value_name = "TRACES")]
    further: Vec<PathBuf>,
    /// Show this many caches, those with the most events first; or traces
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    lines: usize,
    #[command(flatten)]
    damaged: DamagedArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    result: ResultFile,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let file = args.result.output.as_deref();
    let further = args.further.iter().map(PathBuf::as_path);
    let paths: Vec<&Path> = [args.trace.as_path()].into_iter().chain(further).collect();
    check_outputs(&paths, [("--output", args.result.output.as_ref())])?;
    if fleet::inputs::are_several(&paths) {
        refuse(&[(FILTERS, !args.filter.is_empty())])?;
        print(&fleet::info::of_many(&paths, args.damaged.policy(), args.lines)?, output, file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let trace = match import::open_any(&args.trace, &args.filter)? {
        Opened::Trace(trace) => trace,
        Opened::Snapshots(snapshots) => {
            snapshot::info(&args.trace, &snapshots, args.lines, output, file)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let info = Info::new(trace.path().display().to_string(), trace.meta(), args.lines);
    print(&info, output, file)?;
    Ok(ExitCode::SUCCESS)
}

/// The state of what a trace does not tell.
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

/// What `slablab info` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Info {
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
    events: u64,
    events_by_kind: Vec<(String, u64)>,
    sites: usize,
    addresses_stripped: bool,
    /// What the recorded kernel has of what changes its slabs, and its state; "not known" where the trace does not tell
    kernel_has: Vec<(String, String)>,
    /// What was recorded where not everything was
    only: Vec<String>,
    /// The functions whose calls a probe recorded, beside the kernel's events
    probes: Vec<String>,
    /// One in so many objects was recorded, where not all were
    #[serde(skip_serializing_if = "Option::is_none")]
    one_in: Option<u32>,
    objects_live_peak: u32,
    unplaced_share: f64,
    quality: Quality,
    caches: Vec<RecordedCache>,
    #[serde(skip)]
    lines: usize,
}

impl Info {
    fn new(trace: String, meta: &Meta, lines: usize) -> Self {
        let mut caches = meta.caches.clone();
        caches.retain(is_used);
        caches.sort_by(|a, b| {
            (b.allocs + b.frees).cmp(&(a.allocs + a.frees)).then(a.name.cmp(&b.name))
        });
        Self {
            trace,
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
            events: meta.events,
            events_by_kind: events_by_kind(meta),
            sites: meta.sites.len(),
            addresses_stripped: meta.addresses_stripped,
            kernel_has: kernel_has(meta),
            only: meta.only.clone(),
            probes: meta.probes.clone(),
            one_in: meta.portion.as_ref().map(|portion| portion.one_in),
            objects_live_peak: meta.object_slots,
            unplaced_share: meta.unplaced_share(),
            quality: meta.quality.clone(),
            caches,
            lines,
        }
    }

    /// Says how large the recorded machine is.
    fn machine(&self) -> String {
        let mut words = format!("{} CPUs on {} node(s)", self.cpus, self.nodes);
        if self.memory_bytes > 0 {
            words += &format!(", {}", bytes(self.memory_bytes));
        }
        if !self.cpu.is_empty() {
            words += &format!(", {}", self.cpu);
        }
        words
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let or_unknown = |text: &str| {
            if text.is_empty() { "not recorded".to_owned() } else { text.to_owned() }
        };
        let mut facts = vec![
            ("trace", self.trace.clone()),
            ("kernel", format!("{} {}", or_unknown(&self.kernel_release), self.arch)),
            ("machine", self.machine()),
            ("recorder", format!("{} {}", or_unknown(&self.recorder), self.recorder_version)),
        ];
        if !self.command.is_empty() {
            let status = match self.command_status {
                None | Some(0) => String::new(),
                Some(status) => format!("  (exit status {status})"),
            };
            facts.push(("command", self.command.join(" ") + &status));
        }
        if !self.build_id.is_empty() {
            facts.insert(2, ("build id", self.build_id.clone()));
        }
        let known = self.kernel_has.iter().filter(|(_, state)| state != NOT_KNOWN);
        let known: Vec<_> = known.map(|(what, state)| format!("{what} {state}")).collect();
        if !known.is_empty() {
            facts.push(("slabs", known.join("; ")));
        }
        facts.push(("duration", duration(self.duration_ns)));
        if !self.only.is_empty() {
            facts.push(("only", self.only.join(", ")));
        }
        if !self.probes.is_empty() {
            facts.push(("probes", self.probes.join(", ")));
        }
        if let Some(one_in) = self.one_in {
            facts.push(("portion", format!("the objects of 1 in {one_in} pages")));
        }
        facts.push((
            "events",
            format!(
                "{} from {} call sites, at most {} objects alive",
                thousands(self.events),
                thousands(self.sites as u64),
                thousands(u64::from(self.objects_live_peak))
            ),
        ));
        let addresses =
            if self.addresses_stripped { "stripped" } else { "of call sites are in the trace" };
        facts.push(("addresses", addresses.to_owned()));
        facts
    }

    fn causes(&self) -> Table {
        let fields = [
            field::name("cause", "cause", |(cause, _): &(String, u64)| cause),
            field::count("events", "events", |(_, events)| *events),
        ];
        Table::of(&causes(&self.quality), fields)
    }

    fn cache_table(&self, lines: usize) -> Table {
        let fields = [
            field::name("cache", "cache", |cache: &RecordedCache| &cache.name),
            field::count("allocs", "allocs", |cache| cache.allocs),
            field::count("frees", "frees", |cache| cache.frees),
            field::count("implicit frees", "implicit_frees", |cache| cache.implicit_frees),
            field::count("estimated", "estimated_frees", |cache| cache.estimated_frees),
            field::cell("frees seen", "frees_seen_share", |cache| {
                cache.frees_seen_share().map_or(Cell::Missing, Cell::Share)
            }),
            field::count("older frees", "older_frees", |cache| cache.older_frees),
            field::count("name inferred", "inferred", |cache| cache.inferred),
            field::text("shared with", "aliases", others),
        ];
        Table::of(&self.caches[..lines.min(self.caches.len())], fields)
    }
}

/// Returns how many rows there are of each kind; estimated frees only where there are any.
fn events_by_kind(meta: &Meta) -> Vec<(String, u64)> {
    let known = meta.events_by_kind.iter().fold(0, |sum: u64, events| sum.saturating_add(*events));
    let rest = meta.events.saturating_sub(known);
    let estimated = Some(rest).filter(|frees| *frees > 0);
    let counts = meta.events_by_kind.into_iter().chain(estimated);
    Kind::ALL.iter().zip(counts).map(|(kind, rows)| (kind.name().to_owned(), rows)).collect()
}

/// Tells whether any event is of a cache: a recording of one call site knows the names of others.
fn is_used(cache: &RecordedCache) -> bool {
    let RecordedCache { allocs, frees, implicit_frees, estimated_frees, older_frees, .. } = cache;
    [allocs, frees, implicit_frees, estimated_frees, older_frees].iter().any(|count| **count > 0)
}

/// Returns the other names of a cache that several share.
fn others(cache: &RecordedCache) -> String {
    let others = cache.aliases.iter().filter(|alias| **alias != cache.name);
    others.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Says what it means that so many events were lost: at least those, where the recording says "some" of them.
fn lost(quality: &Quality) -> String {
    let words = "lost before they could be stored".to_owned();
    match quality.gaps_uncounted {
        0 => words,
        gaps => format!("{words} (at least: nobody counted those of {})", counted(gaps, "gap")),
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
        causes.push((
            format!("skipped: {} (first at {})", skipped.reason, skipped.first),
            skipped.count,
        ));
    }
    causes.retain(|(_, events)| *events > 0);
    causes
}

impl Report for Info {
    const SCHEMA: &'static str = "slablab.info/1";

    fn text(&self, page: &mut Page) {
        for (name, value) in self.facts() {
            page.line(format!("{name:<10}{value}"));
        }
        for (kind, events) in &self.events_by_kind {
            page.line(format!("{:<10}  {:<18}{:>14}", "", kind, thousands(*events)));
        }
        let share = self.unplaced_share * 100.0;
        page.heading(&format!("Quality: {share:.2} % of the events could not be placed"));
        let causes = self.causes();
        if !causes.is_empty() {
            page.table(&causes);
        }
        if !self.caches.is_empty() {
            page.heading("Caches");
            page.table(&self.cache_table(self.lines));
            if self.caches.len() > self.lines {
                page.line(format!("... and {} more (-n)", self.caches.len() - self.lines));
            }
        }
    }

    fn csv(&self) -> Table {
        self.cache_table(usize::MAX)
    }
}
