//! A table of data: named columns, rows of cells. A terminal gets it as text, a spreadsheet as CSV, and a page as
//! rows that it sorts and filters.

use std::borrow::Cow;
use std::sync::Arc;

use slablab_host::printable;

use super::cell::Cell;
use super::column::{Column, Seen, Side};
use super::field::Field;
use super::rows::Rows;
use super::text;

/// Rows under columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Rows,
}

impl Table {
    /// Makes a table without rows.
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Rows::default() }
    }

    /// Makes a table with a row for each of `things`, whose cells the columns take from it.
    pub fn of<T, const N: usize>(things: &[T], fields: [Field<'_, T>; N]) -> Self {
        Self::of_fields(things, fields.into())
    }

    /// Makes a table as [`Table::of`] does, with columns whose number only the result knows.
    pub fn of_fields<T>(things: &[T], fields: Vec<Field<'_, T>>) -> Self {
        let row = |thing| fields.iter().map(|field| (field.cell)(thing)).collect();
        let rows = Rows::Made(things.iter().map(row).collect());
        Self { columns: fields.into_iter().map(|field| field.column).collect(), rows }
    }

    /// Makes a table as [`Table::of_fields`] does, of things that may be very many: a row is made when it is shown.
    pub fn of_many<T: 'static>(things: &Arc<Vec<T>>, fields: Vec<Field<'static, T>>) -> Self {
        let columns = fields.iter().map(|field| field.column.clone()).collect();
        let (len, things) = (things.len(), Arc::clone(things));
        let row = move |at: usize| fields.iter().map(|field| (field.cell)(&things[at])).collect();
        Self { columns, rows: Rows::Asked(len, Arc::new(row)) }
    }

    /// Appends a row.
    ///
    /// # Panics
    ///
    /// If it does not have as many cells as the table has columns.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        let cells = cells.into();
        assert_eq!(cells.len(), self.columns.len(), "a row of {:?}", self.columns);
        self.rows.push(cells);
    }

    /// Returns the first `rows` rows in a table whose first column stands at the left, and is nowhere empty.
    pub(crate) fn flush_left(&self, rows: usize) -> Self {
        let mut columns = self.columns.clone();
        let mut rows: Vec<Vec<Cell>> =
            self.rows.iter().take(rows).map(|row| row.into_owned()).collect();
        if let Some(first) = columns.first_mut() {
            first.side = Side::Left;
            for cell in rows.iter_mut().map(|row| &mut row[0]) {
                if matches!(cell, Cell::Text(text) if text.is_empty()) {
                    *cell = Cell::Missing;
                }
            }
        }
        Self { columns, rows: Rows::Made(rows) }
    }

    /// Returns whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the places of the columns that readers of the kind `seen` see.
    pub(crate) fn columns_seen(&self, seen: Seen) -> Vec<usize> {
        (0..self.columns.len()).filter(|&at| self.columns[at].seen <= seen).collect()
    }

    /// Returns the cells of `columns` in the first `rows` rows, as text.
    pub(crate) fn cells_of(&self, columns: &[usize], rows: usize) -> Vec<Vec<String>> {
        let row = |row: Cow<'_, [Cell]>| columns.iter().map(|&at| shown(&row[at])).collect();
        self.rows.iter().take(rows).map(row).collect()
    }

    /// Returns the headings and the first `rows` rows as lines of at most `width` characters. Columns marked as optional
    /// are left out where they have no room, the last first; then the longest names are cut in their middle; then further
    /// columns are left out.
    pub(crate) fn fitted(&self, seen: Seen, rows: usize, width: Option<usize>) -> Vec<String> {
        let mut columns = self.columns_seen(seen);
        let width = width.unwrap_or(usize::MAX);
        loop {
            let mut cells = self.cells_of(&columns, rows);
            cells.insert(
                0,
                columns.iter().map(|&at| printable(&self.columns[at].head).into()).collect(),
            );
            let side = |at: usize| self.columns[columns[at]].side;
            let beyond = text::width(&cells).saturating_sub(width);
            let spare = columns.iter().rposition(|&at| self.columns[at].seen != Seen::Always);
            if let Some(place) = spare.filter(|_| beyond > 0) {
                columns.remove(place);
                continue;
            }
            text::cut(&mut cells, beyond, side);
            if columns.len() > 1 && text::width(&cells) > width {
                columns.pop();
                continue;
            }
            cells.iter_mut().flatten().for_each(|cell| *cell = text::shortened(cell, width));
            return text::plain(&cells[0], &cells[1..], side);
        }
    }

    /// Returns the lines that people read, the first with the headings.
    pub fn lines(&self) -> Vec<String> {
        self.fitted(Seen::OnPage, usize::MAX, None)
    }

    /// Returns the table in the format of RFC 4180. A text that a spreadsheet would take for a formula has an apostrophe
    /// before it, which spreadsheets hide; numbers have none, and are whole.
    ///
    /// # Panics
    ///
    /// It never panics, because writing to memory cannot fail, and cells are UTF-8.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let keyed: Vec<usize> =
            (0..self.columns.len()).filter(|&at| !self.columns[at].key.is_empty()).collect();
        let row = |row: Cow<'_, [Cell]>| keyed.iter().map(|&at| inert(&row[at])).collect();
        let rows = self.rows.iter().map(row);
        let key = |&at: &usize| inert(&Cell::text(&self.columns[at].key));
        let head = keyed.iter().map(key).collect();
        for row in std::iter::once(head).chain(rows) {
            let row: Vec<String> = row;
            writer.write_record(row).expect("memory takes it");
        }
        String::from_utf8(writer.into_inner().expect("memory takes it")).expect("UTF-8")
    }
}

