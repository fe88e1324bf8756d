//! `slablab lab merge`: the shards of a plan become one result.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_lab::{Holes, Merged, ShardRows, Sweep, merge};

use crate::cli::OutputArgs;
use crate::output::{Cell, Page, Report, Table, field, print};

/// So many holes and duplicates are named on a screen; JSON has all.
const NAMED_MAX: usize = 10;

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Rows are copied as they were written. A round is taken whole from one machine. Cells that no shard has are\n\
                        named, and nothing is written, unless --partial is given; the exit status is 1 then. Duplicates are\n\
                        named, and the older round counts; counts that differ between two runs of a cell are an error.\n\n\
                        Examples:\n  \
                        slablab lab merge plan/ -o result/ && slablab lab compare result/\n  \
                        slablab lab merge here/plan there/plan -o result/   # copies of one plan"
)]
pub(crate) struct Args {
    /// The folder of the plan, or its copies from several clusters
    #[arg(value_name = "PLAN", required = true)]
    plans: Vec<PathBuf>,
    /// The result folder to make
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Make a result although cells are missing
    #[arg(long)]
    partial: bool,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let sweeps: Vec<Sweep> =
        args.plans.iter().map(|folder| Sweep::open(folder)).collect::<slablab_lab::Result<_>>()?;
    let holes = if args.partial { Holes::Keep } else { Holes::Refuse };
    let merged = merge(&sweeps, &args.output, holes)?;
    let is_whole = merged.holes.is_empty();
    let folder = args.output.exists().then(|| args.output.clone());
    print(&Answer { folder, merged }, output, None)?;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The result; none where nothing was written
    folder: Option<PathBuf>,
    #[serde(flatten)]
    merged: Merged,
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.lab.merge/1";

    fn text(&self, page: &mut Page) {
        let Merged { cells, merged, hosts, shards, holes, duplicates } = &self.merged;
        let hosts = hosts.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        page.line(match hosts.is_empty() {
            true => format!("none of {cells} cells has a row"),
            false => format!("{merged} of {cells} cells, from {hosts}"),
        });
        if !shards.is_empty() {
            page.heading("Shards");
            page.table(&self.csv());
        }
        for shard in shards.iter().filter(|shard| shard.torn) {
            page.line("");
            page.line(format!(
                "{}: the last line was cut off in the middle and does not count; run the shard again",
                shard.folder.display()
            ));
        }
        for (what, named) in [("Cells without a row", holes), ("Rows left out", duplicates)] {
            if !named.is_empty() {
                page.heading(&format!("{what}: {}", named.len()));
                named.iter().take(NAMED_MAX).for_each(|line| page.line(line));
            }
            if named.len() > NAMED_MAX {
                page.line(format!(
                    "... and {} more; --format json has all",
                    named.len() - NAMED_MAX
                ));
            }
        }
        page.line("");
        page.line(match &self.folder {
            Some(folder) => format!("The result is in {}", folder.display()),
            None => "Nothing was written: run the missing shards, or add --partial.".to_owned(),
        });
    }

    fn csv(&self) -> Table {
        let fields = [
            field::text("shard", "shard", |shard: &ShardRows| {
                let name = shard.folder.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }),
            field::name("host", "host", |shard| &shard.host),
            field::count("rows", "rows", |shard| shard.rows as u64),
            field::count("taken", "taken", |shard| shard.taken as u64),
            field::cell("torn line", "torn", |shard| {
                Cell::text(if shard.torn { "yes" } else { "no" })
            }),
        ];
        Table::of(&self.merged.shards, fields)
    }
}
