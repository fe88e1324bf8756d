//! What stands directly above a table, or before its rows, and differs from moment to moment.
//!
//! # How it works
//! People write above a table whose it is (`### web1`, `Good machine`, `ssh web1 cat /proc/slabinfo`), or when it was
//! (`After an hour`, `run 2`). Where lines above two tables are alike but for a word that can be a name, the tables may be of two
//! machines, or of parts of one. The text does not tell which. Words by which people number moments are none.

use std::collections::VecDeque;

use crate::host::{is_label, is_noun};

/// Lines above a table that may be its heading.
const LINES_MAX: usize = 3;
/// Words of such a line at most; a longer one is prose, or a row of something else.
const WORDS_MAX: usize = 24;
/// Words in which two headings of one form differ at most.
const DIFFERING_MAX: usize = 2;

/// What may be the heading of a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Heading {
    /// The lines above, the nearest first, each in words
    lines: VecDeque<Vec<String>>,
    /// The words before the first row
    before: Vec<String>,
}

impl Heading {
    /// Takes a line besides the rows.
    pub(crate) fn line(&mut self, words: &[&str]) {
        let is_drawn = |word: &&str| !word.contains(|c: char| c.is_alphanumeric());
        let words = words.iter().filter(|word| !is_drawn(word));
        let words: Vec<String> = words.map(|word| plain(word).to_owned()).collect();
        if words.is_empty() || words.len() > WORDS_MAX {
            return;
        }
        self.lines.push_front(words);
        self.lines.truncate(LINES_MAX);
    }

    /// Takes the words that stand before a row.
    pub(crate) fn before(&mut self, words: &[&str]) {
        self.before = words.iter().take(WORDS_MAX).map(|word| plain(word).to_owned()).collect();
    }

    /// Returns the nearest lines above two moments, where they differ at all.
    pub(crate) fn nearest_differs(&self, other: &Self) -> Option<Differing> {
        let (one, other) = (self.lines.front()?.join(" "), other.lines.front()?.join(" "));
        (one != other).then_some(Differing { one, other, are_machines: true })
    }

    /// Returns the heading of one moment and of another, where they differ in a name.
    pub(crate) fn differs(&self, other: &Self) -> Option<Differing> {
        let lines = self.lines.iter().zip(&other.lines);
        lines.chain([(&self.before, &other.before)]).find_map(|(one, other)| differing(one, other))
    }
}

/// Two headings of one form that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Differing {
    pub(crate) one: String,
    pub(crate) other: String,
    /// They name machines, or parts of one, and not just anything
    pub(crate) are_machines: bool,
}

/// Returns two headings of one form that differ in a name.
fn differing(one: &[String], other: &[String]) -> Option<Differing> {
    if one.len() != other.len() {
        return None;
    }
    // Summer time has another name than winter time.
    let has_time = |words: &[String]| words.iter().any(|word| is_clock_time(word));
    let are_zones =
        |at: &usize| is_zone(&one[*at]) && is_zone(&other[*at]) && has_time(one) && has_time(other);
    let differ = |at: &usize| one[*at] != other[*at] && !are_zones(at);
    let at: Vec<usize> = (0..one.len()).filter(differ).collect();
    let pairs: Vec<(&String, &String)> = at.iter().map(|at| (&one[*at], &other[*at])).collect();
    if at.is_empty() || at.len() > DIFFERING_MAX {
        return None;
    }
    let are_machines = are_kernels(one, &pairs)
        || at.iter().any(|at| {
            let before = at.checked_sub(1).map(|before| one[before].as_str());
            are_machines(before, &one[*at], &other[*at], one.len() == 1)
        });
    let climbs = |(a, b): &(&String, &String)| {
        a.parse::<u64>().ok().zip(b.parse::<u64>().ok()).is_some_and(|(a, b)| a < b)
    };
    // A line that counts moments says what each of them was.
    let are_words = || !pairs.iter().any(climbs) && pairs.iter().any(|(a, b)| are_names(a, b));
    if !are_machines && !are_words() {
        return None;
    }
    // Of a long line, such as a command, the words that differ say enough.
    const SHOWN_MAX: usize = 4;
    let shown = |all: &[String]| match all.len() > SHOWN_MAX {
        true => at.iter().map(|at| all[*at].as_str()).collect::<Vec<_>>().join(" "),
        false => all.join(" "),
    };
    Some(Differing { one: shown(one), other: shown(other), are_machines })
}

