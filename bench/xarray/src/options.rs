//! The options that benches of threads share.

use std::time::Duration;

/// How often and how long is measured, and an option of the bench's own.
pub struct Options {
    pub rounds: usize,
    pub time: Duration,
    pub own: String,
}

impl Options {
    /// Reads `[--rounds N] [--ms N] [NAME VALUE]` over these defaults; ends the program with its usage for anything else.
    pub fn read(mut self, program: &str, (name, value_name): (&str, &str)) -> Self {
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().unwrap_or_default();
            match (word.as_str(), value.parse::<usize>()) {
                ("--rounds", Ok(number @ 1..)) => self.rounds = number,
                ("--ms", Ok(ms @ 1..)) => self.time = Duration::from_millis(ms as u64),
                (word, _) if word == name && !value.is_empty() => self.own = value,
                _ => {
                    eprintln!("usage: {program} [--rounds N] [--ms N] [{name} {value_name}]");
                    std::process::exit(2);
                }
            }
        }
        self
    }
}
