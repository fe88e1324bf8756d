//! Mails whose body is quoted-printable (RFC 2045, section 6.7), as archives and `.eml` files have them.
//!
//! # How it works
//! A sign that is not plain ASCII, and a blank at the end of a line, is `=` and two hexadecimal digits. A line of more than 76
//! characters is cut, with `=` at its end. The mail's own header says that it is so; a body without its header shows it by
//! such a cut.

/// A line is cut at this length, with its sign.
const CUT_BYTES_MAX: usize = 76;
/// What a program cut for this reason is not much shorter.
const CUT_BYTES_MIN: usize = 70;
/// What the lines that belong to each other have in all at most.
const WHOLE_BYTES_MAX: usize = 8 << 10;

/// Puts the lines of a mail together.
#[derive(Debug, Default)]
pub(crate) struct Quoted {
    is_quoted: bool,
    /// The begin of a line whose rest follows
    begin: String,
}

impl Quoted {
    /// Takes the next line, and returns what it is.
    pub(crate) fn line(&mut self, line: &str) -> Line {
        let text = line.trim_end_matches(['\r', '\n']);
        if let Some(encoding) = header(text) {
            self.is_quoted = encoding.eq_ignore_ascii_case("quoted-printable");
            return Line::AsItIs;
        }
        self.is_quoted |= is_cut(text);
        if !self.is_quoted {
            return Line::AsItIs;
        }
        let rest = text.trim_end_matches([' ', '\t']);
        match rest.strip_suffix('=') {
            Some(part) if self.begin.len() + part.len() <= WHOLE_BYTES_MAX => {
                self.begin.push_str(part);
                Line::Begun
            }
            _ => {
                let whole = std::mem::take(&mut self.begin) + rest;
                Line::Whole(decoded(&whole))
            }
        }
    }

    /// Returns the begin of a line whose rest is missing.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let begin = std::mem::take(&mut self.begin);
        (!begin.is_empty()).then(|| decoded(&begin))
    }
}

/// What a line of a mail is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// It is not of such a body
    AsItIs,
    /// Its rest follows
    Begun,
    /// It is whole
    Whole(String),
}

/// Returns the encoding that a line of a mail's header tells.
fn header(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    name.eq_ignore_ascii_case("Content-Transfer-Encoding").then(|| value.trim())
}

/// Returns whether a line was cut as such bodies are: no row of a table ends so.
fn is_cut(line: &str) -> bool {
    (CUT_BYTES_MIN..=CUT_BYTES_MAX).contains(&line.len())
        && line.strip_suffix('=').is_some_and(|before| !before.ends_with(['=', '-', '*']))
}

/// Returns a line with the signs that its digits stand for.
fn decoded(line: &str) -> String {
    let bytes = line.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = line.get(at + 1..at + 3).filter(|_| bytes[at] == b'=');
        let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let byte = digits.filter(is_hex).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paste;

    #[test]
    fn cut_lines_are_whole_and_signs_are_decoded() {
        let mut quoted = Quoted::default();
        assert_eq!(quoted.line("a =3D b\n"), Line::AsItIs);
        assert_eq!(quoted.line("content-transfer-encoding: quoted-printable\n"), Line::AsItIs);
        assert_eq!(quoted.line("a =3D b=20\n"), Line::Whole("a = b ".to_owned()));
        assert_eq!(quoted.line("one =\r\n"), Line::Begun);
        assert_eq!(quoted.line("two\n"), Line::Whole("one two".to_owned()));
        assert_eq!(quoted.line("=C2=A03 =zz =\n"), Line::Begun);
        assert_eq!(quoted.rest().as_deref(), Some(" 3 =zz "));
        assert_eq!(quoted.line("Content-Transfer-Encoding: 7bit\n"), Line::AsItIs);
        assert_eq!(quoted.line("a =3D b\n"), Line::AsItIs);
    }

    #[test]
    fn a_quoted_printable_mail_has_its_table_with_and_without_its_header() {
        let row = |name: &str, objects: u64| {
            let row = format!(
                "{name:<17} {objects:>7} {objects:>7}    192   21    1 : tunables    0    0    0 : slabdata {:>6} {:>6} \
                 0",
                objects / 21,
                objects / 21
            );
            let (begin, rest) = row.split_at(75);
            format!("{begin}=\n{rest}\n")
        };
        let body = row("dentry", 21_000) + &row("filp", 2100);
        for header in ["", "Content-Transfer-Encoding: quoted-printable\n\n"] {
            let paste = Paste::read(format!("{header}{body}").as_bytes()).unwrap();
            let [table] = &paste.tables[..] else { panic!("{paste:?}") };
            let slabs: Vec<_> = table.last().entries.iter().map(|entry| entry.slabs).collect();
            assert_eq!(slabs, [Some(1000), Some(100)], "{header}");
            assert_eq!(paste.unread_lines, 0);
        }
    }
}
