//! How a kind of row is read.

use super::column::Column;
use super::found::{Below, Found};
use super::kind::Kind;
use crate::edge::Edge;
use crate::entry::Entry;

/// How a kind is read.
pub(crate) struct RowReader {
    pub(crate) kind: Kind,
    /// Returns whether the words are the heading of such a table
    pub(crate) is_heading: fn(&[&str]) -> bool,
    /// Returns what the words are, below the heading or without it
    pub(crate) read: fn(&[&str], Below) -> Found,
    /// The columns of a row, in each form that it has: the begin of one is known by them
    pub(crate) columns: &'static [&'static [Column]],
    /// This number of them does not come by chance where there is no heading
    pub(crate) columns_min: usize,
    /// Whether rows could be anything without their heading
    pub(crate) needs_heading: bool,
    /// Whether a row without the end of its last word is still a row
    pub(crate) ends_anywhere: bool,
    /// Takes a line below an open row that has more numbers of it; returns whether it was one
    pub(crate) further: fn(&[&str], &mut Entry) -> bool,
}

impl RowReader {
    /// A kind whose rows are known anywhere; the other kinds say what they have besides.
    pub(super) const fn new(kind: Kind, read: fn(&[&str], Below) -> Found) -> Self {
        Self {
            kind,
            is_heading: never,
            read,
            columns: &[],
            columns_min: 3,
            needs_heading: false,
            ends_anywhere: false,
            further: none,
        }
    }

    /// Returns how many columns of a row the end of a line has, where some are missing; 0 if no row begins there. The
    /// last word may be half of one where the line may have been cut inside it.
    pub(crate) fn begin(&self, words: &[&str], edge: Edge) -> usize {
        /// Whole columns before a word that may be half of one.
        const WHOLE_MIN: usize = 2;
        let fits = |columns: &[Column], row: &[&str]| {
            let fit = row.iter().zip(columns).take_while(|(word, column)| column(word)).count();
            fit == row.len() || fit + 1 == row.len() && fit >= WHOLE_MIN && edge != Edge::Free
        };
        let begin = |columns: &&[Column]| {
            // A whole row counts only if its last word may be half of one.
            let all =
                if edge == Edge::Free { columns.len().saturating_sub(1) } else { columns.len() };
            let most = all.min(words.len());
            (1..=most).rev().find(|n| fits(columns, &words[words.len() - n..]))
        };
        self.columns.iter().filter_map(begin).max().unwrap_or(0)
    }
}

/// The further lines of a kind that has none.
fn none(_: &[&str], _: &mut Entry) -> bool {
    false
}

/// The heading of a kind that has none, or whose rows need none.
fn never(_: &[&str]) -> bool {
    false
}
