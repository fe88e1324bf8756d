//! Markdown for a mail, an issue or a wiki: the sentences, and the tables as tables.

use std::fmt::Write;

use slablab_host::printable;

use crate::document::{Document, Item, Shown};
use crate::error::Error;
use crate::escape::markdown_words as words;
use crate::table::{self, Comparisons, Seen, Table};

/// Writes the sections that are `shown` as Markdown, with at most `rows` rows of each table.
///
/// # Errors
///
/// If a name belongs to no section.
pub fn markdown(document: &Document, shown: &Shown, rows: Option<usize>) -> Result<String, Error> {
    let mut text = String::new();
    for answer in &document.answers {
        let _ = writeln!(text, "* {}", words(answer));
    }
    for section in document.shown(shown)? {
        if !section.title.is_empty() {
            let _ = write!(text, "\n## {}\n", words(&section.title));
        }
        for item in &section.items {
            write_item(&mut text, item, shown, rows);
        }
    }
    let last = std::iter::once(&document.source).chain(&document.notes);
    for sentence in last.filter(|sentence| !sentence.is_empty()) {
        let _ = write!(text, "\n{}\n", words(sentence));
    }
    if !document.repeat.is_empty() {
        text.push_str("\nTo repeat it:\n");
        write_item(&mut text, &Item::Lines(document.repeat.clone()), shown, rows);
    }
    Ok(text)
}

fn write_item(text: &mut String, item: &Item, shown: &Shown, rows: Option<usize>) {
    match item {
        Item::Text(paragraph) => {
            let _ = write!(text, "\n{}\n", words(paragraph));
        }
        Item::Lines(lines) => {
            let ticks = lines.iter().flat_map(|line| line.split(|c| c != '`').map(str::len));
            let fence = "`".repeat(ticks.max().map_or(3, |longest| longest + 1).max(3));
            let lines: String = lines.iter().map(|line| format!("{}\n", printable(line))).collect();
            let _ = write!(text, "\n{fence}\n{lines}{fence}\n");
        }
        Item::Comparisons(all) => write_table(text, &Comparisons::table(all), shown, rows),
        Item::Table(title, _, table) => {
            if !title.is_empty() {
                let _ = write!(text, "\n### {}\n", words(title));
            }
            write_table(text, table, shown, rows);
        }
        Item::Plot(_) | Item::Flame(_) => {}
    }
}

fn write_table(text: &mut String, whole: &Table, shown: &Shown, rows: Option<usize>) {
    let seen = if *shown == Shown::First { Seen::WhereRoom } else { Seen::OnPage };
    let columns = whole.columns_seen(seen);
    let cells: Vec<_> = whole.cells_of(&columns, rows.unwrap_or(usize::MAX));
    let cells: Vec<Vec<String>> =
        cells.into_iter().map(|row| row.iter().map(|cell| words(cell)).collect()).collect();
    let head: Vec<_> = columns.iter().map(|&at| words(&whole.columns[at].head)).collect();
    let side = |at: usize| whole.columns[columns[at]].side;
    text.push('\n');
    text.push_str(&table::markdown(&head, &cells, side));
}
