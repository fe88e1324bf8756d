//! What shells complete when the tabulator is pressed.

use std::path::PathBuf;

use anyhow::Result;
use clap::Command;
use clap_complete::{Shell, generate_to};

/// The shells, and where each looks.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions"),
    (Shell::Zsh, "zsh/site-functions"),
    (Shell::Fish, "fish/vendor_completions.d"),
];

/// Writes a file for each shell, into the folder that `folder` makes.
pub(super) fn write(command: &mut Command, folder: impl Fn(&str) -> Result<PathBuf>) -> Result<()> {
    for (shell, name) in SHELLS {
        generate_to(shell, command, "slablab", folder(name)?)?;
    }
    Ok(())
}
