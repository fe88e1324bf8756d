//! `slablab advise`: which call sites should have a cache of their own, best first, and which settings hold less.

mod budget;
mod classes;
mod tune;
mod typed;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_linux::Release;
use slablab_pages::{Sources, Together, tables};
use slablab_replay::{
    Advice, AdviceList, Calls, Change, HeldAt, NotedSite, PatchFacts, ReplayPlan, Worth, advise,
    calls, merges_with, nearest_name, patch_skeleton, select_sites, what_if,
};
use slablab_trace::{Meta, TraceReader};

use super::fleet;
use super::fleet::args::{Many, ManyArgs};
use super::question::QuestionArgs;
use crate::cli::OutputArgs;
use crate::output::{Page, Report, Table, bytes, field, print};
use crate::progress::Progress;
use crate::schema::Published;

/// What these commands print as JSON.
pub(super) const SCHEMAS: &[Published] = &[
    Published::of::<Answer>(),
    Published::of::<Patch>(),
    Published::of::<tune::TuneAnswer>(),
    Published::of::<budget::BudgetAnswer>(),
    Published::of::<classes::ClassesAnswer>(),
];

#[derive(clap::Args, Debug)]
#[command(
    after_help = "With --memory below 16G the question is another: does the load fit into that memory, what fails first,\n\
                        and which settings make it fit? Status 1: it does not under the recorded allocator. With --tune,\n\
                        too, both are answered.\n\n\
                        Otherwise each kmalloc call site that holds a page or more, and that a cache suits, is given\n\
                        one of its own, and the part of the trace that this can change is replayed with it. For each\n\
                        kmalloc size class, so is the one further class that fits its call sites best.\n\n\
                        Examples:\n  \
                        slablab advise t.parquet\n  \
                        slablab advise t.parquet --patch alloc_pipe_info > pipe.txt\n  \
                        slablab advise fleet/ --resume advice/    # host=a/date=2026-11-22/t.parquet and so on\n  \
                        slablab advise t.parquet --tune --max-locks +10% --apply-script tune.sh\n  \
                        slablab advise t.parquet --memory 64M\n  \
                        slablab advise t.parquet --tune --memory 64M"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    many: ManyArgs,
    /// Advise for this allocator: slab, or slub in any of its generations
    /// [default: the recorded kernel's, or slub; of many traces slub]
    #[arg(long, short_alias = 'a', alias = "allocators", value_name = "NAME", value_parser = one_allocator)]
    allocator: Option<BackendKind>,
    /// Print a patch to adapt that gives this call site a cache, instead of the advice
    #[arg(long, value_name = "SITE", conflicts_with_all = ["report", "tune"])]
    patch: Option<String>,
    /// Propose the 1 to K further kmalloc size classes by which least is allocated
    #[arg(long, value_name = "K", conflicts_with_all = ["tune", "patch"],
          value_parser = clap::value_parser!(u8).range(1..=16), help_heading = "Settings")]
    classes: Option<u8>,
    /// Search the settings that the recorded kernel has (boot parameters, files under /sys/kernel/slab, configuration) for
    /// those that hold least, and print what to type
    #[arg(long, help_heading = "Settings")]
    tune: bool,
    /// The most locks and atomic operations that an answer may take, beyond those of the recorded kernel
    #[arg(long, value_name = "+N%", requires = "tune", default_value = "+10%", value_parser = tune::parse_share,
          help_heading = "Settings")]
    max_locks: f64,
    /// Which memory should be least: at its peak, on average (mean), or at the end
    #[arg(long, value_name = "WHEN", requires = "tune", default_value = "peak", value_parser = tune::parse_held_at,
          help_heading = "Settings")]
    least: HeldAt,
    /// Also write the answer within --max-locks as a script of shell, which can undo what it does
    #[arg(long, value_name = "FILE", requires = "tune", help_heading = "Settings")]
    apply_script: Option<PathBuf>,
}

/// What `--memory` is if nobody says: room for any trace. Less is a question.
const MEMORY_BYTES_USUAL: u64 = 16 << 30;

/// Reads one allocator; advice for several would be several answers.
fn one_allocator(text: &str) -> Result<BackendKind, String> {
    if text.contains(',') {
        return Err("advice is for one allocator at a time".to_owned());
    }
    text.parse().map_err(|error: <BackendKind as std::str::FromStr>::Err| error.to_string())
}

