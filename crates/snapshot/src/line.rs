//! A line without what mailers, web pages and terminals put around it.
//!
//! # How it works
//! Escape sequences, quote marks, table bars, emphasis and HTML go. What precedes a row (a prompt, a time, the
//! name of a logging program) stays, since a row is found by what it is made of and not by where it begins.

use std::borrow::Cow;

use crate::html;

/// A row has at most this length.
pub(crate) const LINE_BYTES_MAX: usize = 8 << 10;

/// Returns `line` with single blanks between its words, and without decoration.
pub(crate) fn cleaned(line: &str) -> String {
    let line = without_escapes(line);
    let line = html::without(&line);
    let line = without_separators(&line);
    let mut clean = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        let word = undecorated(word);
        let word = match clean.is_empty() {
            true => without_grep(without_json(&word)),
            false => &word,
        };
        if word.is_empty() {
            continue;
        }
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.push_str(word);
    }
    clean
}

/// Returns a word without quote marks, bars, backticks and stars at its ends, and without Markdown's backslashes.
fn undecorated(word: &str) -> Cow<'_, str> {
    const MARKS: [char; 4] = ['>', '|', '`', '*'];
    // A kernel's own words: `<active_objs>` of a heading keeps its bracket.
    let start = if word.contains('<') { word } else { word.trim_start_matches(MARKS) };
    // The last number of a string of JSON, with what follows the string.
    let digits = start.len() - start.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 && start[digits..].starts_with('"') {
        return Cow::Borrowed(&start[..digits]);
    }
    // A label of a metric keeps its quotes, also where a terminal cut it.
    let is_label = start.contains(['{', '=', '}']);
    let start = start.strip_prefix('"').filter(|_| !is_label).unwrap_or(start);
    let end = start.trim_end_matches(['|', '`', '*']);
    let quote = end.strip_suffix("\",").or_else(|| end.strip_suffix('"'));
    let end = quote.filter(|_| !is_label).unwrap_or(end);
    // cat -A shows line ends.
    let end = end
        .strip_suffix('$')
        .filter(|end| end.ends_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(end);
    match end.contains('\\') {
        true => Cow::Owned(end.replace('\\', "")),
        false => Cow::Borrowed(end),
    }
}

/// Returns a word without the names of JSON before it: `{"log":"dentry`.
fn without_json(word: &str) -> &str {
    let is_json = word.starts_with('{') || word.starts_with("log\":");
    word.rsplit_once("\":\"").filter(|_| is_json).map_or(word, |(_, text)| text)
}

/// Returns a word without what `grep` puts before it: the number of the line, the name of the file, or both.
fn without_grep(word: &str) -> &str {
    let is_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == ':');
    let without_number = |word: &str| {
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = word[digits..].strip_prefix(':').filter(|_| digits > 0)?;
        is_name(rest).then_some(digits + 1)
    };
    if let Some(at) = without_number(word) {
        return &word[at..];
    }
    let Some((file, rest)) = word.split_once(':') else { return word };
    // Names of caches have a colon at their begin, or a cgroup in parentheses behind it.
    let is_file =
        (file.contains(['.', '/']) || file.starts_with("slab")) && !file.contains(['(', '{', '+']);
    match is_file {
        true => match without_number(rest) {
            Some(at) => &rest[at..],
            None if is_name(rest) => rest,
            None => word,
        },
        false => word,
    }
}

/// Returns a line of a spreadsheet with blanks between its cells, and a tab of JSON as a blank.
fn without_separators(line: &str) -> Cow<'_, str> {
    /// Columns of a table at least.
    const CELLS_MIN: usize = 4;
    for separator in [',', ';'] {
        let cells = cells(line.trim(), separator);
        if cells.len() >= CELLS_MIN && cells.iter().all(|cell| !cell.contains(char::is_whitespace))
        {
            return Cow::Owned(cells.join(" "));
        }
    }
    match line.contains("\\t") {
        true => Cow::Owned(line.replace("\\t", " ")),
        false => Cow::Borrowed(line),
    }
}

