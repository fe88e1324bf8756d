//! The list of sub-commands.

use std::env::args_os;
use std::io::{ErrorKind, Write, stdout};
use std::process::{ExitCode, exit};

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cli::OutputArgs;
use crate::cmd;
use crate::say::say;
use crate::spellings;

/// What holds my slab memory, and what would my kernel do with another slab allocator?
#[derive(Parser, Debug)]
#[command(
    name = "slablab",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Record your own kernel, then ask:\n  \
                  slablab record -o t.parquet -- make -j4\n  \
                  slablab replay t.parquet --allocators slub,slob\n\n\
                  Exit status: 0 success; 1 the answer is negative (a regression, a mismatch, a missing requirement); 2 an error."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The sub-commands, in the order in which a newcomer meets them.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Record the slab allocations of the running kernel while a command runs
    Record(cmd::record::Args),
    /// Convert a recording of perf, trace-cmd or ftrace to a trace
    Import(cmd::import::Args),
    /// Write what traces say about themselves as tables for SQL engines
    Export(cmd::export::Args),
    /// Say what holds slab memory, by any table that is pasted; or what a trace contains
    Info(cmd::info::Args),
    /// List the call sites of a trace: what they allocate, waste and do not free
    Stat(cmd::stat::Args),
    /// Show what the kernel's slabs do now, by call site or cache
    Top(cmd::top::Args),
    /// Write moments of what holds slab memory to a file, for days
    Watch(cmd::watch::Args),
    /// Find who leaks slab memory on this machine: owner, program and rate, with a verdict
    Leaks(cmd::leaks::Args),
    /// Replay a trace under several slab allocators and compare them
    Replay(cmd::replay::Args),
    /// Replay a trace with and without a change, and compare
    Whatif(cmd::whatif::Args),
    /// Say what keeping kmalloc's objects apart costs
    Partition(cmd::partition::Args),
    /// Rank the call sites that should have a kmem_cache of their own
    Advise(cmd::advise::Args),
    /// Search the recorded kernel's settings for those that hold less memory
    Tune(cmd::tune::Args),
    /// Say whether the load fits into a memory, and what makes it fit
    Fit(cmd::fit::Args),
    /// Propose further kmalloc size classes
    Classes(cmd::classes::Args),
    /// Print the patch that gives a call site a cache of its own
    Patch(cmd::patch::Args),
    /// Compare commands, or one command before and after a setting, in time and slab memory
    Bench(cmd::bench::Args),
    /// Run experiments and compare their results
    Lab(cmd::lab::Args),
    /// Make one HTML page of stored results
    Report(cmd::report::Args),
    /// Compile a kernel module and run it as a process, under a chosen allocator
    Insmod(cmd::insmod::Args),
    /// List, build and boot real kernels in QEMU
    Kernel(Box<cmd::kernel::Args>),
    /// Check this machine's requirements, and print the fixes
    Doctor(cmd::doctor::Args),
    /// Write man pages and shell completions, for 'make install' and packages
    #[command(hide = true)]
    Generate(cmd::generate::Args),
}

/// Returns what the command line asks for, or prints help or an error and exits.
pub(crate) fn parse() -> Cli {
    let matches = command().try_get_matches().unwrap_or_else(|error| leave(&error));
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| leave(&error))
}

/// Prints help, the version or what is wrong with the words, and ends; clap's own end takes no notice of a full disk.
fn leave(error: &clap::Error) -> ! {
    let words: Vec<String> = args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(now) = spellings::now(&words).filter(|_| error.use_stderr()) {
        say(format_args!("slablab: {now}"));
        exit(2);
    }
    let printed = error.print().and_then(|()| stdout().flush());
    let status = match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            say(format_args!("slablab: cannot write to standard output: {error}"));
            2
        }
        _ => error.exit_code(),
    };
    exit(status)
}

/// Returns the parser, with the text behind each help free to fill the lines of the terminal.
fn command() -> clap::Command {
    fn unfolded(command: clap::Command) -> clap::Command {
        let text = command.get_after_help().map(|text| unfold(&text.to_string()));
        let command = command.mut_subcommands(unfolded);
        match text {
            Some(text) => command.after_help(text),
            None => command,
        }
    }
    unfolded(Cli::command())
}

/// Joins the lines of each paragraph; a line that is indented, or follows a colon or such a line, stays as it is.
fn unfold(text: &str) -> String {
    let mut unfolded = String::new();
    let mut last = ":";
    for line in text.lines() {
        let stays = [last, line].iter().any(|line| line.is_empty() || line.starts_with(' '));
        if !unfolded.is_empty() {
            unfolded.push(if stays || last.ends_with(':') { '\n' } else { ' ' });
        }
        unfolded.push_str(line);
        last = line;
    }
    unfolded
}

