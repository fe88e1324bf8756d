//! What a line is to a kind of row, and how its words are read.

use crate::entry::Entry;

/// What a line is to a kind of row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A row
    Row(Entry),
    /// A row whose rest is in the lines below, as stack or as numbers that belong to the same entry
    Open(Entry),
    /// The begin of a row that goes on in the next line, and what it is if it does not
    Part(Option<Entry>),
    /// What looks like a row and cannot be read
    Damaged,
    /// Nothing
    No,
}

/// Whether the heading of a kind was seen, and its rows follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    /// It was
    Heading,
    /// It was not
    Nothing,
}

/// Returns the counts at the begin of `words`, as many as there are up to `N`; `None` if one of them is not a count.
pub(super) fn counts<const N: usize>(words: &[&str]) -> Option<[u64; N]> {
    let mut counts = [0; N];
    for (count, word) in counts.iter_mut().zip(words.get(..N)?) {
        *count = crate::line::count(word)?;
    }
    Some(counts)
}

/// Returns the places where a row may begin: those of words that can be the name of a cache.
pub(super) fn names<'a>(words: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    (0..words.len()).filter(|&at| crate::line::is_cache_name(words[at]))
}
