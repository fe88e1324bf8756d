//! The tokens of C: words, numbers, strings and signs; comments and preprocessor lines are none.

use std::ops::Range;

/// A token: its kind, and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) at: Range<usize>,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword or a name
    Word,
    /// A number, string or character
    Literal,
    /// A sign: `->` is one, every other character is its own
    Sign,
    /// A preprocessor line, with the lines that continue it
    Directive,
}

/// Returns the tokens of a text in their order. What is not closed ends with the text.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut is_line_empty = true;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let (kind, length) = match byte {
            b'\n' => {
                is_line_empty = true;
                at += 1;
                continue;
            }
            b if b.is_ascii_whitespace() || b == b'\\' => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at += line_length(rest);
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                at += memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4);
                continue;
            }
            b'#' if is_line_empty => (Kind::Directive, line_length(rest)),
            b'"' | b'\'' => (Kind::Literal, quoted_length(rest, byte)),
            b if b.is_ascii_digit() => (Kind::Literal, word_length(rest)),
            b if is_word(b) => (Kind::Word, word_length(rest)),
            b'-' if rest.starts_with(b"->") => (Kind::Sign, 2),
            _ => (Kind::Sign, 1),
        };
        is_line_empty = false;
        tokens.push(Token { kind, at: at..at + length });
        at += length;
    }
    tokens
}

/// Bytes above ASCII are of words, so that a token never ends within a character.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| is_word(**byte)).count()
}

/// Returns the bytes to the end of a line, and of the lines that continue it, without the line end.
fn line_length(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let Some(end) = memchr::memchr(b'\n', &rest[at..]) else { return rest.len() };
        let end = at + end;
        if !rest[..end].ends_with(b"\\") {
            return end;
        }
        at = end + 1;
    }
}

/// Returns the bytes of a string or character, to the end of the line at most.
fn quoted_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| &text[token.at]).collect()
    }

    #[test]
    fn comments_are_no_tokens_and_a_directive_is_one() {
        let text = "#define A \\\n  1 /* x */\nint a; // b\n/* c\n d */ p->q = 'x';";
        let all = words(text);
        assert_eq!(all[0], "#define A \\\n  1 /* x */");
        assert_eq!(all[1..], ["int", "a", ";", "p", "->", "q", "=", "'x'", ";"]);
    }

    #[test]
    fn strings_end_at_their_quote_and_what_is_open_with_the_text() {
        assert_eq!(words(r#"f("a\"b{", '"')"#), ["f", "(", r#""a\"b{""#, ",", "'\"'", ")"]);
        assert_eq!(words("a /* open"), ["a"]);
        assert_eq!(words("\"open\nb"), ["\"open", "b"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_tokens_within_it_and_in_order(text in r#"[a#"'/*\\\n {}é-]{0,60}"#) {
            let mut end = 0;
            for token in tokens(&text) {
                assert!(token.at.start >= end && text.get(token.at.clone()).is_some());
                end = token.at.end;
            }
        }
    }
}
