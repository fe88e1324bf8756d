//! One page in one file: it needs no network and no build step, and is readable without scripts.
//!
//! # How it works
//! Askama fills `templates/report.html`; style and script are built in. Tables come whole, in the order of
//! their rows; the script sorts, filters and pages them. A policy in the page forbids any request, so a
//! mistake would show as a console error and send nothing.
//!
//! A row of nine cells takes about 250 bytes, a plot 10 to 60 kB for both widths together.

use std::borrow::Cow;

use askama::Template;
use slablab_host::printable;

use crate::color::Palette;
use crate::document::{Document, Item, Place, Section};
use crate::error::Error;
use crate::escape::escape;
use crate::flame::{Flame, Frame};
use crate::plot::Width;
use crate::table::{Cell, Column, Comparisons, Seen, Table};

/// A cell with more characters than this is text that wraps, not a name.
const TEXT_CHARS: usize = 36;

/// Writes the report.
///
/// # Errors
///
/// If a plot has nothing to show or cannot be drawn.
pub fn html(document: &Document) -> Result<String, Error> {
    let mut palette = Palette::default();
    let mut sections = Vec::with_capacity(document.sections.len());
    let on_page = document.sections.iter().filter(|s| s.place != Place::Data && !s.is_empty());
    for (at, section) in on_page.enumerate() {
        let title = title(section);
        let items = section.items.iter().map(|item| view(item, &title, &mut palette));
        sections.push(SectionView {
            id: format!("s{}", at + 1),
            method: &section.method,
            items: items.collect::<Result<_, _>>()?,
            title,
        });
    }
    let page = Page {
        document,
        sections,
        style: include_str!("../../assets/report.css"),
        script: include_str!("../../assets/report.js"),
    };
    // `cat` may show a page, too.
    Ok(page.render()?.split('\n').map(printable).collect::<Vec<_>>().join("\n"))
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    document: &'a Document,
    sections: Vec<SectionView<'a>>,
    style: &'static str,
    script: &'static str,
}

struct SectionView<'a> {
    id: String,
    title: String,
    method: &'a str,
    items: Vec<ItemView<'a>>,
}

enum ItemView<'a> {
    Text(&'a str),
    Lines(&'a [String]),
    Comparisons(ComparisonView),
    Plot {
        title: &'a str,
        how: &'a str,
        wide: String,
        narrow: String,
    },
    Table {
        label: String,
        heading: &'a str,
        how: &'a str,
        columns: Vec<&'a Column>,
        rows: Vec<String>,
    },
    Flame {
        flame: &'a Flame,
        rows: usize,
        frames: Vec<Frame>,
    },
}

struct ComparisonView {
    caption: String,
    heads: Vec<String>,
    /// The rows as HTML, each with the class that colours its verdict
    rows: Vec<String>,
}

/// Returns a section's heading: its title, or else its name.
fn title(section: &Section) -> String {
    if !section.title.is_empty() {
        return section.title.clone();
    }
    let mut letters = section.name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns an item of the section with the title `section`, which a table need not repeat.
fn view<'a>(item: &'a Item, section: &str, palette: &mut Palette) -> Result<ItemView<'a>, Error> {
    Ok(match item {
        Item::Text(text) => ItemView::Text(text),
        Item::Lines(lines) => ItemView::Lines(lines),
        Item::Comparisons(all) => ItemView::Comparisons(comparisons(all)),
        Item::Plot(plot) => ItemView::Plot {
            title: &plot.title,
            how: &plot.how,
            wide: plot.svg(Width::Wide, palette)?,
            narrow: plot.svg(Width::Narrow, palette)?,
        },
        Item::Table(title, how, table) => {
            let seen = table.columns_seen(Seen::OnPage);
            let columns = seen.iter().map(|&at| &table.columns[at]).collect();
            let heading = if title == section { "" } else { title };
            let label = if title.is_empty() { section } else { title }.to_owned();
            ItemView::Table { label, heading, how, columns, rows: rows(table, &seen) }
        }
        Item::Flame(flame) => {
            let frames = flame.frames();
            let rows = frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1);
            ItemView::Flame { flame, rows, frames }
        }
    })
}

fn comparisons(all: &[Comparisons]) -> ComparisonView {
    use slablab_stats::Verdict;
    let class = |verdict| match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::NoDifferenceShown => "same",
        Verdict::Undecided => "undecided",
    };
    let table = Comparisons::table(all);
    let seen = table.columns_seen(Seen::OnPage);
    let rows = rows(&table, &seen).into_iter().zip(Comparisons::verdicts(all));
    let of = |of: &Comparisons| format!("{}, each against {}", of.metric, of.baseline);
    ComparisonView {
        caption: match all {
            [one] => of(one),
            _ => "Every metric".to_owned(),
        },
        heads: seen.iter().map(|&at| table.columns[at].head.clone()).collect(),
        rows: rows
            .map(|(row, verdict)| {
                row.replacen("<tr>", &format!("<tr class={}>", class(verdict)), 1)
            })
            .collect(),
    }
}

/// Returns the rows of a table as HTML. They are written by hand, because 3,000 rows through a template take ten
/// times the bytes in blanks.
fn rows(table: &Table, columns: &[usize]) -> Vec<String> {
    let cell = |cell: &Cell| {
        let shown = escape(&cell.human());
        match (cell.key(), cell) {
            (Some(key), _) => format!("<td class=n data-v={}>{shown}", short(key)),
            (None, Cell::Missing) => format!("<td class=n data-v=-1e308>{shown}"),
            (None, _) if shown.len() > TEXT_CHARS => format!("<td class=t>{shown}"),
            (None, _) => format!("<td>{shown}"),
        }
    };
    let row = |cells: Cow<'_, [Cell]>| {
        let cells = columns.iter().map(|&at| cell(&cells[at]));
        format!("<tr>{}", cells.collect::<String>())
    };
    table.rows.iter().map(row).collect()
}

/// Writes a sort key in few characters.
fn short(key: f64) -> String {
    if key == key.trunc() { format!("{key}") } else { format!("{key:.5e}") }
}
