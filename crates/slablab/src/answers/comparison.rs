//! A comparison: of the variants of a run, of two runs, of hosts, or of two columns.
//!
//! # How it works
//! All comparisons stand in one table, which the sentences before it sum up: those of every metric where they are few, and
//! those of the first else. What an experiment finds by itself comes before them. A page has the plots of each metric
//! besides ([`super::plots`]).

use std::collections::BTreeSet;

use serde::Serialize;
use slablab_lab::{
    ComparedResults, Environment, Finding, Metric, MetricComparisons, Outcome, Pair, Row, Side,
    Sides, find,
};
use slablab_report::{
    Cell, ComparisonRow, Comparisons, Document, Fact, Group, Item, Section, Table, field, human,
};
use slablab_stats::{Comparison, Pairing, Question, Verdict, compare, median};

use super::{plots, repeat};
use crate::output::{Answer, upper_first};

/// Sentences about comparisons: more are summed up.
const SENTENCES_MAX: usize = 4;

/// How verdicts are found.
const VERDICTS: &str = "The change is the Hodges-Lehmann estimate of the ratio to the baseline, with the interval of the \
    ratios that the rank test would not reject. Rounds of one plan are compared as pairs, but for what a guest holds that was \
    booted for its run. A difference is shown when p, corrected for all comparisons of the metric by Holm's method, is below \
    0.05 and 0 % lies outside of the interval. Where no outcome of so few runs could have shown one, the comparison is \
    undecided. No run was left out; outliers are hollow marks.";

/// The result of a comparison.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct CompareAnswer {
    /// The subject of the comparison, in a line
    subject: String,
    /// Findings of the experiment itself
    findings: Vec<String>,
    /// Remarks for readers
    remarks: Vec<String>,
    comparisons: Vec<Compared>,
    /// Metrics that are equal in every run
    counts: Vec<Count>,
    /// Whether all findings are as they should be
    #[serde(skip)]
    pub(crate) holds: bool,
    #[serde(skip)]
    document: Document,
}

/// The comparisons of one metric.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct Compared {
    metric: String,
    unit: String,
    baseline: String,
    rows: Vec<OneCompared>,
}

/// One comparison.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct OneCompared {
    point: String,
    candidate: String,
    answer: &'static str,
    sentence: String,
    comparison: Comparison,
}

/// A metric that is the same in every run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct Count {
    metric: String,
    unit: String,
    variant: String,
    point: String,
    value: f64,
}

impl Compared {
    fn of(all: &Comparisons) -> Self {
        let rows = all.rows.iter().zip(all.sentences()).map(|(row, sentence)| OneCompared {
            point: row.point.clone(),
            candidate: row.candidate.clone(),
            answer: row.comparison.verdict.words(&all.unit, row.comparison.direction),
            sentence,
            comparison: row.comparison.clone(),
        });
        Self {
            metric: all.metric.clone(),
            unit: all.unit.clone(),
            baseline: all.baseline.clone(),
            rows: rows.collect(),
        }
    }
}

impl Answer for CompareAnswer {
    const SCHEMA: &'static str = "slablab.lab.compare/2";

    fn document(&self) -> Document {
        self.document.clone()
    }
}

impl CompareAnswer {
    /// Makes the answer about two columns of `file`.
    pub(crate) fn of_pair(pair: &Pair, comparisons: Comparisons, file: &str) -> Self {
        let subject = format!("{} against {}", pair.candidate.name, pair.baseline.name);
        let page = Section::page(
            "plots",
            upper_first(&comparisons.metric),
            plots::of_pair(pair, &comparisons),
        );
        let document = Document {
            title: subject.clone(),
            question: format!("Is there a difference in {}?", comparisons.metric),
            sections: vec![page.with_method(VERDICTS)],
            facts: vec![Fact::new("file", file)],
            ..Document::default()
        };
        Self::new(subject, &[comparisons], &[], document)
    }

