//! From rows to verdicts: variants within a run, one run against another, and several hosts.
//!
//! # How it works
//! Within a run the rounds are pairs, since each contains every variant once and near in time. That is not so for a guest's
//! memory, which the machine's speed does not move. On several hosts a pair is a round on one host, so a slow and a fast
//! host never meet. Two runs that were made one after the other are independent samples, and the answer says what that
//! means. All comparisons of one metric are corrected together by Holm's method; how many runs they need follows from the
//! plan alone, never from the values.
//!
//! # Invariants
//! Warm-ups never count. Differences besides the variants are refused or named (`differences`).

use std::collections::{BTreeMap, BTreeSet};

use slablab_host::shell;
use slablab_report::{ComparisonRow, Comparisons};
use slablab_stats::{Comparison, Pairing, Question, compare, median};

use crate::differences::{Hosts, check};
use crate::error::{Error, Result};
use crate::journal::Row;
use crate::outcome::Outcome;
use crate::request::Metric;

/// A metric with its comparisons.
#[derive(Debug, Clone)]
pub struct MetricComparisons {
    /// The metric
    pub metric: Metric,
    /// Its comparisons
    pub comparisons: Comparisons,
}

/// The comparisons of several results, and remarks about them.
#[derive(Debug, Clone)]
pub struct ComparedResults {
    /// The comparisons, one entry for each metric
    pub sides: Vec<MetricComparisons>,
    /// What a reader should know before believing them
    pub remarks: Vec<String>,
    /// The changes on each host, where hosts are compared
    pub hosts: Vec<HostChanges>,
}

/// The differences between a candidate and the baseline on each host.
#[derive(Debug, Clone)]
pub struct HostChanges {
    /// The key of the metric
    pub metric: String,
    /// The candidate
    pub candidate: String,
    /// Where on the experiment's axis; "" without one
    pub point: String,
    /// By host: the change of each round in percent
    pub changes_percent: BTreeMap<String, Vec<f64>>,
}

/// The runs of two variants at one point, whether paired or not.
type Samples = (Vec<f64>, Vec<f64>);

/// Compares every variant of a run with `baseline`, or else with the first, for each sampled metric.
///
/// Metrics with a single run for each variant have nothing to compare and are left out.
///
/// # Errors
///
/// If there is no such variant.
pub fn compare_variants(
    outcome: &Outcome,
    baseline: Option<&str>,
    question: &Question,
) -> Result<Vec<MetricComparisons>> {
    let design = &outcome.plan.design;
    let baseline = baseline.unwrap_or(&design.variants[0]);
    if !design.variants.iter().any(|variant| variant == baseline) {
        return Err(Error::Request(format!(
            "{}: has no variant '{baseline}'; it has: {}",
            outcome.name,
            design.variants.join(", ")
        )));
    }
    let sides = outcome.samples().filter_map(|metric| Some((metric, metric.pairing()?)));
    let sides = sides.map(|(metric, pairing)| {
        let others = || design.variants.iter().filter(|variant| *variant != baseline);
        let cells =
            design.points.iter().flat_map(|point| others().map(move |other| (point, other)));
        let samples = cells.map(|(point, candidate)| {
            let samples = rounds(outcome, metric, baseline, candidate, point);
            (point.clone(), candidate.clone(), samples)
        });
        let names = (baseline, design.point_name.as_str());
        judge(metric, names, pairing, samples.collect(), question)
    });
    sides.filter_map(Result::transpose).collect()
}

