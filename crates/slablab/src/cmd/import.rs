//! `slablab import`: a recording of another tool becomes a trace.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use slablab_trace::{Addresses, Format, ImportOptions, TraceReader};

use super::written::{Writer, Written};
use crate::cli::OutputArgs;
use crate::progress::Progress;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Formats: perf-data (perf kmem record), perf-script (text of perf script), trace-cmd (text of\n\
                        trace-cmd report), trace (text of tracefs trace or trace_pipe), parquet (a trace, also one that\n\
                        DuckDB, Polars or Spark filtered or wrote anew).\n\n\
                        Examples:\n  \
                        perf kmem record -- make -j4 && slablab import perf.data -o t.parquet\n  \
                        zcat trace.txt.gz | slablab import - -o t.parquet\n  \
                        slablab import t.parquet --strip-addresses -o public.parquet"
)]
pub(crate) struct Args {
    /// The recording; - is standard input
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The trace file to write, readable by its owner only [default: FILE with the ending .parquet, in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The recording's format, instead of finding it out
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<Format>,
    /// /proc/slabinfo of the recorded machine when the recording ended: names caches that the events
    /// do not (kernels before 6.8)
    #[arg(long, value_name = "FILE")]
    slabinfo: Option<PathBuf>,
    #[command(flatten)]
    addresses: AddressArgs,
}

/// Whether the trace may be given away.
#[derive(clap::Args, Debug)]
pub(crate) struct AddressArgs {
    /// Leave the kernel addresses of call sites out of the trace, so that it can be given away; their names stay
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
    let path = args.output.clone().unwrap_or_else(|| default_output(&args.input));
    let options = ImportOptions {
        format: args.from,
        slabinfo: args.slabinfo.as_deref().map(read_slabinfo).transpose()?,
        addresses: args.addresses.addresses(),
        ..ImportOptions::new(&args.input, &path)
    };
    let mut progress = Progress::default();
    let meta = slablab_trace::import(&options, &mut |step| progress.step(step))?;
    drop(progress);
    Written::new(Writer::Import, &path, &meta, None, Vec::new()).print(output)?;
    Ok(ExitCode::SUCCESS)
}

/// Opens a trace; a recording of another tool is read as if it had been imported.
pub(crate) fn open(path: &Path) -> Result<TraceReader> {
    let mut progress = Progress::default();
    Ok(slablab_trace::open(path, &mut |step| progress.step(step))?)
}

/// Reads a saved `/proc/slabinfo`.
fn read_slabinfo(path: &Path) -> Result<String> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{}: cannot read", path.display()))?;
    if !text.starts_with("slabinfo - version: 2.") {
        bail!("{}: no text of /proc/slabinfo, version 2", path.display());
    }
    Ok(text)
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
