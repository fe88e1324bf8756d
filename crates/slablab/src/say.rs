//! Sentences on standard error, beside the result.

use std::fmt::Display;
use std::io::{self, Write};

use slablab_report::printable;

/// Says `text` in lines of its own. Whoever was listening may be gone (`2>&1 | head`): `eprintln!` would panic then, and
/// the work is done all the same. Names of a trace in it reach no terminal as they are.
pub(crate) fn say(text: impl Display) {
    let text = text.to_string();
    let lines: Vec<_> = text.split('\n').map(printable).collect();
    let _ = writeln!(io::stderr(), "{}", lines.join("\n"));
}
