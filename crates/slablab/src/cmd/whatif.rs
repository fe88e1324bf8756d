//! `slablab whatif`: the same trace with a change, side by side with what was recorded.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use slablab_kmem::BackendKind;
use slablab_linux::Helpers;
use slablab_replay::{
    Accounting, AccountingChange, Changes, Dedicated, Dedication, KernelMerging, ReplayPlan,
    SelectError, Sharing, Site, TraceWhatIf, WhatIf, WhatIfSum, accounting_structures_bytes,
    at_peak, replay, select_sites, sole_sizes, what_if,
};
use slablab_report::counted;
use slablab_trace::{Meta, TraceReader};

use super::aged::AgedArgs;
use super::allocators::{allocator, distinct};
use super::helpers::HelperArgs;
use super::question::QuestionArgs;
use super::size::{asked_memory, parse_bytes};
use super::traces::args::ManyArgs;
use super::traces::{Question, Traces};
use super::tunables::{TunableArgs, tunables};
use crate::answers::whatif::WhatIfAnswer;
use crate::cli::OutputArgs;
use crate::output::{bytes as format_bytes, give};
use crate::progress::Progress;

/// New caches that are described one by one.
const SHOWN_MAX: usize = 20;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "A SITE is a function, a place in it (kstrdup+0x38) or a pattern (nft_*).\n\
                        Tunables: --order, --limit, --batch, --shared, --cpu-partial, --min-partial,\n\
                        --sheaf-capacity, --sheaf-percent, --barn-sheaves, --kmalloc-header.\n\
                        Example: slablab whatif t.parquet --dedicate audit_alloc=audit_context"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    many: ManyArgs,
    /// Simulated memory [default: 16G, more where needed]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Give sites (SITE,...[=NAME]) a cache of their own
    #[arg(long, value_name = "SITES", help_heading = "Changes")]
    dedicate: Vec<String>,
    #[command(flatten, next_help_heading = "Changes")]
    helpers: HelperArgs,
    /// Let the objects of this cache come from kmalloc
    #[arg(long, value_name = "CACHE", help_heading = "Changes")]
    undedicate: Vec<String>,
    /// Give every kmalloc site a cache of its own
    #[arg(long, help_heading = "Changes")]
    per_site: bool,
    /// Replace the kmalloc size classes by these
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', help_heading = "Changes")]
    classes: Option<Vec<u32>>,
    /// Split each kmalloc class into N, by call site
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "Changes")]
    buckets: Option<u32>,
    /// Give the machine pages of 4K, 16K or 64K
    #[arg(long, value_name = "SIZE", value_parser = parse_page_size, help_heading = "Changes")]
    page_size: Option<u32>,
    /// Highest order of a slab (slab_max_order)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=10), help_heading = "Changes")]
    max_order: Option<u8>,
    /// Objects of a slab at least (slab_min_objects)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Changes")]
    min_objects: Option<u32>,
    /// Merge like caches, or new ones if the kernel did
    #[arg(long, conflicts_with = "no_merge", help_heading = "Changes")]
    merge: bool,
    /// Keep new caches apart (SLAB_NO_MERGE), the default
    #[arg(long, help_heading = "Changes", hide = true)]
    no_merge: bool,
    /// Charge no object to a memory cgroup (cgroup.memory=nokmem)
    #[arg(long, help_heading = "Changes")]
    no_memcg: bool,
    /// Count allocations by call site, or do not
    #[arg(long, value_name = "on|off", num_args = 0..=1, require_equals = true, default_missing_value = "on",
          value_parser = parse_switch, help_heading = "Changes")]
    allocinfo: Option<bool>,
    /// Align new caches to this
    #[arg(long, value_name = "BYTES", value_parser = parse_align, help_heading = "Changes")]
    align: Option<u32>,
    #[command(flatten)]
    tunables: TunableArgs,
    #[command(flatten)]
    aged: AgedArgs,
    /// Allocators to replay under [default: as recorded]
    #[arg(short, long, value_delimiter = ',', value_name = "NAME,...", value_parser = allocator(),
          hide_possible_values = true)]
    allocators: Vec<BackendKind>,
}

