//! The options that sub-commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How a result is printed.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Common options")]
pub(crate) struct OutputArgs {
    /// Print a table (default), markdown, mail, json or csv
    #[arg(long, global = true, value_enum, default_value_t = Format::Table, value_name = "FORMAT",
          hide_possible_values = true, hide_default_value = true, display_order = 1000)]
    pub(crate) format: Format,
    /// Colour: auto (default), always or never
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN",
          hide_possible_values = true, hide_default_value = true, display_order = 1001)]
    pub(crate) color: When,
}

/// The heading of what becomes of an answer; options of a command that follow do not fall under it.
const OUTPUT: &str = "Output";

/// Where an answer goes, and how much of it is shown: shared by the sub-commands that answer.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct AnswerArgs {
    /// Write the answer here instead of to standard output
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    /// Also write a page that opens in a browser
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) report: Option<PathBuf>,
    /// Show every table, whole
    #[arg(long, conflicts_with = "show", help_heading = OUTPUT)]
    pub(crate) all: bool,
    /// Show these tables, whole (their names end the answer)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = OUTPUT)]
    pub(crate) show: Vec<String>,
    /// Show this many rows of each table
    #[arg(short = 'n', long = "lines", value_name = "N", help_heading = OUTPUT)]
    pub(crate) lines: Option<usize>,
}

impl AnswerArgs {
    /// Returns the files that are written, each with the option that names it.
    pub(crate) fn outputs(&self) -> [(&'static str, Option<&PathBuf>); 2] {
        [("--output", self.output.as_ref()), ("--report", self.report.as_ref())]
    }
}

/// How much of an answer is shown, by commands whose -o is what they make.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct ShownArgs {
    /// Show every table, whole
    #[arg(long, conflicts_with = "show")]
    pub(crate) all: bool,
    /// Show these tables, whole; the last line of the answer has their names
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) show: Vec<String>,
    /// Show this many rows of each table
    #[arg(short = 'n', long = "lines", value_name = "N")]
    pub(crate) lines: Option<usize>,
}

impl ShownArgs {
    /// Returns it as that of an answer on standard output.
    pub(crate) fn answer(&self) -> AnswerArgs {
        let Self { all, show, lines } = self.clone();
        AnswerArgs { output: None, report: None, all, show, lines }
    }
}

/// The formats a result can take.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people
    Table,
    /// For issues and wikis
    Markdown,
    /// For lists: plain text of at most 72 columns, with how to repeat it
    Mail,
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
