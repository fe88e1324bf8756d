//! The fields of an event in a text, and what a line without one is.

use super::chain::Context;

/// The kinds of lines without a usable kmem event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    /// An event of another kind, or a line that is intentionally not an event.
    Irrelevant,
    /// The mark above a stack.
    Stack(Context),
    /// A note that a CPU lost events; their number is not always given.
    Lost { cpu: u32, events: Option<u64> },
    /// How many events a CPU lost in all, which notes may have told before.
    LostInAll { cpu: u32, events: u64 },
    /// A line that should be used and cannot be.
    Broken(&'static str),
}

/// Returns `key=value` pairs; a value reaches up to the next key (`call_site=f+0x1/0x2 [module]`).
pub(super) fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (key, after) = rest.split_once('=')?;
        let next = after.find('=').map_or(after.len(), |equals| {
            after[..equals].rfind(char::is_whitespace).map_or(equals, |space| space + 1)
        });
        rest = &after[next..];
        Some((key.trim(), after[..next].trim()))
    })
}

pub(super) fn first_word(text: &str) -> &str {
    text.split_ascii_whitespace().next().unwrap_or("")
}

/// Reads `192`, or `0xc0 (192)` as tracefs writes it with `fields` on.
pub(super) fn number(text: &str) -> Option<u64> {
    let word = first_word(text);
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}
