//! Which samples belong together: variants of one file, or the same metric of several files.

use slablab_report::Group;
use slablab_stats::Direction;

use super::sample::{Measured, Sample, Values};

/// The variants of each metric.
#[derive(Debug, Default)]
pub struct Sides {
    /// Metrics whose values are told
    pub tested: Vec<Side<Group>>,
    /// Metrics for which a variant has a mean and a deviation alone
    pub untested: Vec<Side<(String, f64, f64)>>,
    /// Whether values at one place belong together
    pub is_paired: bool,
    /// What was left out, in sentences
    pub notes: Vec<String>,
}

/// The variants of a metric; the first is the baseline.
#[derive(Debug)]
pub struct Side<T> {
    /// What was measured
    pub metric: String,
    /// Its unit
    pub unit: String,
    /// Whether less or more is better
    pub direction: Direction,
    /// The variants
    pub variants: Vec<T>,
}

/// Puts together what belongs together of files with their names.
///
/// # Errors
///
/// If there is nothing to compare, in words.
pub fn sides(files: &[(String, Measured)]) -> Result<Sides, String> {
    let mut sides = Sides {
        is_paired: files.len() == 1 && files.iter().all(|(_, measured)| measured.is_paired),
        notes: files.iter().flat_map(|(_, measured)| measured.notes.clone()).collect(),
        ..Sides::default()
    };
    let labelled = labelled(files);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (_, sample) in &labelled {
        let key = (sample.metric.as_str(), sample.unit.as_str());
        if !seen.contains(&key) {
            seen.push(key);
            sides.add(key, &labelled);
        }
    }
    if sides.tested.is_empty() && sides.untested.is_empty() {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        return Err(match files {
            [(name, measured)] => format!(
                "{name}: is {} of one variant; name a second file to compare it with",
                measured.kind
            ),
            _ => format!("{}: have no metric in common", names.join(", ")),
        });
    }
    Ok(sides)
}

/// Returns all samples with what their variant is called: of several files with one variant each, the file.
fn labelled(files: &[(String, Measured)]) -> Vec<(String, Sample)> {
    let mut labelled = Vec::new();
    for (file, measured) in files {
        let mut variants: Vec<&str> = measured.samples.iter().map(|s| s.variant.as_str()).collect();
        variants.dedup();
        variants.sort_unstable();
        variants.dedup();
        for sample in &measured.samples {
            let sample = sample.clone();
            match (files.len(), &variants[..]) {
                (1, _) => labelled.push((sample.variant.clone(), sample)),
                (_, [_]) => labelled.push((file.clone(), sample)),
                _ => {
                    let metric = format!("{} of {}", sample.metric, sample.variant);
                    labelled.push((file.clone(), Sample { metric, ..sample }));
                }
            }
        }
    }
    labelled
}

impl Sides {
    fn add(&mut self, (metric, unit): (&str, &str), labelled: &[(String, Sample)]) {
        let of_it: Vec<&(String, Sample)> =
            labelled.iter().filter(|(_, s)| s.metric == metric && s.unit == unit).collect();
        let [(only, first), others @ ..] = &of_it[..] else { return };
        if others.is_empty() {
            self.notes.push(match only.is_empty() {
                true => format!("{metric} has one variant."),
                false => format!("{metric} is of {only} alone."),
            });
            return;
        }
        let is_told = of_it.iter().all(|(_, sample)| matches!(sample.values, Values::Each(_)));
        let (metric, unit, direction) = (metric.to_owned(), unit.to_owned(), first.direction);
        if is_told {
            let groups = of_it.iter().filter_map(|(name, sample)| match &sample.values {
                Values::Each(values) => Some(Group { name: name.clone(), values: values.clone() }),
                Values::Mean { .. } => None,
            });
            self.tested.push(Side { metric, unit, direction, variants: groups.collect() });
        } else {
            let means = of_it.iter().map(|(name, sample)| {
                let (mean, deviation) = sample.mean();
                (name.clone(), mean, deviation)
            });
            self.untested.push(Side { metric, unit, direction, variants: means.collect() });
        }
    }
}

impl Sample {
    /// Returns the mean and the standard deviation.
    fn mean(&self) -> (f64, f64) {
        match &self.values {
            Values::Mean { mean, deviation } => (*mean, *deviation),
            Values::Each(values) => {
                let n = values.len().max(1) as f64;
                let mean = values.iter().sum::<f64>() / n;
                let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
                (mean, (squares / (n - 1.0).max(1.0)).sqrt())
            }
        }
    }
}
