//! `slablab generate`: man pages and shell completions, from the definitions that `--help` is made of.

use std::fs::create_dir_all;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap_complete::Shell;

#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  slablab generate /usr/local/share")]
pub(crate) struct Args {
    /// The folder to write into: man/man1, bash-completion/completions, zsh/site-functions, fish/vendor_completions.d
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
    clap_mangen::generate_to(command.clone(), folder("man/man1")?).with_context(failed)?;
    let shells = [
        (Shell::Bash, "bash-completion/completions"),
        (Shell::Zsh, "zsh/site-functions"),
        (Shell::Fish, "fish/vendor_completions.d"),
    ];
    for (shell, name) in shells {
        clap_complete::generate_to(shell, &mut command, "slablab", folder(name)?)
            .with_context(failed)?;
    }
    Ok(ExitCode::SUCCESS)
}
