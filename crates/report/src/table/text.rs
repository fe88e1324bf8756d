//! Text tables: plain for a terminal, Markdown for a mail or a page.

use super::column::Side;

/// Returns the lines of `rows` under `head`, with columns aligned by blanks to the side that `side`
/// gives.
pub(crate) fn plain(
    head: &[String],
    rows: &[Vec<String>],
    side: impl Fn(usize) -> Side,
) -> Vec<String> {
    let widths = widths(head, rows, 0);
    let line = |cells: &[String]| padded(cells, &widths, &side).join("  ").trim_end().to_owned();
    std::iter::once(head).chain(rows.iter().map(Vec::as_slice)).map(line).collect()
}

/// Returns `rows` under `head` as a Markdown table, aligned so that it reads as text too.
pub(crate) fn markdown(
    head: &[String],
    rows: &[Vec<String>],
    side: impl Fn(usize) -> Side,
) -> String {
    let escape = |row: &[String]| row.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let escaped: Vec<Vec<String>> = rows.iter().map(|row| escape(row)).collect();
    let head: Vec<String> = escape(head);
    // A rule has three dashes at least.
    let widths = widths(&head, &escaped, 3);
    let line = |cells: &[String]| format!("| {} |\n", padded(cells, &widths, &side).join(" | "));
    let rule = |(at, width): (usize, &usize)| match side(at) {
        Side::Right => format!("{}:", "-".repeat(width - 1)),
        Side::Left => "-".repeat(*width),
    };
    let rule: Vec<String> = widths.iter().enumerate().map(rule).collect();
    let mut text = line(&head) + &line(&rule);
    text.extend(escaped.iter().map(|row| line(row)));
    text
}

/// A cut name keeps at least this many characters.
const CUT_CHARS_MIN: usize = 12;

/// Returns how many characters a line of such a table has.
pub(crate) fn width(rows: &[Vec<String>]) -> usize {
    let Some((head, rows)) = rows.split_first() else { return 0 };
    let widths = widths(head, rows, 0);
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Cuts the names of `rows`, those of the widest columns first, so that a line has `beyond` characters less, if that
/// leaves enough of each.
pub(crate) fn cut(rows: &mut [Vec<String>], mut beyond: usize, side: impl Fn(usize) -> Side) {
    while beyond > 0 {
        let Some((head, others)) = rows.split_first() else { return };
        let widths = widths(head, others, 0);
        let names = (0..widths.len()).filter(|&at| side(at) == Side::Left);
        let Some(widest) = names.max_by_key(|&at| widths[at]) else { return };
        let second = (0..widths.len()).filter(|&at| side(at) == Side::Left && at != widest);
        let second = second.map(|at| widths[at]).max().unwrap_or(0);
        if widths[widest] <= CUT_CHARS_MIN {
            return;
        }
        let least = CUT_CHARS_MIN.max(second.min(widths[widest] - 1));
        let to = widths[widest].saturating_sub(beyond).max(least);
        beyond -= widths[widest] - to;
        rows.iter_mut().for_each(|row| row[widest] = shortened(&row[widest], to));
    }
}

/// Returns `text` in at most `chars` characters, an ellipsis in place of its middle: names differ at both ends.
pub(crate) fn shortened(text: &str, chars: usize) -> String {
    let count = text.chars().count();
    if count <= chars {
        return text.to_owned();
    }
    let head = chars / 2;
    let tail = (chars - head).saturating_sub(1);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}\u{2026}{end}")
}

fn widths(head: &[String], rows: &[Vec<String>], least: usize) -> Vec<usize> {
    let widest = |at: usize| {
        let cells = rows.iter().map(|row| &row[at]).chain([&head[at]]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(least)
    };
    (0..head.len()).map(widest).collect()
}

fn padded(cells: &[String], widths: &[usize], side: &impl Fn(usize) -> Side) -> Vec<String> {
    let pad = |(at, (cell, width)): (usize, (&String, &usize))| match side(at) {
        Side::Right => format!("{cell:>width$}"),
        Side::Left => format!("{cell:<width$}"),
    };
    cells.iter().zip(widths).enumerate().map(pad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of empty names, which has nothing to cut, was cut by one character more than it has.
    #[test]
    fn a_column_without_a_character_is_left_alone() {
        let mut rows = vec![vec![String::new()], vec![String::new()]];
        let before = rows.clone();
        cut(&mut rows, 5, |_| Side::Left);
        assert_eq!(rows, before);
    }
}
