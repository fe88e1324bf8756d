//! How far something is, as one line of a terminal.

use std::time::{Duration, Instant};

/// Signs of a bar.
const BAR_WIDTH: u64 = 30;
/// What turns while nothing tells how long it will take.
const SPINNER: [char; 8] = ['⠁', '⠂', '⠄', '⡀', '⢀', '⠠', '⠐', '⠈'];

/// How far something is.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub(crate) message: String,
    pub(crate) position: u64,
    /// `None` where nothing tells how much there is to do
    pub(crate) length: Option<u64>,
    pub(crate) began: Instant,
}

impl Bar {
    /// Begins one.
    pub(crate) fn new(message: &str, length: Option<u64>) -> Bar {
        Bar { message: message.to_owned(), position: 0, length, began: Instant::now() }
    }

    /// Returns the share that is done, of 100; `None` where nothing tells.
    pub(crate) fn percent(&self) -> Option<u64> {
        let length = self.length.filter(|length| *length > 0)?;
        Some((u128::from(self.position.min(length)) * 100 / u128::from(length)) as u64)
    }

    /// Returns the line, `elapsed` after the beginning; `turn` is how often a line was drawn before.
    pub(crate) fn line(&self, elapsed: Duration, turn: usize) -> String {
        let message = &self.message;
        if self.length.is_none() {
            return format!("{} {message}  {}", SPINNER[turn % SPINNER.len()], short(elapsed));
        }
        let percent = self.percent().unwrap_or(0);
        let done = (BAR_WIDTH * percent / 100) as usize;
        let mut bar = "=".repeat(done);
        if percent < 100 {
            bar.push('>');
        }
        let left = match self.position {
            0 => String::new(),
            position => {
                let rest = self.length.unwrap_or(0).saturating_sub(position);
                format!("  {} left", short(elapsed.mul_f64(rest as f64 / position as f64)))
            }
        };
        format!("{message} [{bar:<width$}] {percent:>3} %{left}", width = BAR_WIDTH as usize)
    }
}

/// Returns a time in its largest unit that there is one and a half of.
fn short(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("{seconds}s"),
        seconds @ 90..5400 => format!("{}m", (seconds + 30) / 60),
        seconds => format!("{}h", (seconds + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u64, length: Option<u64>) -> String {
        Bar { position, ..Bar::new("replaying", length) }.line(Duration::from_secs(30), 9)
    }

    #[test]
    fn a_bar_says_how_much_is_done_and_how_long_the_rest_takes() {
        assert_eq!(at(0, Some(9)), "replaying [>                             ]   0 %");
        assert_eq!(at(1, Some(4)), "replaying [=======>                      ]  25 %  2m left");
        assert_eq!(at(4, Some(4)), "replaying [==============================] 100 %  0s left");
        assert_eq!(at(5, Some(0)), "replaying [>                             ]   0 %  0s left");
        let huge = at(u64::MAX, Some(u64::MAX));
        assert!(huge.contains("100 %"), "{huge}");
    }

    #[test]
    fn work_without_a_known_end_has_a_spinner_and_its_time() {
        assert_eq!(at(3, None), "⠂ replaying  30s");
        assert_eq!([89, 90, 5400].map(|s| short(Duration::from_secs(s))), ["89s", "2m", "2h"]);
    }
}