/// Divides a line of a spreadsheet, in which a cell in quotes may have the separator; a date and a time become one word, and
/// an empty cell a dash.
fn cells(line: &str, separator: char) -> Vec<String> {
    let mut is_quoted = false;
    let is_end = |c: char| {
        is_quoted ^= c == '"';
        c == separator && !is_quoted
    };
    let cell = |cell: &str| {
        let cell = cell.trim().trim_matches('"').trim();
        let is_date = |(date, time): &(&str, &str)| {
            date.starts_with(|c: char| c.is_ascii_digit())
                && date.contains(['-', '/'])
                && time.contains(':')
        };
        match cell.split_once(' ').filter(is_date) {
            Some((date, time)) if !time.contains(' ') => format!("{date}T{time}"),
            _ if cell.is_empty() => "-".to_owned(),
            _ => cell.to_owned(),
        }
    };
    if !line.contains(separator) {
        return Vec::new();
    }
    line.split(is_end).map(cell).collect()
}

/// Returns `line` without the sequences that colour a terminal.
pub(crate) fn without_escapes(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut kept = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            kept.push(c);
            continue;
        }
        if chars.next_if_eq(&'[').is_some() {
            // Parameters, and the letter that ends them.
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        }
    }
    Cow::Owned(kept)
}

/// The greatest number of bytes, objects or pages that a machine can have.
const COUNT_MAX: u64 = 1 << 56;

/// Reads a count in decimal digits, also with a comma between thousands.
pub(crate) fn count(word: &str) -> Option<u64> {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(word) {
        // More is -1 that was read as a number without a sign, and is the count of nothing.
        return word.parse().ok().filter(|count| *count <= COUNT_MAX);
    }
    let (first, rest) = word.split_once(',')?;
    let mut groups = rest.rsplit(',');
    let is_thousand = groups.next().is_some_and(|group| group.len() == 3 && is_number(group));
    // In India the groups before the last have two digits.
    let are = |digits: usize| groups.clone().all(|group| group.len() == digits && is_number(group));
    let are_groups = is_thousand && (are(3) || are(2));
    (is_number(first) && first.len() <= 3 && are_groups)
        .then(|| word.replace(',', "").parse().ok())?
}

/// Reads a size: digits, or what `numfmt`, slabtop and the OOM killer make of them (`1.1M`, `680184K`, `512KB`, `4KiB`);
/// a unit counts 1024 of the next smaller one.
pub(crate) fn size(word: &str) -> Option<u64> {
    scaled(word, 1024)
}

/// As [`size`], with units of 1000, which `tools/mm/slabinfo` prints.
pub(crate) fn decimal_size(word: &str) -> Option<u64> {
    scaled(word, 1000)
}

/// Reads a size in KiB with decimals, as slabtop prints it; many languages have a comma there.
pub(crate) fn kibibytes(word: &str) -> Option<f64> {
    let number = word.strip_suffix('K')?;
    let (whole, part) = number.split_once(['.', ','])?;
    count(whole)?;
    count(part)?;
    format!("{whole}.{part}").parse().ok()
}

fn scaled(word: &str, thousand: u64) -> Option<u64> {
    let word = word.strip_suffix('B').unwrap_or(word);
    let word = word.strip_suffix('i').unwrap_or(word);
    let (digits, power) = match word.bytes().last()? {
        b'K' | b'k' => (&word[..word.len() - 1], 1),
        b'M' | b'm' => (&word[..word.len() - 1], 2),
        b'G' | b'g' => (&word[..word.len() - 1], 3),
        b'T' | b't' => (&word[..word.len() - 1], 4),
        _ => (word, 0),
    };
    let unit = thousand.pow(power);
    match digits.split_once('.') {
        None => count(digits)?.checked_mul(unit),
        Some((whole, part)) => {
            count(whole)?;
            count(part)?;
            let number: f64 = digits.parse().ok()?;
            let bytes = (number * unit as f64).round();
            (bytes < u64::MAX as f64).then_some(bytes as u64)
        }
    }
}

