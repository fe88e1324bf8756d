//! The source of the recorded kernel: where it is, and what of it is read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use slablab_csource::Tree;
use slablab_linux::Release;
use slablab_vm::{Interrupt, KernelBuilder, Need, Places, Source};

use super::kernel::options::InstallArgs;
use crate::progress::Progress;

/// Which source.
#[derive(clap::Args, Debug)]
pub(crate) struct CodeArgs {
    /// Linux's source: a folder, a tarball, or none [default: Debian's package, installed or in the cache]
    #[arg(long, value_name = "DIR|TARBALL", help_heading = "Source")]
    source: Option<PathBuf>,
    /// Download Debian's source of the recorded kernel if it is not at hand, and install what that needs (as root)
    #[arg(short, long, help_heading = "Source")]
    yes: bool,
}

/// A source that can be read.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) tree: Tree,
    pub(super) release: Release,
    /// What was named or found
    pub(super) path: PathBuf,
}

impl CodeArgs {
    /// Returns whether no source is wanted.
    pub(super) fn is_none(&self) -> bool {
        self.source.as_deref() == Some(Path::new("none"))
    }

    /// Opens the source that is named, or the one of `release` that is at hand, or is downloaded with --yes.
    pub(super) fn open(&self, release: Option<Release>) -> Result<Option<Code>> {
        if self.is_none() {
            return Ok(None);
        }
        // What is wrong with it is said before anything is installed.
        let named = self.source.as_deref().map(Source::at).transpose()?;
        if named.is_none() && release.is_none() {
            return Ok(None);
        }
        let mut bar = Progress::default();
        let is_fetched = named.is_none() && self.yes;
        let builder = match is_fetched {
            true => InstallArgs::with_yes().open(&Places::default(), &[Need::SOURCE], &mut bar)?,
            false => {
                let interrupt = Interrupt::on_signals().context("cannot handle signals")?;
                KernelBuilder::reading(&Places::default(), interrupt)?
            }
        };
        let mut show = |step: slablab_vm::Step<'_>| bar.show(&step);
        let source = match (named, release) {
            (Some(source), _) => Some(source),
            (None, Some(release)) if is_fetched => builder.source_of(release, Some(&mut show))?,
            (None, Some(release)) => builder.source_of(release, None)?,
            (None, None) => None,
        };
        let Some(source) = source else { return Ok(None) };
        let (folder, release) = builder.code(&source, &mut show)?;
        let tree = Tree::open(&folder)?;
        Ok(Some(Code { tree, release, path: source.path().to_owned() }))
    }
}
