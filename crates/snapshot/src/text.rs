//! Reads a text of any length line by line, and the moments of a series whole or not at all.
//!
//! # How it works
//! A line ends as Linux, Windows or an old Mac ends it, or as JSON writes that (`\n`). No row is longer than
//! [`LINE_BYTES_MAX`]; what follows in such a line is counted as unread and not kept.

use std::io::{self, BufRead, Read};

use crate::line::LINE_BYTES_MAX;
use crate::paste::Paste;
use crate::reader::Reader;
use crate::series;

impl Paste {
    /// Reads all lines of a text.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(mut text: impl BufRead) -> io::Result<Self> {
        let mut reader = Reader::of(&String::from_utf8_lossy(text.fill_buf()?));
        let mut bytes = Vec::new();
        let (mut is_series, mut is_in_string) = (false, false);
        loop {
            match line(&mut text, &mut bytes, &mut is_in_string)? {
                Line::Whole => {}
                // No table has such lines; a text whose line ends are lost has.
                Line::TooLong => {
                    reader.too_long(&String::from_utf8_lossy(&bytes));
                    continue;
                }
                Line::None => return Ok(reader.finish()),
            }
            match series::head(&bytes) {
                Some((length, sum, _)) => {
                    is_series = true;
                    if !moment(&mut text, length, sum, &mut reader)? {
                        let paste = reader.finish();
                        return Ok(Self { is_torn: true, ..paste });
                    }
                }
                None if is_series || series::is_cut_head(&bytes) => {
                    return Ok(Self { is_torn: true, ..reader.finish() });
                }
                None => reader.line(&String::from_utf8_lossy(&bytes)),
            }
        }
    }
}

/// What the next line is.
enum Line {
    Whole,
    TooLong,
    None,
}

/// Reads the next line into `bytes`, with a line feed for its end; of one that is too long only the begin. `is_in_string` is
/// whether the line before ended inside a string of JSON.
fn line(text: &mut impl BufRead, bytes: &mut Vec<u8>, is_in_string: &mut bool) -> io::Result<Line> {
    bytes.clear();
    let mut length = 0;
    loop {
        let read = text.fill_buf()?;
        let before = |at: usize| at.checked_sub(1).map_or(bytes.last(), |at| read.get(at));
        // A hex dump may have the two signs, too, outside of any string. bcc of some versions prints strings of Python.
        let opens = |text: &[u8]| text.contains(&b'"') || text.windows(2).any(|two| two == b"b'");
        let is_string = |at: usize| *is_in_string || opens(bytes) || opens(&read[..at]);
        let is_end = |(at, byte): (usize, &u8)| {
            matches!(byte, b'\n' | b'\r')
                || *byte == b'n' && before(at) == Some(&b'\\') && is_string(at)
        };
        let end = read.iter().enumerate().position(is_end);
        let part = &read[..end.unwrap_or(read.len())];
        length += part.len();
        let room = LINE_BYTES_MAX.saturating_sub(bytes.len());
        bytes.extend(&part[..part.len().min(room)]);
        let ends_here = end.map(|end| (end, read[end]));
        let part_bytes = part.len();
        text.consume(part_bytes + usize::from(end.is_some()));
        let has_end = ends_here.is_some();
        if ends_here.is_some_and(|(_, sign)| sign == b'\r') {
            skip_end(text)?;
        }
        if ends_here.is_some_and(|(_, sign)| sign == b'n') {
            let text = bytes.iter().rposition(|byte| *byte != b'\\');
            bytes.truncate(text.map_or(0, |at| at + 1));
        }
        if let Some((_, sign)) = ends_here {
            *is_in_string = sign == b'n';
            bytes.push(b'\n');
        }
        if has_end || part_bytes == 0 {
            return Ok(match length {
                0 if !has_end => Line::None,
                1..LINE_BYTES_MAX | 0 => Line::Whole,
                _ => Line::TooLong,
            });
        }
    }
}

/// Skips what may follow a carriage return at the end of the same line: more of them, and a line feed.
fn skip_end(text: &mut impl BufRead) -> io::Result<()> {
    loop {
        let next = text.fill_buf()?.first().copied();
        if matches!(next, Some(b'\r' | b'\n')) {
            text.consume(1);
        }
        if next != Some(b'\r') {
            return Ok(());
        }
    }
}

/// Reads a moment of a series, which has `length` bytes; returns whether it is whole.
fn moment(
    text: &mut impl BufRead,
    length: usize,
    sum: u32,
    reader: &mut Reader,
) -> io::Result<bool> {
    let mut bytes = Vec::new();
    text.by_ref().take(length as u64).read_to_end(&mut bytes)?;
    let is_whole = bytes.len() == length && crc32fast::hash(&bytes) == sum;
    if is_whole {
        String::from_utf8_lossy(&bytes).lines().for_each(|line| reader.line(line));
    }
    Ok(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_any_system_ends_them() {
        for end in ["\n", "\r\n", "\r", "\r\r\n"] {
            let text = ["a", "b c", "d"].join(end) + end;
            // A buffer of one byte has every end across its border.
            for capacity in [1, 64] {
                let mut text = io::BufReader::with_capacity(capacity, text.as_bytes());
                let (mut bytes, mut is_in_string) = (Vec::new(), false);
                let mut lines = Vec::new();
                while let Line::Whole = line(&mut text, &mut bytes, &mut is_in_string).unwrap() {
                    lines.push(String::from_utf8(bytes.clone()).unwrap());
                }
                assert_eq!(lines, ["a\n", "b c\n", "d\n"], "{end:?}");
            }
        }
    }

    #[test]
    fn lines_end_where_json_says_so() {
        let text = r#"{"out": "a 1\nb\\nnine 2\n"}"#;
        for capacity in [1, 64] {
            let mut text = io::BufReader::with_capacity(capacity, text.as_bytes());
            let (mut bytes, mut lines, mut is_in_string) = (Vec::new(), Vec::new(), false);
            while let Line::Whole = line(&mut text, &mut bytes, &mut is_in_string).unwrap() {
                lines.push(String::from_utf8(bytes.clone()).unwrap());
            }
            assert_eq!(lines, ["{\"out\": \"a 1\n", "b\n", "nine 2\n", "\"}"], "{capacity}");
        }
    }

    #[test]
    fn of_a_line_that_is_too_long_the_begin_is_kept_and_the_next_is_whole() {
        let text = "x".repeat(3 * LINE_BYTES_MAX) + "\nb";
        let (mut text, mut bytes, mut is_in_string) = (text.as_bytes(), Vec::new(), false);
        assert!(matches!(line(&mut text, &mut bytes, &mut is_in_string).unwrap(), Line::TooLong));
        assert_eq!(bytes.len(), LINE_BYTES_MAX + 1);
        assert!(matches!(line(&mut text, &mut bytes, &mut is_in_string).unwrap(), Line::Whole));
        assert_eq!(bytes, b"b");
        assert!(matches!(line(&mut text, &mut bytes, &mut is_in_string).unwrap(), Line::None));
    }
}
