//! `slablab advise`: which call sites should have a cache of their own, best first.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_pages::{Sources, Together, tables};
use slablab_replay::{
    Advice, AdviceList, Plan, advise, at_peak, nearest_name, patch_skeleton, select_sites, what_if,
};
use slablab_trace::{Meta, TraceReader};

use super::fleet;
use super::import::Opened;
use super::question::QuestionArgs;
use super::snapshot;
use crate::cli::OutputArgs;
use crate::output::{Page, Report, Table, bytes, field, print};
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Each kmalloc call site that holds a page or more is given a cache of its own, and the part of the\n\
                        trace that this can change is replayed with it. For each kmalloc size class, so is the one further\n\
                        class that fits its call sites best.\n\n\
                        Examples:\n  \
                        slablab advise t.parquet\n  \
                        slablab advise /proc/slabinfo\n  \
                        slablab advise t.parquet --patch alloc_pipe_info > pipe.txt\n  \
                        slablab advise fleet/ --resume advice/    # host=a/date=2026-11-22/t.parquet and so on"
)]
pub(crate) struct Args {
    #[command(flatten)]
    question: QuestionArgs,
    /// Further traces, or folders and patterns of them: what each change saves is added up over all
    #[arg(value_name = "TRACES", conflicts_with_all = ["patch", "report", "vmlinux"])]
    further: Vec<PathBuf>,
    /// Of many traces: keep in this folder what came of each, and go on from there when a run was cut
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// Advise for this allocator: slab, or slub in any of its generations
    #[arg(long, short_alias = 'a', alias = "allocators", value_name = "NAME", default_value_t = BackendKind::Slub,
          value_parser = one_allocator)]
    allocator: BackendKind,
    /// Print a patch to adapt that gives this call site a cache, instead of the advice
    #[arg(long, value_name = "SITE", conflicts_with = "report")]
    patch: Option<String>,
}

