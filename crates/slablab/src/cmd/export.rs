//! `slablab export`: what traces say about themselves, as tables for SQL engines; what was alive, as profiles of stacks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use slablab_host::folder_of;
use slablab_trace::{Described, Meta, TraceReader, write_tables};

use super::groups::MomentArgs;
use super::memory::MemoryArgs;
use super::profiles::{self, ProfileArgs};
use super::traces::args::DamagedArgs;
use super::traces::inputs;
use crate::answers::export::{ExportAnswer, ExportedTable};
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "The events are Parquet already; this writes what stands beside them: traces.parquet (a row a file:\n\
                        host, kernel, CPUs, quality), sites.parquet, caches.parquet, stacks.parquet (of column stack) and\n\
                        slabs.parquet (the kernel's own numbers over time). Their column file is the name of the trace\n\
                        as it is given here. SQL.md in\n\
                        traces/ of the source tree has ten questions with their queries.\n\n\
                        Examples:\n  \
                        slablab export t.parquet --tables tables/\n  \
                        slablab export t.parquet --pprof live.pb.gz --folded live.folded\n  \
                        slablab export 'fleet/host=*/date=*/*.parquet' --tables tables/"
)]
pub(crate) struct Args {
    /// Traces, and folders and patterns of them
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
    /// The folder for the tables, apart from that of the traces; made if it is not there
    #[arg(long, value_name = "FOLDER", required_unless_present_any = ["pprof", "folded", "firefox"])]
    tables: Option<PathBuf>,
    #[command(flatten)]
    profiles: ProfileArgs,
    #[command(flatten)]
    moments: MomentArgs,
    #[command(flatten)]
    damaged: DamagedArgs,
    #[command(flatten)]
    answer: AnswerArgs,
    #[command(flatten)]
    ram: MemoryArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    args.ram.keep();
    let mut written = Vec::new();
    if args.profiles.is_given() {
        written = profiles::write(&args.traces, &args.profiles, &args.moments)?;
    } else if args.moments.is_given() {
        bail!(
            "--at, --growth and --helper are about profiles: add --pprof FILE, --folded FILE or --firefox FILE"
        );
    }
    let (traces, left_out) = match &args.tables {
        Some(folder) => tables(args, folder, &mut written)?,
        None => (args.traces.len(), Vec::new()),
    };
    give(&ExportAnswer { traces, tables: written, left_out }, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the tables; returns how many traces they are of, and which were left out.
fn tables(
    args: &Args,
    folder: &Path,
    written: &mut Vec<ExportedTable>,
) -> Result<(usize, Vec<String>)> {
    let paths: Vec<&Path> = args.traces.iter().map(PathBuf::as_path).collect();
    let inputs = inputs::find(&paths, args.damaged.policy())?;
    check_apart(folder, &paths, &inputs)?;
    let metas = inputs.iter().map(|input| Ok(TraceReader::open(&input.path)?.meta().clone()));
    let metas: Vec<Meta> = metas.collect::<Result<_>>()?;
    let describe = |(input, meta): (&inputs::Input, &'_ Meta)| -> (String, String, String) {
        (
            input.path.display().to_string(),
            input.origin.host.clone(),
            inputs::date(&input.path, meta),
        )
    };
    let words: Vec<_> = inputs.iter().zip(&metas).map(describe).collect();
    let described: Vec<Described<'_>> = words
        .into_iter()
        .zip(&metas)
        .map(|((file, host, date), meta)| Described { file, host, date, meta })
        .collect();
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{}: cannot make the folder", folder.display()))?;
    let names = write_tables(folder, &described)?;
    let table = |name: &&str| ExportedTable { table: folder.join(name).display().to_string() };
    written.extend(names.iter().map(table));
    Ok((inputs.len(), inputs.left_out.clone()))
}

/// Refuses tables in a folder of traces, where the next question would take them for traces, or in the place of one.
fn check_apart(tables: &Path, paths: &[&Path], inputs: &[inputs::Input]) -> Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let folders = paths.iter().filter(|path| path.is_dir()).filter_map(|path| real(path));
    // The folder may not be there yet; what it will lie in is.
    let target = tables
        .ancestors()
        .find_map(|place| real(if place == Path::new("") { Path::new(".") } else { place }));
    let is_below =
        target.is_some_and(|target| folders.into_iter().any(|folder| target.starts_with(folder)));
    // Of traces named one by one, or by a pattern, the folder itself; a folder beside them is apart from them.
    let beside = |path: &Path| {
        [real(folder_of(path)), real(path).as_deref().map(folder_of).map(PathBuf::from)]
    };
    let is_beside = real(tables).is_some_and(|tables| {
        inputs.iter().any(|input| beside(&input.path).contains(&Some(tables.clone())))
    });
    if is_below || is_beside {
        bail!(
            "{}: is in a folder of traces, where the tables would be taken for traces: name a folder elsewhere",
            tables.display()
        );
    }
    Ok(())
}
