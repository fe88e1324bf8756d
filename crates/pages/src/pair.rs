//! The report of two columns of numbers.

use slablab_lab::Pair;
use slablab_report::{
    AxisScale, Comparisons, Document, Fact, Group, Item, Lines, Plot, Point, Section, Series, Strip,
};

use crate::VERDICTS;

/// Makes the report of two samples from `file` that were compared as `table` says.
pub fn pair(pair: &Pair, table: &Comparisons, file: &str) -> Document {
    let groups = vec![pair.baseline.clone(), pair.candidate.clone()];
    let mut items = vec![Item::Comparisons(table.clone())];
    items.extend(table.effects().map(Item::Plot));
    let in_order = in_order(&table.metric, &table.unit, &groups);
    items.extend([strip(&table.metric, &table.unit, "", groups), in_order].map(Item::Plot));
    Document {
        title: format!("{} against {}", pair.candidate.name, pair.baseline.name),
        question: format!("Is there a difference in {}?", table.metric),
        answers: table.sentences(),
        sections: vec![Section {
            title: "Comparison".to_owned(),
            method: VERDICTS.to_owned(),
            items,
            ..Section::default()
        }],
        facts: vec![Fact::new("file", file)],
        ..Document::default()
    }
}

/// Makes the plot of every sample.
pub(crate) fn strip(metric: &str, unit: &str, at: &str, groups: Vec<Group>) -> Plot {
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
pub(crate) fn in_order(metric: &str, unit: &str, groups: &[Group]) -> Plot {
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