/// Reads one allocator; advice for several would be several answers.
fn one_allocator(text: &str) -> Result<BackendKind, String> {
    if text.contains(',') {
        return Err("advice is for one allocator at a time".to_owned());
    }
    text.parse().map_err(|error: <BackendKind as std::str::FromStr>::Err| error.to_string())
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    let paths: Vec<&Path> =
        [question.path()].into_iter().chain(args.further.iter().map(PathBuf::as_path)).collect();
    if fleet::inputs::are_several(&paths) {
        return of_many(args, &paths, output);
    }
    if args.resume.is_some() {
        bail!("--resume goes with several traces: this is one");
    }
    let trace = match question.open_any()? {
        Opened::Trace(trace) => trace,
        Opened::Snapshots(snapshots) => {
            let (path, file) = (question.file(), question.result.output.as_deref());
            snapshot::advise(path.as_ref(), &snapshots, question.lines, output, file)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let meta = trace.meta();
    // A site that is not there is worth saying before seconds of work, not after.
    let wanted = args.patch.as_deref().map(|site| select_sites(meta, site)).transpose();
    let wanted = question.with_trace_name(wanted)?;
    let sources = question.sources(&trace, wanted.is_some())?;
    let progress = Progress::new("trying", meta.events * 2);
    let list = advise(&trace, args.allocator, question.memory, &mut |done| progress.set(done));
    let list = question.with_trace_name(list)?;
    drop(progress);
    let file = question.result.output.as_deref();
    if let (Some(sites), Some(sources)) = (wanted, &sources) {
        let patch = question.with_trace_name(patch(&list, &sites, meta, sources))?;
        print(&patch, output, file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let places = question.named_places(sources.as_ref());
    let answer = Answer { file: question.file(), list, places, lines: question.lines };
    print(&answer, output, file)?;
    if let (Some(file), Some(sources)) = (&question.report, sources) {
        let together = together(args, &trace, &answer.list)?;
        let document =
            slablab_pages::advise(&answer.file, &answer.list, together.as_ref(), &sources);
        super::report::write(&document, file)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Advises over many traces together.
fn of_many(args: &Args, paths: &[&Path], output: &OutputArgs) -> Result<ExitCode> {
    let question = &args.question;
    if args.patch.is_some() || question.report.is_some() {
        bail!("--patch and --report go with one trace: give the one that shows the site best");
    }
    if !question.is_of_whole() {
        bail!(
            "--time, --cpu, --pid, --comm, --cache and --site take a part of one trace: import the parts, and give those"
        );
    }
    let asked = fleet::advise::Question {
        allocator: args.allocator,
        memory_bytes: question.memory,
        resume: args.resume.as_deref(),
        lines: question.lines,
    };
    let answer = fleet::advise::of_many(paths, &asked)?;
    print(&answer, output, question.result.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Replays the trace with every advised cache; `None` if none is advised.
fn together(args: &Args, trace: &TraceReader, list: &AdviceList) -> Result<Option<Together>> {
    let (changes, sites) = list.together(trace.meta());
    let Some(best) = sites.first() else { return Ok(None) };
    let plan = Plan {
        allocators: vec![args.allocator],
        memory_bytes: args.question.memory,
        changes,
        watched: vec![*best],
        ..Plan::default()
    };
    let progress = Progress::new("together", trace.meta().events);
    let what_if = what_if(trace, &plan, &mut |done| progress.set(done))?;
    let moment = at_peak(trace, &plan, &what_if, &mut |done| progress.set(done))?.pop();
    let best = trace.meta().sites[*best as usize].name.clone();
    Ok(moment.map(|moment| Together { what_if, moment, best }))
}

/// Returns the patch for the best of the wanted sites.
fn patch(list: &AdviceList, sites: &[u32], meta: &Meta, sources: &Sources) -> Result<Patch> {
    let is_wanted = |advice: &&Advice| {
        let mut names = sites.iter().map(|site| &meta.sites[*site as usize].name);
        names.any(|name| *name == advice.subject)
    };
    let skeleton = |advice: &Advice| {
        let patch = patch_skeleton(advice, sources.place(&advice.subject))?;
        Some(Patch { site: advice.subject.clone(), patch })
    };
    match list.advice.iter().filter(is_wanted).find_map(skeleton) {
        Some(patch) => Ok(patch),
        None => {
            let name = &meta.sites[sites[0] as usize].name;
            let tried = list.advice.iter().map(|advice| advice.subject.as_str());
            let near = nearest_name(name, tried);
            let near = near.map_or_else(String::new, |near| format!(" (tried: {near}, ...)"));
            bail!(
                "{name} was not tried: it is no kmalloc site, or holds less than a page at any time{near}"
            )
        }
    }
}

/// What `slablab advise --patch` says.
#[derive(Debug, Serialize)]
struct Patch {
    site: String,
    patch: String,
}

impl Report for Patch {
    const SCHEMA: &'static str = "slablab.patch/1";

    fn text(&self, page: &mut Page) {
        self.patch.lines().for_each(|line| page.line(line));
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
#[derive(Debug, Serialize)]
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
        page.line(format!(
            "{}: {} held at peak; {} kmalloc call sites, {} of them hold less than a page at any time.",
            self.list.allocator,
            bytes(self.list.held_bytes_peak),
            self.list.sites,
            self.list.sites_too_small
        ));
        if self.list.sites_unseen > 0 {
            page.line(format!(
                "{} further call sites are not ranked: fewer than 90 % of their frees were seen.",
                self.list.sites_unseen
            ));
        }
        if self.list.untried > 0 {
            let (all, tried) = (self.list.untried, self.list.advice.len());
            page.line(format!(
                "{all} further changes were not tried: they can save less than the {tried} that were."
            ));
        }
        let shown: Vec<_> = self.list.useful().take(self.lines).collect();
        if shown.is_empty() {
            page.heading(
                "No change is worth making: none saves a page of memory or improves the locality of objects.",
            );
        } else {
            page.heading("Worth making, by memory saved at the peak");
            page.table(&tables::advice(&shown));
            page.line("");
            for (i, advice) in shown.iter().enumerate() {
                let place = self.places.as_ref().and_then(|places| places.line(&advice.subject));
                let place = place.map_or_else(String::new, |place| format!(" ({place})"));
                page.line(format!("{:>2}. {}{place}: {}", i + 1, advice.subject, advice.reason));
                if let Some(caveat) = &advice.caveat {
                    page.line(format!("    But {caveat}."));
                }
            }
        }
        let rest = self.list.advice.iter().filter(|advice| !advice.worth.is_useful());
        let rest: Vec<_> = rest.take(self.lines).collect();
        if !rest.is_empty() {
            page.heading("Tried, and not worth making");
            page.table(&tables::advice(&rest));
        }
    }

    fn csv(&self) -> Table {
        tables::advice(&self.list.advice.iter().collect::<Vec<_>>())
    }
}
