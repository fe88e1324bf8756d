//! The page of an advice: what each change would save, how the objects would lie, and why.

use slablab_replay::{Advice, AdviceList, Allocator, Change, Layout, Moment, WhatIf};
use slablab_report::{
    BarGroup, Bars, Column, DataTable, Document, Fact, Item, Plot, Section, Value, Waterfall, human,
};

use crate::trace::facts;
use crate::{Sources, whatif};

/// So many changes have bars; the table has all.
const BARS_MAX: usize = 16;

/// The trace with every advised cache at once, and the objects of the best.
#[derive(Debug)]
pub struct Together {
    /// The whole trace, as recorded and with the caches
    pub what_if: WhatIf,
    /// The moment when the recorded machine held most
    pub moment: Moment,
    /// The call site whose objects were watched
    pub best: String,
}

/// Makes the page of the advice on the trace in `file`.
#[must_use]
pub fn advise(
    file: &str,
    list: &AdviceList,
    together: Option<&Together>,
    sources: &Sources,
) -> Document {
    let useful: Vec<_> = list.useful().collect();
    let mut facts = facts(&list.trace, file);
    facts.extend([
        Fact::new("allocator", &list.allocator),
        Fact::new("held at peak, as recorded", human(list.held_bytes_peak as f64, "B")),
        Fact::new("kmalloc call sites", list.sites.to_string()),
        Fact::new("of these with less than a page at any time", list.sites_too_small.to_string()),
    ]);
    // Caches that only gather have no step.
    let saved = together.map(|together| saved(&useful, together));
    let saved = saved.filter(|waterfall| !waterfall.steps.is_empty());
    let saved = saved.map(|waterfall| Item::Plot(Plot::Waterfall(waterfall)));
    let walks = Some(walks(&useful)).filter(|bars| !bars.groups.is_empty());
    let walks = walks.map(|bars| Item::Plot(Plot::Bars(bars)));
    let mut items: Vec<Item> = saved.into_iter().chain(walks).collect();
    items.extend([table(&list.advice), reasons(&list.advice)].map(Item::Table));
    let changes = Section {
        title: "What each change would do".to_owned(),
        method: "Each was tried by replaying the part of the trace that it can touch.".to_owned(),
        items,
    };
    let objects = together.map(|together| {
        let how = format!(
            "Those of {}, the best of the call sites, at that of eight snapshots with most of them.",
            together.best
        );
        whatif::objects(&together.what_if, &how)
    });
    let flame = sources.flame("as recorded", &list.recorded);
    let source = Section {
        title: "Where the waste comes from".to_owned(),
        method: String::new(),
        items: flame.into_iter().chain(sources.missing()).collect(),
    };
    let sections = [Some(changes), objects, Some(source)].into_iter().flatten();
    Document {
        title: format!("Call sites of {file} worth a cache of their own, under {}", list.allocator),
        question: "Which call site should have its own cache, and what would it change?".to_owned(),
        answers: answers(&useful),
        sections: sections.filter(|section| !section.items.is_empty()).collect(),
        facts,
    }
}

fn answers(useful: &[&Advice]) -> Vec<String> {
    if useful.is_empty() {
        let nothing = "No change is worth making: none saves a page of memory or improves the locality of objects.";
        return vec![nothing.to_owned()];
    }
    let sentence = |advice: &&Advice| format!("{}: {}", advice.subject, advice.reason);
    useful.iter().take(5).map(sentence).collect()
}

fn name(advice: &Advice) -> String {
    match &advice.change {
        Change::Dedicate { .. } => advice.subject.clone(),
        class @ Change::Class { .. } => format!("{}, {class}", advice.subject),
    }
}

/// Returns what each advised cache would save, down to what all of them together leave.
fn saved(useful: &[&Advice], together: &Together) -> Waterfall {
    let sites = useful.iter().filter(|a| matches!(a.change, Change::Dedicate { .. }));
    let steps = sites.map(|a| (a.subject.clone(), -a.saved_bytes_at_peak as f64)).collect();
    let held = |allocator: &Allocator| allocator.held_bytes.end as f64;
    let (before, after) = (&together.moment.before, &together.moment.after);
    Waterfall {
        title: "Bytes held at the peak, by call site that gets a cache".to_owned(),
        how: "Each step is what that cache saves alone. The last bar is a replay with all of them; the difference to the \
              sum of the steps is in the step of the others."
            .to_owned(),
        label: "call site".to_owned(),
        quantity: ("held".to_owned(), "B".to_owned()),
        ..Waterfall::new(("as recorded", held(before)), ("all of them", held(after)), steps)
    }
}

fn walks(useful: &[&Advice]) -> Bars {
    let sites = useful.iter().filter(|a| matches!(a.change, Change::Dedicate { .. }));
    let gathers = sites.filter(|a| a.before.lines_per_walk != a.after.lines_per_walk);
    let group = |advice: &&Advice| BarGroup {
        name: name(advice),
        bars: vec![
            ("as recorded".to_owned(), advice.before.lines_per_walk as f64),
            ("changed".to_owned(), advice.after.lines_per_walk as f64),
        ],
    };
    Bars {
        title: "Cache lines that a walk over all objects touches".to_owned(),
        how: "With as many objects alive as at the peak.".to_owned(),
        label: "call site or class".to_owned(),
        quantity: ("cache lines".to_owned(), String::new()),
        groups: gathers.take(BARS_MAX).map(group).collect(),
    }
}

fn table(advice: &[Advice]) -> DataTable {
    let columns = [
        ("call site or class", ""),
        ("change", ""),
        ("object", "B"),
        ("slot", "B"),
        ("live, peak", ""),
        ("saved, peak", "B"),
        ("saved, mean", "B"),
        ("cache lines per walk", ""),
        ("after", ""),
        ("fast path", ""),
        ("after", ""),
        ("verdict", ""),
    ];
    let row = |advice: &Advice| {
        // The objects of a class are in no one list that code walks.
        let lines = |layout: Layout| match advice.change {
            Change::Dedicate { .. } => Value::Number(layout.lines_per_walk as f64),
            Change::Class { .. } => Value::Missing,
        };
        vec![
            Value::text(&advice.subject),
            Value::Text(advice.change.to_string()),
            Value::Number(advice.object_bytes as f64),
            Value::Number(advice.class_bytes as f64),
            Value::Number(advice.live_peak as f64),
            Value::Number(advice.saved_bytes_at_peak as f64),
            Value::Number(advice.saved_bytes_mean as f64),
            lines(advice.before),
            lines(advice.after),
            Value::Share(advice.fast_share_before),
            Value::Share(advice.fast_share_after),
            Value::Text(advice.worth.to_string()),
        ]
    };
    DataTable {
        title: "Every change that was tried".to_owned(),
        how: "Changes worth making come first; both parts are in the order of the bytes saved at the peak. Slot: what \
              kmalloc allocates for an object. Walk: over all objects alive at the peak."
            .to_owned(),
        columns: columns.map(|(head, unit)| Column::new(head, unit)).to_vec(),
        rows: advice.iter().map(row).collect(),
    }
}

fn reasons(advice: &[Advice]) -> DataTable {
    let row = |advice: &Advice| {
        vec![
            Value::Text(name(advice)),
            Value::text(&advice.reason),
            advice.caveat.as_ref().map_or(Value::Missing, Value::text),
        ]
    };
    DataTable {
        title: "Reasons, and what speaks against each change".to_owned(),
        how: "In the same order.".to_owned(),
        columns: ["call site or class", "reason", "caveat"]
            .map(|head| Column::new(head, ""))
            .to_vec(),
        rows: advice.iter().map(row).collect(),
    }
}
