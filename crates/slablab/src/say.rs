//! Sentences on standard error, beside the result.

use std::fmt::Display;
use std::io::{self, Write};

/// Says `text` in lines of its own. Whoever was listening may be gone (`2>&1 | head`): `eprintln!` would panic then, and
/// the work is done all the same.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}
