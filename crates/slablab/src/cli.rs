//! The options that every sub-command shares, and the list of sub-commands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cmd;

/// What would my kernel do with another slab allocator?
#[derive(Parser, Debug)]
#[command(
    name = "slablab",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Record your own kernel, then ask:\n  \
                  slablab record -o t.parquet -- make -j4\n  \
                  slablab replay t.parquet --allocators slub,slob\n\n\
                  Exit status: 0 done, 1 the answer is no, 2 wrong use or a tool that failed."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How a result is printed.
#[derive(Args, Debug, Clone)]
pub(crate) struct OutputArgs {
    /// How to print the result
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Whether to colour a table; NO_COLOR is honoured
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
}

/// The formats a result can take.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people
    Table,
    /// For programs; has a schema version
    Json,
    /// For spreadsheets; one table
    Csv,
}

/// When to use colour.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Also in a pipe
    Always,
    /// Not at all
    Never,
}

/// The sub-commands, in the order in which a newcomer meets them.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Record the running kernel's allocations while a command runs
    Record(cmd::record::Args),
    /// Make a trace of a recording by perf or trace-cmd
    Import(cmd::import::Args),
    /// Say what a trace holds and how far it can be trusted
    Info(cmd::info::Args),
    /// Print totals and call sites as `perf kmem stat` does
    Stat(cmd::stat::Args),
    /// Replay a trace under slab allocators and compare them
    Replay(cmd::replay::Args),
    /// Replay a trace with a change, side by side with what was recorded
    Whatif(cmd::whatif::Args),
    /// Say which call sites should have a cache of their own
    Advise(cmd::advise::Args),
    /// Run experiments and compare their results
    Lab(cmd::lab::Args),
    /// Make one page that opens in a browser, from stored results
    Report(cmd::report::Args),
    /// Compile a kernel module and run it here, with the allocator of your choice
    Insmod(cmd::insmod::Args),
    /// Build, boot and measure real kernels in QEMU
    Kernel(Box<cmd::kernel::Args>),
    /// Say what works on this machine, what does not, and how to mend it
    Doctor(cmd::doctor::Args),
}

/// Where a result goes: shared by the sub-commands whose result is text.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ResultFile {
    /// Write the result here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
