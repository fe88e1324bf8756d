//! Answers: one file for each noun makes the document of a result.
//!
//! # How it works
//! A command in `cmd` parses its options, calls a library crate, and hands the result to [`give`](crate::output::give) as
//! an [`Answer`](crate::output::Answer). Its document says first, in at most five sentences, what was found. The first
//! section has the table that proves it and fits a screen of 40 lines and 80 columns; further sections have a name by which
//! `--show` prints them. A column has one heading and one unit in all of them.
//!
//! # To add one
//! To add one, write a file here with a type that implements `Answer`, and add a line to the list of
//! schemas of `cmd/generate`.

pub(crate) mod advise;
pub(crate) mod bisect;
pub(crate) mod cache_pair;
pub(crate) mod census;
pub(crate) mod classes;
pub(crate) mod comparison;
pub(crate) mod explained;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod free;
pub(crate) mod groups;
mod growing;
mod held_table;
pub(crate) mod history;
pub(crate) mod holding;
pub(crate) mod info;
pub(crate) mod kept;
pub(crate) mod kernel;
pub(crate) mod lab;
pub(crate) mod leaks;
pub(crate) mod letter;
mod noted;
pub(crate) mod order;
pub(crate) mod page_replay;
pub(crate) mod pages;
pub(crate) mod partition;
pub(crate) mod patch;
pub(crate) mod patched;
pub(crate) mod perf_pages;
pub(crate) mod pins;
mod plots;
pub(crate) mod reason;
mod repeat;
pub(crate) mod replay;
mod rest;
pub(crate) mod script;
pub(crate) mod sources;
pub(crate) mod stat;
pub(crate) mod stored;
pub(crate) mod top;
pub(crate) mod trace;
pub(crate) mod tune;
pub(crate) mod typed;
mod vectors;
pub(crate) mod whatif;