impl Args {
    /// Returns what is to be accounted, where that is not as recorded.
    fn accounting(&self) -> AccountingChange {
        AccountingChange { memcg: self.no_memcg.then_some(false), profiling: self.allocinfo }
    }

    /// Returns the allocators that are asked about, by default that of the recorded kernel.
    fn allocators(&self, recorded: Option<BackendKind>) -> Vec<BackendKind> {
        match &self.allocators[..] {
            [] => vec![recorded.unwrap_or(BackendKind::Slub)],
            asked => distinct(asked),
        }
    }
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.check_outputs(&args.many.all(question.path()), &[])?;
    let traces = question.open_with(&args.many)?;
    let answer = match traces.one() {
        Some(trace) => of_one(args, &traces, trace)?,
        None => of_several(args, &traces)?,
    };
    give(&answer, output, &question.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Replays one trace with and without the changes.
fn of_one(args: &Args, traces: &Traces<'_>, trace: &TraceReader) -> Result<WhatIfAnswer> {
    let question = &args.question;
    let owned = match args.dedicate.is_empty() {
        true => None,
        false => {
            let sites = args.dedicate.iter().flat_map(|sites| {
                sites.split('=').next().unwrap_or_default().split(',').map(str::to_owned)
            });
            sites.into_iter().try_for_each(|site| args.helpers.refuse_as_site(&site))?;
            args.helpers.owned(trace)?
        }
    };
    let trace = owned.as_ref().unwrap_or(trace);
    let meta = trace.meta();
    let allocators = args.allocators(BackendKind::of_release(&meta.kernel_release));
    let changes = question.with_trace_name(changes(args, &allocators, meta, Absent::Refused))?;
    let sources = question.sources(trace, false)?;
    let (described, apart) = (describe(&changes, meta), apart(args, &changes, meta));
    let dedicated = changes.dedicated.iter().flat_map(|cache| &cache.sites);
    let dedicated: Vec<u32> = dedicated.copied().collect();
    let unsuited = unsuited(trace, &dedicated)?;
    let dedicated: Vec<_> =
        dedicated.into_iter().map(|site| &meta.sites[site as usize].name).collect();
    let plan =
        ReplayPlan { allocators, memory_bytes: args.memory, changes, ..ReplayPlan::default() };
    let slab_pages = args.aged.is_asked(trace, question.is_about_all(), &plan)?;
    let plan = ReplayPlan { slab_pages, ..plan };
    let progress = Progress::new("replaying", meta.events);
    let what_if =
        question.with_trace_name(what_if(trace, &plan, &mut |done| progress.set(done)))?;
    drop(progress);
    let rest = args.aged.rest(trace, (&what_if.before, Some(&what_if.after)), &plan)?;
    let moments = match question.answer.report {
        Some(_) => at_peak(trace, &plan, &what_if, &mut |_| ())?,
        None => Vec::new(),
    };
    Ok(WhatIfAnswer {
        file: traces.name(),
        changes: described,
        traces_changed: Vec::new(),
        differences: what_if.differences(),
        untold: untold(meta, &plan.changes),
        structures_bytes: (!plan.changes.accounting.is_none())
            .then(|| accounting_structures_bytes(meta, &plan.changes, plan.allocators[0])),
        remarks: suspects(&what_if, &dedicated)
            .into_iter()
            .chain(unsuited)
            .chain(traces.remarks())
            .collect(),
        what_if,
        notes: [Some(begins(meta)), apart].into_iter().flatten().collect(),
        rest,
        sources,
        moments,
    })
}

/// Says which call sites that get a cache freed hardly an object: memory that leaks is not saved by it.
fn suspects(what_if: &WhatIf, dedicated: &[&String]) -> Option<String> {
    let sites = &what_if.before.sites;
    // A recording without any free tells nothing about leaks, and a boot keeps most of what it allocates.
    if sites.iter().all(|site| site.ended() == 0) || Site::most_keep(sites) {
        return None;
    }
    let suspect = sites.iter().filter(|site| site.frees_hardly());
    let suspect: Vec<_> = suspect.filter(|site| dedicated.contains(&&site.site)).collect();
    let first = suspect.first()?;
    let more = match suspect.len() {
        1 => String::new(),
        more => format!(" and {}", counted(more as u64 - 1, "more call site")),
    };
    Some(format!(
        "Hardly an object of {}{more} was freed over the recording: a cache does not help a leak, and slablab leaks tells \
         whether it is one.",
        first.site
    ))
}

/// Says which call sites that get a cache ask for several sizes, or allocate for others: `advise` would not try them.
fn unsuited(trace: &TraceReader, dedicated: &[u32]) -> Result<Vec<String>> {
    if dedicated.is_empty() {
        return Ok(Vec::new());
    }
    let (meta, sizes) = (trace.meta(), sole_sizes(trace)?);
    let of_cache = |site: &u32| meta.sites[*site as usize].name.as_str();
    let helpers = Helpers::known();
    let helper =
        dedicated.iter().find(|site| helpers.has_of_any_size(of_cache(site))).map(|site| {
            format!(
                "{} allocates for whoever calls it: their next object may be of another size.",
                of_cache(site)
            )
        });
    let asks = |site: &&u32| sizes.get(**site as usize).is_some_and(Option::is_none);
    let several =
        dedicated.iter().filter(|site| !helpers.has_of_any_size(of_cache(site))).find(asks);
    let several = several.map(|site| {
        format!(
            "{} asks for several sizes: its cache has room for the largest of the trace, and the next may be larger.",
            of_cache(site)
        )
    });
    Ok(helper.into_iter().chain(several).collect())
}

/// What is kept of one of several traces.
#[derive(Serialize, Deserialize)]
struct Kept {
    described: Vec<String>,
    #[serde(flatten)]
    what_if: TraceWhatIf,
}

/// Replays several traces with and without the changes, and adds up: each is made in the traces that have what it changes.
fn of_several(args: &Args, traces: &Traces<'_>) -> Result<WhatIfAnswer> {
    args.question.refuse_of_many(&[
        ("--helper", !args.helpers.named().is_empty()),
        ("--aged", args.aged.is_given()),
    ])?;
    let allocators = args.allocators(None);
    let here = |meta: &Meta, absent: Absent| changes(args, &allocators, meta, absent);
    check(traces, here)?;
    let memory_bytes = args.memory;
    let names: Vec<_> = allocators.iter().map(|kind| kind.name()).collect();
    let question = Question {
        schema: "slablab.whatif.trace/2",
        asked: vec![names.join(","), asked_memory(memory_bytes), as_asked(args)],
        doing: "replaying",
        passes: 1,
        ..Question::default()
    };
    let plan = ReplayPlan { allocators: allocators.clone(), memory_bytes, ..ReplayPlan::default() };
    let plan = plan.of_many();
    let mut sum = WhatIfSum::new(traces.site_names());
    let mut made: BTreeMap<String, u64> = BTreeMap::new();
    traces.each(
        &question,
        |trace, progress| {
            let changes = here(trace.meta(), Absent::LeftOut)?;
            let described = describe(&changes, trace.meta());
            let what_if = match changes.is_empty() {
                true => TraceWhatIf { before: replay(trace, &plan, progress)?, after: None },
                false => {
                    let plan = ReplayPlan { changes, ..plan.clone() };
                    let both = what_if(trace, &plan, progress)?;
                    TraceWhatIf { before: both.before, after: Some(both.after) }
                }
            };
            Ok(Kept { described, what_if: what_if.summable() })
        },
        |origin, kept| {
            kept.described.into_iter().for_each(|words| *made.entry(words).or_default() += 1);
            sum.add(origin, kept.what_if);
        },
    )?;
    let what_if = sum.finish().expect("several traces were replayed");
    let (changes, traces_changed) = made.into_iter().unzip();
    Ok(WhatIfAnswer {
        file: traces.name(),
        changes,
        traces_changed,
        differences: what_if.differences(),
        untold: None,
        structures_bytes: None,
        what_if,
        rest: None,
        remarks: traces.remarks(),
        notes: Vec::new(),
        sources: None,
        moments: Vec::new(),
    })
}

/// How a named call site or cache is treated that a trace lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// It is an error.
    Refused,
    /// It is left out: of several traces some may lack it.
    LeftOut,
}

/// Refuses changes that can be made in none of the traces, in the words for the first of them.
fn check(traces: &Traces<'_>, here: impl Fn(&Meta, Absent) -> Result<Changes>) -> Result<()> {
    for trace in traces.several() {
        if !here(trace.open()?.meta(), Absent::LeftOut)?.is_empty() {
            return Ok(());
        }
    }
    let [first, others @ ..] = traces.several() else { return Ok(()) };
    let reader = first.open()?;
    let refused = |meta: &Meta| -> Result<()> { Ok(here(meta, Absent::Refused)?.check(meta)?) };
    refused(reader.meta()).with_context(|| {
        format!("{}, and the {} others likewise", first.path.display(), others.len())
    })
}

/// Says what a trace does not tell of accounting, where that is what changes.
fn untold(meta: &Meta, changes: &Changes) -> Option<String> {
    let recorded = Accounting::recorded(meta).filter(|_| !changes.accounting.is_none())?;
    let untold = [
        (!meta.config.contains_key("CONFIG_MEMCG")).then_some("what the kernel was built for"),
        (recorded.profiling && recorded.memcg).then_some("since when cgroups charge objects"),
        (!meta.samples.is_from_boot()).then_some("which older objects are vectors (they stay)"),
        Some("which caches charge every object (a cache's first event decides)"),
    ];
    let untold: Vec<_> = untold.into_iter().flatten().collect();
    Some(format!("The trace does not tell {}.", untold.join(", nor ")))
}

/// Says what both replays begin with.
fn begins(meta: &Meta) -> &'static str {
    match meta.samples.is_empty() {
        true => "Both replays begin with an empty machine.",
        false => {
            "Both replays begin with the objects and slabs that the recorded kernel had; advise begins with an empty \
             machine."
        }
    }
}

