//! Text for a terminal: the sentences, the table that proves them, and how to see the rest.
//!
//! # How it works
//! The first screen has at most [`SCREEN_LINES`] lines of [`SCREEN_COLUMNS`] columns, whatever the document. Sentences come
//! first, then the sections that have room; their tables share the lines that are left. Columns without room are left out,
//! then names are cut. [`Item::Lines`] is the exception: lines to be typed, or read unchanged, stay whole. Sections that
//! are requested by name, or all of them, are shown whole.

use std::collections::BTreeSet;

use slablab_host::printable;

use crate::document::{Document, Item, Section, Shown};
use crate::error::Error;
use crate::table::{Comparisons, Seen, Table, shortened};

/// Lines of the first screen.
const SCREEN_LINES: usize = 40;
/// Columns of a screen of unknown width, and of any sentence.
const SCREEN_COLUMNS: usize = 80;
/// Sentences before the first table.
const ANSWERS_MAX: usize = 5;
/// Lines of these sentences on the first screen.
const ANSWER_LINES_MAX: usize = 14;
/// Lines of the source and the notes on the first screen.
const NOTE_LINES_MAX: usize = 10;
/// Lines of the names of further sections on the first screen.
const NAME_LINES_MAX: usize = 3;
/// Lines of a paragraph or a note on the first screen.
const TEXT_LINES_MAX: usize = 4;
/// Rows of a table on the first screen, even where there is room for more.
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
    /// Rows of each table; `None` leaves that to the available room
    pub rows: Option<usize>,
}

/// How headings are set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// By escape sequences for bold and dim
    Colored,
    /// By characters alone
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
/// If a name belongs to no section.
pub fn terminal(document: &Document, view: &Terminal) -> Result<String, Error> {
    let sections = document.shown(&view.shown)?;
    let lines = match view.shown {
        Shown::First => first_screen(document, sections, view),
        _ => whole(document, &sections, view),
    };
    Ok(lines.iter().map(|line| format!("{}\n", line.trim_end())).collect())
}

/// Returns the lines of the first screen.
fn first_screen(document: &Document, sections: Vec<&Section>, view: &Terminal) -> Vec<String> {
    let answers = document.answers.iter().take(ANSWERS_MAX);
    let mut lines = at_most(paragraphs(answers, view), ANSWER_LINES_MAX);
    let notes = notes(document, view).flat_map(|note| at_most(note, TEXT_LINES_MAX));
    let notes = at_most(notes.collect(), NOTE_LINES_MAX);
    let room = SCREEN_LINES.saturating_sub(lines.len() + notes.len() + NAME_LINES_MAX + 1);
    let (parts, mut room) = Room::choose(sections, room, view);
    let mut names = Vec::new();
    for part in parts {
        if part.items.len() < part.section.items.len() {
            names.push(part.section.name.as_str());
        }
        if !part.items.is_empty() {
            write_part(&mut lines, &part, view, &mut room);
        }
    }
    let mut below = notes;
    names.extend(document.hidden());
    // Several sections may have one name, by which all of them are shown.
    let mut told = BTreeSet::new();
    names.retain(|name| told.insert(*name));
    if !names.is_empty() {
        let names = format!("More: --show {}; or --all", names.join(","));
        below.extend(at_most(wrapped(&names, view), NAME_LINES_MAX));
    }
    append_below(&mut lines, below);
    lines
}

/// Returns the lines of sections that were requested.
fn whole(document: &Document, sections: &[&Section], view: &Terminal) -> Vec<String> {
    let mut lines = paragraphs(&document.answers, view);
    let mut room = Room { rows_left: usize::MAX, tables_left: 1 };
    for section in sections {
        write_part(&mut lines, &Part { section, items: &section.items }, view, &mut room);
    }
    let mut below: Vec<String> = notes(document, view).flatten().collect();
    if view.shown == Shown::All {
        let facts = document.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value));
        below.extend(facts.map(|fact| printable(&fact).into_owned()));
        let repeat = document.repeat.iter().map(|command| format!("to repeat it: {command}"));
        below.extend(repeat.map(|command| printable(&command).into_owned()));
    }
    append_below(&mut lines, below);
    lines
}

/// Appends the lines that stand below the tables, behind a blank line.
fn append_below(lines: &mut Vec<String>, below: Vec<String>) {
    if !below.is_empty() && !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(below);
}

/// Returns the lines of the numbers' origin, and of each note.
fn notes<'a>(document: &'a Document, view: &'a Terminal) -> impl Iterator<Item = Vec<String>> + 'a {
    std::iter::once(&document.source).chain(&document.notes).map(|note| wrapped(note, view))
}

/// Returns at most `max` of `lines`, with an ellipsis at the end of the last where there are more.
fn at_most(mut lines: Vec<String>, max: usize) -> Vec<String> {
    if lines.len() > max {
        lines.truncate(max);
        if let Some(last) = lines.last_mut() {
            let kept = last.chars().take(SCREEN_COLUMNS - 4).collect::<String>();
            *last = format!("{} ...", kept.trim_end());
        }
    }
    lines
}