/// Compares `candidate` with `baseline`, run by run: the same variants at the same points. They may differ in the
/// named `factors`.
///
/// # Errors
///
/// If they are of different experiments, engines or hosts, differ in anything else, or have nothing in common.
pub fn compare_runs(
    baseline: &Outcome,
    candidate: &Outcome,
    factors: &[String],
    question: &Question,
) -> Result<ComparedResults> {
    check_same_question(baseline, candidate)?;
    if baseline.hosts() != candidate.hosts() || baseline.hosts().len() > 1 {
        return Err(Error::Incomparable(format!(
            "{} was measured on {}, {} on {}: times of different hosts cannot be compared. Run both \
             variants on each host, and compare the results with --by-host",
            baseline.name,
            machines(baseline),
            candidate.name,
            machines(candidate)
        )));
    }
    let mut remarks: Vec<String> =
        check(baseline, candidate, Hosts::One, factors)?.into_iter().collect();
    remarks.push(
        "The two were not interleaved: a drift of the machine between them looks like a difference.".to_owned(),
    );
    let sides = baseline.samples().map(|metric| {
        let values = |run: &Outcome, variant: &str, point: &str| -> Vec<f64> {
            run.values(&metric.key, variant, point).into_values().collect()
        };
        let samples = common(baseline, candidate).into_iter().map(|(variant, point)| {
            let samples = (values(baseline, variant, point), values(candidate, variant, point));
            (format!("{variant} {point}").trim_end().to_owned(), candidate.name.clone(), samples)
        });
        let names = (baseline.name.as_str(), "variant");
        judge(metric, names, Pairing::Independent, samples.collect(), question)
    });
    let sides: Vec<MetricComparisons> =
        sides.filter_map(Result::transpose).collect::<Result<_>>()?;
    if sides.is_empty() && baseline.samples().next().is_none() {
        return Err(Error::Incomparable(format!(
            "{0} and {1} only count what is the same in every run, so that there is nothing to test: 'slablab lab \
             compare {2}' and 'slablab lab compare {3}' print their numbers",
            baseline.name,
            candidate.name,
            shell::word(&baseline.name),
            shell::word(&candidate.name)
        )));
    }
    if sides.is_empty() {
        return Err(Error::Incomparable(format!(
            "{} and {} have no variant with two runs each in common",
            baseline.name, candidate.name
        )));
    }
    Ok(ComparedResults { sides, remarks, hosts: Vec::new() })
}

/// Compares the variants within each of `outcomes`, one or more for each host: a pair is a round on one host.
///
/// # Errors
///
/// If they are of different experiments or engines, differ in their work, or no host has both sides of a comparison.
pub fn compare_hosts(
    outcomes: &[Outcome],
    factors: &[String],
    question: &Question,
) -> Result<ComparedResults> {
    let outcomes: Vec<Outcome> = outcomes.iter().flat_map(Outcome::by_host).collect();
    let outcomes = outcomes.as_slice();
    let [first, rest @ ..] = outcomes else {
        return Err(Error::Request("nothing to compare: no result was given".to_owned()));
    };
    let mut remarks = Vec::new();
    for other in rest {
        check_same_question(first, other)?;
        remarks.extend(check(first, other, Hosts::Several, factors)?);
    }
    let design = &first.plan.design;
    let baseline = &design.variants[0];
    let (mut sides, mut hosts) = (Vec::new(), Vec::new());
    for metric in first.samples() {
        let mut samples: Vec<(String, String, Samples)> = Vec::new();
        for point in &design.points {
            for candidate in &design.variants[1..] {
                let of = |outcome: &Outcome| rounds(outcome, metric, baseline, candidate, point);
                let changes = HostChanges::new(metric, candidate, point, outcomes, of);
                remarks.extend(changes.disagreement(&metric.name));
                hosts.push(changes);
                let (a, b): (Vec<_>, Vec<_>) = outcomes.iter().map(of).unzip();
                samples.push((point.clone(), candidate.clone(), (a.concat(), b.concat())));
            }
        }
        let names = (baseline.as_str(), design.point_name.as_str());
        sides.extend(judge(metric, names, Pairing::Paired, samples, question)?);
    }
    if sides.is_empty() {
        return Err(Error::Incomparable(
            "no host has two runs of two variants; each host must run both sides itself".to_owned(),
        ));
    }
    Ok(ComparedResults { sides, remarks, hosts })
}

