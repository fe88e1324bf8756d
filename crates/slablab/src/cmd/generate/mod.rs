//! `slablab generate`: man pages and shell completions from the definitions that `--help` is made of, and the schemas of
//! what `--format json` prints.

mod man;

use std::fs::create_dir_all;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap_complete::Shell;

use super::{doctor, insmod, kernel, lab, replay, written};
use crate::answers::advise::AdviseAnswer;
use crate::answers::census::CensusAnswer;
use crate::answers::classes::ClassesAnswer;
use crate::answers::export::ExportAnswer;
use crate::answers::fit::FitAnswer;
use crate::answers::free::FreeAnswer;
use crate::answers::groups::GroupsAnswer;
use crate::answers::holding::HoldingAnswer;
use crate::answers::info::InfoAnswer;
use crate::answers::leaks::LeaksAnswer;
use crate::answers::pages::PagesAnswer;
use crate::answers::partition::PartitionAnswer;
use crate::answers::patch::PatchAnswer;
use crate::answers::perf_pages::PerfPagesAnswer;
use crate::answers::pins::PinsAnswer;
use crate::answers::stat::StatAnswer;
use crate::answers::top::TopAnswer;
use crate::answers::tune::TuneAnswer;
use crate::answers::typed::TypedAnswer;
use crate::answers::whatif::WhatIfAnswer;
use crate::output::write_whole;
use crate::schema::Published;

#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  slablab generate /usr/local/share")]
pub(crate) struct Args {
    /// The folder to write into: man/man1, bash-completion/completions, zsh/site-functions, fish/vendor_completions.d,
    /// slablab/schemas
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, mut command: clap::Command) -> Result<ExitCode> {
    let folder = |name: &str| {
        let folder = args.folder.join(name);
        create_dir_all(&folder)
            .with_context(|| format!("{}: cannot make the folder", folder.display()))?;
        Ok::<_, anyhow::Error>(folder)
    };
    let failed = || format!("{}: cannot write", args.folder.display());
    man::pages(command.clone(), &folder("man/man1")?)?;
    let shells = [
        (Shell::Bash, "bash-completion/completions"),
        (Shell::Zsh, "zsh/site-functions"),
        (Shell::Fish, "fish/vendor_completions.d"),
    ];
    for (shell, name) in shells {
        clap_complete::generate_to(shell, &mut command, "slablab", folder(name)?)
            .with_context(failed)?;
    }
    let schemas_folder = folder("slablab/schemas")?;
    for published in schemas() {
        let file = schemas_folder.join(published.file_name());
        let text = serde_json::to_string_pretty(&published.schema())? + "\n";
        write_whole(&file, text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what all commands print as JSON.
fn schemas() -> Vec<Published> {
    let here = [
        Published::answer::<doctor::DoctorAnswer>(),
        Published::answer::<InfoAnswer>(),
        Published::answer::<CensusAnswer>(),
        Published::answer::<StatAnswer>(),
        Published::answer::<GroupsAnswer>(),
        Published::answer::<PinsAnswer>(),
        Published::answer::<PagesAnswer>(),
        Published::answer::<PerfPagesAnswer>(),
        Published::answer::<AdviseAnswer>(),
        Published::answer::<TuneAnswer>(),
        Published::answer::<FitAnswer>(),
        Published::answer::<ClassesAnswer>(),
        Published::answer::<PatchAnswer>(),
        Published::answer::<WhatIfAnswer>(),
        Published::answer::<PartitionAnswer>(),
        Published::answer::<TypedAnswer>(),
        Published::answer::<FreeAnswer>(),
        Published::answer::<HoldingAnswer>(),
        Published::answer::<ExportAnswer>(),
        Published::answer::<TopAnswer>(),
        Published::answer::<LeaksAnswer>(),
        Published::answer::<written::Written>(),
        Published::answer_named::<written::Written>("slablab.import/1"),
    ];
    let families = [insmod::SCHEMAS, kernel::SCHEMAS, lab::SCHEMAS, replay::SCHEMAS];
    here.into_iter().chain(families.into_iter().flatten().copied()).collect()
}
