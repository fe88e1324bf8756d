//! `slablab lab list`: the experiments, with their questions and parameters.

use std::process::ExitCode;

use anyhow::Result;
use slablab_lab::{find, preset};

use crate::answers::lab::ExperimentsAnswer;
use crate::cli::{AnswerArgs, OutputArgs};
use crate::output::give;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Show the parameters of this experiment [default: list all]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    answer: AnswerArgs,
}

pub(crate) fn run(args: &Args, output: &OutputArgs) -> Result<ExitCode> {
    let preset = args.name.as_deref().and_then(|name| preset(name, None));
    let name = preset.map_or(args.name.as_deref(), |preset| Some(preset.experiment));
    let own = preset.map_or(&[][..], |preset| preset.own);
    let answer = ExperimentsAnswer::new(name.map(find).transpose()?, own);
    give(&answer, output, &args.answer)?;
    Ok(ExitCode::SUCCESS)
}
