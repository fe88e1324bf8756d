//! A unified diff of known edits: what changes is known, so nothing is compared.

use std::fmt::Write;
use std::ops::Range;

/// The lines around a change that a hunk shows.
const CONTEXT: usize = 3;

/// A change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that go
    pub at: Range<usize>,
    /// What comes in their place
    pub text: String,
}

/// A diff of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The file's path
    pub path: String,
    /// The diff, with its head for Git
    pub text: String,
    /// Lines that come
    pub added: usize,
    /// Lines that go
    pub removed: usize,
}

/// Lines that change: those that go, and those that come.
#[derive(Debug, Clone)]
struct Change {
    old: Range<usize>,
    new: Vec<String>,
}

/// Returns the text after edits that do not overlap and stand in their order.
pub(crate) fn applied(text: &str, edits: &[Edit]) -> String {
    let (mut changed, mut from) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        changed += &text[from..edit.at.start];
        changed += &edit.text;
        from = edit.at.end;
    }
    changed + &text[from..]
}

/// Returns the diff of a file for edits that do not overlap, in any order.
#[must_use]
pub fn unified(path: &str, text: &str, edits: &[Edit]) -> Diff {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let starts: Vec<usize> = lines
        .iter()
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some(start)
        })
        .collect();
    let changes = changes(text, &edits, &starts);
    let mut diff = Diff {
        path: path.to_owned(),
        text: format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n"),
        added: changes.iter().map(|change| change.new.len()).sum(),
        removed: changes.iter().map(|change| change.old.len()).sum(),
    };
    let (mut shift, mut rest) = (0isize, &changes[..]);
    while !rest.is_empty() {
        let apart = |two: &[Change]| two[1].old.start - two[0].old.end > 2 * CONTEXT;
        let count = 1 + rest.windows(2).take_while(|two| !apart(two)).count();
        let (hunk, behind) = rest.split_at(count);
        write_hunk(&mut diff.text, &lines, hunk, &mut shift);
        rest = behind;
    }
    diff
}

/// Turns edits of bytes into changes of whole lines.
fn changes(text: &str, edits: &[Edit], starts: &[usize]) -> Vec<Change> {
    let line_of = |byte: usize| starts.partition_point(|start| *start <= byte).saturating_sub(1);
    let start_of = |line: usize| starts.get(line).copied().unwrap_or(text.len());
    let mut changes: Vec<(Range<usize>, Vec<Edit>)> = Vec::new();
    for edit in edits {
        let is_at_start =
            edit.at.start == text.len() && text.ends_with('\n') || starts.contains(&edit.at.start);
        let is_insert = edit.at.is_empty() && is_at_start && edit.text.ends_with('\n');
        let first = match edit.at.start == text.len() && text.ends_with('\n') {
            true => starts.len(),
            false => line_of(edit.at.start),
        };
        let old = match is_insert {
            true => first..first,
            false => {
                // What goes with its line end joins the next line, unless whole lines go.
                let ends_at_start = edit.at.end > edit.at.start && starts.contains(&edit.at.end);
                let is_whole = edit.text.ends_with('\n') || edit.text.is_empty() && is_at_start;
                let last = match ends_at_start && !is_whole {
                    true => edit.at.end,
                    false => edit.at.end.saturating_sub(1).max(edit.at.start),
                };
                first..line_of(last) + 1
            }
        };
        match changes.last_mut() {
            Some((lines, all)) if old.start < lines.end || old.start == lines.start => {
                lines.end = lines.end.max(old.end);
                all.push(edit.clone());
            }
            _ => changes.push((old, vec![edit.clone()])),
        }
    }
    let whole = |(old, edits): (Range<usize>, Vec<Edit>)| {
        let (from, to) = (start_of(old.start), start_of(old.end));
        let within = edits
            .into_iter()
            .map(|edit| Edit { at: edit.at.start - from..edit.at.end - from, text: edit.text });
        let new = applied(&text[from..to], &within.collect::<Vec<_>>());
        trimmed(old, &text[from..to], &new)
    };
    changes.into_iter().map(whole).collect()
}

