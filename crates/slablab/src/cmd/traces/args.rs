//! The options by which a command takes several traces.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::inputs::{self, Damaged};

/// Further traces, and the folder for their results.
#[derive(clap::Args, Debug)]
pub(crate) struct ManyArgs {
    /// Further traces, folders and patterns, to be added up
    #[arg(value_name = "TRACES")]
    further: Vec<PathBuf>,
    /// Save results here; resume an interrupted run
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    damaged: DamagedArgs,
}

/// How traces that cannot be read are treated.
#[derive(clap::Args, Debug)]
pub(crate) struct DamagedArgs {
    /// Go on without traces that are damaged, and name them
    #[arg(long)]
    skip_damaged: bool,
}

impl DamagedArgs {
    /// Returns it.
    pub(crate) fn policy(&self) -> Damaged {
        if self.skip_damaged { Damaged::Skipped } else { Damaged::Refused }
    }
}

/// Several traces, as they were named.
#[derive(Debug, Clone)]
pub(crate) struct Many<'a> {
    pub(crate) paths: Vec<&'a Path>,
    /// The folder for the result of each trace
    pub(crate) resume: Option<&'a Path>,
    pub(crate) damaged: Damaged,
}

impl ManyArgs {
    /// Returns what was named, `first` and further ones.
    pub(crate) fn all<'a>(&'a self, first: &'a Path) -> Vec<&'a Path> {
        let further = self.further.iter().map(PathBuf::as_path);
        [first].into_iter().chain(further).collect()
    }

    /// Returns the traces, with `first` among them; `None` where that is the only one.
    pub(crate) fn with<'a>(&'a self, first: &'a Path) -> Result<Option<Many<'a>>> {
        let paths = self.all(first);
        let resume = self.resume.as_deref();
        match inputs::are_several(&paths) {
            true => Ok(Some(Many { paths, resume, damaged: self.damaged.policy() })),
            false if resume.is_some() => bail!("--resume goes with several traces: this is one"),
            false if self.damaged.skip_damaged => {
                bail!("--skip-damaged goes with several traces: this is one")
            }
            false => Ok(None),
        }
    }
}

/// The options that select a part of a trace.
pub(crate) const FILTERS: &str = "--time, --cpu, --pid, --comm, --cache or --site";

/// Refuses options that have no meaning for several traces: each with whether it is given.
pub(crate) fn refuse(options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((FILTERS, _)) => {
            bail!(
                "{FILTERS} takes a part of one trace, and these are several: import the parts, and give those"
            )
        }
        Some((option, _)) => {
            bail!(
                "{option} goes with one trace, and these are several: give the one that shows the load best"
            )
        }
        None => Ok(()),
    }
}