impl Args {
    /// Returns the allocator to advise for.
    fn allocator(&self, meta: &Meta) -> BackendKind {
        let recorded = || BackendKind::of_release(&meta.kernel_release);
        self.allocator.or_else(recorded).unwrap_or(BackendKind::Slub)
    }
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    let script = ("--apply-script", args.apply_script.as_ref());
    question.check_outputs(&args.many.all(question.path()), &[script])?;
    if let Some(many) = args.many.with(question.path())? {
        return of_many(args, &many, output);
    }
    if question.memory < MEMORY_BYTES_USUAL && (args.patch.is_some() || args.classes.is_some()) {
        bail!("--memory below 16G asks whether the load fits: leave out --patch and --classes");
    }
    let trace = question.open()?;
    let meta = trace.meta();
    if args.tune {
        return run_tune(args, &trace, output);
    }
    if question.memory < MEMORY_BYTES_USUAL {
        let budget = budget::try_it(question, &trace, args.allocator(meta))?;
        let answer = budget::BudgetAnswer { file: question.file(), budget };
        print(&answer, output, question.answer.output.as_deref())?;
        question.write_report(|| slablab_pages::budget(&answer.file, &answer.budget))?;
        return Ok(budget::status(&answer.budget));
    }
    if let Some(further) = args.classes {
        let kind = args.allocator(meta);
        let advice = classes::search(question, &trace, kind, usize::from(further))?;
        let answer = classes::ClassesAnswer { file: question.file(), advice };
        print(&answer, output, question.answer.output.as_deref())?;
        question.write_report(|| slablab_pages::classes(&answer.file, &answer.advice))?;
        return Ok(ExitCode::SUCCESS);
    }
    // A site that is not there is worth saying before seconds of work, not after.
    let wanted = args.patch.as_deref().map(|site| select_sites(meta, site)).transpose();
    let wanted = question.with_trace_name(wanted)?;
    let sources = question.sources(&trace, wanted.is_some())?;
    let progress = Progress::new("trying", meta.events * 2);
    let list =
        advise(&trace, args.allocator(meta), question.memory, &mut |done| progress.set(done));
    let list = question.with_trace_name(list)?;
    drop(progress);
    let file = question.answer.output.as_deref();
    if let (Some(sites), Some(sources)) = (wanted, &sources) {
        let patch = question.with_trace_name(patch(&list, &sites, &trace, question, sources))?;
        print(&patch, output, file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let places = question.named_places(sources.as_ref());
    let answer = Answer { file: question.file(), list, places, lines: question.lines() };
    print(&answer, output, file)?;
    if let (Some(file), Some(sources)) = (&question.answer.report, sources) {
        let together = together(args, &trace, &answer.list)?;
        let document =
            slablab_pages::advise(&answer.file, &answer.list, together.as_ref(), &sources);
        super::report::write(&document, file)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Advises over many traces together.
fn of_many(args: &Args, many: &Many<'_>, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    question.refuse_of_many(&[
        ("--patch", args.patch.is_some()),
        ("--tune", args.tune),
        ("--classes", args.classes.is_some()),
        ("--memory", question.memory < MEMORY_BYTES_USUAL),
    ])?;
    let asked = fleet::advise::Asked {
        allocator: args.allocator.unwrap_or(BackendKind::Slub),
        memory_bytes: question.memory,
        lines: question.lines(),
    };
    let answer = fleet::advise::of_many(many, &asked)?;
    print(&answer, output, question.answer.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn run_tune(args: &Args, trace: &TraceReader, output: &OutputArgs) -> Result<ExitCode> {
    let (question, meta) = (&args.question, trace.meta());
    let kind = args.allocator(meta);
    let asks_for_memory = question.memory < MEMORY_BYTES_USUAL;
    let budget = asks_for_memory.then(|| budget::try_it(question, trace, kind)).transpose()?;
    // Settings are compared where all of them find memory.
    let memory_bytes = question.memory.max(MEMORY_BYTES_USUAL);
    let tuning = tune::search(question, trace, kind, memory_bytes, args.max_locks, args.least)?;
    let answer =
        tune::TuneAnswer { file: question.file(), tuning, budget, lines: question.lines() };
    print(&answer, output, question.answer.output.as_deref())?;
    if let Some(script) = &args.apply_script {
        tune::write_script(&answer.tuning, &meta.kernel_release, &answer.file, script)?;
    }
    question.write_report(|| {
        slablab_pages::tune(&answer.file, &answer.tuning, answer.budget.as_ref())
    })?;
    Ok(answer.budget.as_ref().map_or(ExitCode::SUCCESS, budget::status))
}

/// Replays the trace with every advised cache; `None` if none is advised.
fn together(args: &Args, trace: &TraceReader, list: &AdviceList) -> Result<Option<Together>> {
    let (changes, sites) = list.together(trace.meta());
    let Some(best) = sites.first() else { return Ok(None) };
    let plan = ReplayPlan {
        allocators: vec![args.allocator(trace.meta())],
        memory_bytes: args.question.memory,
        changes,
        watched: vec![*best],
        ..ReplayPlan::default()
    };
    let progress = Progress::new("together", trace.meta().events);
    let what_if = what_if(trace, &plan, &mut |done| progress.set(done))?;
    let best = trace.meta().sites[*best as usize].name.clone();
    Ok(Some(Together { what_if, best }))
}

/// Returns the patch for the best of the wanted sites.
fn patch(
    list: &AdviceList,
    sites: &[u32],
    trace: &TraceReader,
    question: &QuestionArgs,
    sources: &Sources,
) -> Result<Patch> {
    let meta = trace.meta();
    let name = |site: &u32| &meta.sites[*site as usize].name;
    let of_site = |advice: &Advice| {
        let is_own = matches!(advice.change, Change::Dedicate { .. });
        sites.iter().find(|site| is_own && *name(site) == advice.subject).copied()
    };
    let wanted = list.advice.iter().find_map(|advice| Some((advice, of_site(advice)?)));
    let Some((advice, site)) = wanted else {
        let near = nearest_name(name(&sites[0]), list.advice.iter().map(|a| a.subject.as_str()));
        let near = near.map_or_else(String::new, |near| format!(" (tried: {near}, ...)"));
        bail!(
            "a cache for {} was not tried: {}{near}",
            name(&sites[0]),
            list.why_not_tried(name(&sites[0]))
        )
    };
    let place = sources.place(&advice.subject);
    let symbol = advice.subject.split('+').next().unwrap_or_default();
    let functions = [symbol, place.map_or("", |place| &place.function)];
    let calls = calls(trace, site)?;
    let facts = PatchFacts {
        release: Release::of(&meta.kernel_release),
        file: question.file(),
        place,
        types: question.types(meta).map(|btf| btf.candidates(&functions, advice.object_bytes)),
        shares_with: merges_with(meta, advice.object_bytes, calls.is_accounted()),
        calls,
    };
    let mut patch = patch_skeleton(advice, &facts).unwrap_or_default();
    let others: Vec<_> = sites.iter().filter(|other| **other != site).map(name).collect();
    if let [first, ..] = &others[..] {
        patch += &format!(
            "{} more call sites match, {first} among them: name one to see its patch\n",
            others.len()
        );
    }
    Ok(Patch { site: advice.subject.clone(), patch, calls: facts.calls })
}

/// What `slablab advise --patch` says.
#[derive(Debug, Serialize, JsonSchema)]
struct Patch {
    site: String,
    patch: String,
    #[serde(flatten)]
    calls: Calls,
}

impl Report for Patch {
    const SCHEMA: &'static str = "slablab.patch/1";

    fn text(&self, page: &mut Page) {
        page.lines(&self.patch);
    }

    fn csv(&self) -> Table {
        let fields = [
            field::name("call site", "site", |patch: &&Self| &patch.site),
            field::name("patch", "patch", |patch| &patch.patch),
        ];
        Table::of(&[self], fields)
    }
}

/// What `slablab advise` says.
#[derive(Debug, Serialize, JsonSchema)]
struct Answer {
    file: String,
    #[serde(flatten)]
    list: AdviceList,
    /// Where call sites are in the source, if a vmlinux was named
    #[serde(skip)]
    places: Option<Sources>,
    #[serde(skip)]
    lines: usize,
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.advise/1";

    fn text(&self, page: &mut Page) {
        super::replay::header(&self.file, &self.list.trace, page);
        let list = &self.list;
        page.line("");
        page.paragraph(&summary(list), 0);
        let shown: Vec<_> = list.useful().take(self.lines).collect();
        let (saving, gathering): (Vec<_>, Vec<_>) =
            shown.into_iter().partition(|advice| advice.worth == Worth::SavesMemory);
        self.reasons("Worth making, by memory saved at the peak", &saving, 1, page);
        let first = saving.len() + 1;
        self.reasons("Closer together, for little or no memory", &gathering, first, page);
        self.noted(page);
        let rest = list.advice.iter().filter(|advice| !advice.worth.is_useful());
        let rest: Vec<_> = rest.take(self.lines).collect();
        if !rest.is_empty() {
            page.heading("Tried, and not worth making");
            page.table(&tables::advice_in_short(&rest));
        }
    }

    fn csv(&self) -> Table {
        tables::advice(&self.list.advice.iter().collect::<Vec<_>>())
    }
}

impl Answer {
    /// Appends changes with their reasons, numbered from `first` on, if there are any.
    fn reasons(&self, heading: &str, shown: &[&Advice], first: usize, page: &mut Page) {
        if shown.is_empty() {
            return;
        }
        page.heading(heading);
        page.table(&tables::advice_in_short(shown));
        page.line("");
        for (number, advice) in (first..).zip(shown) {
            let place = self.places.as_ref().and_then(|places| places.line(&advice.subject));
            let place = place.map_or_else(String::new, |place| format!(" ({place})"));
            let reason = format!("{number:>2}. {}{place}: {}", advice.subject, advice.reason);
            page.paragraph(&reason, 4);
            if let Some(caveat) = &advice.caveat {
                page.paragraph(&format!("    But {caveat}."), 4);
            }
        }
    }

    /// Appends the call sites that are worth reading for another reason than a cache of their own.
    fn noted(&self, page: &mut Page) {
        let shown = |sites: &[NotedSite]| -> Vec<NotedSite> {
            sites.iter().take(self.lines).cloned().collect()
        };
        let over_class = shown(&self.list.over_class);
        if !over_class.is_empty() {
            page.heading("A few bytes too large for the class below");
            for site in &over_class {
                page.paragraph(&over_class_sentence(site), 4);
            }
        }
        let many_sizes = shown(&self.list.many_sizes);
        if !many_sizes.is_empty() {
            page.heading(
                "Many sizes: further classes (whatif --classes) may help, one cache does not",
            );
            page.table(&tables::noted_by_waste(&many_sizes));
        }
        let hot = shown(&self.list.hot);
        if !hot.is_empty() {
            page.heading("Most often called, however little they hold");
            page.table(&tables::noted_by_rate(&hot));
            page.paragraph(
                "On the slow path are allocations and frees that take a lock, or change memory that CPUs share.",
                0,
            );
        }
    }
}

fn over_class_sentence(site: &NotedSite) -> String {
    format!(
        "  {}: {} B, {} over the class of {} B; {} wasted by {}, {} in all.",
        site.site,
        site.object_bytes,
        site.object_bytes - site.class_bytes_below,
        site.class_bytes_below,
        bytes(site.class_bytes - site.object_bytes),
        match site.live_peak {
            1 => "one object".to_owned(),
            objects => format!("each of {objects} objects"),
        },
        bytes(site.waste_bytes)
    )
}

/// Says in a paragraph what was looked at, what came of it, and what was left out.
fn summary(list: &AdviceList) -> String {
    let mut text = format!(
        "Under {}, on a machine that was empty before, the load held {} at its peak, for {} of kmalloc. ",
        list.allocator,
        bytes(list.held_bytes_peak),
        slablab_report::counted(list.sites, "call site")
    );
    let of = |worth: Worth| list.advice.iter().filter(|advice| advice.worth == worth).count();
    text += &match of(Worth::SavesMemory) {
        0 => "No change saves enough memory to be worth a patch".to_owned(),
        1 => "One change saves enough memory to be worth a patch".to_owned(),
        n => format!("{n} changes save enough memory to be worth a patch"),
    };
    text += &format!(
        ", which is more than {} at the peak, more than a slab, and more than what the saving itself varies by.",
        bytes(list.saving_bytes_min)
    );
    text += &match of(Worth::ImprovesLocality) {
        0 => String::new(),
        1 => " One more brings scattered objects closer together.".to_owned(),
        n => format!(" {n} more bring scattered objects closer together."),
    };
    let left_out = [
        (list.sites_too_small, "of less than a page at any time"),
        (list.sites_own, "of the allocator itself"),
        (list.sites_payload, "of packet data"),
        (list.many_sizes.len() as u64, "of many sizes"),
        (list.sites_unseen, "of which fewer than 90 % of the frees were seen"),
    ];
    let left_out: Vec<_> = left_out
        .iter()
        .filter(|(sites, _)| *sites > 0)
        .map(|(sites, why)| format!("{sites} {why}"))
        .collect();
    if !left_out.is_empty() {
        text += &format!(" Call sites not tried: {}.", left_out.join(", "));
    }
    if list.untried > 0 {
        let (all, tried) = (list.untried, list.advice.len());
        text += &format!(
            " {all} changes were not tried: they can save less than the {tried} that were."
        );
    }
    text
}
