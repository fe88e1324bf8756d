//! `slablab replay`: what each allocator makes of a trace, or of several together; with `--pages` what the page allocator
//! makes of its page events.

mod pages;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use slablab_kmem::BackendKind;
use slablab_replay::{ReplayPlan, ReplaySum, Start};

use super::allocators::{allocator, distinct};
use super::filter::FilterArgs;
use super::memory::MemoryArgs;
use super::question::check_outputs;
use super::size::{asked_memory, parse_bytes};
use super::traces::args::ManyArgs;
// The commands that do not make documents yet take it from here.
use super::traces::{Question, Traces};
use crate::answers::replay::ReplayAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;

/// What these commands print as JSON.
#[cfg(feature = "manual")]
pub(super) const SCHEMAS: &[crate::schema::Published] = {
    use crate::answers::page_replay::PageReplayAnswer;
    use crate::schema::Published;
    &[Published::answer::<ReplayAnswer>(), Published::answer::<PageReplayAnswer>()]
};

#[derive(clap::Args, Debug)]
#[command(after_help = "The same trace gives the same numbers on any machine.\n\n\
                        Examples:\n  \
                        slablab replay traces/hackbench.parquet --allocators slub,slob\n  \
                        slablab replay perf.data --format json -o result.json\n  \
                        slablab replay t.parquet --show sites --format csv\n  \
                        slablab replay pages.parquet --pages\n  \
                        slablab replay fleet/ -a slub,slub-sheaves --resume kept/")]
pub(crate) struct Args {
    /// A trace, or what import reads; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    #[command(flatten)]
    many: ManyArgs,
    /// Replay under these allocators [default: slab,slub,slob,slmb, before them the SLUB of the recorded kernel]
    #[arg(short, long, value_delimiter = ',', value_name = "NAME,...", value_parser = allocator())]
    allocators: Vec<BackendKind>,
    /// Simulated memory [default: 16G, more where needed]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Replay page events instead: what stays free, in which blocks (record --pages)
    #[arg(long, conflicts_with_all = ["allocators", "cold"])]
    pages: bool,
    /// Begin with no objects, also where the trace says which the recorded kernel had
    #[arg(long)]
    cold: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    ram: MemoryArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    args.ram.keep();
    if args.pages {
        let Args { trace, many, filter, memory, answer, .. } = args;
        return pages::run(trace, (many, filter), *memory, answer, output);
    }
    check_outputs(&args.many.all(&args.trace), args.answer.outputs())?;
    let traces = Traces::open_with_lifetimes(&args.trace, &args.many, &args.filter)?;
    let (usual, recorded) = usual(&traces.kernels());
    let allocators = match &args.allocators[..] {
        [] => usual,
        asked => distinct(asked),
    };
    let (memory_bytes, start) = (args.memory, args.start());
    let names: Vec<_> = allocators.iter().map(|kind| kind.name()).collect();
    let question = Question {
        schema: "slablab.replay.trace/2",
        asked: vec![names.join(","), asked_memory(memory_bytes), format!("{start:?}")],
        doing: "replaying",
        passes: 1,
        ..Question::default()
    };
    let plan = ReplayPlan { allocators, memory_bytes, start, ..ReplayPlan::default() };
    let plan = if traces.one().is_some() { plan } else { plan.of_many() };
    let mut sum = ReplaySum::new(traces.site_names());
    traces.each(
        &question,
        |trace, progress| {
            let replay = slablab_replay::replay(trace, &plan, progress)?;
            Ok(if traces.one().is_some() { replay } else { replay.summable() })
        },
        |origin, replay| sum.add(origin, replay),
    )?;
    let answer = ReplayAnswer {
        file: traces.name(),
        replay: sum.finish().expect("one trace at least was replayed"),
        remarks: traces.remarks(),
        recorded: recorded.filter(|_| args.allocators.is_empty()),
    };
    give(&answer, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn start(&self) -> Start {
        if self.cold { Start::Cold } else { Start::Warm }
    }
}

/// Returns the usual allocators, as far as they know pages of the size of each of `kernels`, given by release and page size;
/// what these had comes first, and is returned beside them where it is one.
fn usual(kernels: &[(&str, u64)]) -> (Vec<BackendKind>, Option<BackendKind>) {
    let is_recorded = |kind: &BackendKind| {
        kernels.iter().any(|(release, _)| BackendKind::of_release(release) == Some(*kind))
    };
    let (recorded, others): (Vec<_>, Vec<_>) =
        BackendKind::ALL.iter().copied().partition(is_recorded);
    let usual = BackendKind::USUAL.iter().copied().filter(|kind| others.contains(kind));
    let fits = |kind: &BackendKind| kernels.iter().all(|(_, bytes)| kind.has_pages_of(*bytes));
    let only = if let [only] = recorded[..] { Some(only) } else { None };
    (recorded.into_iter().chain(usual).filter(fits).collect(), only)
}
