//! Plain text for a mail to a list: the answer, the table that proves it, how it was measured, and how to repeat it.
//!
//! # How it works
//! Lines have at most [`COLUMNS`] columns, so that two levels of quoting leave them below 72, where mailers begin a new
//! line. Words stand flush left, the first column of a table too: format=flowed (RFC 3676) takes a blank at the begin of
//! a line for its own, and a blank at its end for a line that goes on.
//!
//! # Invariants
//! No line has a tab, a blank at its end, or what a mailer takes for its own at the begin: `>`, which quotes, and
//! `From `, which begins the next mail of a mailbox. Commands are whole; a shell reads them as they stand, with `\` where
//! they go on in the next line.

use slablab_host::printable;

use crate::document::{Document, Fact, Item, Shown};
use crate::error::Error;
use crate::table::{Comparisons, Seen, Table};
use crate::unit::counted;

/// Columns of a line: 72 less two levels of quoting.
const COLUMNS: usize = 68;
/// Rows of a table in the first section and in those behind it, unless others are asked for: a mail has one table that is
/// whole, and what others begin with.
const ROWS_MAX: [usize; 2] = [15, 5];

/// Writes the sections that are `shown` as a mail, with at most `rows` rows of each table.
///
/// # Errors
///
/// If a name belongs to no section.
pub fn mail(document: &Document, shown: &Shown, rows: Option<usize>) -> Result<String, Error> {
    let mut mail = Mail::default();
    for answer in &document.answers {
        mail.words(answer);
    }
    for (at, section) in document.shown(shown)?.into_iter().enumerate() {
        let rows_max = rows.unwrap_or(ROWS_MAX[at.min(1)]);
        mail.gap();
        if !section.title.is_empty() {
            mail.words(&format!("{}:", section.title));
        }
        for item in &section.items {
            mail.item(&section.name, item, rows_max);
        }
    }
    mail.gap();
    mail.words(&document.source);
    for note in &document.notes {
        mail.words(note);
    }
    mail.gap();
    for Fact { name, value } in document.facts.iter().filter(|fact| !fact.value.is_empty()) {
        mail.words(&format!("{name}: {value}"));
    }
    if !document.repeat.is_empty() {
        mail.gap();
        mail.words("To repeat it:");
        for command in &document.repeat {
            mail.command(command);
        }
    }
    Ok(mail.text())
}

/// The lines of a mail.
#[derive(Debug, Default)]
struct Mail {
    lines: Vec<String>,
}

