//! What stands directly above a table, or before its rows, and differs from moment to moment.
//!
//! # How it works
//! People write above a table whose it is (`### web1`, `Good machine`, `ssh web1 cat /proc/slabinfo`), or when it was
//! (`After an hour`, `run 2`). Where the lines above two tables are alike but for a word that can be a name, the tables may be of
//! two machines, or of parts of one, and the text does not tell which. Words by which people number moments are none.

use std::collections::VecDeque;

use crate::host::is_label;

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
    /// Takes a line that is no row.
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
    pub(crate) fn nearest_differs(&self, other: &Self) -> Option<(String, String)> {
        let (one, other) = (self.lines.front()?.join(" "), other.lines.front()?.join(" "));
        (one != other).then_some((one, other))
    }

    /// Returns the heading of one moment and of another, where they differ in a name.
    pub(crate) fn differs(&self, other: &Self) -> Option<(String, String)> {
        let lines = self.lines.iter().zip(&other.lines);
        lines.chain([(&self.before, &other.before)]).find_map(|(one, other)| differing(one, other))
    }
}

/// Returns two headings of one form that differ in a name.
fn differing(one: &[String], other: &[String]) -> Option<(String, String)> {
    if one.len() != other.len() {
        return None;
    }
    let pairs: Vec<_> = one.iter().zip(other).filter(|(a, b)| a != b).collect();
    let is_named = !pairs.is_empty()
        && pairs.len() <= DIFFERING_MAX
        && (pairs.iter().any(|(a, b)| are_names(a, b)) || are_kernels(one, &pairs));
    // Of a long line, such as a command, the words that differ say enough.
    const SHOWN_MAX: usize = 4;
    let shown = |all: &[String], words: Vec<&str>| match all.len() > SHOWN_MAX {
        true => words.join(" "),
        false => all.join(" "),
    };
    is_named.then(|| {
        let words =
            |of: fn(&(&String, &String)) -> String| pairs.iter().map(of).collect::<Vec<_>>();
        let (a, b) = (words(|pair| pair.0.clone()), words(|pair| pair.1.clone()));
        let refs = |all: &'_ [String]| all.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        (shown(one, vec![&refs(&a)]), shown(other, vec![&refs(&b)]))
    })
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
    let is_address = |word: &str| {
        let parts: Vec<_> = word.split('.').collect();
        parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
    };
    if is_address(one) && is_address(other) {
        return one != other;
    }
    let parts = |word: &str| -> Vec<String> {
        let is_sign = |c: char| !c.is_alphanumeric();
        word.split(is_sign).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    // One letter numbers moments as a digit does.
    let is_name = |part: &str| part.len() > 1 && is_label(part);
    // kubectl's name of a machine says that it is one.
    if one.starts_with("node/") && other.starts_with("node/") {
        return one != other;
    }
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
    fn headings_that_differ_in_a_name_may_be_of_two_machines() {
        for (one, other) in [
            ("### web1", "### web2"),
            ("===== web1 =====", "===== web2 ====="),
            ("Good machine:", "Bad machine:"),
            ("With 5.10:", "With 6.1:"),
            ("Node web1:", "Node web2:"),
            ("[web1]", "[web2]"),
            ("# ssh 10.0.0.1 cat /proc/slabinfo", "# ssh 10.0.0.2 cat /proc/slabinfo"),
            (
                "$ cat /sys/fs/cgroup/memory/web.service/memory.kmem.slabinfo",
                "$ cat /sys/fs/cgroup/memory/db.service/memory.kmem.slabinfo",
            ),
            ("$ kubectl debug node/web1 -it", "$ kubectl debug node/web2 -it"),
        ] {
            assert!(heading(&[one]).differs(&heading(&[other])).is_some(), "{one}");
        }
    }

    #[test]
    fn headings_that_tell_the_moment_are_of_one_machine() {
        for (one, other) in [
            ("Before:", "After:"),
            ("run 1", "run 2"),
            ("iteration1", "iteration2"),
            ("After the test", "Before the test"),
            ("$ cat /proc/slabinfo", "$ cat /proc/slabinfo"),
            ("total 12 45", "total 13 47"),
            ("Now", "An hour ago"),
            ("pid 1734 done", "pid 1790 done"),
        ] {
            assert_eq!(heading(&[one]).differs(&heading(&[other])), None, "{one}");
        }
    }
}