    /// Makes the answer about what other programs measured, in these files.
    pub(crate) fn of_measured(
        files: &[String],
        sides: Sides,
        question: &Question,
    ) -> anyhow::Result<Self> {
        let design = if sides.is_paired { Pairing::Paired } else { Pairing::Independent };
        let all: Vec<Comparisons> = sides
            .tested
            .iter()
            .map(|side| tested(side, design, question))
            .collect::<anyhow::Result<_>>()?;
        let pages = sides.tested.iter().zip(&all).flat_map(|(side, comparisons)| {
            let pairs = side.variants.windows(2).take(1).map(|pair| Pair {
                baseline: pair[0].clone(),
                candidate: pair[1].clone(),
                is_counted: sides.is_paired,
            });
            pairs.map(|pair| {
                let title = upper_first(&comparisons.metric);
                Section::page("plots", title, plots::of_pair(&pair, comparisons))
                    .with_method(VERDICTS)
            })
        });
        let mut sections: Vec<Section> = pages.collect();
        let means =
            Section::first("means", "Means, which cannot be tested", means(&sides.untested));
        if !sides.untested.is_empty() {
            sections.push(means);
        }
        let subject = files.join(", ");
        let document = Document {
            title: format!("Comparison of {subject}"),
            question: "Is there a difference?".to_owned(),
            sections,
            facts: files.iter().map(|file| Fact::new("file", file)).collect(),
            ..Document::default()
        };
        let mut answer = Self::new(subject, &all, &[], document);
        let untested: Vec<String> = sides.untested.iter().flat_map(untested).collect();
        let more = SENTENCES_MAX.saturating_sub(answer.document.answers.len());
        answer.document.answers.extend(untested.iter().take(more).cloned());
        if !untested.is_empty() {
            answer.document.answers.push(
                "Whether a difference of means is more than chance cannot be told without the single values: give each run's \
                 (hyperfine --export-json, perf stat without -r)."
                    .to_owned(),
            );
        }
        answer.remark(sides.notes);
        Ok(answer)
    }

    /// Makes the answer about the variants of one run.
    pub(crate) fn of_run(outcome: &Outcome, sides: &[MetricComparisons]) -> Self {
        let plan = &outcome.plan;
        let experiment = find(&plan.experiment).ok();
        let metrics = outcome.samples();
        let page = |metric: &Metric| {
            let side = sides.iter().find(|side| side.metric == *metric);
            let items = plots::of_metric(outcome, metric, side);
            Section::page("plots", upper_first(&metric.name), items).with_method(VERDICTS)
        };
        let mut sections = value_sections(outcome, sides);
        // A result of an experiment that this version no longer has still shows its numbers.
        sections.extend(experiment.map(|e| e.sections(outcome)).unwrap_or_default());
        sections.extend(metrics.map(page));
        sections.extend(plots::of_counts(outcome));
        let how = "raw.jsonl as it was written, without warm-ups.";
        let rows = Section::named("rows", "Every row", vec![Item::table("", "", rows(outcome))]);
        sections.push(rows.with_method(how));
        let document = Document {
            title: format!("{}: {}", plan.experiment, plan.design.variants.join(", ")),
            question: plan.question.clone(),
            sections,
            facts: facts(outcome),
            repeat: vec![repeat::command(plan)],
            ..Document::default()
        };
        let subject = format!("{} ({} engine): {}", outcome.name, plan.engine, plan.question);
        let findings = experiment.map(|e| e.findings(outcome)).unwrap_or_default();
        let mut answer = Self::new(subject, &comparisons(sides), &findings, document);
        answer.counts = counts(outcome);
        answer.document.answers.extend(counted(outcome, &answer));
        answer.remark(outcome.remarks());
        answer
    }

    /// Makes the answer about two runs that were made one after the other.
    pub(crate) fn of_runs(a: &Outcome, b: &Outcome, across: ComparedResults) -> Self {
        Self::of_several(format!("{} against {}", b.name, a.name), &[a, b], across)
    }

    /// Makes the answer about variants on several hosts.
    pub(crate) fn of_hosts(outcomes: &[Outcome], across: ComparedResults) -> Self {
        let hosts: BTreeSet<&str> = outcomes.iter().flat_map(Outcome::hosts).collect();
        let names = hosts.iter().copied().collect::<Vec<_>>().join(", ");
        let all: Vec<&Outcome> = outcomes.iter().collect();
        Self::of_several(format!("{} hosts: {names}", hosts.len()), &all, across)
    }

