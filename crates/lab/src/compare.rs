//! From rows to verdicts: variants within a run, one run against another, and several hosts as blocks.
//!
//! How it works: within a run the rounds are pairs, since each holds every variant once and near in time. With so few
//! rounds that the rank test of pairs could show nothing after the correction below, the samples are taken as
//! independent; that follows from the plan alone, never from the values. Runs that were made one after the other
//! are independent samples, and the answer says what that is worth. All comparisons of one metric are corrected together by
//! Holm's method.
//!
//! Invariants: warm-ups never count. Values of different hosts meet within blocks only.

use std::collections::BTreeMap;
use std::path::Path;

use slablab_report::{Comparisons, Group};
use slablab_stats::{Block, Comparison, Design as Pairing, Question, compare, compare_blocks};

use crate::{Error, Journal, Metric, Nature, Part, Plan, Result, Row};

/// A run as it was stored.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its name: that of its folder
    pub name: String,
    /// What was planned
    pub plan: Plan,
    /// The rows that count, one a point
    pub rows: Vec<Row>,
    /// How many cells have their row, and how many there are
    done: (usize, usize),
}

/// A metric with the comparisons that were made of it.
#[derive(Debug, Clone)]
pub struct Side {
    /// The metric
    pub metric: Metric,
    /// Its comparisons
    pub comparisons: Comparisons,
}

impl Outcome {
    /// Reads a result folder.
    ///
    /// # Errors
    ///
    /// If it is none, is of another version, or has no row that counts.
    pub fn read(folder: &Path) -> Result<Self> {
        let Some(plan) = Plan::read(folder)? else {
            return Err(Error::Unreadable {
                path: folder.to_owned(),
                reason:
                    "is no result of the lab: it has no plan.json; 'slablab lab run NAME' makes one"
                        .to_owned(),
            });
        };
        let mut rows = Journal::read(folder)?;
        rows.retain(|row| !row.warmup);
        if rows.is_empty() {
            return Err(Error::Unreadable {
                path: folder.to_owned(),
                reason: "has no rows yet; run the same 'slablab lab run' again to go on".to_owned(),
            });
        }
        if let Some(stranger) =
            rows.iter().find(|row| row.environment.host != plan.environment.host)
        {
            return Err(Error::Incomparable(format!(
                "{}: the plan is of the host '{}', but cell {} of '{}'; keep one folder for each host",
                folder.display(),
                plan.environment.host,
                stranger.cell,
                stranger.environment.host
            )));
        }
        let name = folder
            .canonicalize()
            .ok()
            .and_then(|full| full.file_name().map(|n| n.to_string_lossy().into_owned()));
        Ok(Self::new(name.unwrap_or_else(|| folder.display().to_string()), plan, rows))
    }

    /// Makes an outcome of rows that count; cells that went through several points become a row for each.
    pub(crate) fn new(name: String, mut plan: Plan, rows: Vec<Row>) -> Self {
        let cells = rows.len();
        let mut spread = Vec::with_capacity(cells);
        for mut row in rows {
            let parts = std::mem::take(&mut row.parts);
            if parts.is_empty() {
                spread.push(row);
                continue;
            }
            for Part { point, values } in parts {
                spread.push(Row { point, values, ..row.clone() });
            }
        }
        let planned = plan.design.rounds * plan.design.variants.len() * plan.design.points.len();
        if spread.iter().any(|row| !plan.design.points.contains(&row.point)) {
            plan.design.points = points_of(&spread);
        }
        Self { name, plan, rows: spread, done: (cells, planned) }
    }