/// Returns the changes as the user gave them, to tell one question from another.
fn as_asked(args: &Args) -> String {
    let Args { dedicate, undedicate, per_site, classes, buckets, page_size, .. } = args;
    let Args { max_order, min_objects, merge, align, tunables, .. } = args;
    let caches = (dedicate, undedicate, per_site, merge, align);
    let others = (caches, classes, buckets, page_size, max_order, min_objects, tunables);
    match args.accounting() {
        // What was kept of runs before this change existed stays valid.
        accounting if accounting.is_none() => format!("{others:?}"),
        accounting => format!("{others:?} {accounting:?}"),
    }
}

/// Puts the options' changes together.
fn changes(
    args: &Args,
    allocators: &[BackendKind],
    meta: &Meta,
    absent: Absent,
) -> Result<Changes> {
    let is_there = |name: &&String| {
        absent == Absent::Refused || meta.caches.iter().any(|cache| cache.name == **name)
    };
    let mut changes = Changes {
        undedicated: args.undedicate.iter().filter(is_there).cloned().collect(),
        classes: args.classes.clone(),
        buckets: args.buckets,
        page_bytes: args.page_size,
        sharing: if args.merge { Sharing::Merged } else { Sharing::Recorded },
        tunables: args.tunables.0.clone(),
        order_max: args.max_order,
        min_objects: args.min_objects,
        accounting: args.accounting(),
        ..Changes::default()
    };
    for spec in &args.dedicate {
        changes.dedicated.extend(dedicated(spec, args.align.unwrap_or(0), meta, absent)?);
    }
    if args.per_site {
        if !args.dedicate.is_empty() {
            bail!("--per-site dedicates every site already; leave out --dedicate");
        }
        if meta.sites.is_empty() {
            bail!(SelectError::NoSites);
        }
        changes = changes.dedicate_every(meta, args.align.unwrap_or(0));
    }
    reject_unused_options(args, allocators)?;
    if args.no_merge && changes.is_empty() {
        bail!(no_merge_alone(meta));
    }
    if args.align.is_some() && args.dedicate.is_empty() && !args.per_site {
        bail!("--align says how --dedicate and --per-site align their caches; give one of them");
    }
    Ok(changes)
}

