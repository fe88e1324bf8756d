//! Text for a terminal: the sentences, the table that proves them, and how to see the rest.
//!
//! # How it works
//! The first screen has [`SCREEN_LINES`] lines of [`SCREEN_COLUMNS`] columns. Tables get the lines that sentences leave,
//! and columns that have no room are left out, then names are cut. Whoever asks for sections by name, or for all of them,
//! gets them whole.

use crate::document::{Document, Item, Section, Shown};
use crate::error::Error;
use crate::table::{Seen, Table};
use slablab_host::printable;

/// Lines of the first screen.
const SCREEN_LINES: usize = 40;
/// Columns of a screen whose width nothing tells, and of any sentence.
const SCREEN_COLUMNS: usize = 80;
/// Sentences before the first table.
const ANSWERS_MAX: usize = 5;
/// Rows of a table on the first screen, also where there is room for more.
const ROWS_MAX: usize = 15;

/// How a terminal shows a document.
#[derive(Debug, Clone)]
pub struct Terminal {
    /// Columns of the terminal; `None` where lines may have any length
    pub columns: Option<usize>,
    /// How headings are set off
    pub style: Style,
    /// Which sections are shown
    pub shown: Shown,
    /// Rows of each table; `None` leaves that to the room there is
    pub rows: Option<usize>,
}

/// How headings are set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// By escape sequences for bold and dim
    Colored,
    /// By nothing but characters
    Plain,
}

impl Style {
    /// Returns text in bold (1) or dim (2).
    pub fn escape(self, code: u8, text: &str) -> String {
        match self {
            Self::Colored => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Plain => text.to_owned(),
        }
    }
}

/// Writes `document` as text.
///
/// # Errors
///
/// If a name is that of no section.
pub fn terminal(document: &Document, view: &Terminal) -> Result<String, Error> {
    let sections = document.shown(&view.shown)?;
    let answers_max = if view.shown == Shown::First { ANSWERS_MAX } else { usize::MAX };
    let answers = document.answers.iter().take(answers_max);
    let answers: Vec<String> = answers.flat_map(|answer| wrapped(answer)).collect();
    let below = below(document, view);
    let mut room = Room::new(view, &sections, answers.len() + below.len());
    let mut lines = answers;
    for section in sections {
        write_section(&mut lines, section, view, &mut room);
    }
    if !below.is_empty() && !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(below);
    Ok(lines.iter().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// How many rows the tables of the first screen may have.
struct Room {
    rows_left: usize,
    tables_left: usize,
}

impl Room {
    /// Shares out what other lines leave.
    fn new(view: &Terminal, sections: &[&Section], other_lines: usize) -> Self {
        let tables: Vec<Table> = sections.iter().flat_map(|section| section.tables()).collect();
        let fixed: usize = sections.iter().map(|section| fixed_lines(section)).sum();
        let rows_left = match view.shown {
            // The blank line before what stands below.
            Shown::First => SCREEN_LINES.saturating_sub(other_lines + fixed + 1),
            _ => usize::MAX,
        };
        Self { rows_left, tables_left: tables.len() }
    }

    /// Returns how many rows of a table with `rows` are shown.
    fn take(&mut self, rows: usize, view: &Terminal) -> usize {
        let share = self.rows_left / self.tables_left.max(1);
        self.tables_left = self.tables_left.saturating_sub(1);
        let shown = match (view.rows, &view.shown) {
            (Some(asked), _) => rows.min(asked),
            (None, Shown::First) => rows.min(share.min(ROWS_MAX).max(1)),
            (None, _) => rows,
        };
        self.rows_left = self.rows_left.saturating_sub(shown);
        shown
    }
}

/// Returns how many lines a section takes beside the rows of its tables: each may have a line for its title, has one
/// for its columns, and one for how many rows are left out.
fn fixed_lines(section: &Section) -> usize {
    let of_item = |item: &Item| match item {
        Item::Text(text) => wrapped(text).len(),
        Item::Lines(lines) => lines.len(),
        Item::Table(title, ..) => 2 + usize::from(!title.is_empty()),
        Item::Comparisons(_) => 2,
        Item::Plot(_) | Item::Flame(_) => 0,
    };
    let heading = 1 + usize::from(!section.title.is_empty());
    heading + section.items.iter().map(of_item).sum::<usize>()
}

fn write_section(lines: &mut Vec<String>, section: &Section, view: &Terminal, room: &mut Room) {
    if !lines.is_empty() {
        lines.push(String::new());
    }
    if !section.title.is_empty() {
        lines.push(view.style.escape(1, &printable(&section.title)));
    }
    for item in &section.items {
        match item {
            Item::Text(text) => lines.extend(wrapped(text)),
            Item::Lines(verbatim) => lines.extend(verbatim.iter().map(|l| printable(l).into())),
            Item::Comparisons(comparisons) => {
                write_table(lines, &section.name, &comparisons.table(), view, room);
            }
            Item::Table(title, _, table) => {
                if !title.is_empty() && *title != section.title {
                    lines.push(view.style.escape(1, &printable(title)));
                }
                write_table(lines, &section.name, table, view, room);
            }
            Item::Plot(_) | Item::Flame(_) => {}
        }
    }
}

fn write_table(
    lines: &mut Vec<String>,
    name: &str,
    table: &Table,
    view: &Terminal,
    room: &mut Room,
) {
    let seen = if view.shown == Shown::First { Seen::WhereRoom } else { Seen::OnPage };
    let rows = room.take(table.rows.len(), view);
    let mut text = table.fitted(seen, rows, view.columns).into_iter();
    lines.extend(text.next().map(|head| view.style.escape(2, &head)));
    lines.extend(text);
    let more = table.rows.len() - rows;
    if more > 0 {
        let rows = crate::unit::counted(more as u64, "more row");
        lines.push(format!("... {rows}: --show {name}"));
    }
}

/// Returns what stands below the tables: where the numbers come from, what else to know, and how to see the rest.
fn below(document: &Document, view: &Terminal) -> Vec<String> {
    let sentences = std::iter::once(&document.source).chain(&document.notes);
    let mut lines: Vec<String> = sentences.flat_map(|sentence| wrapped(sentence)).collect();
    match view.shown {
        Shown::First => {
            let hidden = document.hidden();
            if !hidden.is_empty() {
                lines.extend(wrapped(&format!("More: --show {}; or --all", hidden.join(","))));
            }
        }
        Shown::All => {
            let fact = |fact: &crate::Fact| format!("{}: {}", fact.name, printable(&fact.value));
            lines.extend(document.facts.iter().map(fact));
        }
        Shown::Named(_) => {}
    }
    lines
}

/// Returns a paragraph in lines of [`SCREEN_COLUMNS`] characters; lines after the first of an item are set in like it.
fn wrapped(text: &str) -> Vec<String> {
    let text = printable(text);
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("one line at least");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > SCREEN_COLUMNS {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
