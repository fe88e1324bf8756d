//! The words of a line: names and numbers, operators, brackets.

/// Operators of several characters, the longer ones first.
const OPERATORS: [&str; 20] = [
    "s>>=", "<<=", ">>=", "s>=", "s<=", "+=", "-=", "*=", "/=", "|=", "&=", "%=", "^=", "==", "!=",
    ">=", "<=", "~=", "s>", "s<",
];

/// The words of a line that are not yet read.
pub(super) struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self(line.trim())
    }

    /// Takes the next word; empty at the end.
    pub(super) fn next(&mut self) -> &'a str {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let operator = OPERATORS.iter().find(|operator| self.0.starts_with(**operator));
        let length = match (operator, self.0.find(|c| !is_name(c))) {
            (Some(operator), _) => operator.len(),
            (None, Some(0)) => self.0.chars().next().map_or(0, char::len_utf8),
            (None, Some(end)) => end,
            (None, None) => self.0.len(),
        };
        let (word, rest) = self.0.split_at(length);
        self.0 = rest.trim_start();
        word
    }

    /// Returns the next word and leaves it.
    pub(super) fn peek(&self) -> &'a str {
        Words(self.0).next()
    }

    /// Takes the word that has to be next.
    pub(super) fn expect(&mut self, word: &str) -> Result<(), String> {
        match self.next() {
            next if next == word => Ok(()),
            "" => Err(format!("more is expected: {word}")),
            next => Err(format!("{word} is expected, not {next}")),
        }
    }

    /// Takes the next word, which has to be there.
    pub(super) fn some(&mut self) -> Result<&'a str, String> {
        match self.next() {
            "" => Err("more is expected".to_owned()),
            word => Ok(word),
        }
    }

    pub(super) fn end(&self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err(format!("no more is expected: {}", self.0)) }
    }
}

/// Reads a number, decimal or hexadecimal.
pub(super) fn number(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => word.parse().ok(),
    }
}
