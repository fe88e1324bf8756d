//! bcc's `memleak`: `N bytes in M allocations from stack`, and the stack below.

use super::found::{Below, Found};
use super::kind::Kind;
use super::row_reader::RowReader;
use crate::entry::Entry;
use crate::line::count;

pub(super) const READER: RowReader =
    RowReader { is_heading, ..RowReader::new(Kind::Memleak, read) };

pub(super) fn is_heading(words: &[&str]) -> bool {
    words.windows(3).any(|w| w == ["stacks", "with", "outstanding"])
}

/// Returns whether a line lists one allocation, as `memleak -a` does above the stacks: `addr = ffff9d2a58a0 size = 32`.
pub(crate) fn is_allocation(words: &[&str]) -> bool {
    matches!(words, ["addr", "=", _, "size", "=", size] if count(size).is_some())
}

pub(super) fn read(words: &[&str], _: Below) -> Found {
    let Some(at) = words.windows(3).position(|w| w[0] == "bytes" && w[1] == "in") else {
        return Found::No;
    };
    let is_row = words.get(at + 3).is_some_and(|word| word.starts_with("allocation"));
    let bytes = at.checked_sub(1).and_then(|at| count(words[at]));
    match (is_row, bytes, count(words[at + 2])) {
        (true, Some(bytes), Some(objects)) => Found::Open(Entry {
            objects: Some(objects),
            live_bytes: Some(bytes),
            ..Entry::default()
        }),
        (true, ..) => Found::Damaged,
        (false, ..) => Found::No,
    }
}
