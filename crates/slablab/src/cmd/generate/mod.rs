//! `slablab generate`: man pages and shell completions from the definitions that `--help` is made of, and the schemas of
//! what `--format json` prints.
//!
//! # How it works
//! What makes them is built in with the feature `manual` only, as `make install` and packages do: no other
//! command needs it.

#[cfg(feature = "manual")]
mod completions;
#[cfg(feature = "manual")]
mod man;
#[cfg(feature = "manual")]
mod schemas;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  slablab generate /usr/local/share")]
pub(crate) struct Args {
    /// The folder to write into: man/man1, bash-completion/completions, zsh/site-functions, fish/vendor_completions.d,
    /// slablab/schemas
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, command: clap::Command) -> Result<ExitCode> {
    write(args, command)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes all of them.
#[cfg(feature = "manual")]
fn write(args: &Args, mut command: clap::Command) -> Result<()> {
    use anyhow::Context;

    let folder = |name: &str| {
        let folder = args.folder.join(name);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("{}: cannot make the folder", folder.display()))?;
        anyhow::Ok(folder)
    };
    man::pages(command.clone(), &folder("man/man1")?)?;
    completions::write(&mut command, folder)
        .with_context(|| format!("{}: cannot write", args.folder.display()))?;
    schemas::write(&folder("slablab/schemas")?)
}

/// Says that there is nothing that could write them.
#[cfg(not(feature = "manual"))]
fn write(args: &Args, _: clap::Command) -> Result<()> {
    let folder = args.folder.display();
    let what = "this slablab was built without what makes man pages, completions and schemas";
    anyhow::bail!("{folder}: {what}; build it by 'make build', or with --features manual")
}
