//! `perf stat`: `1,234 cycles`, `8.46 msec task-clock`, `8.46 seconds time elapsed`; with `-r` the mean and its deviation.
//!
//! Each `Performance counter stats for` is a run. What `-r N` printed is the mean of N runs, whose values are not told.

use slablab_stats::Direction;

use super::lines::{Lines, number};
use super::sample::{Measured, Sample, Values, direction};

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    if !text.contains("Performance counter stats for") {
        return None;
    }
    let mut lines = Lines::default();
    let mut means = Vec::new();
    for line in text.lines() {
        let Some((metric, unit, value)) = counter(line) else { continue };
        match deviation(line, value) {
            Some(deviation) => means.push(Sample {
                variant: String::new(),
                direction: direction(&metric, &unit),
                metric,
                unit,
                values: Values::Mean { mean: value, deviation },
            }),
            None => lines.add(&metric, &unit, value),
        }
    }
    let samples: Vec<Sample> =
        lines.samples("").into_iter().chain(means).map(with_direction).collect();
    match samples.is_empty() {
        true => Some(Err("is of perf stat and has no counter".to_owned())),
        false => Some(Ok(Measured::new("perf stat", samples))),
    }
}

/// Reads a line's name, unit and value.
fn counter(line: &str) -> Option<(String, String, f64)> {
    let words: Vec<&str> = line.split('#').next()?.split_whitespace().collect();
    let value = number(words.first()?)?;
    // `8.4601 +- 0.0123 seconds time elapsed`.
    let rest = match words.get(1) {
        Some(&("+-" | "±")) => words.get(3..)?,
        _ => words.get(1..)?,
    };
    match rest {
        ["seconds", what @ ..] if !what.is_empty() => {
            let name = what.iter().take_while(|word| !word.starts_with('(')).copied();
            Some((name.collect::<Vec<_>>().join(" "), "s".to_owned(), value))
        }
        [unit @ ("msec" | "nsec" | "ns" | "ms"), name, ..] => {
            Some(((*name).to_owned(), unit.replace("sec", "s"), value))
        }
        [unit @ ("Joules" | "MiB"), name, ..] => {
            Some(((*name).to_owned(), (*unit).to_owned(), value))
        }
        [name, ..] if name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Some(((*name).to_owned(), String::new(), value))
        }
        _ => None,
    }
}

/// Reads `( +- 0.35% )`, or the number behind `+-`.
fn deviation(line: &str, value: f64) -> Option<f64> {
    let (_, behind) = line.rsplit_once("+-").or_else(|| line.rsplit_once('±'))?;
    let word = behind.split_whitespace().next()?;
    match word.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| value * percent / 100.0),
        None => number(word),
    }
}

/// Counters of events cost something, but for those that say how much was done in a time.
fn with_direction(sample: Sample) -> Sample {
    match sample.metric.as_str() {
        "CPUs" => Sample { direction: Direction::MoreIsBetter, ..sample },
        _ => sample,
    }
}
