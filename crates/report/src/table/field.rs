//! Columns that know how their cell is made from a row, so that a table of things takes one line
//! for each column.

use super::cell::Cell;
use super::column::{Column, Seen};

/// A column together with the way its cell is made from a `T`.
pub struct Field<'a, T> {
    pub(crate) column: Column,
    pub(crate) cell: Box<dyn Fn(&T) -> Cell + 'a>,
}

impl<T> Field<'_, T> {
    /// Leaves the column out on a terminal whose lines have no room for it.
    #[must_use]
    pub fn where_room(self) -> Self {
        self.seen(Seen::WhereRoom)
    }

    /// Leaves the column out of the first screen.
    #[must_use]
    pub fn on_page(self) -> Self {
        self.seen(Seen::OnPage)
    }

    /// Shows the column to programs only.
    #[must_use]
    pub fn as_data(self) -> Self {
        self.seen(Seen::AsData)
    }

    fn seen(self, seen: Seen) -> Self {
        Self { column: Column { seen, ..self.column }, ..self }
    }
}

impl<T> std::fmt::Debug for Field<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.column.fmt(f)
    }
}

/// Makes a column of names.
pub fn name<'a, T: 'a>(head: &str, key: &str, name: fn(&T) -> &str) -> Field<'a, T> {
    Field { column: Column::name(head, key), cell: Box::new(move |of| Cell::text(name(of))) }
}

/// Makes a column of names that are put together.
pub fn text<'a, T: 'a>(head: &str, key: &str, text: fn(&T) -> String) -> Field<'a, T> {
    Field { column: Column::name(head, key), cell: Box::new(move |of| Cell::Text(text(of))) }
}

/// Makes a column of counts.
pub fn count<'a, T: 'a>(head: &str, key: &str, count: fn(&T) -> u64) -> Field<'a, T> {
    by(head, key, move |of| Cell::Count(count(of)))
}

/// Makes a column of bytes.
pub fn bytes<'a, T: 'a>(head: &str, key: &str, bytes: fn(&T) -> u64) -> Field<'a, T> {
    by(head, key, move |of| Cell::Bytes(bytes(of)))
}

/// Makes a column of times in nanoseconds.
pub fn ns<'a, T: 'a>(head: &str, key: &str, ns: fn(&T) -> u64) -> Field<'a, T> {
    by(head, key, move |of| Cell::Ns(ns(of)))
}

/// Makes a column of shares, 1.0 being all.
pub fn share<'a, T: 'a>(head: &str, key: &str, share: fn(&T) -> f64) -> Field<'a, T> {
    by(head, key, move |of| Cell::Share(share(of)))
}

/// Makes a column of numbers of any kind.
pub fn cell<'a, T: 'a>(head: &str, key: &str, cell: fn(&T) -> Cell) -> Field<'a, T> {
    by(head, key, cell)
}

/// Makes a column of numbers of any kind, by a closure that knows more than the row.
pub fn by<'a, T>(head: &str, key: &str, cell: impl Fn(&T) -> Cell + 'a) -> Field<'a, T> {
    Field { column: Column::number(head, key), cell: Box::new(cell) }
}

/// Makes a column of names by a closure that knows more than the row.
pub fn text_by<'a, T>(head: &str, key: &str, text: impl Fn(&T) -> String + 'a) -> Field<'a, T> {
    Field { column: Column::name(head, key), cell: Box::new(move |of| Cell::Text(text(of))) }
}