/// Explains why `--no-merge` alone is not a change that a trace can answer.
fn no_merge_alone(meta: &Meta) -> String {
    let nothing = "--no-merge changes nothing:";
    match KernelMerging::of(meta) {
        KernelMerging::On { shared, most, .. } if shared > 0 => format!(
            "--no-merge alone cannot be answered from this trace: the recorded kernel had merged caches, {shared} of \
             them (one is {}), and their events do not say whose object it was; boot with slab_nomerge and record again",
            most.join(" = ")
        ),
        KernelMerging::Unknown => format!(
            "{nothing} caches are replayed apart as the trace names them, and it does not say which of them the recorded \
             kernel had merged"
        ),
        _ => format!("{nothing} the recorded kernel let no caches share slabs"),
    }
}

/// Refuses options that none of the allocators uses: they would be silently without effect.
fn reject_unused_options(args: &Args, allocators: &[BackendKind]) -> Result<()> {
    let with = |uses: &dyn Fn(BackendKind) -> bool| -> Vec<BackendKind> {
        BackendKind::ALL.iter().copied().filter(|kind| uses(*kind)).collect()
    };
    let classes = with(&BackendKind::has_kmalloc_caches);
    let mut options = vec![
        ("--classes".to_owned(), args.classes.is_some(), classes.clone()),
        ("--buckets".to_owned(), args.buckets.is_some(), classes),
    ];
    if let Some(bytes) = args.page_size.map(u64::from) {
        let fits = with(&|kind| kind.has_pages_of(bytes));
        if let Some(kind) = allocators.iter().find(|kind| !fits.contains(kind)) {
            bail!(
                "--page-size: {} knows pages of 4 KiB only; leave it out of --allocators",
                kind.name()
            );
        }
    }
    let orders = with(&BackendKind::takes_geometry);
    options.push(("--max-order".to_owned(), args.max_order.is_some(), orders.clone()));
    options.push(("--min-objects".to_owned(), args.min_objects.is_some(), orders));
    for (tunable, kinds) in tunables() {
        let given = args.tunables.0.get(tunable.name).is_some();
        options.push((format!("--{}", tunable.option), given, kinds));
    }
    if args.tunables.0.get("order").is_some()
        && (args.max_order.is_some() || args.min_objects.is_some())
    {
        bail!(
            "--order gives every slab its order, so that --max-order and --min-objects, which choose one, change \
             nothing: leave out either"
        );
    }
    for (option, given, using) in options {
        if given && !allocators.iter().any(|allocator| using.contains(allocator)) {
            let names: Vec<_> = using.iter().map(|kind| kind.name()).collect();
            bail!("{option} changes nothing here; replay with --allocators {}", names.join(","));
        }
    }
    Ok(())
}

