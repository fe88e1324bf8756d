//! Rows that were cut: by a mailer at a blank, or by a terminal at a column, which may lie inside a word.
//!
//! # How it works
//! A line whose end can be the begin of a row waits for the lines below it. They are read together with a
//! blank between them, and also without one where the line above is as long as any line of the text. A row that would
//! be one without the end of its last word waits in the same way if its line is that long.
//!
//! # Invariants
//! A line that is a row by itself is never a part of the row above it, unless a column of the terminal cut its name.

use crate::edge::Edge;
use crate::entry::Entry;
use crate::line;
use crate::rows::{Below, Found, Kind, RowReader};
use crate::stamp::Stamp;

/// A row that was cut goes on for as many lines at most.
const LINES_MAX: u32 = 4;
/// The begin of a row whose end is missing.
#[derive(Debug)]
pub(crate) struct Cut {
    /// What the row may be
    pub(crate) kinds: Vec<Kind>,
    /// The lines so far, put together in each way that is possible
    texts: Vec<String>,
    lines: u32,
    /// Whether the last of them may have been cut inside a word
    edge: Edge,
    pub(crate) number: u64,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) alone: Alone,
}

/// What the begin of a row is if nothing follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Alone {
    /// A row
    Row(Entry),
    /// A row if others like it stand beside
    Weak(Entry),
    /// What looks like a row and cannot be read
    Damaged,
    /// Nothing
    Nothing,
}

/// What a cut row and the line below it are together.
pub(crate) enum Joined {
    Row(Kind, Entry),
    /// A row with its stack in the lines below
    Open(Kind, Entry),
    /// The begin of a row still
    More(Cut),
    /// They do not belong together
    Apart(Cut),
}

impl Cut {
    pub(crate) fn new(
        kinds: Vec<Kind>,
        text: &str,
        edge: Edge,
        number: u64,
        stamp: Option<Stamp>,
        alone: Alone,
    ) -> Self {
        Self { kinds, texts: vec![text.to_owned()], lines: 1, edge, number, stamp, alone }
    }

    /// Returns the line as far as it was read.
    pub(crate) fn text(&self) -> &str {
        &self.texts[0]
    }

    /// Reads it together with the line below, which ends at `edge` and by itself is not a row.
    pub(crate) fn with(self, line: &str, edge: Edge) -> Joined {
        let is_row = matches!(self.alone, Alone::Row(_));
        let is_named = is_row && self.kinds.first().is_some_and(|kind| kind.reader().ends_anywhere);
        let mut texts: Vec<String> = Vec::new();
        if !is_named {
            texts.extend(self.texts.iter().map(|text| format!("{text} {line}")));
        }
        if self.edge != Edge::Free && (!is_named || is_rest_of_name(line)) {
            texts.extend(self.texts.iter().map(|text| format!("{text}{line}")));
        }
        let line_words: Vec<&str> = line.split(' ').collect();
        // Where a cut left the first columns, each row begins with a name.
        let is_next = |kind: &Kind| {
            let columns = kind.reader().begin(&line_words, edge);
            columns >= 2 && columns == line_words.len() && line::count(line_words[0]).is_none()
        };
        if self.edge == Edge::Free && self.alone == Alone::Damaged && self.kinds.iter().any(is_next)
        {
            return Joined::Apart(self);
        }
        let mut row: Option<(Kind, Found)> = None;
        let mut part = None;
        let mut goes_on = Vec::new();
        for reader in self.kinds.iter().map(|kind| kind.reader()) {
            for (at, text) in texts.iter().enumerate() {
                let words: Vec<&str> = text.split(' ').collect();
                match (reader.read)(&words, Below::Heading) {
                    // The line below has nothing of it, and begins another one.
                    Found::Row(entry)
                        if at < self.texts.len()
                            && self.alone == Alone::Row(entry.clone())
                            && reader.begin(&line_words, edge) > 0 => {}
                    Found::Row(entry) if entry.is_sound() => {
                        return Joined::Row(reader.kind, entry);
                    }
                    found @ (Found::Row(_) | Found::Open(_)) => {
                        row = row.or(Some((reader.kind, found)));
                    }
                    Found::Part(Some(row)) if self.may_go_on(reader, text) => {
                        part = part.or(Some((reader.kind, text.clone(), row)));
                    }
                    Found::Part(None) if self.may_go_on(reader, text) => goes_on.push(reader.kind),
                    _ if !is_row && reader.begin(&words, edge) >= line_words.len() => {
                        goes_on.push(reader.kind);
                    }
                    _ => {}
                }
            }
        }
        match row {
            Some((kind, Found::Row(entry))) => return Joined::Row(kind, entry),
            Some((kind, Found::Open(entry))) => return Joined::Open(kind, entry),
            _ => {}
        }
        if let Some((kind, text, row)) = part {
            let (texts, kinds, alone) = (vec![text], vec![kind], Alone::Row(row));
            return Self { texts, kinds, alone, ..self }.longer(edge);
        }
        goes_on.dedup();
        match goes_on.is_empty() {
            true => Joined::Apart(self),
            false => Self { kinds: goes_on, texts, ..self }.longer(edge),
        }
    }

    fn longer(self, edge: Edge) -> Joined {
        match self.lines < LINES_MAX {
            true => Joined::More(Self { lines: self.lines + 1, edge, ..self }),
            false => Joined::Apart(self),
        }
    }

    /// Returns the row that it is together with a line below which is a row by itself, if a column of the terminal cut the
    /// name of that row.
    pub(crate) fn with_row(&self, line: &str, row: &(Kind, Entry)) -> Option<Entry> {
        let (kind, rest) = row;
        let starts = line.split(' ').next() == Some(&rest.name);
        let is_cut = self.edge == Edge::Known && self.alone == Alone::Nothing && starts;
        if !is_cut {
            return None;
        }
        let text = format!("{}{line}", self.texts[0]);
        let words: Vec<&str> = text.split(' ').collect();
        let Found::Row(whole) = (kind.reader().read)(&words, Below::Heading) else { return None };
        (whole.name.len() > rest.name.len() && whole.name.ends_with(&rest.name)).then_some(whole)
    }

    /// Returns whether the numbers below a row of slabinfo are its rest: without `tunables` they may be a row of their own.
    fn may_go_on(&self, reader: &RowReader, text: &str) -> bool {
        let is_row = matches!(self.alone, Alone::Row(_) | Alone::Weak(_));
        reader.kind != Kind::Slabinfo || !is_row || text.contains("tunables")
    }
}

/// Returns whether a line can be the rest of a name; a prompt cannot.
fn is_rest_of_name(line: &str) -> bool {
    const OF_NAMES: [char; 5] = ['_', '-', '.', ':', ')'];
    // allocinfo says so behind the name.
    let line = line.strip_suffix(" accurate:no").unwrap_or(line);
    line.len() <= 32 && line.chars().all(|c| c.is_ascii_alphanumeric() || OF_NAMES.contains(&c))
}
