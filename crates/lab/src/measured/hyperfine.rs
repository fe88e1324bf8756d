//! hyperfine's JSON: every time of every command.

use serde::Deserialize;

use super::sample::{Measured, Sample, Values};

#[derive(Deserialize)]
struct Export {
    results: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    command: String,
    #[serde(default)]
    times: Vec<f64>,
    #[serde(default)]
    memory_usage_byte: Vec<f64>,
    mean: Option<f64>,
    stddev: Option<f64>,
}

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    if !text.trim_start().starts_with('{') || !text.contains("\"results\"") {
        return None;
    }
    let export: Export = match serde_json::from_str(text) {
        Ok(export) => export,
        Err(error) => {
            return Some(Err(format!("cannot be read as an export of hyperfine: {error}")));
        }
    };
    let mut samples = Vec::new();
    for run in export.results {
        let time = Sample::less(&run.command, "time per run", "s", run.times);
        match (&time.values, run.mean, run.stddev) {
            (Values::Each(times), Some(mean), Some(deviation)) if times.is_empty() => {
                samples.push(Sample { values: Values::Mean { mean, deviation }, ..time.clone() });
            }
            _ => samples.push(time),
        }
        if !run.memory_usage_byte.is_empty() {
            samples.push(Sample::less(&run.command, "memory", "B", run.memory_usage_byte));
        }
    }
    Some(Ok(Measured::new("hyperfine's JSON", samples)))
}
