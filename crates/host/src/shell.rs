//! Words of POSIX shells, for everything that is printed to be typed, or written to be run.
//!
//! # How it works
//! A word of plain characters stays as it is; any other stands in single quotes, between which a shell obeys nothing.
//! Line ends and characters that a terminal obeys must not reach it either. A word with them is `$'...'` with these
//! bytes in octal, which bash, zsh, ksh and busybox read back, and other shells take for a text that names nothing.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::printable::is_obeyed;

/// Returns a text as one word of the shell.
#[must_use]
pub fn word(text: &str) -> String {
    of_bytes(text.as_bytes())
}

/// Returns a path as one word of the shell that no command takes for an option, and that comes back with all its bytes.
#[must_use]
pub fn path(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    match bytes {
        [b'-', _, ..] => of_bytes(&[b"./", bytes].concat()),
        _ => of_bytes(bytes),
    }
}

/// Returns a command line of these words. A single word is taken for a whole line already, including the shell's
/// own syntax.
#[must_use]
pub fn line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|text| word(text)).collect::<Vec<_>>().join(" "),
    }
}

fn of_bytes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    // `=ls` is the path of ls in zsh.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.,/:@%".contains(c);
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) {
        return text.into_owned();
    }
    let is_text = std::str::from_utf8(bytes).is_ok() && !text.chars().any(is_obeyed);
    if is_text {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let octal = |byte: u8| match byte {
        b'\'' | b'\\' | b'!' | ..=0x1f | 0x7f.. => format!("\\{byte:03o}"),
        _ => char::from(byte).to_string(),
    };
    format!("$'{}'", bytes.iter().map(|byte| octal(*byte)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_shell_reads_back_the_words() {
        let words =
            ["printf", "%s|", "a b", "", "it's; $x", "*", "k=v", "=ls", "~"].map(str::to_owned);
        let out = Command::new("sh").args(["-c", &line(&words)]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), "a b||it's; $x|*|k=v|=ls|~|");
        assert_eq!(line(&["a | b".to_owned()]), "a | b");
    }

    #[test]
    fn bytes_that_a_terminal_obeys_come_back_from_printable_words() {
        let hostile = b"a\nb'; touch owned; \\'\x1b[2J\xc2\x9b!\xff";
        let typed = path(Path::new(OsStr::from_bytes(hostile)));
        assert!(typed.bytes().all(|byte| (b' '..0x7f).contains(&byte)), "{typed}");
        let out =
            Command::new("bash").args(["-c", &format!("printf %s {typed}")]).output().unwrap();
        assert_eq!(out.stdout, hostile);
        // A shell that does not know these quotes runs no part of the word.
        let out =
            Command::new("sh").args(["-c", &format!("printf %s {typed}; echo")]).output().unwrap();
        assert_eq!(
            (out.status.success(), out.stdout.iter().filter(|b| **b == b'\n').count()),
            (true, 1)
        );
    }

    #[test]
    fn a_path_is_no_option() {
        assert_eq!(path(Path::new("-rf")), "./-rf");
        assert_eq!(path(Path::new("-")), "-");
    }
}
