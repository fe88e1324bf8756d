//! hackbench: `Time: 8.460` behind `Running in process mode with ...`.

use super::lines::{Lines, number};
use super::sample::Measured;

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    let is_it = text
        .lines()
        .any(|line| line.starts_with("Running in ") || line.starts_with("Each sender will"));
    let mut lines = Lines::default();
    for line in text.lines() {
        let time = line.trim().strip_prefix("Time:").and_then(|time| number(time.trim()));
        if let Some(seconds) = time {
            lines.add("time per run", "s", seconds);
        }
    }
    let has_times =
        text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with("Time:"));
    (!lines.is_empty() && (is_it || has_times))
        .then(|| Ok(Measured::new("hackbench", lines.samples(""))))
}