    fn of_several(subject: String, outcomes: &[&Outcome], across: ComparedResults) -> Self {
        let page = |side: &MetricComparisons| {
            let items = plots::of_hosts(side, &across);
            let title = upper_first(&side.metric.name);
            Section::page("plots", title, items).with_method(VERDICTS)
        };
        let document = Document {
            title: subject.clone(),
            question: outcomes.first().map(|of| of.plan.question.clone()).unwrap_or_default(),
            sections: across.sides.iter().map(page).collect(),
            facts: outcomes.iter().map(|outcome| Fact::new("result", &outcome.name)).collect(),
            ..Document::default()
        };
        let mut answer = Self::new(subject, &comparisons(&across.sides), &[], document);
        answer.remark(across.remarks);
        answer
    }

    /// Puts what all comparisons have in common before the sections of `document`.
    fn new(
        subject: String,
        all: &[Comparisons],
        findings: &[Finding],
        mut document: Document,
    ) -> Self {
        let said = findings.iter().map(|finding| finding.sentence.clone());
        document.answers = said.clone().chain(sentences(all)).collect();
        document.source.clone_from(&subject);
        document.notes.extend(Comparisons::note(all));
        let mut first =
            vec![Section::first("comparisons", "", vec![Item::Comparisons(all.to_vec())])];
        first.append(&mut document.sections);
        let mmtests =
            all.iter().flat_map(|of| of.mmtests().lines().map(str::to_owned).collect::<Vec<_>>());
        first.push(Section::named(
            "mmtests",
            "As mmtests' compare-mmtests.pl prints it",
            vec![Item::Lines(mmtests.collect())],
        ));
        document.sections = first;
        let mut answer = Self {
            subject,
            holds: findings.iter().all(|finding| finding.holds),
            findings: said.collect(),
            remarks: Vec::new(),
            comparisons: all.iter().map(Compared::of).collect(),
            counts: Vec::new(),
            document,
        };
        if all.iter().any(|of| of.rows.len() > 1) {
            let holm = "p is corrected for all comparisons of a metric by Holm's method.";
            answer.remark(vec![holm.to_owned()]);
        }
        answer
    }

    /// Adds remarks for readers.
    fn remark(&mut self, remarks: Vec<String>) {
        self.document.notes.extend(remarks.iter().cloned());
        self.remarks.extend(remarks);
    }

    /// Returns all verdicts.
    pub(crate) fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.comparisons.iter().flat_map(|c| c.rows.iter().map(|row| row.comparison.verdict))
    }
}

/// Returns the comparisons without the parts that only the lab knows.
fn comparisons(sides: &[MetricComparisons]) -> Vec<Comparisons> {
    sides.iter().map(|side| side.comparisons.clone()).collect()
}

/// Compares the variants of a metric with the first of them.
fn tested(side: &Side<Group>, design: Pairing, question: &Question) -> anyhow::Result<Comparisons> {
    let Side { metric, unit, direction, variants } = side;
    let question = Question { direction: *direction, ..*question };
    let (baseline, candidates) = variants.split_first().expect("a side has two variants");
    let mut found = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let comparison = compare(&baseline.values, &candidate.values, design, &question);
        let what = || format!("{metric} of {} and {}", baseline.name, candidate.name);
        found.push(comparison.map_err(|error| anyhow::anyhow!("{}: {error}", what()))?);
    }
    Comparison::adjust_all(&mut found);
    let row = |(candidate, comparison): (&Group, Comparison)| ComparisonRow {
        point: String::new(),
        candidate: candidate.name.clone(),
        comparison,
    };
    Ok(Comparisons {
        metric: metric.clone(),
        unit: unit.clone(),
        baseline: baseline.name.clone(),
        point: String::new(),
        rows: candidates.iter().zip(found).map(row).collect(),
    })
}

/// Says the differences of the means of a metric.
fn untested(side: &Side<(String, f64, f64)>) -> Vec<String> {
    let Some(((baseline, of, deviation), candidates)) = side.variants.split_first() else {
        return Vec::new();
    };
    let number = |value: f64| human(value, &side.unit);
    let said = candidates.iter().map(|(name, mean, spread)| {
        let change = match *of == 0.0 {
            true => String::new(),
            false => format!(" ({:+.1} %)", 100.0 * (mean / of - 1.0)),
        };
        format!(
            "{} of {name}: {} ± {}, of {baseline}: {} ± {}{change}.",
            upper_first(&side.metric),
            number(*mean),
            number(*spread),
            number(*of),
            number(*deviation)
        )
    });
    said.collect()
}

