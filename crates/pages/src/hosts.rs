//! The report of variants compared within each of several hosts.

use std::collections::BTreeSet;

use slablab_lab::{ComparedResults, HostChanges, MetricComparisons, Outcome};
use slablab_report::{Document, Fact, Group, Item, Plot, Section, Strip};

use crate::VERDICTS;
use crate::run::upper_first;

/// Makes the report of `outcomes`, whose hosts were compared as `across` says.
pub fn hosts(outcomes: &[Outcome], across: &ComparedResults) -> Document {
    let of_metric = |side: &MetricComparisons| {
        let changes = across.hosts.iter().filter(|changes| changes.metric == side.metric.key);
        let mut items = vec![Item::Comparisons(side.comparisons.clone())];
        items.extend(side.comparisons.effects().map(Item::Plot));
        items.extend(changes.map(|changes| Item::Plot(points(&side.metric.name, changes))));
        Section::new(upper_first(&side.metric.name), VERDICTS, items)
    };
    let names: BTreeSet<&str> = outcomes.iter().flat_map(Outcome::hosts).collect();
    let names = names.into_iter().collect::<Vec<_>>();
    let answers = across.sides.iter().flat_map(|side| side.comparisons.sentences());
    let results = outcomes.iter().map(|outcome| Fact::new("result", &outcome.name));
    Document {
        title: format!("{} hosts: {}", names.len(), names.join(", ")),
        question: outcomes.first().map(|first| first.plan.question.clone()).unwrap_or_default(),
        answers: answers.chain(across.remarks.iter().cloned()).collect(),
        sections: across.sides.iter().map(of_metric).collect(),
        facts: results.collect(),
        ..Document::default()
    }
}

/// Makes the plot of every round's change, by host.
fn points(metric: &str, changes: &HostChanges) -> Plot {
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