/// Reads `SITE[,SITE...][=NAME]`.
fn dedicated(spec: &str, align: u32, meta: &Meta, absent: Absent) -> Result<Option<Dedicated>> {
    let (patterns, name) = match spec.rsplit_once('=') {
        Some((patterns, name)) if !name.is_empty() => (patterns, Some(name)),
        Some(_) => bail!("--dedicate {spec}: a name has to stand behind ="),
        None => (spec, None),
    };
    let mut sites = Vec::new();
    for pattern in patterns.split(',') {
        match select_sites(meta, pattern) {
            Err(SelectError::NoMatch { .. }) if absent == Absent::LeftOut => {}
            found => sites.extend(found?),
        }
    }
    if sites.is_empty() {
        return Ok(None);
    }
    sites.sort_unstable();
    sites.dedup();
    let first = patterns.split([',', '+']).next().unwrap_or(patterns);
    let name = name.map_or_else(|| first.replace(['*', '?'], ""), str::to_owned);
    Ok(Some(Dedicated { name, sites, align, sizes: None }))
}

fn parse_page_size(text: &str) -> Result<u32, String> {
    let bytes = parse_bytes(text)?;
    let known = slablab_replay::PAGE_BYTES.contains(&bytes).then_some(bytes as u32);
    known.ok_or_else(|| "a page has 4K, 16K or 64K".to_owned())
}

