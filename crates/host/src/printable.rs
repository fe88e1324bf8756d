//! Text from elsewhere, made safe for a terminal: a trace's names may hold characters that move the cursor, change colours
//! or turn the direction of writing.

use std::borrow::Cow;

/// Returns a line of text with a question mark for each character that a terminal obeys. Line ends are such characters, tabs
/// are not.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let moves = |c: char| is_obeyed(c) && c != '\t';
    if text.chars().any(moves) {
        Cow::Owned(text.chars().map(|c| if moves(c) { '?' } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns whether a terminal obeys a character instead of showing it: control characters, line ends, and characters
/// that turn the direction of writing, so that a reader sees other words than a program.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_becomes_a_question_mark() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{9b}d\u{202e}e"), "a?[31mb?c?d?e");
        assert_eq!(printable("kmalloc-64\t\u{b5}"), "kmalloc-64\t\u{b5}");
    }
}
