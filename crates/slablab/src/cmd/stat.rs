//! `slablab stat`: what was allocated by call site, and what was not freed, counted as `perf kmem stat` counts.
//!
//! With `--compat perf` a `perf.data` gives perf's own numbers and text, to the last digit. Without, objects that were
//! freed without an event (bulk frees) count as freed when their address is used again, and allocations that failed,
//! which perf counts as objects at address 0, do not count.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ValueEnum;
use slablab_replay::{
    By, PerfAlloc, PerfCounts, PerfKmem, PerfSite, PerfSum, SiteStat, TraceFacts,
};
use slablab_trace::{Format, Input, Kind, TraceReader};

use super::filter::FilterArgs;
use super::groups::GroupArgs;
use super::import;
use super::memory::MemoryArgs;
use super::question::check_outputs;
use super::traces::args::{ManyArgs, refuse};
use super::traces::{Question, Traces};
use super::{stat_pages, stat_pins};
use crate::answers::groups::{GroupsAnswer, GroupsView, MomentLine, flames};
use crate::answers::stat::{SiteOrder, StatAnswer, StatLine, StatView};
use crate::answers::trace::unseen_frees;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
#[command(mut_arg("lines", |lines| lines.short_alias('l').alias("line")))]
pub(crate) struct Args {
    /// A trace, or what import reads; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    #[command(flatten)]
    many: ManyArgs,
    /// Give the numbers of another tool, to the last digit, as it prints them: perf
    #[arg(long, value_enum, value_name = "TOOL", hide_possible_values = true)]
    compat: Option<Compat>,
    /// Sort by these keys, the first one first: live or growth (what was not freed), waste, frag, hit, bytes, pingpong, callsite
    /// [default: live; of --compat frag,hit,bytes]
    #[arg(
        short,
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "KEY,...",
        hide_possible_values = true
    )]
    sort: Vec<SortKey>,
    /// Count pages instead: who took them, which were not freed (record --pages, perf kmem --page record)
    #[arg(long, conflicts_with_all = ["sort", "raw_ip"])]
    pages: bool,
    /// Say how full slabs are at the end, or --at a moment, and whose objects keep the sparse ones
    #[arg(long, conflicts_with_all = ["sort", "raw_ip", "pages", "compat", "growth"])]
    pins: bool,
    /// Show addresses instead of symbols
    #[arg(long)]
    raw_ip: bool,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    ram: MemoryArgs,
}

/// Tools whose numbers we give.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Compat {
    /// perf kmem --caller stat, from a perf.data
    Perf,
}

/// What to sort by; each key descends, as in perf.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum SortKey {
    /// Bytes that were not freed, by which they grew while it was recorded
    #[value(alias = "growth")]
    Live,
    /// Bytes allocated and not requested
    Waste,
    /// Internal fragmentation
    Frag,
    /// Allocations
    Hit,
    /// Bytes allocated
    Bytes,
    /// Objects freed on another CPU
    Pingpong,
    /// Address of the call site (ascending)
    Callsite,
}

impl SortKey {
    /// As perf sorts.
    const PERF: [Self; 3] = [Self::Frag, Self::Hit, Self::Bytes];