    /// Returns what a reader should know before believing the numbers.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.rows.iter().any(|row| row.detail["emulated"] == true) {
            remarks.push(
                "The guests were emulated: times compare the variants, and are no times of a real machine.".to_owned(),
            );
        }
        let (done, planned) = self.done;
        if done < planned {
            remarks.push(format!(
                "{done} of {planned} runs are done: run the same command again to go on."
            ));
        }
        remarks
    }

    /// Returns the values of `metric` for a variant at a point, by round.
    #[must_use]
    pub fn values(&self, metric: &str, variant: &str, point: &str) -> BTreeMap<usize, f64> {
        self.rows
            .iter()
            .filter(|row| row.variant == variant && row.point == point)
            .filter_map(|row| Some((row.round, *row.values.get(metric)?)))
            .collect()
    }

    /// Returns the samples of `metric` at a point, one group a variant.
    #[must_use]
    pub fn groups(&self, metric: &str, point: &str) -> Vec<Group> {
        let group = |variant: &String| Group {
            name: variant.clone(),
            values: self.values(metric, variant, point).into_values().collect(),
        };
        self.plan.design.variants.iter().map(group).filter(|g| !g.values.is_empty()).collect()
    }

    /// Returns the metrics that were measured, those that answer the question first.
    pub fn metrics(&self, nature: Nature) -> impl Iterator<Item = &Metric> {
        let measured =
            |metric: &&Metric| self.rows.iter().any(|row| row.values.contains_key(&metric.key));
        self.plan.metrics.iter().filter(move |metric| metric.nature == nature).filter(measured)
    }

    /// Compares every variant with `baseline`, or else with the first, for each sampled metric.
    ///
    /// Metrics with a single run a variant have nothing to compare and are left out.
    ///
    /// # Errors
    ///
    /// If there is no such variant.
    pub fn compare(&self, baseline: Option<&str>, question: &Question) -> Result<Vec<Side>> {
        let variants = &self.plan.design.variants;
        let baseline = baseline.unwrap_or(&variants[0]);
        if !variants.iter().any(|variant| variant == baseline) {
            return Err(Error::Request(format!(
                "{}: has no variant '{baseline}'; it has: {}",
                self.name,
                variants.join(", ")
            )));
        }
        let sides = self
            .metrics(Nature::Sampled)
            .map(|metric| self.compare_metric(metric, baseline, question));
        let sides: Vec<Side> = sides.collect::<Result<_>>()?;
        Ok(sides.into_iter().filter(|side| !side.comparisons.rows.is_empty()).collect())
    }

    fn compare_metric(&self, metric: &Metric, baseline: &str, question: &Question) -> Result<Side> {
        let question = Question { direction: metric.direction, ..*question };
        let mut rows = Vec::new();
        let comparisons = self.plan.design.points.len() * (self.plan.design.variants.len() - 1);
        for point in &self.plan.design.points {
            let base = self.values(&metric.key, baseline, point);
            for candidate in self.plan.design.variants.iter().filter(|v| *v != baseline) {
                let values = self.values(&metric.key, candidate, point);
                let (a, b): (Vec<f64>, Vec<f64>) =
                    base.iter().filter_map(|(round, a)| Some((*a, *values.get(round)?))).unzip();
                if a.len() < 2 {
                    continue;
                }
                let pairing = pairing(a.len(), comparisons, question.alpha);
                let comparison = compare(&a, &b, pairing, &question)
                    .map_err(Error::numbers(format!("{candidate} {point} {}", metric.name)))?;
                rows.push((point.clone(), candidate.clone(), comparison));
            }
        }
        Ok(Side {
            metric: metric.clone(),
            comparisons: table(metric, baseline, &self.plan.design.point_name, rows),
        })
    }
}

/// Compares `candidate` with `baseline`, run by run: the same variants at the same points.
///
/// # Errors
///
/// If they are of different experiments, engines or hosts, or have nothing in common.
pub fn compare_runs(
    baseline: &Outcome,
    candidate: &Outcome,
    question: &Question,
) -> Result<Vec<Side>> {
    check_same_question(baseline, candidate)?;
    let (here, there) = (&baseline.plan.environment, &candidate.plan.environment);
    if (&here.host, &here.cpu) != (&there.host, &there.cpu) {
        return Err(Error::Incomparable(format!(
            "{} was measured on '{}' ({}), {} on '{}' ({}): times of different hosts cannot be compared. Run both \
             variants on each host, and compare the results with --by-host",
            baseline.name, here.host, here.cpu, candidate.name, there.host, there.cpu
        )));
    }
    let mut sides = Vec::new();
    for metric in baseline.metrics(Nature::Sampled) {
        let question = Question { direction: metric.direction, ..*question };
        let mut rows = Vec::new();
        for (variant, point) in common(baseline, candidate) {
            let values = |run: &Outcome| -> Vec<f64> {
                run.values(&metric.key, variant, point).into_values().collect()
            };
            let (a, b) = (values(baseline), values(candidate));
            if a.len() < 2 || b.len() < 2 {
                continue;
            }
            let comparison = compare(&a, &b, Pairing::Independent, &question)
                .map_err(Error::numbers(format!("{variant} {point} {}", metric.name)))?;
            let at = if point.is_empty() { variant.clone() } else { format!("{variant} {point}") };
            rows.push((at, candidate.name.clone(), comparison));
        }
        if !rows.is_empty() {
            sides.push(Side {
                metric: metric.clone(),
                comparisons: table(metric, &baseline.name, "variant", rows),
            });
        }
    }
    if sides.is_empty() {
        return Err(Error::Incomparable(format!(
            "{} and {} have no variant with two runs each in common",
            baseline.name, candidate.name
        )));
    }
    Ok(sides)
}

