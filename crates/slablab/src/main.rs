//! The command `slablab`: what would my kernel do with another slab allocator?
//!
//! `commands` lists the sub-commands, `cli` has the options they share, and `cmd` one file for each, which parses and calls
//! a library crate. `answers` makes the document of a result, and `output` prints it in each format.
//!
//! Exit status: 0 done, 1 a negative answer (a mismatch, a regression), 2 wrong use or a tool that
//! failed.
#![forbid(unsafe_code)]

mod answers;
mod bar;
mod cli;
mod cmd;
mod commands;
mod output;
mod progress;
mod say;
#[cfg(feature = "manual")]
mod schema;
mod spellings;

use std::process::ExitCode;

use say::say;

fn main() -> ExitCode {
    if let Err(error) = slablab_host::survive_file_size_limit() {
        say(format_args!("slablab: cannot catch signals: {error}"));
    }
    let cli = commands::parse();
    match check_address_space().and_then(|()| commands::run(&cli)) {
        Ok(status) => status,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("slablab: {}", in_words(&error)));
            ExitCode::from(2)
        }
    }
}

/// Below this address space memory runs out in the middle of anything, where no message can be made.
const ADDRESS_SPACE_BYTES_MIN: u64 = 128 << 20;

/// Refuses to begin in less address space than any command needs.
fn check_address_space() -> anyhow::Result<()> {
    match slablab_host::address_space_bytes() {
        Some(bytes) if bytes < ADDRESS_SPACE_BYTES_MIN => anyhow::bail!(
            "the address space of this process is limited to {} MiB, and no command does with less than {}: raise the limit \
             (ulimit -v)",
            bytes >> 20,
            ADDRESS_SPACE_BYTES_MIN >> 20
        ),
        _ => Ok(()),
    }
}

/// Returns an error with its causes in one line; a cause that the previous message already has is not repeated.
fn in_words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    let mut last = words.clone();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !last.contains(&cause) {
            words.push_str(": ");
            words.push_str(&cause);
        }
        last = cause;
    }
    words
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let cause = || anyhow!("no such file");
        assert_eq!(
            in_words(&cause().context("f: cannot open: no such file")),
            "f: cannot open: no such file"
        );
        assert_eq!(in_words(&cause().context("f: cannot open")), "f: cannot open: no such file");
        let deep = cause().context("g: cannot read: no such file").context("f");
        assert_eq!(in_words(&deep), "f: g: cannot read: no such file");
    }
}