/// Runs the sub-command that was asked for.
pub(crate) fn run(cli: &Cli) -> Result<ExitCode> {
    let output = &cli.output;
    match &cli.command {
        Command::Record(args) => cmd::record::run(args, output),
        Command::Import(args) => cmd::import::run(args, output),
        Command::Export(args) => cmd::export::run(args, output),
        Command::Info(args) => cmd::info::run(args, output),
        Command::Stat(args) => cmd::stat::run(args, output),
        Command::Top(args) => cmd::top::run(args, output),
        Command::Watch(args) => cmd::watch::run(args, output),
        Command::Leaks(args) => cmd::leaks::run(args, output),
        Command::Replay(args) => cmd::replay::run(args, output),
        Command::Whatif(args) => cmd::whatif::run(args, output),
        Command::Partition(args) => cmd::partition::run(args, output),
        Command::Advise(args) => cmd::advise::run(args, output),
        Command::Tune(args) => cmd::tune::run(args, output),
        Command::Fit(args) => cmd::fit::run(args, output),
        Command::Classes(args) => cmd::classes::run(args, output),
        Command::Patch(args) => cmd::patch::run(args, output),
        Command::Bench(args) => cmd::bench::run(args, output),
        Command::Lab(args) => cmd::lab::run(args, output),
        Command::Report(args) => cmd::report::run(args, output),
        Command::Insmod(args) => cmd::insmod::run(args, output),
        Command::Kernel(args) => cmd::kernel::run(args, output),
        Command::Doctor(args) => cmd::doctor::run(args, output),
        Command::Generate(args) => cmd::generate::run(args, command()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Calls `look` with every command that has no sub-commands, and its help on 80 columns.
    fn every_help(look: &mut dyn FnMut(&str, &str)) {
        fn each(command: &clap::Command, look: &mut dyn FnMut(&str, &str)) {
            let mut subcommands =
                command.get_subcommands().filter(|c| c.get_name() != "help").peekable();
            if subcommands.peek().is_none() {
                let help = command.clone().term_width(80).render_long_help().to_string();
                look(command.get_bin_name().unwrap_or_default(), &help);
            }
            subcommands.for_each(|command| each(command, look));
        }
        let mut command = command();
        command.build();
        each(&command, look);
    }

    #[test]
    fn global_options_stand_after_the_commands_own() {
        let mut commands = 0;
        every_help(&mut |name, help| {
            let (own, common) = help.split_once("\nCommon options:\n").expect(name);
            let shows = |option: &str| own.contains(&format!("\n      --{option} <"));
            assert!(!shows("format") && !shows("color"), "{name}: {help}");
            assert_eq!(common.matches("\n      --").count(), 1, "{name}: {help}");
            commands += 1;
        });
        assert!(commands > 20, "{commands}");
    }

    /// `-a` was a list of allocators or one of them, and `-l` of one command what `-n` was of the others.
    #[test]
    fn a_letter_is_the_same_option_in_every_command() {
        fn each(command: &clap::Command, letters: &mut BTreeMap<char, Vec<String>>) {
            for option in command.get_arguments() {
                let (Some(letter), Some(long)) = (option.get_short(), option.get_long()) else {
                    continue;
                };
                let mut names = option.get_all_aliases().unwrap_or_default();
                names.push(long);
                let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
                let known = letters.entry(letter).or_insert_with(|| names.clone());
                known.retain(|name| names.contains(name));
                assert!(!known.is_empty(), "-{letter} of {command} is --{long} only there");
            }
            command.get_subcommands().for_each(|command| each(command, letters));
        }
        let mut command = command();
        command.build();
        each(&command, &mut BTreeMap::new());
    }

    #[test]
    fn no_help_has_more_than_60_lines() {
        /// Those that have more, with how many: the list only shrinks.
        const LEFT: [(&str, usize); 1] = [("slablab insmod", 98)];
        const LINES_MAX: usize = 60;
        let mut names = Vec::new();
        every_help(&mut |name, _| names.push(name.to_owned()));
        for name in names {
            // As `--help` prints it, which is shorter than the long help where no option has a long text.
            let words = name.split(' ').chain(["--help"]);
            let help = command().term_width(80).try_get_matches_from(words).unwrap_err();
            let left = LEFT.iter().find(|(left, _)| *left == name);
            let lines_max = left.map_or(LINES_MAX, |(_, lines)| *lines);
            let lines = help.to_string().lines().count();
            assert!(lines <= lines_max, "{name}: {lines} lines\n{help}");
        }
    }

    #[test]
    fn every_help_fits_80_columns() {
        let mut wide = Vec::new();
        every_help(&mut |name, help| {
            let lines = help.lines().filter(|line| line.chars().count() > 80);
            wide.extend(lines.map(|line| format!("{name}: {line}")));
        });
        assert!(wide.is_empty(), "{}", wide.join("\n"));
    }

    #[test]
    fn paragraphs_are_unfolded_and_examples_are_not() {
        let text = "One line\nand its rest.\n\nExamples:\n  a b\n  c d\nEnd.";
        assert_eq!(unfold(text), "One line and its rest.\n\nExamples:\n  a b\n  c d\nEnd.");
        assert_eq!(unfold("Formats:\nx"), "Formats:\nx");
    }
}