/// Compares the variants within each of `outcomes`, one or more for each host, with the host as a block.
///
/// # Errors
///
/// If they are of different experiments or engines, or a host lacks a side of every comparison.
pub fn compare_hosts(outcomes: &[Outcome], question: &Question) -> Result<Vec<Side>> {
    let [first, rest @ ..] = outcomes else {
        return Err(Error::Request("nothing to compare: no result was given".to_owned()));
    };
    rest.iter().try_for_each(|other| check_same_question(first, other))?;
    let mut hosts: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        hosts.entry(&outcome.plan.environment.host).or_default().push(outcome);
    }
    let baseline = &first.plan.design.variants[0];
    let mut sides = Vec::new();
    for metric in first.metrics(Nature::Sampled) {
        let question = Question { direction: metric.direction, ..*question };
        let mut rows = Vec::new();
        for point in &first.plan.design.points {
            for candidate in &first.plan.design.variants[1..] {
                let pool = |runs: &[&Outcome], variant: &str| -> Vec<f64> {
                    runs.iter()
                        .flat_map(|run| run.values(&metric.key, variant, point).into_values())
                        .collect()
                };
                let samples: Vec<(Vec<f64>, Vec<f64>)> = hosts
                    .values()
                    .map(|runs| (pool(runs, baseline), pool(runs, candidate)))
                    .collect();
                let blocks: Vec<Block<'_>> = samples
                    .iter()
                    .filter(|(a, b)| a.len() >= 2 && b.len() >= 2)
                    .map(|(a, b)| Block { baseline: a, candidate: b })
                    .collect();
                if blocks.is_empty() {
                    continue;
                }
                let comparison = compare_blocks(&blocks, &question)
                    .map_err(Error::numbers(format!("{candidate} {point} {}", metric.name)))?;
                rows.push((point.clone(), candidate.clone(), comparison));
            }
        }
        if !rows.is_empty() {
            let comparisons = table(metric, baseline, &first.plan.design.point_name, rows);
            sides.push(Side { metric: metric.clone(), comparisons });
        }
    }
    if sides.is_empty() {
        return Err(Error::Incomparable(
            "no host has two runs of two variants; each host must run both sides itself".to_owned(),
        ));
    }
    Ok(sides)
}

/// Returns whether so many rounds are taken as pairs: Wilcoxon's test cannot give less than 2^-(n-1), and Holm's
/// method multiplies that by the number of comparisons.
fn pairing(rounds: usize, comparisons: usize, alpha: f64) -> Pairing {
    let least = 0.5f64.powi(rounds as i32 - 1) * comparisons as f64;
    if least < alpha / 2.0 { Pairing::Paired } else { Pairing::Independent }
}

/// Puts the rows of a metric together, with p corrected over all of them.
fn table(
    metric: &Metric,
    baseline: &str,
    point: &str,
    rows: Vec<(String, String, Comparison)>,
) -> Comparisons {
    let mut comparisons: Vec<Comparison> = rows.iter().map(|(_, _, c)| c.clone()).collect();
    Comparison::adjust_all(&mut comparisons);
    let rows = rows.into_iter().zip(comparisons);
    Comparisons {
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        baseline: baseline.to_owned(),
        point: point.to_owned(),
        rows: rows
            .map(|((point, candidate, _), comparison)| slablab_report::Row {
                point,
                candidate,
                comparison,
            })
            .collect(),
    }
}

fn check_same_question(a: &Outcome, b: &Outcome) -> Result<()> {
    if a.plan.experiment != b.plan.experiment {
        return Err(Error::Incomparable(format!(
            "{} is a run of {}, {} of {}: these answer different questions",
            a.name, a.plan.experiment, b.name, b.plan.experiment
        )));
    }
    if a.plan.engine != b.plan.engine {
        return Err(Error::Incomparable(format!(
            "{} ran in the engine {}, {} in {}: these measure different things",
            a.name, a.plan.engine, b.name, b.plan.engine
        )));
    }
    Ok(())
}

/// Returns the variants and points that both have.
fn common<'a>(a: &'a Outcome, b: &'a Outcome) -> Vec<(&'a String, &'a String)> {
    let (mine, theirs) = (&a.plan.design, &b.plan.design);
    let points = mine.points.iter().filter(|point| theirs.points.contains(point));
    let variants = || mine.variants.iter().filter(|variant| theirs.variants.contains(variant));
    points.flat_map(|point| variants().map(move |variant| (variant, point))).collect()
}

/// Returns the points of `rows`, numbers in their order and before names, component by component.
fn points_of(rows: &[Row]) -> Vec<String> {
    let mut points: Vec<String> = rows.iter().map(|row| row.point.clone()).collect();
    let order = |a: &String, b: &String| {
        let number = |part: &str| part.parse().unwrap_or(f64::INFINITY);
        let parts = a.split(", ").zip(b.split(", "));
        parts
            .map(|(a, b)| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.cmp(b))
    };
    points.sort_by(order);
    points.dedup();
    points
}
