//! `time` of shells and of GNU: `real 0m8.460s`, `real 8.46`, `8.46user 0.12system 0:08.60elapsed`, and GNU's `-v`.

use super::lines::{Lines, number};
use super::sample::Measured;

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    let mut lines = Lines::default();
    for line in text.lines() {
        let line = line.trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name @ ("real" | "user" | "sys"), time] = words[..] {
            if let Some(seconds) = seconds(time) {
                lines.add(name, "s", seconds);
            }
        } else if let Some((name, value)) = line.rsplit_once(": ") {
            verbose(name, value, &mut lines);
        } else if words.iter().any(|word| word.ends_with("elapsed")) {
            for word in &words {
                let named = ["user", "system", "elapsed"].into_iter();
                let found =
                    named.filter_map(|name| Some((name, seconds(word.strip_suffix(name)?)?)));
                found.for_each(|(name, seconds)| lines.add(name, "s", seconds));
                let memory = word.strip_suffix("maxresident)k").and_then(|word| {
                    number(
                        word.trim_start_matches(|c: char| !c.is_ascii_digit())
                            .rsplit("avgdata")
                            .next()?,
                    )
                });
                memory.into_iter().for_each(|kib| lines.add("largest memory", "B", kib * 1024.0));
            }
        } else if let [.., user, "user", system, "system", _, "cpu", total, "total"] = words[..] {
            for (name, time) in [("user", user), ("sys", system), ("real", total)] {
                seconds(time).into_iter().for_each(|seconds| lines.add(name, "s", seconds));
            }
        }
    }
    (!lines.is_empty()).then(|| Ok(Measured::new("time", lines.samples(""))))
}

/// Takes a line of GNU time's `-v`.
fn verbose(name: &str, value: &str, lines: &mut Lines) {
    let of = |metric: &str, unit: &str, number: Option<f64>, lines: &mut Lines| {
        number.into_iter().for_each(|number| lines.add(metric, unit, number));
    };
    match name {
        "User time (seconds)" => of("user", "s", number(value), lines),
        "System time (seconds)" => of("system", "s", number(value), lines),
        "Elapsed (wall clock) time (h:mm:ss or m:ss)" => of("elapsed", "s", seconds(value), lines),
        "Maximum resident set size (kbytes)" => {
            of("largest memory", "B", number(value).map(|kib| kib * 1024.0), lines);
        }
        _ => {}
    }
}

/// Reads `0m8.460s`, `8.46`, `8.46s`, `0:08.60` or `1:02:03`.
fn seconds(time: &str) -> Option<f64> {
    if let Some((minutes, seconds)) = time.split_once('m') {
        let seconds = seconds.strip_suffix('s')?.replace(',', ".");
        return Some(number(minutes)? * 60.0 + number(&seconds)?);
    }
    let time = time.strip_suffix('s').unwrap_or(time);
    time.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + number(part)?))
}