/// Returns whether a word is a time of day: `02:59:01`.
fn is_clock_time(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    let is_number = |part: &&str| part.parse::<u8>().is_ok();
    matches!(parts.len(), 2 | 3) && parts.iter().all(is_number)
}

/// Returns whether a word can name a zone of time: `CEST`, `+0200`.
fn is_zone(word: &str) -> bool {
    const LETTERS: std::ops::RangeInclusive<usize> = 3..=5;
    let is_offset =
        || word.strip_prefix(['+', '-']).is_some_and(|digits| digits.parse::<u16>().is_ok());
    let is_name =
        || LETTERS.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
    is_offset() || is_name()
}

/// Returns whether two words name machines, or parts of one: two addresses, `node/a` and `node/b`, two paths of cgroups, what
/// stands behind `server` or `ssh`, and `web1` and `web2` alone in their lines.
fn are_machines(before: Option<&str>, one: &str, other: &str, is_alone: bool) -> bool {
    let is_address = |word: &str| {
        let parts: Vec<_> = word.split('.').collect();
        parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
    };
    let both = |is: &dyn Fn(&str) -> bool| is(one) && is(other);
    let is_behind_noun =
        before.is_some_and(|word| is_noun(word) || matches!(word, "ssh" | "exec" | "-H"));
    // Two names of one domain.
    let are_of_domain = || {
        let domain = |word: &str| -> Option<String> {
            let (name, domain) = word.split_once('.')?;
            (name.starts_with(|c: char| c.is_ascii_alphabetic())
                && domain.contains('.')
                && !domain.contains('/'))
            .then(|| domain.to_owned())
        };
        domain(one).is_some_and(|of_one| domain(other).is_some_and(|of_other| of_one == of_other))
    };
    let is_of_noun = |word: &str| word.split_once('=').is_some_and(|(noun, _)| is_noun(noun));
    let letters = |word: &str| -> String { word.chars().filter(|c| !c.is_ascii_digit()).collect() };
    let are_numbered = || {
        let parts = letters(one);
        let mut names = parts.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
        parts == letters(other) && names.next().is_some_and(|name| name.len() > 1 && is_label(name))
    };
    both(&is_address)
        || both(&|word| word.starts_with("node/"))
        || both(&|word| word.contains("/cgroup/"))
        || both(&is_of_noun)
        || is_behind_noun
        || are_of_domain()
        || is_alone && (are_numbered() || both(&is_release))
}

/// Returns whether a word is the release of a kernel: `6.5.0-14-generic`.
fn is_release(word: &str) -> bool {
    let (numbers, rest) = word.split_once('-').unwrap_or((word, ""));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numbers.split('.').count() == 3 && numbers.split('.').all(is_number) && !rest.is_empty()
}

/// Returns whether a line speaks of kernels, and its words differ in their versions: `With 5.10` and `With 6.1`.
fn are_kernels(line: &[String], pairs: &[(&String, &String)]) -> bool {
    let is_word = |word: &String| {
        ["kernel", "linux", "version", "with", "on", "under"].contains(&&*word.to_ascii_lowercase())
    };
    let is_version = |word: &str| {
        let mut parts = word.trim_start_matches('v').splitn(3, '.');
        let is_number = |part: Option<&str>, most: u32| {
            part.and_then(|part| part.parse::<u32>().ok()).is_some_and(|number| number <= most)
        };
        is_number(parts.next(), 9) && is_number(parts.next(), 99)
    };
    line.iter().any(is_word) && pairs.iter().all(|(a, b)| is_version(a) && is_version(b))
}

