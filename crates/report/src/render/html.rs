//! One page in one file: it needs no network and no build step, and is readable without scripts.
//!
//! # How it works
//! The page is written from its head to its end, in the order of [`html`]; style and script are built in. Tables come whole,
//! in the order of their rows; the script sorts, filters and pages them. A policy in the page forbids any request, so a
//! mistake would show as a console error and send nothing.
//!
//! A row of nine cells takes about 250 bytes, a plot 10 to 60 kB for both widths together.
//!
//! # Invariants
//! What a document says gets into the page through [`Words`] or `escape` only, and never as tags.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use slablab_host::printable;

use crate::color::Palette;
use crate::document::{Document, Item, Place, Section};
use crate::error::Error;
use crate::escape::escape;
use crate::flame::Flame;
use crate::plot::{Plot, Width};
use crate::table::{Cell, Comparisons, Seen, Table};

/// A cell with more characters than this is text that wraps, not a name.
const TEXT_CHARS: usize = 36;

/// Appends to a page; memory takes all that is written.
macro_rules! put {
    ($page:expr, $($words:tt)*) => {
        write!($page, $($words)*).expect("a string takes any words")
    };
}

/// Writes the report.
///
/// # Errors
///
/// If a plot cannot be drawn.
pub fn html(document: &Document) -> Result<String, Error> {
    let on_page = document.sections.iter().filter(|s| s.place != Place::Data && !s.is_empty());
    let sections: Vec<(&Section, String)> = on_page.map(|s| (s, title(s))).collect();
    let mut page = String::new();
    head(&mut page, document);
    answers(&mut page, document);
    contents(&mut page, &sections);
    let mut palette = Palette::default();
    for (at, (section, title)) in sections.iter().enumerate() {
        put!(page, "\n<section id=\"s{}\">\n<h2>{}</h2>\n", at + 1, Words(title));
        // Several traces have no line over time.
        for shown in section.items.iter().filter(|item| !item.is_empty()) {
            item(&mut page, shown, title, &mut palette)?;
        }
        page.push('\n');
        if !section.method.is_empty() {
            let method = Words(&section.method);
            put!(page, "<p class=\"how\"><b>How these numbers were got.</b> {method}</p>");
        }
        page.push_str("\n</section>\n");
    }
    page.push('\n');
    ending(&mut page, document);
    // `cat` may show a page, too.
    Ok(page.split('\n').map(printable).collect::<Vec<_>>().join("\n"))
}

/// Text between tags, or in the quotes of an attribute.
struct Words<'a>(&'a str);

