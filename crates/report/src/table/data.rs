//! A table of data for the page: it sorts by a click on a heading and filters by a word.

use crate::unit::human;

/// Rows under columns.
#[derive(Debug, Clone, Default)]
pub struct DataTable {
    /// What it shows
    pub title: String,
    /// How its numbers were got
    pub how: String,
    /// The columns
    pub columns: Vec<Column>,
    /// The rows, as many cells each as there are columns
    pub rows: Vec<Vec<Value>>,
}

/// A column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its heading
    pub head: String,
    /// The unit of its numbers, empty for counts and names
    pub unit: String,
}

impl Column {
    /// Makes a column.
    pub fn new(head: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { head: head.into(), unit: unit.into() }
    }
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A name
    Text(String),
    /// A number in the unit of its column
    Number(f64),
    /// A number in a unit of its own, where the rows of a column differ in it
    Quantity(f64, &'static str),
    /// A share, 1.0 being all
    Share(f64),
    /// Nothing to say
    Missing,
}

impl Value {
    /// Makes a text cell.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the cell as people read it.
    pub(crate) fn shown(&self, unit: &str) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => human(*number, unit),
            Self::Quantity(number, unit) => human(*number, unit),
            Self::Share(share) => format!("{:.1} %", share * 100.0),
            Self::Missing => "-".to_owned(),
        }
    }

    /// Returns the number that it sorts by, unless the shown text does.
    pub(crate) fn key(&self) -> Option<f64> {
        match self {
            Self::Number(x) | Self::Quantity(x, _) | Self::Share(x) => Some(*x),
            Self::Text(_) | Self::Missing => None,
        }
    }
}
