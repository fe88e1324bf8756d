//! Text tables: plain for a terminal, Markdown for a mail or a page.

/// Returns `rows` under `head`, columns aligned by blanks; numbers lean right.
pub(crate) fn plain(head: &[String], rows: &[Vec<String>]) -> String {
    let widths = widths(head, rows);
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(at, (cell, width))| pad(cell, *width, leans_right(rows, at)))
            .collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    std::iter::once(head).chain(rows.iter().map(Vec::as_slice)).map(line).collect()
}

/// Returns `rows` under `head` as a Markdown table, aligned so that it reads as text too.
pub(crate) fn markdown(head: &[String], rows: &[Vec<String>]) -> String {
    let escaped: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|c| c.replace('|', "\\|")).collect()).collect();
    let widths = widths(head, &escaped);
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate();
        let padded: Vec<String> =
            padded.map(|(at, (cell, width))| pad(cell, *width, leans_right(rows, at))).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let rule: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(at, width)| match leans_right(rows, at) {
            true => format!("{}:", "-".repeat(width - 1)),
            false => "-".repeat(*width),
        })
        .collect();
    let mut text = line(head) + &line(&rule);
    text.extend(escaped.iter().map(|row| line(row)));
    text
}

fn widths(head: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count().max(3)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

/// Returns whether column `at` holds numbers: all of its cells start like one.
fn leans_right(rows: &[Vec<String>], at: usize) -> bool {
    !rows.is_empty()
        && rows
            .iter()
            .all(|row| row[at].starts_with(|c: char| c.is_ascii_digit() || "+-<".contains(c)))
}

fn pad(cell: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width - cell.chars().count());
    if right { blanks + cell } else { cell.to_owned() + &blanks }
}
