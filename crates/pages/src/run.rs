//! The report of a run of an experiment.

use slablab_report::{
    AxisScale, BarGroup, Bars, Cell, Document, Fact, Group, Item, Lines, Plot, Point, Section,
    Series, Table, field, human,
};
use slablab_stats::{Bootstrap, Question, Summary, median_interval};

use slablab_lab::{
    Environment, Metric, MetricComparisons, Outcome, Result, Row, compare_variants, find,
};

use crate::VERDICTS;
use crate::pair::{in_order, strip};

/// Each point gets a plot of its samples up to so many points; more are a line.
const STRIPS_MAX: usize = 8;

/// Makes the report of a run, with each variant against `baseline` or else the first.
///
/// # Errors
///
/// If there is no such variant, or the numbers allow no comparison.
pub fn run(outcome: &Outcome, baseline: Option<&str>, question: &Question) -> Result<Document> {
    let plan = &outcome.plan;
    let sides = compare_variants(outcome, baseline, question)?;
    let mut sections: Vec<Section> = Vec::new();
    for metric in outcome.samples() {
        let side = sides.iter().find(|side| side.metric == *metric);
        sections.push(sampled(outcome, metric, side));
    }
    sections.extend(exact(outcome));
    // A result of an experiment that this version no longer has still shows its numbers.
    if let Ok(experiment) = find(&plan.experiment) {
        sections.extend(experiment.sections(outcome));
    }
    sections.push(Section::new(
        "Every row",
        "raw.jsonl as it was written, without warm-ups.",
        vec![Item::table("Rows", "", rows(outcome))],
    ));
    Ok(Document {
        title: format!("{}: {}", plan.experiment, plan.design.variants.join(", ")),
        question: plan.question.clone(),
        answers: answers(outcome, &sides),
        sections,
        facts: facts(outcome),
        ..Document::default()
    })
}

fn answers(outcome: &Outcome, sides: &[MetricComparisons]) -> Vec<String> {
    let mut answers: Vec<String> =
        sides.first().map(|side| side.comparisons.answers()).unwrap_or_default();
    let exact = outcome.counts().next();
    if let (true, Some(metric)) = (answers.is_empty(), exact) {
        let point = &outcome.plan.design.points[0];
        answers.extend(outcome.groups(&metric.key, point).iter().map(|group| {
            let value = human(group.values[0], &metric.unit);
            format!("{}: {} {value}", group.name, metric.name)
        }));
    }
    answers.extend(outcome.remarks());
    answers
}

/// Makes the section of a metric that differs from run to run.
fn sampled(outcome: &Outcome, metric: &Metric, side: Option<&MetricComparisons>) -> Section {
    let design = &outcome.plan.design;
    let mut items = Vec::new();
    match side {
        Some(side) => {
            items.push(Item::Comparisons(side.comparisons.clone()));
            items.extend(side.comparisons.effects().map(Item::Plot));
        }
        None => {
            let nothing = "One run a variant: there is nothing to compare yet.";
            items.push(Item::Text(nothing.to_owned()));
        }
    }
    items.extend(scaling(outcome, metric));
    if design.points.len() <= STRIPS_MAX {
        for point in &design.points {
            let groups = outcome.groups(&metric.key, point);
            let at = match point.is_empty() {
                true => String::new(),
                false => format!(", {} {point}", design.point_name),
            };
            let has_order = groups.iter().any(|group| group.values.len() > 2);
            let in_order = has_order.then(|| in_order(&metric.name, &metric.unit, &groups));
            let strip = strip(&metric.name, &metric.unit, &at, groups);
            items.extend([strip].into_iter().chain(in_order).map(Item::Plot));
        }
    }
    Section::new(upper_first(&metric.name), VERDICTS, items)
}

/// Makes the lines of medians over the points: over the last component of points that have several, as `groups, CPUs`
/// have, with a plot for each value of the others. A single point gets no plot.
fn scaling(outcome: &Outcome, metric: &Metric) -> Vec<Item> {
    let design = &outcome.plan.design;
    let split = |text: &str| match text.rsplit_once(", ") {
        Some((panel, last)) => (panel.to_owned(), last.to_owned()),
        None => (String::new(), text.to_owned()),
    };
    let (panel_name, x_name) = split(&design.point_name);
    let mut panels: Vec<(String, Vec<&String>)> = Vec::new();
    for point in &design.points {
        let (panel, _) = split(point);
        match panels.iter_mut().find(|(name, _)| *name == panel) {
            Some((_, points)) => points.push(point),
            None => panels.push((panel, vec![point])),
        }
    }
    let plot = |(panel, points): &(String, Vec<&String>)| {
        let at = if panel.is_empty() { String::new() } else { format!(", {panel} {panel_name}") };
        let title = format!("{} by {x_name}{at}", upper_first(&metric.name));
        let x = |at: usize, point: &str| split(point).1.parse().unwrap_or(at as f64);
        lines(outcome, metric, title, &x_name, points, &x)
    };
    let of_several = |(_, points): &&(String, Vec<&String>)| points.len() > 1;
    panels.iter().filter(of_several).map(|panel| plot(panel).into()).collect()
}

