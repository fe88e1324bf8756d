//! Words of POSIX shells.

/// Returns a text as one word of the shell.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.,/:@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a command line of these words. One word alone is taken for a whole line already, with what it has of the
/// shell's own.
pub(crate) fn line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|text| word(text)).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_reads_back_the_words() {
        let words = ["printf", "%s|", "a b", "", "it's; $x", "*", "k=v"].map(str::to_owned);
        let out = std::process::Command::new("sh").args(["-c", &line(&words)]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), "a b||it's; $x|*|k=v|");
        assert_eq!(line(&["a | b".to_owned()]), "a | b");
    }
}