fn parse_align(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(align) if u32::is_power_of_two(align) && (8..=4096).contains(&align) => Ok(align),
        _ => Err("an alignment is a power of two from 8 to 4096".to_owned()),
    }
}

/// Says the changes in words.
fn describe(changes: &Changes, meta: &Meta) -> Vec<String> {
    let mut words = Vec::new();
    let (every, named) = match changes.dedication {
        Dedication::Every => (Some("a cache of its own for each call site of kmalloc"), &[][..]),
        Dedication::Named => (None, &changes.dedicated[..]),
    };
    words.extend(every.map(str::to_owned));
    for dedicated in named.iter().take(SHOWN_MAX) {
        let sizes = dedicated.sites.iter().map(|site| meta.sites[*site as usize].bytes_req_max);
        words.push(format!(
            "cache {} of {} B for {}",
            dedicated.name,
            sizes.max().unwrap_or(0),
            counted(dedicated.sites.len() as u64, "call site")
        ));
    }
    if named.len() > SHOWN_MAX {
        words.push(format!("... and {} caches more", named.len() - SHOWN_MAX));
    }
    words.extend(changes.undedicated.iter().map(|name| format!("cache {name} goes to kmalloc")));
    if let Some(classes) = &changes.classes {
        let classes: Vec<_> = classes.iter().map(u32::to_string).collect();
        words.push(format!("kmalloc classes {}", classes.join(" ")));
    }
    if let Some(bytes) = changes.page_bytes {
        words.push(format!("pages of {}", format_bytes(u64::from(bytes))));
    }
    words.extend(changes.buckets.map(|n| format!("{n} copies of each kmalloc class")));
    if changes.sharing == Sharing::Merged {
        words.extend(merging(changes, meta));
    }
    words.extend(accounting(changes.accounting));
    words.extend(changes.order_max.map(|order| format!("slabs of order {order} at most")));
    words.extend(changes.min_objects.map(|objects| format!("slabs of {objects} objects or more")));
    words.extend(changes.tunables.iter().map(|(name, value)| format!("{name} {value}")));
    words
}

/// Says what is accounted, and what that takes.
fn accounting(change: AccountingChange) -> Vec<String> {
    let memcg =
        change.memcg.map(|_| "no object is charged to a memory cgroup (cgroup.memory=nokmem)");
    let profiling = change.profiling.map(|is_on| match is_on {
        true => "allocations are counted by call site (sysctl.vm.mem_profiling=1)",
        false => "allocations are not counted by call site (sysctl.vm.mem_profiling=never)",
    });
    memcg.into_iter().chain(profiling).map(str::to_owned).collect()
}

/// Says what merging does.
fn merging(changes: &Changes, meta: &Meta) -> Vec<String> {
    let KernelMerging::On { .. } = KernelMerging::of(meta) else {
        return vec!["caches that are alike share slabs, as Linux merges them".to_owned()];
    };
    let mut words = vec!["new caches are merged as the recorded kernel merges".to_owned()];
    for dedicated in changes.dedicated.iter().take(SHOWN_MAX) {
        words.push(match changes.shares_with(dedicated, meta) {
            Some(names) => {
                let first: Vec<_> = names.iter().take(3).map(String::as_str).collect();
                let more = if names.len() > 3 { ", ..." } else { "" };
                format!("{} shares the slabs of {}{more}", dedicated.name, first.join(", "))
            }
            None => format!("{} shares slabs with no cache of the recorded kernel", dedicated.name),
        });
    }
    words
}

/// Says that new caches stay apart, where the recorded kernel would have merged them.
fn apart(args: &Args, changes: &Changes, meta: &Meta) -> Option<&'static str> {
    let merges = matches!(KernelMerging::of(meta), KernelMerging::On { .. });
    let stay_apart = !args.merge && !changes.dedicated.is_empty();
    (merges && stay_apart).then_some(
        "The recorded kernel merges caches that are alike. New ones stay apart here, as with SLAB_NO_MERGE; --merge \
         shows what becomes of them without.",
    )
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("say on or off".to_owned()),
    }
}
