//! From raw rows to medians, intervals and verdicts.
//!
//! Rounds are pairs: the i-th run of a variant is held against the i-th of the baseline, since both ran within
//! the same minute or two. A round that one of them lacks (a run that was stopped) is left out of that
//! comparison; the number of pairs shows it. The comparisons of one group are adjusted together (Holm): with three
//! candidates, seven rounds are the fewest that can show a difference.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use slablab_stats::{
    Bootstrap, Comparison, Design, Direction, Interval, Question, compare, holm, median,
    median_interval,
};

use crate::{Error, Header, Observation, Result};

/// Everything that a raw file proves.
#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    /// The variant that others are held against
    pub baseline: String,
    /// One for each CPU count and load, in order
    pub groups: Vec<Group>,
}

/// All variants under one CPU count and one load.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// Virtual CPUs
    pub cpus: u32,
    /// What tells the load from others
    pub params: BTreeMap<String, Value>,
    /// The metric
    pub metric: String,
    /// Its unit
    pub unit: String,
    /// Whether less or more is better
    pub direction: Direction,
    /// One for each variant, in the order of the experiment
    pub cells: Vec<Cell>,
}

/// One variant.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The variant
    pub variant: String,
    /// Runs
    pub runs: usize,
    /// The median
    pub median: f64,
    /// Its interval; `None` for a single run
    pub interval: Option<Interval>,
    /// Against the baseline; `None` for the baseline itself, or with too few pairs
    pub comparison: Option<Comparison>,
}

/// Where a group stands: CPU count, and the load's parameters as text, numbers in their order.
type GroupKey = (u32, Vec<(String, String)>);

impl Analysis {
    /// Analyses `rows`; the baseline is the first variant unless one is named.
    ///
    /// # Errors
    ///
    /// When there is no row, no such baseline, or a value is no number.
    pub fn of(header: &Header, rows: &[Observation], baseline: Option<&str>) -> Result<Self> {
        let baseline = match baseline {
            Some(name) if !header.variants.iter().any(|variant| variant == name) => {
                let known = header.variants.join(", ");
                return Err(Error::Plan(format!("no variant {name}; there are: {known}")));
            }
            Some(name) => name.to_owned(),
            None => header.variants.first().cloned().unwrap_or_default(),
        };
        if rows.is_empty() {
            return Err(Error::Plan("no rows: nothing was measured yet".into()));
        }
        let mut by_key: BTreeMap<GroupKey, Vec<&Observation>> = BTreeMap::new();
        for row in rows {
            by_key.entry(group_key(row)).or_default().push(row);
        }
        let mut groups = Vec::new();
        for metric in &header.metrics {
            for rows in by_key.values() {
                let mut group = group(header, rows, metric, &baseline)?;
                adjust(&mut group);
                groups.push(group);
            }
        }
        Ok(Self { baseline, groups })
    }
}

fn group_key(row: &Observation) -> GroupKey {
    let text = |value: &Value| match value.as_u64() {
        // So that 10 comes after 2.
        Some(number) => format!("{number:020}"),
        None => value.to_string(),
    };
    (row.cpus, row.params.iter().map(|(key, value)| (key.clone(), text(value))).collect())
}

