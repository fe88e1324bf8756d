//! The tables of a text, or of several.

use schemars::JsonSchema;
use serde::Serialize;

use crate::entry::{Machine, Moment};
use crate::rows::Kind;

/// Lines that are quoted as unread.
pub(crate) const UNREAD_MAX: usize = 8;

/// The tables of a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Paste {
    /// The tables, in the order in which they begin
    pub tables: Vec<Table>,
    /// What the machine says of its memory, at one moment or several
    pub machine: Vec<Machine>,
    /// Lines that looked like a row and could not be read
    pub unread_lines: u64,
    /// The first of them
    pub unread: Vec<Unread>,
    /// Lines of the text
    pub lines: u64,
    /// Those that are not blank
    pub text_lines: u64,
    /// Whether the end of a series is missing, as a power cut leaves it
    pub is_torn: bool,
}

/// Rows of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// What they are
    pub kind: Kind,
    /// Rows that were read
    pub rows: u64,
    /// Whether the heading that such a file begins with is missing, so that rows may be missing, too
    pub may_be_cut: bool,
    /// Its moments, the first one first; one at least. A moment without a readable row has no
    /// entry
    pub moments: Vec<Moment>,
}

/// A line that looked like a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unread {
    /// Its number, from 1
    pub line: u64,
    /// Its begin
    pub text: String,
}

impl Table {
    /// Returns the last moment that has entries.
    ///
    /// # Panics
    ///
    /// Never: a table has a row.
    #[must_use]
    pub fn last(&self) -> &Moment {
        let has_rows = |moment: &&Moment| !moment.entries.is_empty();
        self.moments.iter().rfind(has_rows).expect("a table has a row")
    }
}

impl Paste {
    /// Puts several texts together, each with the time of its file, in their order.
    #[must_use]
    pub fn joined(texts: Vec<(Paste, Option<f64>)>) -> Paste {
        let mut all = Paste::default();
        for (paste, file_seconds) in texts {
            all.lines += paste.lines;
            all.text_lines += paste.text_lines;
            all.unread_lines += paste.unread_lines;
            all.unread.extend(paste.unread);
            all.is_torn |= paste.is_torn;
            all.machine.extend(paste.machine);
            for mut table in paste.tables {
                if let ([only], Some(seconds)) = (&mut table.moments[..], file_seconds) {
                    only.time_seconds.get_or_insert(seconds);
                }
                match all.tables.iter_mut().find(|known| known.kind == table.kind) {
                    Some(known) => {
                        known.rows += table.rows;
                        known.may_be_cut |= table.may_be_cut;
                        known.moments.extend(table.moments);
                    }
                    None => all.tables.push(table),
                }
            }
        }
        all.unread.truncate(UNREAD_MAX);
        all.tables.iter_mut().for_each(|table| keep_rising_times(&mut table.moments));
        all
    }
}

/// Forgets the times of moments that do not follow each other.
pub(crate) fn keep_rising_times(moments: &mut [Moment]) {
    let follow = |pair: &[Moment]| {
        pair[0].time_seconds.zip(pair[1].time_seconds).is_some_and(|(a, b)| a < b)
    };
    if moments.len() > 1 && !moments.windows(2).all(follow) {
        moments.iter_mut().for_each(|moment| moment.time_seconds = None);
    }
}
