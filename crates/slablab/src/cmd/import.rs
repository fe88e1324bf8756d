//! `slablab import`: a recording of another tool becomes a trace.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_host::shell;
use slablab_trace::{
    Addresses, Format, ImportOptions, Input, Meta, RecordedKmalloc, Symbols, TraceReader,
    TraceWriter,
};

use super::filter::FilterArgs;
use super::memory::MemoryArgs;
use super::outputs::check_replaced;
use super::tables;
use super::written::{Written, refuse_output};
use crate::cli::OutputArgs;
use crate::output::thousands;
use crate::progress::Progress;
use crate::say::say;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Formats: perf-data (perf kmem record), trace-dat (trace-cmd record -e kmem), perfetto (with\n\
                        ftrace_events: \"kmem/*\"), perf-script (text of perf script), trace-cmd (text of trace-cmd\n\
                        report), trace (text of tracefs trace or trace_pipe), parquet (a trace, also one that DuckDB,\n\
                        Polars or Spark filtered or wrote anew); each also compressed by gzip or zstd.\n\n\
                        Examples:\n  \
                        perf kmem record -- make -j4 && slablab import perf.data -o t.parquet\n  \
                        trace-cmd record -e kmem make -j4 && slablab import trace.dat -o t.parquet\n  \
                        ssh board cat trace.dat | slablab import - -o t.parquet\n  \
                        slablab import perf.data --comm cc1 --time 10%,90% -o t.parquet\n  \
                        slablab import t.parquet --strip-addresses -o public.parquet"
)]
pub(crate) struct Args {
    /// The recording; - is standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The trace file to write, readable by its owner only [default: FILE with the ending .parquet, if that is not there]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The recording's format, instead of finding it out
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<Format>,
    /// /proc/slabinfo of the recorded machine when the recording ended: names caches that the events
    /// do not (kernels before 6.8)
    #[arg(long, value_name = "FILE")]
    slabinfo: Option<PathBuf>,
    /// /proc/kallsyms of the recorded machine, saved as root since its last boot: names call sites that the recording
    /// has as addresses
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    #[command(flatten)]
    addresses: AddressArgs,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    ram: MemoryArgs,
}

/// Whether the trace may be given away.
#[derive(clap::Args, Debug)]
pub(crate) struct AddressArgs {
    /// Leave kernel addresses of call sites out, so that the trace can be given away; names stay
    #[arg(long)]
    strip_addresses: bool,
}

impl AddressArgs {
    /// Returns what becomes of addresses.
    pub(crate) fn addresses(&self) -> Addresses {
        if self.strip_addresses { Addresses::Strip } else { Addresses::Keep }
    }
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    args.ram.keep();
    args.output.as_deref().map_or(Ok(()), refuse_output)?;
    let path = args.output.clone().unwrap_or_else(|| default_output(&args.input));
    let beside = [("--slabinfo", &args.slabinfo), ("--kallsyms", &args.kallsyms)];
    let beside = beside.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?)));
    let inputs: Vec<_> =
        [("the recording", args.input.as_path())].into_iter().chain(beside).collect();
    check_replaced(&inputs, &[("the trace", &path)])?;
    if args.output.is_none() {
        refuse_unnamed(&path)?;
    }
    let options = ImportOptions {
        format: args.from,
        slabinfo: args.slabinfo.as_deref().map(read_slabinfo).transpose()?,
        symbols: args.kallsyms.as_deref().map(read_kallsyms).transpose()?,
        addresses: args.addresses.addresses(),
        ..ImportOptions::new(&args.input, &path)
    };
    let mut progress = Progress::default();
    let meta = if args.filter.is_empty() {
        slablab_trace::import(&options, &mut |step| progress.step(step))?
    } else {
        let whole = slablab_trace::read(&options, &mut |step| progress.step(step))?;
        let part = args.filter.apply(whole, &args.input)?;
        let writer = TraceWriter::create(&path)?.addresses(options.addresses);
        slablab_trace::copy(&part, writer, &mut |step| progress.step(step))?
    };
    drop(progress);
    Written::imported(&path, &meta).print(output)?;
    Ok(ExitCode::SUCCESS)
}

