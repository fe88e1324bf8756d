//! Lines and tables that have a mean and a deviation alone: `before 12.3 ± 0.4 ms`, hyperfine's text, Markdown and CSV.

use super::lines::number;
use super::sample::{Measured, Sample, Values, direction};

/// What hyperfine calls what it measures.
const TIME: &str = "time per run";

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    let samples = of_hyperfine_csv(text).unwrap_or_else(|| of_lines(text));
    (!samples.is_empty()).then(|| Ok(Measured::new("means with deviations", samples)))
}

/// Reads hyperfine's CSV: `command,mean,stddev,median,...`.
fn of_hyperfine_csv(text: &str) -> Option<Vec<Sample>> {
    let head: Vec<&str> = text.lines().next()?.split(',').map(str::trim).collect();
    let column = |names: &[&str]| head.iter().position(|name| names.contains(name));
    let (mean, deviation) = (column(&["mean"])?, column(&["stddev", "sd", "std", "deviation"])?);
    let name = column(&["command", "variant", "name", "benchmark"])?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let rows = reader.records().filter_map(Result::ok);
    let sample = |row: csv::StringRecord| {
        let values =
            Values::Mean { mean: number(&row[mean])?, deviation: number(&row[deviation])? };
        Some(of(row.get(name)?, TIME, "s", values))
    };
    Some(
        rows.filter_map(|row| if row.len() > mean.max(deviation) { sample(row) } else { None })
            .collect(),
    )
}

fn of_lines(text: &str) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut command = String::new();
    for line in text.lines() {
        // hyperfine: `Benchmark 1: sleep 1`, and `Time (mean ± σ): 398.3 ms ± 4.5 ms` below.
        if let Some((_, name)) =
            line.strip_prefix("Benchmark ").and_then(|rest| rest.split_once(": "))
        {
            name.trim().clone_into(&mut command);
            continue;
        }
        let cells = line
            .replace("(mean ± σ)", "")
            .replace(['|', '`'], " ")
            .replace("+/-", "±")
            .replace("+-", "±");
        let Some((before, after)) = cells.split_once(" ± ").or_else(|| cells.split_once('±'))
        else {
            continue;
        };
        let behind: Vec<&str> = after.split_whitespace().collect();
        let mut words: Vec<&str> = before.split_whitespace().collect();
        // The unit may stand behind both numbers.
        let unit = words.last().copied().filter(|word| is_unit(word));
        if unit.is_some() {
            words.pop();
        }
        let Some(mean) = words.pop().and_then(number) else { continue };
        let Some(deviation) = behind.first().and_then(|word| number(word)) else { continue };
        let unit = unit.or(behind.get(1).copied().filter(|word| is_unit(word))).unwrap_or("");
        let name = words.join(" ");
        let values = Values::Mean { mean, deviation };
        match name.is_empty() || name.starts_with("Time") && !command.is_empty() {
            true => samples.push(of(&command, TIME, unit, values)),
            false => samples.push(of(name.trim_end_matches(':'), TIME, unit, values)),
        }
    }
    samples
}

fn of(variant: &str, metric: &str, unit: &str, values: Values) -> Sample {
    Sample {
        variant: variant.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        direction: direction(metric, unit),
        values,
    }
}

fn is_unit(word: &str) -> bool {
    matches!(
        word,
        "s" | "ms"
            | "us"
            | "µs"
            | "ns"
            | "B"
            | "kB"
            | "MB"
            | "KiB"
            | "MiB"
            | "GiB"
            | "ops/s"
            | "MB/s"
            | "GB/s"
    )
}
