//! Two texts in one: what `diff` prints, and lines of two tables beside each other.
//!
//! # How it works
//! The lines of the earlier text are read as they come; those of the later one are kept, and read when the earlier one has
//! ended. So they are two moments, and never rows of one table.

use crate::line::{cleaned, count, is_cache_name};

/// What the lines are that come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Form {
    /// One text
    #[default]
    One,
    /// `diff -u`
    Unified,
    /// `diff`
    Plain,
    /// `paste` or `sdiff`
    Beside,
}

/// Two texts in one.
#[derive(Debug, Default)]
pub(crate) struct Sides {
    form: Form,
    later: Vec<String>,
}

/// What becomes of a line.
pub(crate) enum Side<'a> {
    /// It is of one text
    Whole,
    /// Two texts begin
    Begins,
    /// This is of the earlier text
    Before(&'a str),
    /// It is kept, or is nothing
    Kept,
    /// The texts have ended before it
    Ended,
}

impl Sides {
    /// Takes a line.
    pub(crate) fn of<'a>(&mut self, line: &'a str) -> Side<'a> {
        let line = line.trim_end();
        let line = match self.form {
            Form::One | Form::Beside if unquoted(line).starts_with("@@ -") => unquoted(line),
            Form::Unified => unquoted(line),
            _ => line,
        };
        match self.form {
            Form::One | Form::Beside => self.begins(line),
            _ if line.is_empty() => Side::Kept,
            Form::Unified => self.unified(line),
            Form::Plain => self.plain(line),
        }
    }

    /// Returns the lines of the later text.
    pub(crate) fn take(&mut self) -> Vec<String> {
        self.form = Form::One;
        std::mem::take(&mut self.later)
    }

    fn begins<'a>(&mut self, line: &'a str) -> Side<'a> {
        if line.starts_with("@@ -") {
            self.form = Form::Unified;
            return Side::Begins;
        }
        if is_place(line) {
            self.form = Form::Plain;
            return Side::Begins;
        }
        match middle(line) {
            Some(at) => {
                self.form = Form::Beside;
                self.later
                    .push(line[at..].trim_start_matches(['|', '<', '>', ' ', '\t']).to_owned());
                Side::Before(&line[..at])
            }
            None => Side::Whole,
        }
    }

    fn unified<'a>(&mut self, line: &'a str) -> Side<'a> {
        let rest = || &line[1..];
        match line.as_bytes()[0] {
            // Another file, or another comparison.
            _ if line.starts_with("--- ") || line.starts_with("diff ") => Side::Ended,
            _ if line.starts_with("+++ ") => Side::Kept,
            b'+' => self.keep(rest()),
            b'-' => Side::Before(rest()),
            b' ' => {
                self.later.push(rest().to_owned());
                Side::Before(rest())
            }
            b'@' | b'\\' => Side::Kept,
            _ => Side::Ended,
        }
    }

    fn plain<'a>(&mut self, line: &'a str) -> Side<'a> {
        match line.as_bytes()[0] {
            b'>' => self.keep(&line[1..]),
            b'<' => Side::Before(&line[1..]),
            b'\\' => Side::Kept,
            _ if line == "---" || is_place(line) => Side::Kept,
            _ => Side::Ended,
        }
    }

    fn keep<'a>(&mut self, line: &str) -> Side<'a> {
        self.later.push(line.to_owned());
        Side::Kept
    }
}

/// Returns a line without the marks of a mail that quotes it; a row of a comparison may begin with a blank.
fn unquoted(line: &str) -> &str {
    let mut line = line;
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.strip_prefix(' ').unwrap_or(rest);
    }
    line
}

/// Returns whether a line is the place of a difference as `diff` writes it: `12,14c12`.
fn is_place(line: &str) -> bool {
    let is_range = |text: &str| {
        let mut numbers = text.split(',');
        let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        numbers.clone().count() <= 2 && numbers.all(is_number)
    };
    let mut halves = line.split(['a', 'c', 'd']);
    let is_both = halves.next().is_some_and(is_range) && halves.next().is_some_and(is_range);
    is_both && halves.next().is_none()
}