/// Returns a cell that is safe for a spreadsheet, which reads text with such a beginning as a formula, and for a terminal
/// that shows the file.
fn inert(cell: &Cell) -> String {
    let Cell::Text(text) = cell else { return cell.machine() };
    let text = printable(text).into_owned();
    let is_formula =
        text.starts_with(['=', '+', '-', '@', '\t', '?', '\'']) && text.parse::<f64>().is_err();
    if is_formula { format!("'{text}") } else { text }
}

/// Returns a cell for a terminal.
fn shown(cell: &Cell) -> String {
    printable(&cell.short()).replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::field;

    fn two_rows() -> Table {
        let rows = [("kmalloc, of course", Some(2048)), ("b", None)];
        Table::of(
            &rows,
            [
                field::name("site", "site", |row| row.0),
                field::cell("held", "held_bytes", |row| row.1.map_or(Cell::Missing, Cell::Bytes)),
            ],
        )
    }

    #[test]
    fn numbers_lean_right_and_no_line_ends_in_blanks() {
        let want = [
            "site                    held",
            "kmalloc, of course  2.00 KiB",
            "b                          -",
        ];
        assert_eq!(two_rows().lines(), want);
    }

    #[test]
    fn csv_quotes_what_needs_quoting() {
        assert_eq!(two_rows().csv(), "site,held_bytes\n\"kmalloc, of course\",2048\nb,\n");
    }

    #[test]
    fn no_text_of_a_csv_is_a_formula_and_numbers_are_whole() {
        let mut table = Table::new([Column::name("", "=key"), Column::number("", "n")]);
        for text in ["=1+1", "+f", "-f", "@f", "\tf", "\r=f", "\x1b[2Jf", "-1.5", "+3", "f-1"] {
            table.row([Cell::text(text), Cell::SignedBytes(-7)]);
        }
        let csv = table.csv();
        let cells: Vec<_> = csv.lines().map(|line| line.split(',').next().unwrap()).collect();
        let want =
            ["'=key", "'=1+1", "'+f", "'-f", "'@f", "'\tf", "'?=f", "'?[2Jf", "-1.5", "+3", "f-1"];
        assert_eq!(cells, want);
        assert!(csv.lines().skip(1).all(|line| line.ends_with(",-7")), "{csv}");
    }
}
