//! What a report shows, without how it looks.

use crate::flame::Flame;
use crate::plot::Plot;
use crate::table::{Comparisons, Table};

/// A whole report.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// What it is about
    pub title: String,
    /// The question in a sentence
    pub question: String,
    /// The answers, a sentence each; they stand first
    pub answers: Vec<String>,
    /// The parts, in order
    pub sections: Vec<Section>,
    /// Where and how it was measured: machine, kernel, command
    pub facts: Vec<Fact>,
}

/// One thing to know about how the numbers came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What
    pub name: String,
    /// Its value
    pub value: String,
}

impl From<Plot> for Item {
    fn from(plot: Plot) -> Self {
        Self::Plot(plot)
    }
}

impl Item {
    /// Makes a table.
    pub fn table(title: impl Into<String>, how: impl Into<String>, table: Table) -> Self {
        Self::Table(title.into(), how.into(), table)
    }
}

impl Fact {
    /// Makes a fact.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// A part of a report.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Its heading
    pub title: String,
    /// How its numbers were got
    pub method: String,
    /// What it shows, in order
    pub items: Vec<Item>,
}

impl Section {
    /// Makes a section; `method` is empty where its items say how their numbers were got.
    pub fn new(title: impl Into<String>, method: impl Into<String>, items: Vec<Item>) -> Self {
        Self { title: title.into(), method: method.into(), items }
    }
}

/// One thing in a section.
#[derive(Debug, Clone)]
pub enum Item {
    /// A paragraph
    Text(String),
    /// Effects, intervals and verdicts
    Comparisons(Comparisons),
    /// A plot
    Plot(Plot),
    /// A table that sorts and filters: its title, how its numbers were got, and the table
    Table(String, String, Table),
    /// A flame graph
    Flame(Flame),
}