/// Returns the table of means.
fn means(sides: &[Side<(String, f64, f64)>]) -> Vec<Item> {
    type Mean<'a> = (&'a Side<(String, f64, f64)>, &'a (String, f64, f64));
    let rows: Vec<Mean<'_>> = sides
        .iter()
        .flat_map(|side| side.variants.iter().map(move |variant| (side, variant)))
        .collect();
    let fields = [
        field::name("metric", "metric", |(side, _): &Mean<'_>| &side.metric),
        field::name("variant", "variant", |(_, (name, ..))| name),
        field::cell("mean", "mean", |(side, (_, mean, _))| {
            Cell::Quantity(*mean, side.unit.clone())
        }),
        field::cell("deviation", "deviation", |(side, (.., deviation))| {
            Cell::Quantity(*deviation, side.unit.clone())
        }),
    ];
    vec![Item::table("", "", Table::of(&rows, fields))]
}

/// Returns what a reader wants to know first: about every metric where that is little, else about the
/// first.
fn sentences(all: &[Comparisons]) -> Vec<String> {
    let sentences: Vec<String> = all.iter().flat_map(Comparisons::answers).collect();
    match sentences.len() <= SENTENCES_MAX {
        true => sentences,
        false => all.first().map(Comparisons::answers).unwrap_or_default(),
    }
}

/// Returns the first count of each variant where nothing else answers.
fn counted(outcome: &Outcome, answer: &CompareAnswer) -> Vec<String> {
    let is_answered = !answer.document.answers.is_empty();
    let Some(metric) = outcome.counts().next().filter(|_| !is_answered) else { return Vec::new() };
    let point = &outcome.plan.design.points[0];
    let groups = outcome.groups(&metric.key, point);
    let values: Vec<String> = groups
        .iter()
        .map(|group| format!("{} {}", group.name, human(group.values[0], &metric.unit)))
        .collect();
    let at = match point.is_empty() {
        true => String::new(),
        false => format!(" at {} {point}", outcome.plan.design.point_name),
    };
    vec![format!("{}{at}: {}.", upper_first(&metric.name), values.join(", "))]
}

fn counts(outcome: &Outcome) -> Vec<Count> {
    let mut counts = Vec::new();
    for metric in outcome.counts() {
        for point in &outcome.plan.design.points {
            counts.extend(outcome.groups(&metric.key, point).into_iter().map(|group| Count {
                metric: metric.name.clone(),
                unit: metric.unit.clone(),
                variant: group.name,
                point: point.clone(),
                value: group.values[0],
            }));
        }
    }
    counts
}

/// Returns the section of the metrics that are the same in every run, and that of what cannot be compared yet.
fn value_sections(outcome: &Outcome, sides: &[MetricComparisons]) -> Vec<Section> {
    let table = |metrics: Vec<&Metric>| vec![Item::table("", "", by_variant(outcome, &metrics))];
    let mut sections = Vec::new();
    if sides.is_empty() {
        let how = "There is nothing to compare: it takes two variants, and two runs of each.";
        let medians =
            Section::first("medians", "Medians of the runs", table(outcome.samples().collect()));
        sections.push(medians.with_method(how));
    }
    let counts = table(outcome.counts().collect());
    let how = "These follow from the input alone and are the same in every run, so there is no test to make.";
    let counts = match sides.is_empty() {
        true => Section::first("counts", "", counts),
        false => Section::named("counts", "The same in every run", counts),
    };
    sections.push(counts.with_method(how));
    sections
}

/// Returns the medians of `metrics` with a column for each variant.
fn by_variant(outcome: &Outcome, metrics: &[&Metric]) -> Table {
    let design = &outcome.plan.design;
    let rows = metrics.iter().flat_map(|metric| design.points.iter().map(move |p| (*metric, p)));
    let rows: Vec<(&Metric, &String)> = rows.collect();
    let mut fields = vec![
        field::name("metric", "metric", |(metric, _): &(&Metric, &String)| &metric.name),
        field::name("unit", "unit", |(metric, _): &(&Metric, &String)| &metric.unit).as_data(),
    ];
    if !design.point_name.is_empty() {
        fields.push(field::name(&design.point_name, "point", |(_, point)| point));
    }
    for variant in &design.variants {
        fields.push(field::by(variant, variant, move |(metric, point): &(&Metric, &String)| {
            let mut values: Vec<f64> =
                outcome.values(&metric.key, variant, point).into_values().collect();
            match values.is_empty() {
                true => Cell::Missing,
                false => Cell::Quantity(median(&mut values), metric.unit.clone()),
            }
        }));
    }
    Table::of_fields(&rows, fields)
}

fn rows(outcome: &Outcome) -> Table {
    let point_name = &outcome.plan.design.point_name;
    let mut fields = vec![field::name("variant", "variant", |row: &Row| &row.variant)];
    if !point_name.is_empty() {
        fields.push(field::cell(point_name, "point", |row| match row.point.parse() {
            Ok(number) => Cell::Quantity(number, String::new()),
            Err(_) => Cell::text(&row.point),
        }));
    }
    fields.push(field::count("round", "round", |row| row.round as u64 + 1));
    for Metric { key, name, unit, .. } in &outcome.plan.metrics {
        let quantity = |value: &f64| Cell::Quantity(*value, unit.clone());
        let cell = move |row: &Row| row.values.get(key).map_or(Cell::Missing, quantity);
        fields.push(field::by(name, key, cell));
    }
    let load = |row: &Row| Cell::Quantity(row.load, String::new());
    fields.push(field::cell("load of the machine", "load", load));
    Table::of_fields(&outcome.rows, fields)
}

fn facts(outcome: &Outcome) -> Vec<Fact> {
    let plan = &outcome.plan;
    let mut facts = vec![
        Fact::new("result", &outcome.name),
        Fact::new("engine", plan.engine.to_string()),
        Fact::new("rounds", plan.design.rounds.to_string()),
        Fact::new("order", format!("random within each round, seed {}", plan.seed)),
        Fact::new("warm-up rounds, not counted", plan.design.warmups.to_string()),
    ];
    facts.extend(
        plan.params.iter().map(|(key, value)| Fact::new(format!("parameter {key}"), value)),
    );
    facts.extend(plan.input.iter().map(|input| Fact::new("input", input.display().to_string())));
    facts.extend(machine(&plan.environment));
    facts.extend(guests(outcome));
    facts
}

/// Returns what is known of a machine, without what is not.
fn machine(environment: &Environment) -> Vec<Fact> {
    let Environment { host, cpu, cpus, kernel, governor, commit, slablab } = environment;
    let facts = [
        ("host", host.clone()),
        ("processor", if *cpus > 0 { format!("{cpu}, {cpus} online") } else { cpu.clone() }),
        ("kernel", kernel.clone()),
        ("frequency governor", governor.clone()),
        ("git revision of the working folder", commit.clone()),
        ("slablab", slablab.clone()),
    ];
    facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| Fact::new(name, value))
        .collect()
}

