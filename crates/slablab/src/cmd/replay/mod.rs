//! `slablab replay`: what each allocator makes of a trace.
//!
//! `sheets` is what spreadsheets read; what people read is in `slablab_pages::tables`.

mod kernel;
mod timed;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::ValueEnum;
use slablab_kmem::BackendKind;
use slablab_replay::{Changes, ReplayPlan, Start, TraceFacts};
use slablab_report::counted;
use slablab_trace::{Meta, TraceReader};

use super::allocators::{allocator, distinct};
use super::filter::FilterArgs;
use super::fleet;
use super::fleet::args::{FILTERS, Many, ManyArgs, refuse};
use super::import;
use super::question::check_outputs;
use super::sheets::Sheet;
use super::size::parse_bytes;
use crate::answers::replay::ReplayAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::{Page, duration, give, print, thousands};
use crate::progress::Progress;
use crate::schema::Published;

/// What these commands print as JSON.
pub(super) const SCHEMAS: &[Published] = &[
    Published::answer::<ReplayAnswer>(),
    Published::of::<timed::TimedOutcome>(),
    Published::of::<kernel::Outcome>(),
];

#[derive(clap::Args, Debug)]
#[command(after_help = "The same trace gives the same numbers on any machine.\n\n\
                        Examples:\n  \
                        slablab replay traces/hackbench.parquet --allocators slub,slob\n  \
                        slablab replay traces/hackbench.parquet --engine kernel --kernel slub,slab\n  \
                        slablab replay perf.data --format json -o result.json\n  \
                        slablab replay fleet/ -a slub,slub-sheaves --resume kept/")]
pub(crate) struct Args {
    /// The trace, or a recording that can be imported; - is standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    #[command(flatten)]
    many: ManyArgs,
    /// Replay under these allocators [default: slab,slub,slob,slmb, before them the SLUB of the recorded kernel]
    #[arg(short, long, value_delimiter = ',', value_name = "NAME,...", value_parser = allocator())]
    allocators: Vec<BackendKind>,
    /// Memory of the simulated machine
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "16G")]
    memory: u64,
    /// Begin with no objects, also where the trace says which the recorded kernel had
    #[arg(long)]
    cold: bool,
    /// Replay on real threads and time each operation, instead of counting what one thread does
    #[arg(long)]
    timed: bool,
    /// Threads of a timed replay, at most one for each CPU of the trace [default: the CPUs of this machine]
    #[arg(long, value_name = "N", requires = "timed", value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    /// Replay in the simulated machine, or in guests with real kernels
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t = Engine::User, hide_possible_values = true)]
    engine: Engine,
    /// The kernels of --engine kernel: slub, build:6.12/slub, ...
    #[arg(long = "kernel", value_name = "NAME,...", value_delimiter = ',', default_value = "slub")]
    kernels: Vec<String>,
    /// A boot parameter of the kernels of --engine kernel; may be given several times
    #[arg(long = "append", value_name = "ARGUMENT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// The table that --format csv prints
    #[arg(long, value_enum, value_name = "TABLE", default_value_t = Sheet::Totals)]
    csv: Sheet,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    answer: AnswerArgs,
}

/// Where a trace is replayed.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    /// In the simulated machine
    User,
    /// In a real kernel
    Kernel,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    check_outputs(&args.many.all(&args.trace), args.answer.outputs())?;
    if let Some(many) = args.many.with(&args.trace)? {
        return of_many(args, &many, output);
    }
    let trace = import::open(&args.trace, &args.filter)?;
    if args.engine == Engine::Kernel {
        let asked = kernel::Asked {
            file: &args.trace,
            kernels: &args.kernels,
            arguments: &args.arguments,
            lines: args.answer.lines.unwrap_or(10),
            result: args.answer.output.as_deref(),
        };
        return kernel::run(&asked, output, &trace);
    }
    let recorded = BackendKind::of_release(&trace.meta().kernel_release);
    let allocators = match args.allocators.as_slice() {
        [] => usual(recorded, trace.meta()),
        asked => distinct(asked),
    };
    let (memory_bytes, start) = (args.memory, args.start());
    let plan = ReplayPlan { allocators, memory_bytes, start, ..ReplayPlan::default() };
    if args.timed {
        return run_timed(args, output, &trace, &plan);
    }
    let progress = Progress::new("replaying", trace.meta().events);
    let replay = slablab_replay::replay(&trace, &plan, &mut |done| progress.set(done))?;
    drop(progress);
    let answer = ReplayAnswer {
        file: args.trace.display().to_string(),
        replay,
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

/// Replays many traces, and adds up.
fn of_many(args: &Args, many: &Many<'_>, output: &OutputArgs) -> Result<ExitCode> {
    refuse(&[
        ("--timed", args.timed),
        ("--engine kernel", args.engine == Engine::Kernel),
        ("--report", args.answer.report.is_some()),
        (FILTERS, !args.filter.is_empty()),
    ])?;
    let asked = fleet::replay::Asked {
        allocators: &distinct(&args.allocators),
        memory_bytes: args.memory,
        start: args.start(),
        lines: args.answer.lines.unwrap_or(10),
        sheet: args.csv,
    };
    let answer = fleet::replay::of_many(many, &asked)?;
    print(&answer, output, args.answer.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the usual allocators, as far as they know pages of the recorded size; what the recorded kernel had comes first.
fn usual(recorded: Option<BackendKind>, meta: &Meta) -> Vec<BackendKind> {
    let page_bytes = Changes::default().machine_page_bytes(meta);
    let others = BackendKind::USUAL.iter().copied().filter(|&kind| Some(kind) != recorded);
    let all = recorded.into_iter().chain(others);
    all.filter(|kind| kind.has_pages_of(page_bytes)).collect()
}

/// Runs `slablab replay --timed`.
fn run_timed(
    args: &Args,
    output: &OutputArgs,
    reader: &TraceReader,
    plan: &ReplayPlan,
) -> Result<ExitCode> {
    let here = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let threads = args.threads.unwrap_or(here);
    let outcome = timed::TimedOutcome {
        file: args.trace.display().to_string(),
        allocators: slablab_replay::replay_timed(reader, plan, threads)?,
    };
    print(&outcome, output, args.answer.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// Says what was replayed, and how far it can be trusted.
pub(super) fn header(file: &str, trace: &TraceFacts, page: &mut Page) {
    let release = match trace.kernel_release.as_str() {
        "" => "an unnamed kernel".to_owned(),
        release => format!("Linux {release}"),
    };
    page.line(format!(
        "{file}: {} in {} on {release}, {}{}",
        counted(trace.events, "event"),
        duration(trace.duration_ns),
        counted(trace.cpus.into(), "CPU"),
        if trace.command.is_empty() {
            String::new()
        } else {
            format!(": {}", trace.command.join(" "))
        }
    ));
    if let Some(one_in) = trace.one_in {
        page.line(format!(
            "The objects of 1 in {one_in} pages were recorded: all here is of these, and slabs are emptier than they were."
        ));
    }
    let causes = [
        ("lost", trace.lost),
        ("freed without an event", trace.implicit_frees),
        ("frees of older objects", trace.older_frees),
        ("skipped", trace.skipped),
    ];
    let causes: Vec<_> = causes
        .iter()
        .filter(|(_, events)| *events > 0)
        .map(|(cause, events)| format!("{} {cause}", thousands(*events)))
        .collect();
    let share = trace.unplaced_share * 100.0;
    page.line(match causes.is_empty() {
        true => "Every event could be placed.".to_owned(),
        false => format!("{share:.2} % of the events could not be placed: {}.", causes.join(", ")),
    });
}
