//! Sentences on standard error, beside the result.

use std::fmt::Display;
use std::io::{self, Write};

use slablab_report::printable;

/// Prints `text` in lines of its own. The reader may be gone (`2>&1 | head`): `eprintln!` would panic then, although the
/// work is done. Names from a trace do not reach a terminal unchanged. Text that follows a line end in one is indented,
/// so that it is not taken for a sentence of the tool.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", in_lines(&text.to_string()));
}

fn in_lines(text: &str) -> String {
    let mut lines = text.split('\n').map(printable);
    let mut shown = lines.next().unwrap_or_default().into_owned();
    for line in lines {
        shown.push_str(if line.is_empty() || line.starts_with([' ', '\t']) {
            "\n"
        } else {
            "\n  "
        });
        shown.push_str(&line);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_forges_no_line_of_the_log() {
        let said = in_lines("slablab: left running: a\nslablab: all is well\x1b[2J");
        assert_eq!(said, "slablab: left running: a\n  slablab: all is well?[2J");
        assert_eq!(in_lines("a:\n  b\n\n c"), "a:\n  b\n\n c");
    }
}
