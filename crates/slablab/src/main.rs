//! The command `slablab`: what would my kernel do with another slab allocator?
//!
//! `cli` holds the options every sub-command shares, `cmd` one file per sub-command, `output` the three
//! formats (table, JSON, CSV) that each result can take. A sub-command parses, calls a library crate, and
//! hands a value to `output`; it computes nothing itself.
//!
//! Exit status: 0 done, 1 the answer is no (a mismatch, a regression), 2 wrong use or a tool that failed.
#![forbid(unsafe_code)]

mod cli;
mod cmd;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match cmd::run(&cli) {
        Ok(status) => status,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("slablab: {error:#}");
            ExitCode::from(2)
        }
    }
}
