//! Text for a terminal that comes from elsewhere: a trace's names may hold what moves the cursor or changes colours.

use std::borrow::Cow;

/// Returns a line of text with a question mark for each control character but tabs, line ends among them.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let moves = |c: char| c.is_control() && c != '\t';
    if text.chars().any(moves) {
        Cow::Owned(text.chars().map(|c| if moves(c) { '?' } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_becomes_a_question_mark() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{9b}d"), "a?[31mb?c?d");
        assert_eq!(printable("kmalloc-64\t\u{b5}"), "kmalloc-64\t\u{b5}");
    }
}