impl Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['"', '&', '\'', '<', '>']) {
            write!(f, "{}&#{};", &rest[..at], rest.as_bytes()[at])?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

/// Writes what browsers want to know first, and the heading with the question.
fn head(page: &mut String, document: &Document) {
    let title = Words(&document.title);
    page.push_str(HEAD);
    put!(page, "<title>{title}</title>\n<style>\n");
    page.push_str(include_str!("../../assets/report.css"));
    page.push_str("\n</style>\n</head>\n<body>\n");
    page.push_str("<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n");
    put!(page, "<h1>{title}</h1>\n");
    if !document.question.is_empty() {
        put!(page, "<p class=\"question\">{}</p>", Words(&document.question));
    }
    page.push_str("\n<button type=\"button\" id=\"theme\" hidden aria-label=\"");
    page.push_str("Switch between light and dark\">Light / dark</button>\n</header>\n");
    page.push_str("<main id=\"main\">\n");
}

const HEAD: &str = concat!(
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ",
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n",
    "<meta name=\"generator\" content=\"slablab\">\n",
    "<meta name=\"color-scheme\" content=\"light dark\">\n",
    "<link rel=\"icon\" href=\"data:,\">\n",
);

/// Writes the sentences that answer the question.
fn answers(page: &mut String, document: &Document) {
    if !document.answers.is_empty() {
        page.push_str("\n<section class=\"answers\" aria-label=\"Answers\">\n");
        page.push_str("<h2>In short</h2>\n<ul>\n");
        for answer in &document.answers {
            put!(page, "<li>{}</li>\n", Words(answer));
        }
        page.push_str("</ul>\n</section>\n");
    }
    page.push('\n');
}

/// Writes the list of the sections, with their titles.
fn contents(page: &mut String, sections: &[(&Section, String)]) {
    if sections.len() > 1 {
        page.push_str("\n<nav aria-label=\"Sections\"><ul>\n");
        for (at, (_, title)) in sections.iter().enumerate() {
            put!(page, "<li><a href=\"#s{}\">{}</a></li>\n", at + 1, Words(title));
        }
        page.push_str("</ul></nav>\n");
    }
    page.push('\n');
}

/// Writes what holds for all sections: notes, where it was measured, and the commands that repeat it.
fn ending(page: &mut String, document: &Document) {
    if !document.notes.is_empty() {
        page.push_str("\n<section id=\"notes\">\n<h2>What to know</h2>\n<ul>\n");
        for note in &document.notes {
            put!(page, "<li>{}</li>\n", Words(note));
        }
        page.push_str("</ul>\n</section>\n");
    }
    page.push('\n');
    if !document.facts.is_empty() {
        page.push_str("\n<section id=\"facts\">\n<h2>Where and how it was measured</h2>\n<dl>\n");
        for fact in &document.facts {
            put!(page, "<dt>{}</dt><dd>{}</dd>\n", Words(&fact.name), Words(&fact.value));
        }
        page.push_str("</dl>\n</section>\n");
    }
    page.push('\n');
    if !document.repeat.is_empty() {
        page.push_str("\n<section id=\"repeat\">\n<h2>To repeat it</h2>\n<pre class=\"lines\">");
        for command in &document.repeat {
            put!(page, "{}\n", Words(command));
        }
        page.push_str("</pre>\n</section>\n");
    }
    page.push_str("\n</main>\n<footer><p>Made by slablab. This page is whole: ");
    page.push_str("it needs no network and keeps nothing.</p></footer>\n<script>\n");
    page.push_str(include_str!("../../assets/report.js"));
    page.push_str("\n</script>\n</body>\n</html>");
}

/// Writes an item of the section with the title `section`, which a table need not repeat.
fn item(page: &mut String, item: &Item, section: &str, palette: &mut Palette) -> Result<(), Error> {
    match item {
        Item::Text(text) => put!(page, "<p>{}</p>\n", Words(text)),
        Item::Lines(lines) => {
            page.push_str("<pre class=\"lines\">");
            lines.iter().for_each(|line| put!(page, "{}\n", Words(line)));
            page.push_str("</pre>\n");
        }
        Item::Comparisons(all) => comparisons(page, all),
        Item::Plot(shown) => plot(page, shown, palette)?,
        Item::Table(title, how, shown) => {
            let heading = if title == section { "" } else { title };
            let label = if title.is_empty() { section } else { title };
            table(page, label, heading, how, shown);
        }
        Item::Flame(shown) => flame(page, shown),
    }
    Ok(())
}

fn plot(page: &mut String, plot: &Plot, palette: &mut Palette) -> Result<(), Error> {
    let title = Words(&plot.title);
    let (wide, narrow) = (plot.svg(Width::Wide, palette)?, plot.svg(Width::Narrow, palette)?);
    put!(page, "\n<figure role=\"group\" aria-label=\"{title}\">\n");
    for (class, drawn) in [("wide", wide), ("narrow", narrow)] {
        put!(page, "<div class=\"{class}\" role=\"img\" aria-label=\"{title}\">{drawn}</div>\n");
    }
    if !plot.how.is_empty() {
        put!(page, "<figcaption>{}</figcaption>", Words(&plot.how));
    }
    page.push_str("\n</figure>\n");
    Ok(())
}

/// Writes a table that can be sorted and filtered.
fn table(page: &mut String, label: &str, heading: &str, how: &str, table: &Table) {
    let seen = table.columns_seen(Seen::OnPage);
    page.push_str("\n<div class=\"data\">\n");
    if !heading.is_empty() {
        put!(page, "<h3>{}</h3>", Words(heading));
    }
    page.push_str("\n<p class=\"tools\"><label>Filter <input type=\"search\" ");
    page.push_str("placeholder=\"a word\" autocomplete=\"off\"></label>\n");
    let plural = if table.rows.len() == 1 { "" } else { "s" };
    put!(page, "<output aria-live=\"polite\">{} row{plural}</output>\n", table.rows.len());
    page.push_str("<button type=\"button\" class=\"more\" hidden>Show all</button></p>\n");
    scrolled(page, Words(label));
    page.push_str("<table>\n<thead><tr>");
    for column in seen.iter().map(|&at| &table.columns[at]) {
        let class = if column.has_numbers() { " class=\"n\"" } else { "" };
        put!(page, "<th scope=\"col\"{class} aria-sort=\"none\">");
        put!(page, "<button type=\"button\">{}</button></th>", Words(column.title()));
    }
    body(page, rows(table, &seen));
    page.push_str("</table>\n</div>\n");
    if !how.is_empty() {
        put!(page, "<p class=\"how\">{}</p>", Words(how));
    }
    page.push_str("\n</div>\n");
}

/// Begins what may be wider than a screen.
fn scrolled(page: &mut String, label: impl Display) {
    let role = "tabindex=\"0\" role=\"region\"";
    put!(page, "<div class=\"scroll\" {role} aria-label=\"{label}\">\n");
}

/// Ends the heads of a table and writes its rows.
fn body(page: &mut String, rows: impl IntoIterator<Item = String>) {
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        put!(page, "{row}\n");
    }
    page.push_str("</tbody>\n");
}

