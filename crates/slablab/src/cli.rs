//! The options that sub-commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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

/// Where a result goes: shared by the sub-commands whose result is text.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ResultFile {
    /// Write the result here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