/// Names the machines of an outcome.
fn machines(outcome: &Outcome) -> String {
    let name = |row: &Row| format!("'{}' ({})", row.environment.host, row.environment.cpu);
    let names: BTreeSet<String> = outcome.rows.iter().map(name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Returns the rounds that have both variants at a point.
fn rounds(
    outcome: &Outcome,
    metric: &Metric,
    baseline: &str,
    candidate: &str,
    point: &str,
) -> Samples {
    let values = outcome.values(&metric.key, candidate, point);
    let base = outcome.values(&metric.key, baseline, point);
    base.iter().filter_map(|(round, a)| Some((*a, *values.get(round)?))).unzip()
}

impl HostChanges {
    fn new(
        metric: &Metric,
        candidate: &str,
        point: &str,
        outcomes: &[Outcome],
        rounds: impl Fn(&Outcome) -> Samples,
    ) -> Self {
        let mut changes_percent: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for outcome in outcomes {
            let (a, b) = rounds(outcome);
            let changes = a.iter().zip(b).filter(|(a, _)| **a > 0.0);
            let changes: Vec<f64> = changes.map(|(a, b)| (b / a - 1.0) * 100.0).collect();
            if !changes.is_empty() {
                let host = outcome.plan.environment.host.clone();
                changes_percent.entry(host).or_default().extend(changes);
            }
        }
        let [metric, candidate, point] = [&metric.key, candidate, point].map(str::to_owned);
        Self { metric, candidate, point, changes_percent }
    }

    /// Returns the median change of each host, in percent.
    pub fn medians_percent(&self) -> impl Iterator<Item = (&str, f64)> {
        self.changes_percent.iter().map(|(host, all)| (host.as_str(), median(&mut all.clone())))
    }

    /// Returns a remark when the candidate gains on one host and loses on another.
    fn disagreement(&self, metric_name: &str) -> Option<String> {
        let is = |test: fn(f64) -> bool| self.medians_percent().any(|(_, change)| test(change));
        (is(|change| change > 0.0) && is(|change| change < 0.0)).then(|| {
            let medians = self.medians_percent();
            let hosts: Vec<String> =
                medians.map(|(host, change)| format!("{host} {change:+.1} %")).collect();
            let at =
                if self.point.is_empty() { String::new() } else { format!(" at {}", self.point) };
            let candidate = &self.candidate;
            format!("The hosts disagree on {metric_name} of {candidate}{at}: {}.", hosts.join(", "))
        })
    }
}

/// Compares each of `samples` (point, candidate, runs), with p corrected over all of them; `None` when none can be
/// compared. `names` are those of the baseline and of the points.
fn judge(
    metric: &Metric,
    names: (&str, &str),
    pairing: Pairing,
    samples: Vec<(String, String, Samples)>,
    question: &Question,
) -> Result<Option<MetricComparisons>> {
    let question = Question { direction: metric.direction, ..*question };
    let (mut rows, mut comparisons) = (Vec::new(), Vec::new());
    for (point, candidate, (a, b)) in samples {
        if a.len() < 2 || b.len() < 2 {
            continue;
        }
        let comparison = compare(&a, &b, pairing, &question)
            .map_err(Error::numbers(format!("{candidate} {point} {}", metric.name)))?;
        comparisons.push(comparison);
        rows.push((point, candidate));
    }
    Comparison::adjust_all(&mut comparisons);
    let rows: Vec<ComparisonRow> = rows
        .into_iter()
        .zip(comparisons)
        .map(|((point, candidate), comparison)| ComparisonRow { point, candidate, comparison })
        .collect();
    let comparisons = Comparisons {
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        baseline: names.0.to_owned(),
        point: names.1.to_owned(),
        rows,
    };
    Ok((!comparisons.rows.is_empty())
        .then(|| MetricComparisons { metric: metric.clone(), comparisons }))
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
