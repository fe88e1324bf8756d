//! `slablab lab run PLAN`: one shard of a plan, on this machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_host::shell;
use slablab_lab::{Shard, Sweep};

use super::bars::Bars;
use crate::cli::OutputArgs;
use crate::output::{Page, Report, Table, field, print};

/// Runs what is left of `shard` of the plan in `folder`; `given` says which options do not go with a plan.
pub(crate) fn run(
    folder: &Path,
    shard: Shard,
    given: &Result<(), &'static str>,
    output: &OutputArgs,
) -> Result<ExitCode> {
    if let Err(what) = given {
        bail!("{}: {what}", folder.display());
    }
    let sweep = Sweep::open(folder)?;
    let mut bars = Bars::new(&sweep.plan.experiment);
    let run = sweep.run(shard, &mut |now| bars.show(&now))?;
    drop(bars);
    let done = Done {
        plan: folder.to_owned(),
        shard: shard.to_string(),
        folder: run.folder,
        cells: run.cells,
        done_before: run.done_before,
        added: run.added,
    };
    print(&done, output, None)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Done {
    plan: PathBuf,
    shard: String,
    /// Where the rows of this machine are
    folder: PathBuf,
    cells: usize,
    done_before: usize,
    added: usize,
}

impl Report for Done {
    const SCHEMA: &'static str = "slablab.lab.shard/1";

    fn text(&self, page: &mut Page) {
        let Self { shard, cells, done_before, added, .. } = self;
        page.line(format!(
            "shard {shard}: {cells} cells, {done_before} done before, {added} rows added in {}",
            self.folder.display()
        ));
        page.line(format!(
            "When all shards are done: slablab lab merge {} -o RESULT",
            shell::path(&self.plan)
        ));
    }

    fn csv(&self) -> Table {
        let fields = [
            field::text("shard", "shard", |done: &&Self| done.shard.clone()),
            field::count("cells", "cells", |done| done.cells as u64),
            field::count("done before", "done_before", |done| done.done_before as u64),
            field::count("added", "added", |done| done.added as u64),
            field::text("folder", "folder", |done| done.folder.display().to_string()),
        ];
        Table::of(&[self], fields)
    }
}