/// Returns where the second row of a line begins, which names the cache of the first again before counts.
fn middle(line: &str) -> Option<usize> {
    let name = line.split_whitespace().next().filter(|name| is_cache_name(name))?;
    let is_row = |text: &str| {
        let text = cleaned(text);
        let mut words = text.split(' ').skip(1);
        words.next().is_some_and(|word| count(word).is_some())
            && words.next().is_some_and(|word| count(word).is_some() || word == "kB")
    };
    let first = line.find(name)?;
    let rest = &line[first + name.len()..];
    let again = rest.match_indices(name).find(|(at, _)| {
        let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        is_blank(rest[..*at].chars().next_back())
            && is_blank(rest[at + name.len()..].chars().next())
    });
    let at = first + name.len() + again?.0;
    (is_row(&line[..at]) && is_row(&line[at..])).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paste;

    fn objects(text: &str) -> Vec<Vec<(String, Option<u64>)>> {
        let paste = Paste::read(text.as_bytes()).unwrap();
        let of = |moment: &crate::Moment| {
            moment.entries.iter().map(|entry| (entry.name.clone(), entry.objects)).collect()
        };
        paste.tables[0].moments.iter().map(of).collect()
    }

    fn row(name: &str, objects: u64) -> String {
        format!("{name} {objects} {objects} 64 64 1 : tunables 0 0 0 : slabdata 9 9 0")
    }

    fn expected() -> Vec<Vec<(String, Option<u64>)>> {
        vec![
            vec![("a-1".into(), Some(1)), ("b-1".into(), Some(5))],
            vec![("a-1".into(), Some(2)), ("b-1".into(), Some(5))],
        ]
    }

    #[test]
    fn the_sides_of_a_unified_diff_are_two_moments() {
        let text = format!(
            "--- before 2024\n+++ after\n@@ -1,3 +1,3 @@\n slabinfo - version: 2.1\n-{}\n+{}\n {}\n",
            row("a-1", 1),
            row("a-1", 2),
            row("b-1", 5)
        );
        assert_eq!(objects(&text), expected());
    }

    #[test]
    fn the_sides_of_a_diff_are_two_moments_and_mails_are_none() {
        let text = format!(
            "3,4c3,4\n< {}\n< {}\n---\n> {}\n> {}\n",
            row("a-1", 1),
            row("b-1", 5),
            row("a-1", 2),
            row("b-1", 5)
        );
        assert_eq!(objects(&text), expected());
        assert_eq!(objects(&format!("> {}\n> {}\n", row("a-1", 1), row("b-1", 5))).len(), 1);
        assert!(!is_place("12") && !is_place("abc") && is_place("1,2d5"));
    }

    #[test]
    fn meminfo_beside_meminfo_is_two_moments() {
        let row = |name: &str, one: u64, other: u64| {
            format!("{name}: {one} kB\t\t| {name}: {other} kB\n")
        };
        let text =
            row("MemTotal", 9000, 9000) + &row("Slab", 100, 150) + &row("SUnreclaim", 60, 110);
        let paste = Paste::read(text.as_bytes()).unwrap();
        let kept = |moment: &crate::Moment| {
            moment.entries.iter().find(|entry| entry.name == "SUnreclaim")?.slab_bytes
        };
        let kept: Vec<_> = paste.tables[0].moments.iter().map(kept).collect();
        assert_eq!(kept, [Some(60 << 10), Some(110 << 10)]);
    }

    #[test]
    fn rows_beside_each_other_are_two_moments() {
        let text = format!(
            "{}\t{}\n{} | {}\n",
            row("a-1", 1),
            row("a-1", 2),
            row("b-1", 5),
            row("b-1", 5)
        );
        assert_eq!(objects(&text), expected());
    }
}
