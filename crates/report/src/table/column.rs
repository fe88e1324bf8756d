//! The heading of a column, the side to which it leans, and who sees it.

/// A column: the heading for people and the key for programs. One without a key is for people alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub(crate) head: String,
    pub(crate) key: String,
    pub(crate) side: Side,
    pub(crate) seen: Seen,
}

/// The side to which a column's cells lean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Who sees a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Seen {
    /// All readers
    #[default]
    Always,
    /// All readers whose lines have room for it
    WhereRoom,
    /// Readers of a page, programs, and a terminal that shows the whole table
    OnPage,
    /// Programs only
    AsData,
}

impl Column {
    /// Makes a column of names, leaning left.
    pub fn name(head: impl Into<String>, key: impl Into<String>) -> Self {
        Self { head: head.into(), key: key.into(), side: Side::Left, seen: Seen::Always }
    }

    /// Makes a column of numbers, leaning right; `key` ends in the unit.
    pub fn number(head: impl Into<String>, key: impl Into<String>) -> Self {
        Self { side: Side::Right, ..Self::name(head, key) }
    }

    /// Returns whether it has numbers, which lean right.
    pub(crate) fn has_numbers(&self) -> bool {
        self.side == Side::Right
    }

    /// Returns its heading on a page, where a heading is also what one clicks to sort.
    pub(crate) fn title(&self) -> &str {
        if self.head.is_empty() { &self.key } else { &self.head }
    }
}
