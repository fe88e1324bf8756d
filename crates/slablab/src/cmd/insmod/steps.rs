//! Steps of `--do`: how they are read, and what each returned.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use slablab_kapi::steps::{Step, script};

/// What a step returned.
#[derive(Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(super) struct Done {
    step: String,
    result: i64,
    /// What it read, with what cannot be printed as `\xNN`.
    text: String,
    /// Whether it did what was expected: it failed behind `!`, and else it did not.
    pub(super) good: bool,
}

/// Bytes that stand behind the result, in the same line.
const INLINE_MAX: usize = 56;

/// Reads `--do` and then `--script`.
pub(super) fn read(lines: &[String], file: Option<&Path>) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for line in lines {
        steps.push(Step::parse(line).context("--do")?);
    }
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("--script {}: cannot be read", path.display()))?;
        steps.extend(script(&text).with_context(|| format!("--script {}", path.display()))?);
    }
    Ok(steps)
}

impl Done {
    pub(super) fn new(step: &Step, result: i64, data: &[u8]) -> Self {
        let read = || if step.is_number() { number(data) } else { printable(data) };
        let text = step.meaning(result).unwrap_or_else(read);
        Self { step: step.text.clone(), result, text, good: (result < 0) == step.fails }
    }

    /// Returns what is printed: the call and its result, then what was read.
    pub(super) fn lines(&self) -> String {
        let Self { step, result, text, good } = self;
        let mut line = format!("do: {step} = {result}");
        if *result < 0 {
            line += &format!(" ({})", error_text(*result));
        } else if !good {
            line += " (expected to fail)";
        }
        if text.is_empty() {
            return line + "\n";
        }
        if text.len() <= INLINE_MAX && !text.trim_end().contains('\n') {
            return format!("{line}: {}\n", text.trim_end());
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("{line}:\n{text}{end}")
    }
}

/// Says what an error number means, in libc's words, as insmod does.
pub(super) fn error_text(result: i64) -> String {
    let number = i32::try_from(-result).unwrap_or(0);
    let text = std::io::Error::from_raw_os_error(number).to_string();
    text.split(" (os error").next().unwrap_or(&text).to_string()
}

/// A number of as many bytes as there are, with its sign.
fn number(data: &[u8]) -> String {
    let mut bytes = [if data.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 }; 8];
    bytes[..data.len().min(8)].copy_from_slice(&data[..data.len().min(8)]);
    i64::from_le_bytes(bytes).to_string()
}

/// Text as it is, but for what a terminal would not print.
fn printable(data: &[u8]) -> String {
    let mut text = String::new();
    for chunk in data.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\t' => text.push(c),
                c if c.is_control() => text.push_str(&format!("\\x{:02x}", c as u32)),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_printed() {
        let read = Step::parse("read a").unwrap();
        assert_eq!(Done::new(&read, 3, b"a\x1b\n").lines(), "do: read a = 3: a\\x1b\n");
        assert_eq!(Done::new(&read, 4, b"a\nb\n").lines(), "do: read a = 4:\na\nb\n");
        let asked = Step::parse("ioctl a 0x1 @0").unwrap();
        assert_eq!(
            Done::new(&asked, 0, &[0xfe, 0xff, 0xff, 0xff]).lines(),
            "do: ioctl a 0x1 @0 = 0: -2\n"
        );
        let failed = Step::parse("! read a").unwrap();
        assert!(Done::new(&failed, -11, b"").good);
        assert!(!Done::new(&failed, 0, b"").good);
    }
}
