//! The rows of a table: made at once, or each when it is asked for.
//!
//! # How it works
//! A list of a hundred thousand call sites takes more memory as cells than as numbers, and a screen shows fifteen of
//! them. Such a table keeps what it is made of, and makes a row where one is read.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::cell::Cell;

/// The rows of a table.
#[derive(Clone)]
pub(crate) enum Rows {
    /// All of them
    Made(Vec<Vec<Cell>>),
    /// How many there are, and how each is made
    Asked(usize, Arc<dyn Fn(usize) -> Vec<Cell>>),
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Made(rows) => rows.len(),
            Self::Asked(len, _) => *len,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rows, the first one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Cow<'_, [Cell]>> {
        (0..self.len()).map(|at| match self {
            Self::Made(rows) => Cow::Borrowed(&rows[at][..]),
            Self::Asked(_, make) => Cow::Owned(make(at)),
        })
    }

    /// Appends a row; those that were made when asked for are made now.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        if let Self::Asked(..) = self {
            *self = Self::Made(self.iter().map(Cow::into_owned).collect());
        }
        if let Self::Made(rows) = self {
            rows.push(row);
        }
    }
}

impl Default for Rows {
    fn default() -> Self {
        Self::Made(Vec::new())
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