fn flame(page: &mut String, flame: &Flame) {
    let title = Words(&flame.title);
    let frames = flame.frames();
    let rows = frames.iter().map(|frame| frame.depth + 1).max().unwrap_or(1);
    put!(
        page,
        "\n<figure class=\"flame\" role=\"group\" aria-label=\"{title}\">\n<h3>{title}</h3>\n"
    );
    page.push_str("<p class=\"tools\"><label>Find <input type=\"search\" ");
    page.push_str("placeholder=\"a function or site\" autocomplete=\"off\"></label>\n");
    put!(page, "<output aria-live=\"polite\">{} in all</output>\n", Words(&flame.sum()));
    page.push_str("<button type=\"button\" class=\"reset\" hidden>Whole graph</button></p>\n");
    put!(page, "<div class=\"frames\" style=\"--rows:{rows}\">\n");
    for f in &frames {
        let (depth, start, share) = (f.depth, f.start, f.share);
        put!(
            page,
            "<button type=\"button\" data-d=\"{depth}\" data-l=\"{start:.5}\" data-w=\"{share:.5}\" "
        );
        let color = f.hue();
        put!(page, "style=\"--d:{depth};--l:{start:.5};--w:{share:.5};--c:{color}\" ");
        put!(page, "title=\"{}\">{}</button>\n", Words(&flame.describe(f)), Words(&f.name));
    }
    page.push_str("</div>\n");
    let method = flame.method();
    if !method.is_empty() {
        let method = Words(&method);
        let zoom = "A click or Enter on a frame zooms in, Escape out.";
        put!(page, "<figcaption>{method} {zoom}</figcaption>");
    }
    page.push_str("\n</figure>\n");
}

/// Returns a section's heading: its title, or else its name.
fn title(section: &Section) -> String {
    if !section.title.is_empty() {
        return section.title.clone();
    }
    let mut letters = section.name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writes a table of comparisons, whose verdicts have colours.
fn comparisons(page: &mut String, all: &[Comparisons]) {
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
    let caption = match all {
        [one] => of(one),
        _ => "Every metric".to_owned(),
    };
    let caption = Words(&caption);
    page.push('\n');
    scrolled(page, format_args!("{caption}: comparison"));
    put!(page, "<table class=\"comparisons\">\n<caption>{caption}</caption>\n<thead><tr>");
    for &at in &seen {
        put!(page, "<th scope=\"col\">{}</th>", Words(&table.columns[at].head));
    }
    let colored = |(row, verdict): (String, _)| {
        row.replacen("<tr>", &format!("<tr class={}>", class(verdict)), 1)
    };
    body(page, rows.map(colored));
    page.push_str("</table>\n</div>\n");
}

/// Returns the rows of a table as HTML, without the tags and quotes that it can do without: there may be thousands.
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