/// Returns a change without the lines at its ends that stay.
fn trimmed(old: Range<usize>, before: &str, after: &str) -> Change {
    let before: Vec<_> = before.split_inclusive('\n').collect();
    let after: Vec<_> = after.split_inclusive('\n').collect();
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(&after).take_while(same).count();
    let (before, after) = (&before[head..], &after[head..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(same).count();
    let new = after[..after.len() - tail].iter().map(|line| (*line).to_owned()).collect();
    Change { old: old.start + head..old.end - tail, new }
}

fn write_hunk(text: &mut String, lines: &[&str], hunk: &[Change], shift: &mut isize) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let from = first.old.start.saturating_sub(CONTEXT);
    let to = (last.old.end + CONTEXT).min(lines.len());
    let grown: isize = hunk.iter().map(|one| one.new.len() as isize - one.old.len() as isize).sum();
    let old_count = to - from;
    let new_count = old_count as isize + grown;
    // Of an empty side, the line before it is named.
    let old_line = from + usize::from(old_count > 0);
    let new_line = from as isize + *shift + isize::from(new_count > 0);
    _ = write!(text, "@@ -{old_line},{old_count} +{new_line},{new_count} @@");
    let is_head = |line: &&&str| line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if let Some(head) = lines[..from].iter().rev().find(is_head) {
        let head: String = head.trim_end().chars().take(80).collect();
        _ = write!(text, " {}", head.trim_end());
    }
    text.push('\n');
    let mut put = |sign: char, line: &str| {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    };
    let mut at = from;
    for change in hunk {
        lines[at..change.old.start].iter().for_each(|line| put(' ', line));
        lines[change.old.clone()].iter().for_each(|line| put('-', line));
        change.new.iter().for_each(|line| put('+', line));
        at = change.old.end;
    }
    lines[at..to].iter().for_each(|line| put(' ', line));
    *shift += grown;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    fn numbered(lines: usize) -> String {
        (1..=lines).map(|line| format!("line {line}\n")).collect()
    }

    fn replace(text: &str, old: &str, new: &str) -> Edit {
        let at = text.find(old).unwrap();
        Edit { at: at..at + old.len(), text: new.into() }
    }

    #[test]
    fn near_changes_share_a_hunk_and_far_ones_do_not() {
        let text = numbered(40);
        let edits = [
            replace(&text, "line 20\n", ""),
            replace(&text, "ne 5\n", "ne five\nand more\n"),
            replace(&text, "line 9", "LINE 9"),
        ];
        let diff = unified("a.c", &text, &edits);
        let heads: Vec<_> = diff.text.lines().filter(|line| line.starts_with("@@")).collect();
        assert_eq!(heads, ["@@ -2,11 +2,12 @@ line 1", "@@ -17,7 +18,6 @@ line 16"]);
        assert_eq!((diff.added, diff.removed), (3, 3));
        assert!(diff.text.contains("-line 5\n+line five\n+and more\n line 6\n"), "{}", diff.text);
    }

    #[test]
    fn lines_come_in_at_both_ends() {
        let text = "a\nb\n";
        let edits =
            [Edit { at: 0..0, text: "first\n".into() }, Edit { at: 4..4, text: "last\n".into() }];
        let diff = unified("a.c", text, &edits);
        assert!(diff.text.ends_with("@@ -1,2 +1,4 @@\n+first\n a\n b\n+last\n"), "{}", diff.text);
        let diff = unified("a.c", "a\nb", &[Edit { at: 3..3, text: "\nc\n".into() }]);
        let end = "-b\n\\ No newline at end of file\n+b\n+c\n";
        assert!(diff.text.ends_with(end), "{}", diff.text);
    }

    /// patch(1) is the judge: what it makes of the diff is the edited text.
    fn check(text: &str, edits: &[Edit]) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.c");
        fs::write(&file, text).unwrap();
        fs::write(folder.path().join("d"), unified("a.c", text, edits).text).unwrap();
        let git = Command::new("git").args(["apply", "d"]).current_dir(folder.path()).output();
        let git = git.unwrap();
        assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
        assert_eq!(fs::read_to_string(&file).unwrap(), applied(text, edits));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]
        #[test]
        fn git_makes_the_same_of_any_edits(
            lines in proptest::collection::vec("[ab]{0,3}", 1..30),
            mut cuts in proptest::collection::vec((0usize..100, 0usize..6, "[xy\n]{1,4}"), 1..5),
            end in proptest::bool::ANY,
        ) {
            let mut text = lines.join("\n");
            if end || text.is_empty() { text.push('\n'); }
            cuts.sort();
            let (mut edits, mut from) = (Vec::new(), 0);
            for (at, length, new) in cuts {
                let start = (at % (text.len() + 1)).max(from);
                let stop = (start + length).min(text.len());
                // Edits that touch are one edit.
                if start < from || (start == from && from > 0) { continue; }
                if text[start..stop] == new { continue; }
                from = stop;
                edits.push(Edit { at: start..stop, text: new });
            }
            if applied(&text, &edits) != text {
                check(&text, &edits);
            }
        }
    }
}
