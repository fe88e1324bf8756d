//! The plots of measurements: every sample, medians over the points, effects, and the changes on each host.

use slablab_lab::{ComparedResults, HostChanges, Metric, MetricComparisons, Outcome, Pair};
use slablab_report::{
    AxisScale, BarGroup, Bars, Comparisons, Group, Item, Lines, Plot, Point, Section, Series, Strip,
};
use slablab_stats::{Bootstrap, Summary, median_interval};

use crate::output::upper_first;

/// Up to this many points each gets a plot of its samples; more are a line.
const STRIPS_MAX: usize = 8;

/// Makes the plots of two samples that were compared as `comparisons` says.
pub(super) fn of_pair(pair: &Pair, comparisons: &Comparisons) -> Vec<Item> {
    let groups = vec![pair.baseline.clone(), pair.candidate.clone()];
    let Comparisons { metric, unit, .. } = comparisons;
    let in_order = in_order(metric, unit, &groups);
    let effects = comparisons.effects().into_iter();
    effects.chain([strip(metric, unit, "", groups), in_order]).map(Item::Plot).collect()
}

/// Makes the plots of a metric that differs from run to run.
pub(super) fn of_metric(
    outcome: &Outcome,
    metric: &Metric,
    side: Option<&MetricComparisons>,
) -> Vec<Item> {
    let design = &outcome.plan.design;
    let mut items: Vec<Item> = match side {
        Some(side) => side.comparisons.effects().map(Item::Plot).into_iter().collect(),
        None => {
            vec![Item::Text("One run a variant: there is nothing to compare yet.".to_owned())]
        }
    };
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
    items
}

/// Makes the plots of a metric whose comparisons are over several results.
pub(super) fn of_hosts(side: &MetricComparisons, across: &ComparedResults) -> Vec<Item> {
    let changes = across.hosts.iter().filter(|changes| changes.metric == side.metric.key);
    let changes = changes.map(|changes| change_by_host(&side.metric.name, changes));
    side.comparisons.effects().into_iter().chain(changes).map(Item::Plot).collect()
}

/// Makes the plot of every round's change, by host.
fn change_by_host(metric: &str, changes: &HostChanges) -> Plot {
    let HostChanges { candidate, point, changes_percent, .. } = changes;
    let at = if point.is_empty() { String::new() } else { format!(", {point}") };
    let groups = changes_percent
        .iter()
        .map(|(host, values)| Group { name: host.clone(), values: values.clone() });
    Plot::new(
        format!("Change on each host: {metric} of {candidate}{at}"),
        "One mark a round: the candidate against the baseline of the same round on the same host. Box: quartiles; thick line: \
         median; hollow: outliers by the median absolute deviation.",
        Strip {
            label: "host".to_owned(),
            quantity: "change".to_owned(),
            unit: "%".to_owned(),
            groups: groups.collect(),
        },
    )
}

/// Makes the section with the plots of the metrics that are the same in every run.
pub(super) fn of_counts(outcome: &Outcome) -> Option<Section> {
    let design = &outcome.plan.design;
    let mut items = Vec::new();
    for metric in outcome.counts() {
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
    (!items.is_empty()).then(|| Section::page("plots", "Counts", items))
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

/// Makes the plot of every sample.
pub(super) fn strip(metric: &str, unit: &str, at: &str, groups: Vec<Group>) -> Plot {
    Plot::new(
        format!("Every run: {metric}{at}"),
        "One mark a run. Box: quartiles; thick line: median; hollow: outliers by the median absolute deviation.",
        Strip {
            label: "variant".to_owned(),
            quantity: metric.to_owned(),
            unit: unit.to_owned(),
            groups,
        },
    )
}

/// Makes the line plot of the samples in the order in which they were taken: a drift shows here.
fn in_order(metric: &str, unit: &str, groups: &[Group]) -> Plot {
    let series = groups.iter().map(|group| Series {
        name: group.name.clone(),
        points: group
            .values
            .iter()
            .zip(1u32..)
            .map(|(y, i)| Point { x: f64::from(i), y: *y, spread: None })
            .collect(),
    });
    let lines = Lines {
        x: ("run".to_owned(), String::new()),
        y: (metric.to_owned(), unit.to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::Linear,
        series: series.collect(),
    };
    let how = "A slope or a step that all lines share is the machine's, not the variants'.";
    Plot::new(format!("In the order of the runs: {metric}"), how, lines)
}
