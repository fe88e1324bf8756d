//! The log: levels, timestamps, lines that go on.
//!
//! # How it works
//! Text comes with `KERN_SOH` and a level before it, or `<6>` as before 3.6. A call without a
//! newline at its end leaves the line open; `KERN_CONT` goes on in it, and before 4.9 any text
//! without a level did.
//!
//! Linux counterpart: `kernel/printk/printk.c` @ 6.1.

use std::sync::Mutex;
use std::time::Instant;

use crate::event::Event;
use crate::job::Version;

/// Level of a line that has none (`CONFIG_MESSAGE_LOGLEVEL_DEFAULT`).
const LEVEL_DEFAULT: u8 = 4;

/// The log of a run.
#[derive(Debug)]
pub(crate) struct Log {
    start: Instant,
    continues: bool,
    open: Mutex<bool>,
}

impl Log {
    pub(crate) fn new(start: Instant, version: Version) -> Self {
        Self { start, continues: version.continues_lines(), open: Mutex::new(false) }
    }

    /// Takes the text of one `printk` and emits a line for each of its lines.
    pub(crate) fn write(&self, text: &[u8], mut emit: impl FnMut(Event)) {
        let time_ns = self.start.elapsed().as_nanos() as u64;
        let (level, mut continues, mut rest) = split_level(text);
        continues |= level.is_none() && self.continues;
        let mut open = self.open.lock().expect("no code panics while it holds the log");
        while !rest.is_empty() {
            let end = rest.iter().position(|&b| b == b'\n');
            let line = String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len())]).into_owned();
            rest = end.map_or(&[][..], |end| &rest[end + 1..]);
            let ends = end.is_some();
            if continues && *open {
                emit(Event::More { text: line, ends });
            } else {
                let level = level.unwrap_or(LEVEL_DEFAULT);
                emit(Event::Line { time_ns, level, text: line, ends });
            }
            *open = !ends;
            continues = false;
        }
    }
}

/// Takes the marks off the front: level, whether the line goes on, the text.
fn split_level(text: &[u8]) -> (Option<u8>, bool, &[u8]) {
    let (mut level, mut continues, mut rest) = (None, false, text);
    loop {
        match rest {
            [1, b'c', tail @ ..] => (continues, rest) = (true, tail),
            [1, digit @ b'0'..=b'7', tail @ ..] | [b'<', digit @ b'0'..=b'7', b'>', tail @ ..] => {
                level = level.or(Some(digit - b'0'));
                rest = tail;
            }
            [1, b'd', tail @ ..] | [b'<', b'd', b'>', tail @ ..] => rest = tail,
            [b'<', b'c', b'>', tail @ ..] => (continues, rest) = (true, tail),
            _ => return (level, continues, rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(version: Version, texts: &[&str]) -> Vec<String> {
        let log = Log::new(Instant::now(), version);
        let mut lines = Vec::new();
        for text in texts {
            log.write(text.as_bytes(), |event| {
                lines.push(match event {
                    Event::Line { level, text, ends, .. } => format!("{level}:{text}:{ends}"),
                    Event::More { text, ends } => format!("+{text}:{ends}"),
                    other => panic!("{other:?}"),
                });
            });
        }
        lines
    }

    #[test]
    fn levels_old_and_new() {
        let got = lines(Version::new(6, 1, 0), &["\x016a\n", "<3>b\n", "c\n", "\x017d\ne\n"]);
        assert_eq!(got, ["6:a:true", "3:b:true", "4:c:true", "7:d:true", "7:e:true"]);
    }

    #[test]
    fn a_line_goes_on_when_told() {
        let texts = ["\x016a ", "\x01cb ", "c\n"];
        assert_eq!(lines(Version::new(6, 1, 0), &texts), ["6:a :false", "+b :false", "4:c:true"]);
        assert_eq!(lines(Version::new(2, 6, 32), &texts), ["6:a :false", "+b :false", "+c:true"]);
    }
}