/// Returns whether two words differ in a part that is a name in both: `web1` and `web2`, `node/a` and `node/b`, two
/// addresses.
pub(crate) fn are_names(one: &str, other: &str) -> bool {
    let parts = |word: &str| -> Vec<String> {
        let is_sign = |c: char| !c.is_alphanumeric();
        word.split(is_sign).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    // One letter numbers moments as a digit does.
    let is_name = |part: &str| part.len() > 1 && is_label(part);
    let (one, other) = (parts(one), parts(other));
    // Numbers beside a name may be those of a time.
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let differ = || {
        let pairs = one.iter().zip(&other).filter(|(a, b)| a != b);
        pairs.filter(|(a, b)| !is_number(a) || !is_number(b))
    };
    one.len() == other.len()
        && differ().count() > 0
        && differ().all(|(a, b)| is_name(a) && is_name(b))
}

/// Returns a word without what draws it as a heading.
fn plain(word: &str) -> &str {
    word.trim_matches(|c: char| "=#*:[](){}<>-,;\"'`".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(lines: &[&str]) -> Heading {
        let mut heading = Heading::default();
        lines.iter().for_each(|line| heading.line(&line.split(' ').collect::<Vec<_>>()));
        heading
    }

    #[test]
    fn headings_that_name_machines_are_known_from_other_words() {
        for (one, other, are_machines) in [
            ("### web1", "### web2", true),
            ("===== web-01.example.org =====", "===== web-02.example.org =====", true),
            ("Server A:", "Server B:", true),
            ("### a.example.org", "### b.example.org", true),
            ("$ kubectl exec ds-compute-0 -- cat x", "$ kubectl exec ds-compute-1 -- cat x", true),
            ("machine 1", "machine 2", true),
            ("Node web1:", "Node web2:", true),
            ("With 5.10:", "With 6.1:", true),
            ("5.15.0-91-generic:", "6.5.0-14-generic:", true),
            ("# ssh 10.0.0.1 cat /proc/slabinfo", "# ssh 10.0.0.2 cat /proc/slabinfo", true),
            (
                "$ cat /sys/fs/cgroup/memory/web.service/memory.kmem.slabinfo",
                "$ cat /sys/fs/cgroup/memory/db.service/memory.kmem.slabinfo",
                true,
            ),
            ("$ kubectl debug node/web1 -it", "$ kubectl debug node/web2 -it", true),
            ("Good machine:", "Bad machine:", false),
            ("Cold cache:", "Warm cache:", false),
            ("worker alpha done", "worker beta done", false),
        ] {
            let differing = heading(&[one]).differs(&heading(&[other]));
            assert_eq!(differing.map(|of| of.are_machines), Some(are_machines), "{one}");
        }
    }

    #[test]
    fn headings_that_tell_the_moment_are_of_one_machine() {
        for (one, other) in [
            ("Before:", "After:"),
            ("sample 1 worker-alpha", "sample 2 worker-beta"),
            ("slab.1", "slab.2"),
            ("run 1", "run 2"),
            ("iteration1", "iteration2"),
            ("After the test", "Before the test"),
            ("$ cat /proc/slabinfo", "$ cat /proc/slabinfo"),
            ("total 12 45", "total 13 47"),
            ("Now", "An hour ago"),
            ("pid 1734 done", "pid 1790 done"),
            ("Sun Oct 25 02:55:01 CEST 2026", "Sun Oct 25 02:05:01 CET 2026"),
            ("Sun Oct 25 10:00:00 UTC 2026", "Sun Oct 25 12:00:00 CET 2026"),
        ] {
            assert_eq!(heading(&[one]).differs(&heading(&[other])), None, "{one}");
        }
    }
}
