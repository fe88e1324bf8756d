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
                  Exit status: 0 success; 1 the answer is no (a regression, a mismatch, a missing requirement); 2 an error."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How a result is printed.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Common options")]
pub(crate) struct OutputArgs {
    /// Print the result as a table, as json (with a schema version) or as csv (one table)
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT",
          hide_possible_values = true, display_order = 1000)]
    pub(crate) format: Format,
    /// Colour tables: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN",
          hide_possible_values = true, display_order = 1001)]
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
    /// Record the slab allocations of the running kernel while a command runs
    Record(cmd::record::Args),
    /// Convert a recording of perf, trace-cmd or ftrace to a trace
    Import(cmd::import::Args),
    /// Show what a trace contains and how complete it is
    Info(cmd::info::Args),
    /// Print totals and call sites in the format of `perf kmem stat`
    Stat(cmd::stat::Args),
    /// Replay a trace under several slab allocators and compare them
    Replay(cmd::replay::Args),
    /// Replay a trace with and without a change, and compare
    Whatif(cmd::whatif::Args),
    /// Rank the call sites that should have a kmem_cache of their own
    Advise(cmd::advise::Args),
    /// Run experiments and compare their results
    Lab(cmd::lab::Args),
    /// Make one HTML page of stored results
    Report(cmd::report::Args),
    /// Compile a kernel module and run it as a process, under a chosen allocator
    Insmod(cmd::insmod::Args),
    /// Build, boot and measure real kernels in QEMU
    Kernel(Box<cmd::kernel::Args>),
    /// Check this machine's requirements, and print the fixes
    Doctor(cmd::doctor::Args),
}

/// Where a result goes: shared by the sub-commands whose result is text.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ResultFile {
    /// Write the result here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;

    /// Calls `look` with every command that has no sub-commands, and its help on 80 columns.
    fn every_help(command: &Command, look: &mut dyn FnMut(&str, &str)) {
        let mut subcommands =
            command.get_subcommands().filter(|c| c.get_name() != "help").peekable();
        if subcommands.peek().is_none() {
            let help = command.clone().term_width(80).render_long_help().to_string();
            look(command.get_bin_name().unwrap_or_default(), &help);
        }
        subcommands.for_each(|command| every_help(command, look));
    }

    fn built() -> Command {
        let mut command = Cli::command();
        command.build();
        command
    }

    #[test]
    fn global_options_stand_after_the_commands_own() {
        let mut commands = 0;
        every_help(&built(), &mut |name, help| {
            let (own, common) = help.split_once("\nCommon options:\n").expect(name);
            let shows = |option: &str| own.contains(&format!("\n      --{option} <"));
            assert!(!shows("format") && !shows("color"), "{name}: {help}");
            assert_eq!(common.matches("\n      --").count(), 1, "{name}: {help}");
            commands += 1;
        });
        assert!(commands > 20, "{commands}");
    }
}