/// Returns what is known of the guests, where there were any.
pub(crate) fn guests(outcome: &Outcome) -> Vec<Fact> {
    let Some(first) = outcome.rows.iter().find(|row| row.detail["accelerator"].is_string()) else {
        return Vec::new();
    };
    let mut facts = vec![accelerator(first)];
    for variant in &outcome.plan.design.variants {
        let row = outcome.rows.iter().find(|row| row.variant == *variant);
        facts.extend(row.map(|row| Fact::new(format!("kernel of {variant}"), kernel(row))));
    }
    facts
}

/// Returns how the guest of a row ran.
pub(super) fn accelerator(row: &Row) -> Fact {
    let text = format!("{} ({})", detail(row, "accelerator"), detail(row, "accelerator_why"));
    Fact::new("guests ran under", text)
}

/// Returns what is known of the kernel of a row.
pub(super) fn kernel(row: &Row) -> String {
    let [release, build, compiler, configuration, arguments] =
        ["kernel", "build", "compiler", "configuration", "arguments"].map(|key| detail(row, key));
    let parts = [format!("Linux {release}"), format!("build {build}"), compiler, configuration];
    let known = parts.into_iter().filter(|part| !part.is_empty());
    format!("{} {arguments}", known.collect::<Vec<_>>().join(", ")).trim_end().to_owned()
}

/// Returns a detail of a row as text, empty where it has none.
fn detail(row: &Row, key: &str) -> String {
    match &row.detail[key] {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(list) => {
            list.iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}
