//! `slablab lab run PLAN`: one shard of a plan, on this machine.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use slablab_lab::{Shard, Sweep, find};

use super::bars::Bars;
use super::request::install;
use crate::answers::lab::ShardAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::cmd::kernel::options::InstallArgs;
use crate::output::give;

/// Runs what is left of `shard` of the plan in `folder`; `given` says which options do not go with a plan.
pub(crate) fn run(
    folder: &Path,
    shard: Shard,
    given: &Result<(), &'static str>,
    packages: &InstallArgs,
    output: &OutputArgs,
    answer: &AnswerArgs,
) -> Result<ExitCode> {
    if let Err(what) = given {
        bail!("{}: {what}", folder.display());
    }
    let sweep = Sweep::open(folder)?;
    install(packages, find(&sweep.plan.experiment)?, &sweep.plan)?;
    let mut bars = Bars::new(&sweep.plan.experiment);
    let run = sweep.run(shard, &mut |now| bars.show(&now))?;
    drop(bars);
    let done = ShardAnswer {
        plan: folder.to_owned(),
        shard: shard.to_string(),
        folder: run.folder,
        cells: run.cells,
        done_before: run.done_before,
        added: run.added,
    };
    give(&done, output, answer)?;
    Ok(ExitCode::SUCCESS)
}