    fn compare(self, a: &StatLine, b: &StatLine) -> Ordering {
        match self {
            Self::Live => b.stat.live_bytes_end.cmp(&a.stat.live_bytes_end),
            Self::Waste => b.waste_bytes().cmp(&a.waste_bytes()),
            Self::Frag => b.frag_percent.total_cmp(&a.frag_percent),
            Self::Hit => b.stat.hit.cmp(&a.stat.hit),
            Self::Bytes => b.stat.bytes_alloc.cmp(&a.stat.bytes_alloc),
            Self::Pingpong => b.stat.pingpong.cmp(&a.stat.pingpong),
            Self::Callsite => a.stat.address.cmp(&b.stat.address),
        }
    }
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    args.ram.keep();
    if args.compat.is_some() && !args.filter.is_empty() {
        bail!(
            "--compat counts all of a perf.data: leave out --time, --cpu, --pid, --comm, --cache and --site"
        );
    }
    if args.pages {
        return of_pages(args, output);
    }
    if args.pins {
        refuse(&[("--pins", args.many.with(&args.trace)?.is_some())])?;
        args.groups.check_of_pins()?;
        check_outputs(&args.many.all(&args.trace), args.answer.outputs())?;
        let answer = stat_pins::of_trace(&args.trace, &args.groups, &args.filter)?;
        give(&answer, output, &args.answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.groups.check()?;
    check_outputs(&args.many.all(&args.trace), args.answer.outputs())?;
    if args.groups.is_given() {
        give(&of_groups(args)?, output, &args.answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut stat = match args.compat {
        Some(Compat::Perf) => {
            refuse(&[("--compat", args.many.with(&args.trace)?.is_some())])?;
            of_perf_data(&args.trace, args)?
        }
        None => of_traces(args)?,
    };
    let keys = if args.sort.is_empty() { &SortKey::PERF[..] } else { &args.sort };
    // Stable, and the sites come in order of address: where all keys are equal, perf's order.
    stat.sites.sort_by(|a, b| {
        keys.iter().map(|key| key.compare(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    });
    give(&stat, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Counts the events of pages.
fn of_pages(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    args.groups.check_of_pages()?;
    check_outputs(&args.many.all(&args.trace), args.answer.outputs())?;
    refuse(&[("--pages", args.many.with(&args.trace)?.is_some())])?;
    match args.compat {
        Some(Compat::Perf) => {
            if args.groups.is_given() || args.groups.moments.is_given() {
                bail!(
                    "--compat gives perf's own tables: leave out --by, --at, --growth and --helper"
                );
            }
            let answer = stat_pages::of_perf_data(&args.trace, args.answer.lines)?;
            give(&answer, output, &args.answer)?;
        }
        None => {
            let answer = stat_pages::of_trace(&args.trace, &args.groups, &args.filter)?;
            give(&answer, output, &args.answer)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Counts one trace, or several and adds up.
fn of_traces(args: &Args) -> Result<StatAnswer> {
    let traces = Traces::open(&args.trace, &args.many, &args.filter)?;
    refuse(&[("--raw-ip", args.raw_ip && traces.one().is_none())])?;
    let portion = traces.one().and_then(|trace| trace.meta().portion.as_ref());
    let question = Question {
        schema: "slablab.stat.trace/2",
        doing: "counting",
        passes: 1,
        ..Question::default()
    };
    let mut facts = TraceFacts::default();
    let mut sum = PerfSum::new(traces.site_names());
    let is_one = traces.one().is_some();
    traces.each(
        &question,
        |trace, progress| {
            if !is_one && trace.meta().portion.is_some() {
                bail!(
                    "holds a portion of the objects: ask for its numbers alone, with their intervals"
                );
            }
            count(trace, args.raw_ip, progress)
        },
        |origin, counts| sum.add(origin, counts),
    )?;
    let (counts, fleet) = sum.finish();
    match (traces.one(), &fleet) {
        (Some(trace), _) => facts = TraceFacts::new(trace.meta()),
        (None, Some(fleet)) => facts.unplaced_share = fleet.unplaced_share,
        (None, None) => {}
    }
    let order = if args.sort.is_empty() { SiteOrder::Live } else { SiteOrder::Asked };
    let view = StatView::Own { file: traces.name(), trace: Box::new(facts), order };
    let remarks = traces.remarks();
    let stat = StatAnswer { fleet, remarks, ..StatAnswer::new(counts, view) };
    let stat = match portion {
        Some(portion) if !args.raw_ip => {
            let doubt = traces.one().and_then(|trace| unseen_frees(trace.meta()));
            StatAnswer { doubt, ..stat.of_all(portion) }
        }
        _ => stat,
    };
    let lacks = |trace: &TraceReader| trace.meta().lacks_lifetimes().is_some();
    let is_lacking = traces.one().is_some_and(lacks)
        || traces.several().iter().any(|input| input.lack.is_some());
    if is_lacking && args.sort.contains(&SortKey::Live) {
        bail!(
            "--sort live: frees were not recorded, and nothing tells what is alive; sort by bytes or waste"
        );
    }
    Ok(if is_lacking { stat.without_frees() } else { stat })
}

/// Counts what was alive, by the groups that are asked for.
fn of_groups(args: &Args) -> Result<GroupsAnswer> {
    let refused = [
        ("--compat", args.compat.is_some()),
        ("--raw-ip", args.raw_ip),
        ("--sort", !args.sort.is_empty()),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, is_given)| *is_given) {
        bail!("{option} does not go with --by, whose groups are sorted by what was alive");
    }
    refuse(&[("--by", args.many.with(&args.trace)?.is_some())])?;
    let (groups, trace) = (&args.groups, import::open(&args.trace, &args.filter)?);
    let (meta, holdings) = (trace.meta(), groups.moments.holdings(&trace)?);
    let labels = groups.labels(&args.trace, meta, &holdings)?;
    let (by, names): (Vec<_>, Vec<_>) = groups.by().into_iter().unzip();
    let times = holdings.times_ns.iter().map(|at| at.saturating_sub(meta.time_first_ns));
    let moments = groups.moments.words().into_iter().zip(times);
    let moments: Vec<_> = moments.map(|(name, time_ns)| MomentLine { name, time_ns }).collect();
    let one_in = meta.portion.as_ref().map(|portion| portion.one_in);
    let is_growth = groups.moments.growth.is_some();
    let view = GroupsView {
        file: args.trace.display().to_string(),
        trace: Box::new(TraceFacts::new(meta)),
        flames: flames(&holdings, &labels, &moments, one_in.unwrap_or(1).into(), is_growth),
        is_growth,
        has_stacks: !meta.stacks.is_empty(),
    };
    let sampled = (one_in, unseen_frees(meta));
    let of = |by: &[By]| slablab_replay::groups(&holdings, &labels, by);
    Ok(GroupsAnswer::new(names, moments, (of(&by), of(&[])), &holdings, sampled, view))
}

/// Counts as perf does.
fn of_perf_data(path: &Path, args: &Args) -> Result<StatAnswer> {
    let input = Input::open(path)?;
    if input.is_parquet() {
        bail!(
            "{}: a trace holds no addresses, and perf counts by address; give the perf.data that it was \
             imported from, or leave out --compat",
            path.display()
        );
    }
    let mut source = slablab_trace::read_raw(input, Some(Format::PerfData))?;
    let mut perf = PerfKmem::default();
    let mut progress = Progress::default();
    let mut events = Vec::new();
    loop {
        events.clear();
        if !source.read(&mut events)? {
            break;
        }
        progress.step(source.facts().progress());
        let sites = &source.facts().names.sites;
        for event in events.iter().filter(|event| event.page.is_none()) {
            if event.kind.is_alloc() {
                perf.alloc(&PerfAlloc {
                    call_site: sites.get(event.site as usize).map_or(0, |site| site.address),
                    ptr: event.ptr,
                    bytes_req: event.bytes_req,
                    bytes_alloc: event.bytes_alloc,
                    cpu: event.cpu,
                    node: event.node,
                });
            } else {
                perf.free(event.ptr, event.cpu);
            }
        }
    }
    let symbols = &source.facts().symbols;
    let name = |address: u64| match args.raw_ip {
        true => format!("{address:#x}"),
        false => symbols.perf_name(address),
    };
    let counts = named(&perf, |address| (name(address), address));
    Ok(StatAnswer::new(counts, StatView::Perf { lines: args.answer.lines }))
}

/// Counts by object slot, so that an implicit free is a free. A failed allocation and a free of NULL are not objects, and
/// do not count. `progress` gets the rows done so far.
fn count(reader: &TraceReader, raw_ip: bool, progress: &mut dyn FnMut(u64)) -> Result<PerfCounts> {
    let meta = reader.meta();
    let mut perf = PerfKmem::default().with_whole_sizes();
    let mut done = 0;
    for batch in reader.batches() {
        let batch = batch?;
        for event in batch.events().filter(|event| event.object != slablab_trace::NONE) {
            let ptr = u64::from(event.object);
            match event.kind {
                Kind::Kmalloc | Kind::KmemCacheAlloc => perf.alloc(&PerfAlloc {
                    call_site: u64::from(event.site),
                    ptr,
                    bytes_req: event.bytes_req,
                    bytes_alloc: event.bytes_alloc,
                    cpu: u32::from(event.cpu),
                    node: i32::from(event.node),
                }),
                Kind::Kfree | Kind::KmemCacheFree => perf.free(ptr, u32::from(event.cpu)),
                Kind::ImplicitFree | Kind::EstimatedFree => perf.free_unseen(ptr),
            }
        }
        done += batch.len() as u64;
        progress(done);
    }
    let name = |site: u64| match meta.sites.get(site as usize) {
        Some(site) if raw_ip => (format!("{:#x}", site.address), site.address),
        Some(site) => (site.name.clone(), site.address),
        None => ("(call site not recorded)".to_owned(), u64::MAX),
    };
    let mut counts = named(&perf, name);
    counts.sites.sort_by_key(|site| site.address);
    Ok(counts)
}

/// Returns what was counted; `name` gives the name and the address of a call site.
fn named(perf: &PerfKmem, name: impl Fn(u64) -> (String, u64)) -> PerfCounts {
    let site = |(key, site): (u64, PerfSite)| {
        let (callsite, address) = name(key);
        let PerfSite { bytes_alloc, bytes_req, hit, pingpong, live_end, live_bytes_end } = site;
        let (hit, pingpong) = (hit.into(), pingpong.into());
        SiteStat {
            callsite,
            address,
            bytes_alloc,
            bytes_req,
            hit,
            pingpong,
            live_end,
            live_bytes_end,
        }
    };
    PerfCounts { totals: perf.totals(), sites: perf.sites().map(site).collect() }
}