/// Returns whether a word can be the name of a cache: it has a letter, and nothing that names never have.
pub(crate) fn is_cache_name(word: &str) -> bool {
    const LENGTH_MAX: usize = 128;
    const STRANGE: &[u8] = b"\"<;={}";
    // Words between the numbers of slabinfo.
    const PARTS: [&str; 4] = ["tunables", "slabdata", "globalstat", "cpustat"];
    let (mut has_letter_or_digit, mut has_other_than_digit) = (false, false);
    let mut before = 0;
    for byte in word.bytes() {
        // A lock of page tables is called page->ptl.
        let is_strange = STRANGE.contains(&byte) || byte == b'>' && before != b'-';
        if !byte.is_ascii_graphic() || is_strange {
            return false;
        }
        before = byte;
        has_letter_or_digit |= byte.is_ascii_alphanumeric();
        has_other_than_digit |= !byte.is_ascii_digit();
    }
    has_letter_or_digit
        && has_other_than_digit
        && word.len() <= LENGTH_MAX
        && !PARTS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_goes_and_words_stay() {
        assert_eq!(cleaned("> > dentry   1 2\r"), "dentry 1 2");
        assert_eq!(cleaned("**session_ctx 39 39**"), "session_ctx 39 39");
        assert_eq!(cleaned("| dentry | 1 | 2 |"), "dentry 1 2");
        assert_eq!(cleaned("# name &lt;active_objs&gt;"), "# name <active_objs>");
        assert_eq!(cleaned("\u{1b}[1mdentry\u{1b}[0m\t7"), "dentry 7");
        assert_eq!(cleaned("`inode\\_cache` 3"), "inode_cache 3");
        assert_eq!(cleaned(">dentry 1"), "dentry 1");
        assert_eq!(cleaned("7:kmalloc-64 1"), "kmalloc-64 1");
        assert_eq!(cleaned("6::0000064 1"), ":0000064 1");
        assert_eq!(cleaned("slab.1500.txt:kmalloc-64 1"), "kmalloc-64 1");
        assert_eq!(cleaned("slab.1500.txt:12:kmalloc-64 1"), "kmalloc-64 1");
        assert_eq!(cleaned("dentry(41:a.service) 1"), "dentry(41:a.service) 1");
        assert_eq!(cleaned("dentry,\"81,210\",\"81,228\",192"), "dentry 81,210 81,228 192");
        assert_eq!(cleaned("2025-06-03 10:00:00,dentry,,2"), "2025-06-03T10:00:00 dentry - 2");
        assert_eq!(cleaned("12:01:02 a"), "12:01:02 a");
        assert_eq!(cleaned("\"dentry\",\"1\",\"2\",192"), "dentry 1 2 192");
        assert_eq!(cleaned("{\"log\":\"dentry 1 2"), "dentry 1 2");
        assert_eq!(cleaned("  \"dentry 1 2\","), "dentry 1 2");
        assert_eq!(cleaned("{\"message\":\"dentry 1 2\"}"), "dentry 1 2");
        assert_eq!(cleaned("dentry 1 2\",\"host\":\"a\"}"), "dentry 1 2");
        assert_eq!(cleaned("dentry 1 2$"), "dentry 1 2");
        assert_eq!(cleaned("dentry;1;2;192"), "dentry 1 2 192");
        assert_eq!(cleaned("cache: a, size: 1, more: 2, b"), "cache: a, size: 1, more: 2, b");
        assert_eq!(cleaned(r"dentry\t7"), "dentry 7");
        assert_eq!(
            (count("1,234,567"), count("12,34"), count(",123")),
            (Some(1_234_567), None, None)
        );
        assert!(is_cache_name("page->ptl") && !is_cache_name("a>b"));
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        assert_eq!(size("512KB"), Some(512 << 10));
        assert_eq!(size("1.1M"), Some(1_153_434));
        assert_eq!(size("680184K"), Some(680_184 << 10));
        assert_eq!((size("4KiB"), size("17")), (Some(4096), Some(17)));
        for none in ["", "K", ".5M", "1.M", "-1", "x", "99999999999999999999", "1e3", "1.2.3M"] {
            assert_eq!(size(none), None, "{none}");
        }
    }
}