fn group(
    header: &Header,
    rows: &[&Observation],
    (metric, unit, direction): &(String, String, Direction),
    baseline: &str,
) -> Result<Group> {
    // Round to value; should a round have two (a run that went on), the mean of them would hide one.
    let sample = |variant: &str| -> BTreeMap<(u32, u32), f64> {
        let of_variant = rows.iter().filter(|row| row.variant == variant);
        of_variant
            .filter_map(|row| Some(((row.round, row.boot), *row.metrics.get(metric)?)))
            .collect()
    };
    let by_round = |sample: &BTreeMap<(u32, u32), f64>| -> BTreeMap<u32, f64> {
        sample.iter().map(|((round, _), value)| (*round, *value)).collect()
    };
    let base = by_round(&sample(baseline));
    let mut cells = Vec::new();
    for variant in &header.variants {
        let sample = sample(variant);
        if sample.is_empty() {
            continue;
        }
        let what = format!("{variant}, {} CPUs", rows[0].cpus);
        let stats = |source| Error::Stats { what: what.clone(), source };
        let mut values: Vec<_> = sample.values().copied().collect();
        let interval = match values.len() {
            1 => None,
            _ => Some(median_interval(&values, &Bootstrap::default()).map_err(stats)?),
        };
        let own = by_round(&sample);
        let pairs: Vec<_> =
            own.iter().filter_map(|(round, v)| Some((*base.get(round)?, *v))).collect();
        let comparison = if variant == baseline || pairs.len() < 2 {
            None
        } else {
            let (b, c): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let question = Question { direction: *direction, ..Question::default() };
            Some(compare(&b, &c, Design::Paired, &question).map_err(stats)?)
        };
        let runs = values.len();
        let median = median(&mut values);
        cells.push(Cell { variant: variant.clone(), runs, median, interval, comparison });
    }
    Ok(Group {
        cpus: rows[0].cpus,
        params: rows[0].params.clone(),
        metric: metric.clone(),
        unit: unit.clone(),
        direction: *direction,
        cells,
    })
}

/// Adjusts the p of a group's comparisons together.
fn adjust(group: &mut Group) {
    let mut comparisons: Vec<&mut Comparison> =
        group.cells.iter_mut().filter_map(|cell| cell.comparison.as_mut()).collect();
    let ps: Vec<_> = comparisons.iter().map(|comparison| comparison.p).collect();
    for (comparison, p) in comparisons.iter_mut().zip(holm(&ps)) {
        comparison.adjust(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::tests::{header, row};

    fn rows(variant: &str, seconds: impl Fn(u32) -> f64) -> Vec<Observation> {
        (0..7).map(|round| row(variant, round, seconds(round))).collect()
    }

    #[test]
    fn a_drift_of_the_host_does_not_hide_a_difference() {
        // The host slows down by a factor of two; b is 5 % faster in every round.
        let drift = |round: u32| 1.0 + f64::from(round) / 6.0;
        let mut all = rows("a", drift);
        all.extend(rows("b", |round| drift(round) * 0.95));
        let analysis = Analysis::of(&header(&["a", "b"]), &all, None).unwrap();
        let cell = &analysis.groups[0].cells[1];
        let comparison = cell.comparison.as_ref().unwrap();
        assert_eq!(comparison.verdict, slablab_stats::Verdict::Better);
        assert!((comparison.ratio.unwrap().value - 0.95).abs() < 1e-9);
        assert!(analysis.groups[0].cells[0].comparison.is_none());
    }

    #[test]
    fn groups_stand_in_the_order_of_their_numbers() {
        let mut all = Vec::new();
        for groups in [10, 2, 1] {
            let mut row = row("a", 0, 1.0);
            row.params.insert("groups".into(), groups.into());
            all.push(row);
        }
        let analysis = Analysis::of(&header(&["a"]), &all, None).unwrap();
        let order: Vec<_> = analysis.groups.iter().map(|group| &group.params["groups"]).collect();
        assert_eq!(order, [1, 2, 10]);
    }

    #[test]
    fn a_round_without_its_pair_stays_in_the_median_and_out_of_the_comparison() {
        let mut all = rows("a", |_| 1.0);
        all.truncate(5);
        all.extend(rows("b", |round| 2.0 + f64::from(round)));
        let analysis = Analysis::of(&header(&["a", "b"]), &all, None).unwrap();
        let cell = &analysis.groups[0].cells[1];
        assert_eq!((cell.runs, cell.median), (7, 5.0));
        assert_eq!(cell.comparison.as_ref().unwrap().candidate.n, 5);
    }

    #[test]
    fn wrong_questions_are_answered_with_what_there_is() {
        let all = rows("a", |_| 1.0);
        let error = Analysis::of(&header(&["a"]), &all, Some("x")).unwrap_err().to_string();
        assert_eq!(error, "no variant x; there are: a");
        assert!(Analysis::of(&header(&["a"]), &[], None).is_err());
    }
}