impl Mail {
    /// Begins a new paragraph, unless nothing stands above it.
    fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }

    /// Appends a paragraph, broken at blanks.
    fn words(&mut self, text: &str) {
        let text = plain(text);
        let mut line = String::new();
        // A number and its per cent sign stay together.
        for word in text.replace(" %", "\u{a0}%").split(' ').filter(|word| !word.is_empty()) {
            let chars = line.chars().count() + 1 + word.chars().count();
            if !line.is_empty() && chars > COLUMNS {
                self.lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            let mut word = word;
            while let Some((at, _)) = word.char_indices().nth(COLUMNS) {
                self.lines.push(word[..at].to_owned());
                word = &word[at..];
            }
            line.push_str(word);
        }
        if !line.is_empty() {
            self.lines.push(line);
        }
    }

    /// Appends a command, broken before a word, with the sign that tells a shell so.
    fn command(&mut self, command: &str) {
        let text = plain(command);
        let mut line = String::new();
        for word in words_of_a_shell(&text) {
            let chars = line.chars().count() + 1 + word.chars().count() + 2;
            if !line.is_empty() && chars > COLUMNS {
                line.push_str(" \\");
                self.lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.lines.push(line);
    }

    fn item(&mut self, section: &str, item: &Item, rows: usize) {
        match item {
            Item::Text(text) => self.words(text),
            Item::Lines(lines) => lines.iter().for_each(|line| self.command(line)),
            Item::Comparisons(all) => self.table(section, &Comparisons::table(all), rows),
            Item::Table(title, _, table) => {
                if !title.is_empty() {
                    self.words(&format!("{title}:"));
                }
                self.table(section, table, rows);
            }
            Item::Plot(_) | Item::Flame(_) => {}
        }
    }

    fn table(&mut self, section: &str, table: &Table, rows: usize) {
        let shown = table.rows.len().min(rows);
        self.lines.extend(table.flush_left(shown).fitted(Seen::WhereRoom, shown, Some(COLUMNS)));
        let more = table.rows.len() - shown;
        if more > 0 {
            self.words(&format!("({} in \"{section}\")", counted(more as u64, "more row")));
        }
    }

    /// Returns the text, without what a mailer takes for its own.
    fn text(mut self) -> String {
        while self.lines.last().is_some_and(String::is_empty) {
            self.lines.pop();
        }
        let line = |line: String| {
            let line = plain(&line).replace('\u{a0}', " ");
            let line = line.trim_end();
            match line.strip_prefix("From ") {
                Some(rest) => format!("from {rest}\n"),
                None if line.starts_with('>') => format!(" {line}\n"),
                None => format!("{line}\n"),
            }
        };
        self.lines.into_iter().map(line).collect()
    }
}

/// Returns text that a terminal obeys nowhere, without tabs.
fn plain(text: &str) -> String {
    printable(text).replace('\t', " ")
}

/// Returns the words of a command, a quoted one whole.
fn words_of_a_shell(command: &str) -> Vec<&str> {
    let (mut words, mut from, mut quote) = (Vec::new(), 0, None);
    let mut chars = command.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                chars.next();
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => {
                words.push(&command[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    words.push(&command[from..]);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Section;
    use crate::table::field;

    fn sample() -> Document {
        let rows = [("kmalloc-64", 1_234_567_u64), (">kmalloc", 3), ("From kstrdup", 4)];
        let fields = [
            field::bytes("held", "held_bytes", |(_, held): &(&str, u64)| *held),
            field::name("cache", "cache", |(name, _)| name),
        ];
        let long = "slablab lab run script --set 'command=a  b' --set other=value --set more=values --rounds 12 --seed 4";
        Document {
            answers: vec!["6.12 holds 3.20 % more than 6.6 after hackbench, in five boots each, by the test of ranks.".into()],
            sections: vec![Section::first("holders", "What holds it", vec![Item::table("", "", Table::of(&rows, fields))])],
            source: format!("From {}: a\ttab.", "x".repeat(100)),
            notes: vec!["> this is no quote".into()],
            facts: vec![Fact::new("kernel", "6.12 \u{1b}[31m")],
            repeat: vec![long.into()],
            ..Document::default()
        }
    }

    /// What a mailer does: quotes, twice.
    fn quoted(text: &str) -> Vec<String> {
        text.lines().map(|line| format!("> > {line}")).collect()
    }

    #[test]
    fn a_mail_is_quoted_twice_without_a_line_that_is_too_long() {
        let text = mail(&sample(), &Shown::First, None).unwrap();
        assert!(quoted(&text).iter().all(|line| line.chars().count() <= 72), "{text}");
        let back: Vec<_> = quoted(&text).iter().map(|line| line[4..].to_owned()).collect();
        assert_eq!(back.join("\n") + "\n", text);
    }

    /// A reader of format=flowed takes one blank at the begin away, joins lines that end with one, and counts `>`.
    #[test]
    fn a_mail_reads_the_same_when_it_is_flowed_or_kept_in_a_mailbox() {
        let text = mail(&sample(), &Shown::First, None).unwrap();
        for line in text.lines() {
            assert_eq!(line, line.trim_end());
            assert!(!line.starts_with('>') && !line.starts_with("From "), "{line}");
            assert!(!line.contains(['\t', '\u{1b}']), "{line}");
        }
        let stuffed = text.lines().filter(|line| line.starts_with(' ')).collect::<Vec<_>>();
        assert_eq!(stuffed, [" > this is no quote"], "only what would be a quote");
    }

    #[test]
    fn the_answer_comes_first_and_the_command_is_whole() {
        let text = mail(&sample(), &Shown::First, None).unwrap();
        assert!(text.starts_with("6.12 holds 3.20 % more than 6.6 after hackbench"), "{text}");
        assert!(text.contains("held      cache\n1.18 MiB  kmalloc-64\n"), "{text}");
        let command = text.split("To repeat it:\n").nth(1).unwrap();
        assert!(command.lines().count() > 1, "{command}");
        let typed = command.replace(" \\\n", " ");
        assert_eq!(typed.trim_end(), sample().repeat[0]);
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words = words_of_a_shell("a 'b  c' \"d \\\" e\" f\\ g  h");
        assert_eq!(words, ["a", "'b  c'", "\"d \\\" e\"", "f\\ g", "h"]);
    }
}
