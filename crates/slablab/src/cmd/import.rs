//! `slablab import`: a recording of another tool becomes a trace.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use slablab_trace::{Format, ImportOptions, Meta, TraceReader};

use crate::cli::OutputArgs;
use crate::output::{bytes, thousands};
use crate::progress::Progress;

/// Options of `slablab import`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Formats: perf-data (perf kmem record), perf-script (text of perf script), trace-cmd (text of\n\
                        trace-cmd report), trace (text of tracefs trace or trace_pipe).\n\n\
                        Example:\n  perf kmem record -- make -j4 && slablab import perf.data -o t.parquet"
)]
pub(crate) struct Args {
    /// The recording
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The trace file to write [default: FILE with the ending .parquet, in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The recording's format, if it is not to be found out
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<Format>,
    /// /proc/slabinfo of the recorded machine when the recording ended: names caches that the events
    /// do not (kernels before 6.8)
    #[arg(long, value_name = "FILE")]
    slabinfo: Option<PathBuf>,
}

/// Runs `slablab import`.
pub(crate) fn run(args: &Args, _output: &OutputArgs) -> Result<ExitCode> {
    let output = args.output.clone().unwrap_or_else(|| default_output(&args.input));
    let slabinfo = args.slabinfo.as_deref().map(read_slabinfo).transpose()?;
    let meta = import(&args.input, args.from, &output, slabinfo)?;
    let size = std::fs::metadata(&output).map_or(0, |file| file.len());
    eprintln!(
        "[ slablab import: {} events, {:.1} % of them not placed; {} written to {} ]",
        thousands(meta.events),
        super::info::unplaced_share(&meta) * 100.0,
        bytes(size),
        output.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Opens a trace; a recording of another tool is read as if it had been imported.
pub(crate) fn open(path: &Path) -> Result<TraceReader> {
    if is_trace(path) {
        return Ok(TraceReader::open(path)?);
    }
    let source = slablab_trace::open_raw(path, None)?;
    let mut progress = Progress::default();
    Ok(slablab_trace::load(source, path, &mut |step| progress.step(step))?)
}

/// Returns whether a file begins as a Parquet file does.
pub(crate) fn is_trace(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && &magic == b"PAR1"
}

fn import(
    input: &Path,
    format: Option<Format>,
    output: &Path,
    slabinfo: Option<String>,
) -> Result<Meta> {
    let options =
        ImportOptions { input: input.to_owned(), format, output: output.to_owned(), slabinfo };
    let mut progress = Progress::default();
    Ok(slablab_trace::import(&options, &mut |step| progress.step(step))?)
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
    let name = input.file_stem().unwrap_or(input.as_os_str());
    Path::new(name).with_extension("parquet")
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("the formats are {}", names.join(", "))
    })
}
