//! What a column is called, and to which side it leans.

/// A column: what people read above it and what programs call it.
#[derive(Debug, Clone)]
pub struct Column {
    pub(crate) head: String,
    pub(crate) key: String,
    pub(crate) side: Side,
}

/// To which side a column's cells lean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Column {
    /// Makes a column of names, leaning left.
    pub fn name(head: impl Into<String>, key: impl Into<String>) -> Self {
        Self { head: head.into(), key: key.into(), side: Side::Left }
    }

    /// Makes a column of numbers, leaning right; `key` ends in the unit.
    pub fn number(head: impl Into<String>, key: impl Into<String>) -> Self {
        Self { head: head.into(), key: key.into(), side: Side::Right }
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
