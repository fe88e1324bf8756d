//! Where the result of an experiment goes, and how much of its answer is shown.

use std::path::PathBuf;

use crate::cli::{AnswerArgs, ShownArgs};

/// Where rows and a page go, and how much of the answer is shown.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct ResultArgs {
    /// The result folder [default: slablab-results/NAME-ENGINE]
    #[arg(short, long, value_name = "FOLDER")]
    pub(super) output: Option<PathBuf>,
    /// Also write a page that opens in a browser
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}

impl ResultArgs {
    pub(super) fn answer(&self) -> AnswerArgs {
        AnswerArgs { report: self.report.clone(), ..self.shown.answer() }
    }
}