/// The first items of a section.
struct Part<'a> {
    section: &'a Section,
    items: &'a [Item],
}

/// The number of rows that the tables of the first screen may have.
struct Room {
    rows_left: usize,
    tables_left: usize,
}

impl Room {
    /// Returns for each section the items that have room in this many `lines`, with one row for each table, and the rows
    /// that further lines leave.
    fn choose<'a>(
        sections: Vec<&'a Section>,
        mut lines: usize,
        view: &Terminal,
    ) -> (Vec<Part<'a>>, Self) {
        let (mut parts, mut tables, mut is_full) = (Vec::new(), 0, false);
        for section in sections {
            // A blank line, and the heading.
            let mut needed = 1 + usize::from(!section.title.is_empty());
            let mut count = 0;
            for item in &section.items {
                needed += lines_least(item, view);
                let is_verbatim = matches!(item, Item::Lines(_));
                is_full |= needed > lines && !is_verbatim;
                if is_full {
                    break;
                }
                lines = lines.saturating_sub(std::mem::take(&mut needed));
                tables += usize::from(matches!(item, Item::Table(..) | Item::Comparisons(_)));
                count += 1;
            }
            parts.push(Part { section, items: &section.items[..count] });
        }
        (parts, Self { rows_left: lines + tables, tables_left: tables })
    }

    /// Returns how many rows of a table with `rows` are shown.
    fn take(&mut self, rows: usize, view: &Terminal) -> usize {
        let share = self.rows_left / self.tables_left.max(1);
        self.tables_left = self.tables_left.saturating_sub(1);
        let shown = match (view.rows, &view.shown) {
            (Some(asked), _) => rows.min(asked),
            (None, Shown::First) => rows.min(share.clamp(1, ROWS_MAX)),
            (None, _) => rows,
        };
        self.rows_left = self.rows_left.saturating_sub(shown);
        shown
    }
}

/// Returns how many lines an item takes at least: a table may have a line for its title, and has one for its columns, one
/// row, and one for the number of rows that are left out.
fn lines_least(item: &Item, view: &Terminal) -> usize {
    match item {
        Item::Text(text) => wrapped(text, view).len().min(TEXT_LINES_MAX),
        Item::Lines(lines) => lines.len(),
        Item::Table(title, ..) => 3 + usize::from(!title.is_empty()),
        Item::Comparisons(_) => 3,
        Item::Plot(_) | Item::Flame(_) => 0,
    }
}

fn write_part(lines: &mut Vec<String>, part: &Part<'_>, view: &Terminal, room: &mut Room) {
    let Part { section, items } = part;
    if !lines.is_empty() {
        lines.push(String::new());
    }
    if !section.title.is_empty() {
        lines.push(heading(&section.title, view));
    }
    for item in *items {
        match item {
            Item::Text(text) => {
                let lines_max =
                    if view.shown == Shown::First { TEXT_LINES_MAX } else { usize::MAX };
                lines.extend(at_most(wrapped(text, view), lines_max));
            }
            Item::Lines(verbatim) => lines.extend(verbatim.iter().map(|l| printable(l).into())),
            Item::Comparisons(all) => {
                write_table(lines, &section.name, &Comparisons::table(all), view, room);
            }
            Item::Table(title, _, table) => {
                if !title.is_empty() && *title != section.title {
                    lines.push(heading(title, view));
                }
                write_table(lines, &section.name, table, view, room);
            }
            Item::Plot(_) | Item::Flame(_) => {}
        }
    }
}

/// Returns a heading in one line.
fn heading(title: &str, view: &Terminal) -> String {
    let title = printable(title);
    view.style.escape(1, &shortened(&title, width(view)))
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

/// Returns how long a line of a paragraph may be.
fn width(view: &Terminal) -> usize {
    view.columns.map_or(SCREEN_COLUMNS, |columns| columns.clamp(1, SCREEN_COLUMNS))
}

/// Returns the lines of paragraphs.
fn paragraphs<'a>(texts: impl IntoIterator<Item = &'a String>, view: &Terminal) -> Vec<String> {
    texts.into_iter().flat_map(|text| wrapped(text, view)).collect()
}

/// Returns a paragraph in lines; a word that is longer than a line goes on in the next.
fn wrapped(text: &str, view: &Terminal) -> Vec<String> {
    let (text, width) = (printable(text).replace('\t', " "), width(view));
    if text.is_empty() {
        return Vec::new();
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    // A number and its per cent sign stay together.
    for word in text.replace(" %", "\u{a0}%").split(' ') {
        let chars: Vec<char> = word.replace('\u{a0}', " ").chars().collect();
        if !line.is_empty() && line.chars().count() + 1 + chars.len() > width {
            lines.push(std::mem::take(&mut line));
        } else if !line.is_empty() {
            line.push(' ');
        }
        let mut parts = chars.chunks(width).map(|part| part.iter().collect::<String>()).peekable();
        while let Some(part) = parts.next() {
            line.push_str(&part);
            if parts.peek().is_some() {
                lines.push(std::mem::take(&mut line));
            }
        }
    }
    lines.push(line);
    lines
}
