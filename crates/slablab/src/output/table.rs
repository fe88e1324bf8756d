//! A table: named columns, rows of cells, a rule now and then.

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::cell::Cell;

/// Whether headings are set off by terminal colours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Escape sequences for bold and dim
    Colored,
    /// Nothing but characters
    Plain,
}

/// A column: what people read above it and what programs call it.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    head: String,
    key: String,
    side: Side,
}

/// To which side a column's cells lean.
#[derive(Debug, Clone, Copy)]
enum Side {
    Left,
    Right,
}

impl Column {
    /// Makes a column of names, leaning left.
    pub(crate) fn name(head: impl Into<String>, key: impl Into<String>) -> Self {
        Self { head: head.into(), key: key.into(), side: Side::Left }
    }

    /// Makes a column of numbers, leaning right; `key` ends in the unit.
    pub(crate) fn number(head: impl Into<String>, key: impl Into<String>) -> Self {
        Self { head: head.into(), key: key.into(), side: Side::Right }
    }
}

/// Rows under columns.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Makes a table without rows.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new() }
    }

    /// Appends a row.
    ///
    /// # Panics
    ///
    /// If it has not as many cells as the table has columns.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        let cells = cells.into();
        assert_eq!(cells.len(), self.columns.len(), "a row of {:?}", self.columns);
        self.rows.push(cells);
    }

    /// Returns whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Appends the table as people read it.
    pub(crate) fn render(&self, text: &mut String, style: Style) {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.columns.iter().map(|c| comfy_table::Cell::new(&c.head)));
        for row in &self.rows {
            table.add_row(row.iter().map(Cell::human));
        }
        for (column, set) in self.columns.iter().zip(table.column_iter_mut()) {
            set.set_padding((0, 2));
            set.set_cell_alignment(match column.side {
                Side::Left => CellAlignment::Left,
                Side::Right => CellAlignment::Right,
            });
        }
        for (i, line) in table.lines().enumerate() {
            let line = line.trim_end();
            match (i, style) {
                (0, Style::Colored) => text.push_str(&format!("\u{1b}[2m{line}\u{1b}[0m")),
                _ => text.push_str(line),
            }
            text.push('\n');
        }
    }

    /// Returns the table as RFC 4180 has it.
    pub(crate) fn to_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(|c| &c.key))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::machine))?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_rows() -> Table {
        let mut table =
            Table::new([Column::name("site", "site"), Column::number("held", "held_bytes")]);
        table.row([Cell::text("kmalloc, of course"), Cell::Bytes(2048)]);
        table.row([Cell::text("b"), Cell::Missing]);
        table
    }

    #[test]
    fn numbers_lean_right_and_no_line_ends_in_blanks() {
        let mut text = String::new();
        two_rows().render(&mut text, Style::Plain);
        let want = "site                    held\nkmalloc, of course  2.00 KiB\nb                          -\n";
        assert_eq!(text, want);
    }

    #[test]
    fn csv_quotes_what_needs_quoting() {
        assert_eq!(
            two_rows().to_csv().unwrap(),
            "site,held_bytes\n\"kmalloc, of course\",2048\nb,\n"
        );
    }
}