/// Opens a trace, or the part of it that is asked for; a recording of another tool is read as if it had been imported.
pub(crate) fn open(path: &Path, filter: &FilterArgs) -> Result<TraceReader> {
    filter.apply(open_whole(path)?, path)
}

/// As [`open`], for questions about pages.
pub(crate) fn open_pages(path: &Path, filter: &FilterArgs) -> Result<TraceReader> {
    let mut progress = Progress::default();
    let trace = slablab_trace::open(path, &mut |step| progress.step(step))?;
    drop(progress);
    filter.apply(trace, path)
}

/// Names the commands that look at events of pages, and refuses a trace that has no others.
fn tell_pages(path: &Path, meta: &Meta) -> Result<()> {
    let Some(pages) = &meta.pages else { return Ok(()) };
    if meta.events == 0 {
        bail!(
            "{}: holds events of pages only, and none of slabs: ask `slablab stat --pages`",
            path.display()
        );
    }
    say(format_args!(
        "slablab: {}: `slablab stat --pages` and `slablab replay --pages` say more about its {} events \
         of pages",
        path.display(),
        thousands(pages.events)
    ));
    Ok(())
}

/// As [`open`], for questions that need the lifetimes of objects: a recording without frees is refused.
pub(crate) fn open_with_lifetimes(path: &Path, filter: &FilterArgs) -> Result<TraceReader> {
    let trace = open_whole(path)?;
    check_lifetimes(path, trace.meta())?;
    filter.tell_of_replays(trace.meta(), path);
    filter.apply(trace, path)
}

/// Refuses a recording whose frees were not recorded.
pub(crate) fn check_lifetimes(path: &Path, meta: &Meta) -> Result<()> {
    match meta.lacks_lifetimes() {
        Some(lack) => bail!(
            "{}: {lack} Record all events of kmem (slablab record, perf kmem record); what was allocated, `slablab stat` \
             shows",
            path.display()
        ),
        None => Ok(()),
    }
}

fn open_whole(path: &Path) -> Result<TraceReader> {
    let mut progress = Progress::default();
    let trace = slablab_trace::open(path, &mut |step| progress.step(step))?;
    drop(progress);
    tell_pages(path, trace.meta())?;
    tell_guesses(path, &trace);
    Ok(trace)
}

/// Says what of the recorded kernel a model has to guess.
fn tell_guesses(path: &Path, trace: &TraceReader) {
    for guess in RecordedKmalloc::of(trace.meta()).guesses() {
        say(format_args!("slablab: {}: {guess}", path.display()));
    }
}

/// What `info` and `advise` can be asked about.
pub(crate) enum Opened {
    Trace(TraceReader),
    /// A text with tables, or what is in no format of recordings and may have some
    Tables(Input),
}

/// As [`open`], or leaves a text of tables to who reads them.
pub(crate) fn open_any(path: &Path, filter: &FilterArgs) -> Result<Opened> {
    let input = Input::open(path)?;
    if tables::is_tables(&input) || slablab_trace::is_text_of_no_recording(&input) {
        tables::refuse_filter(path, filter)?;
        return Ok(Opened::Tables(input));
    }
    let mut progress = Progress::default();
    let options = ImportOptions::new(path, "");
    let trace = slablab_trace::read_input(input, &options, &mut |step| progress.step(step))?;
    drop(progress);
    tell_guesses(path, &trace);
    filter.apply(trace, path).map(Opened::Trace)
}

/// Reads a saved `/proc/kallsyms`.
fn read_kallsyms(path: &Path) -> Result<Symbols> {
    Ok(slablab_trace::saved_kallsyms(Input::open(path)?)?)
}

/// Reads a saved `/proc/slabinfo`.
fn read_slabinfo(path: &Path) -> Result<String> {
    Ok(slablab_trace::saved_slabinfo(Input::open(path)?)?)
}

/// Refuses to replace a file that the user did not name: it may be another recording's trace.
fn refuse_unnamed(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        let path = shell::path(path);
        bail!(
            "{path} is there already: -o {path} replaces it if it is a trace, and -o with another name keeps it"
        );
    }
    Ok(())
}

fn default_output(input: &Path) -> PathBuf {
    let name = match input.file_stem() {
        Some(name) if name != "-" => name,
        _ => "slablab".as_ref(),
    };
    Path::new(name).with_extension("parquet")
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("the formats are {}", names.join(", "))
    })
}
