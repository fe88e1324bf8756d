//! `perf bench`: `Total time: 4.581 [sec]`, `4.58 usecs/op`, `218,287 ops/sec`, `3.25 GB/sec`, behind `# Running 'a/b'`.

use super::lines::{Lines, number};
use super::sample::{Measured, Sample};

pub(super) fn read(text: &str) -> Option<Result<Measured, String>> {
    if !text.contains("# Running '") {
        return None;
    }
    let mut suites: Vec<(String, Lines)> = Vec::new();
    for line in text.lines() {
        if let Some((_, name)) = line.split_once("# Running '") {
            let name = name.split('\'').next().unwrap_or(name).to_owned();
            if !suites.iter().any(|(known, _)| *known == name) {
                suites.push((name.clone(), Lines::default()));
            }
            // The suite that runs stands last.
            let at = suites.iter().position(|(known, _)| *known == name).unwrap_or(0);
            let suite = suites.remove(at);
            suites.push(suite);
        }
        let Some((_, lines)) = suites.last_mut() else { continue };
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["Total", "time:", seconds, "[sec]", ..] = words[..]
            && let Some(seconds) = number(seconds)
        {
            lines.add("total time", "s", seconds);
        }
        for pair in words.windows(2) {
            let Some(value) = number(pair[0]) else { continue };
            match pair[1] {
                "usecs/op" => lines.add("time per operation", "us", value),
                "nsecs/op" => lines.add("time per operation", "ns", value),
                "ops/sec" | "operations/sec" | "operations/sec," => {
                    lines.add("operations", "1/s", value);
                }
                "KB/sec" | "MB/sec" | "GB/sec" | "TB/sec" => {
                    lines.add("throughput", &pair[1].replace("/sec", "/s"), value);
                }
                _ => {}
            }
        }
    }
    let is_one = suites.len() == 1;
    let samples: Vec<Sample> = suites
        .into_iter()
        .flat_map(|(name, lines)| {
            let named = move |sample: Sample| match is_one {
                true => sample,
                false => Sample { metric: format!("{name}, {}", sample.metric), ..sample },
            };
            lines.samples("").into_iter().map(named)
        })
        .collect();
    match samples.is_empty() {
        true => Some(Err("is of perf bench and has no result".to_owned())),
        false => Some(Ok(Measured::new("perf bench", samples))),
    }
}