/// Makes one plot of medians over `points`, each where `x` places it.
fn lines(
    outcome: &Outcome,
    metric: &Metric,
    title: String,
    x_name: &str,
    points: &[&String],
    x: &dyn Fn(usize, &str) -> f64,
) -> Plot {
    let bootstrap = Bootstrap { resamples: 2_000, ..Bootstrap::default() };
    let place = |variant: &str, at: usize, point: &str| {
        let values: Vec<f64> = outcome.values(&metric.key, variant, point).into_values().collect();
        let spread = median_interval(&values, &bootstrap).ok().map(|i| (i.low, i.high));
        Some(Point { x: x(at, point), y: Summary::of(&values).ok()?.median, spread })
    };
    let series = outcome.plan.design.variants.iter().map(|variant| Series {
        name: variant.clone(),
        points: points
            .iter()
            .enumerate()
            .filter_map(|(at, point)| place(variant, at, point))
            .collect(),
    });
    let series: Vec<Series> = series.collect();
    let all = || series.iter().flat_map(|s| &s.points);
    let spans = |least: f64, most: f64| least > 0.0 && most / least >= 16.0;
    let (x_low, x_high) = all().fold((f64::INFINITY, 0.0f64), |(l, h), p| (l.min(p.x), h.max(p.x)));
    let (y_low, y_high) = all().fold((f64::INFINITY, 0.0f64), |(l, h), p| (l.min(p.y), h.max(p.y)));
    let lines = Lines {
        x: (x_name.to_owned(), String::new()),
        y: (metric.name.clone(), metric.unit.clone()),
        x_scale: if spans(x_low, x_high) { AxisScale::Log2 } else { AxisScale::Linear },
        y_scale: if spans(y_low, y_high) { AxisScale::Log10 } else { AxisScale::FromZero },
        series,
    };
    Plot::new(title, "Median of the runs; bars: its 95 % bootstrap interval.", lines)
}

/// Makes the section of the metrics that are the same in every run.
fn exact(outcome: &Outcome) -> Option<Section> {
    let design = &outcome.plan.design;
    let metrics: Vec<&Metric> = outcome.counts().collect();
    if metrics.is_empty() {
        return None;
    }
    let mut items = Vec::new();
    for metric in &metrics {
        let lines = scaling(outcome, metric);
        if !lines.is_empty() {
            items.extend(lines);
            continue;
        }
        let groups = outcome.groups(&metric.key, &design.points[0]);
        let bars = groups.iter().map(|group: &Group| BarGroup {
            name: group.name.clone(),
            bars: vec![(group.name.clone(), group.values[0])],
        });
        let bars = Bars {
            label: "variant".to_owned(),
            quantity: (metric.name.clone(), metric.unit.clone()),
            groups: bars.collect(),
        };
        items.push(Plot::new(upper_first(&metric.name), "", bars).into());
    }
    Some(Section::new(
        "Counts",
        "These follow from the input alone and are the same in every run, so there is no test to make.",
        items,
    ))
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
fn guests(outcome: &Outcome) -> Vec<Fact> {
    let detail = |row: &Row, key: &str| match &row.detail[key] {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(list) => {
            list.iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    };
    let Some(first) = outcome.rows.iter().find(|row| row.detail["accelerator"].is_string()) else {
        return Vec::new();
    };
    let mut facts = vec![Fact::new(
        "guests ran under",
        format!("{} ({})", detail(first, "accelerator"), detail(first, "accelerator_why")),
    )];
    for variant in &outcome.plan.design.variants {
        let row = outcome.rows.iter().find(|row| row.variant == *variant);
        facts.extend(row.map(|row| {
            let [release, build, compiler, arguments] =
                ["kernel", "build", "compiler", "arguments"].map(|key| detail(row, key));
            let text = format!("Linux {release}, build {build}, {compiler} {arguments}");
            Fact::new(format!("kernel of {variant}"), text.trim_end())
        }));
    }
    facts
}

pub(crate) fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
