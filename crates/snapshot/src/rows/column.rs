//! Kinds of words in a row, by which the begin of a row that was cut is known.

use crate::line::{self, is_cache_name};

/// Returns whether a word can stand in a column.
pub(crate) type Column = fn(&str) -> bool;

pub(super) fn name(word: &str) -> bool {
    is_cache_name(word)
}

pub(super) fn count(word: &str) -> bool {
    line::count(word).is_some()
}

pub(super) fn size(word: &str) -> bool {
    line::size(word).is_some()
}

pub(super) fn colon(word: &str) -> bool {
    word == ":"
}

pub(super) fn tunables(word: &str) -> bool {
    word == "tunables"
}

pub(super) fn slabdata(word: &str) -> bool {
    word == "slabdata"
}

pub(super) fn percent(word: &str) -> bool {
    word.strip_suffix('%').is_some_and(|number| number.parse::<f64>().is_ok())
}

/// `0.38K` or `0,38K`, as slabtop prints sizes of objects.
pub(super) fn kibibytes(word: &str) -> bool {
    line::kibibytes(word).is_some()
}

/// `680184K`, as slabtop prints sizes of caches.
pub(super) fn whole_kibibytes(word: &str) -> bool {
    word.ends_with('K') && size(word)
}

/// `512KB`, as the OOM killer prints sizes.
pub(super) fn oom_size(word: &str) -> bool {
    word.strip_suffix("KB").is_some_and(count)
}

/// The address of a kmem_cache.
pub(super) fn address(word: &str) -> bool {
    const DIGITS_MIN: usize = 8;
    word.len() >= DIGITS_MIN && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `4096/32`, as perf prints a total with the part of each.
pub(super) fn total_and_each(word: &str) -> bool {
    word.split_once('/').is_some_and(|(all, each)| count(all) && count(each))
}

/// `20/1/9`, as `tools/mm/slabinfo` prints slabs, partial ones and those of CPUs.
pub(super) fn three_counts(word: &str) -> bool {
    word.split('/').count() == 3 && word.split('/').all(count)
}

/// `mm/slub.c:123`.
pub(super) fn line_of_source(word: &str) -> bool {
    word.rsplit_once(':').is_some_and(|(file, line)| file.contains('.') && count(line))
}

pub(super) fn module(word: &str) -> bool {
    word.starts_with('[') && word.ends_with(']')
}

pub(super) fn func(word: &str) -> bool {
    word.starts_with("func:")
}

/// `function+0x1/0x2`.
pub(super) fn place(word: &str) -> bool {
    word.contains("+0x")
}

/// `[module]` or `pid=1`.
pub(super) fn attribute(word: &str) -> bool {
    module(word) || word.contains('=')
}

/// `0x00020`.
pub(super) fn flags(word: &str) -> bool {
    word.strip_prefix("0x").is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok())
}

/// A count, or the dash that stands for none.
pub(super) fn maybe_count(word: &str) -> bool {
    word == "-" || count(word)
}

/// The name of a function, with an offset or not; no line that is drawn.
pub(super) fn call_site(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || "_.".contains(c))
}
