//! The page of an advice: what each change would save, how the objects would lie, and why.

use slablab_replay::{Advice, AdviceList, Allocator, Change, Moment, WhatIf};
use slablab_report::{
    BarGroup, Bars, Cell, Document, Fact, Item, Plot, Section, Table, Waterfall, field, human,
};

use crate::trace::facts;
use crate::{Sources, tables, whatif};

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
    let plots = saved.into_iter().chain([walks(&useful)]).filter(|plot| !plot.is_empty());
    let all: Vec<&Advice> = list.advice.iter().collect();
    let how = "Changes worth making come first; both parts are in the order of the bytes saved at the peak. Slot: what \
               kmalloc allocates for an object. Lines/walk: cache lines that a walk over all objects alive at the peak touches.";
    let table = Item::table("Every change that was tried", how, tables::advice(&all));
    let items = plots.map(Item::Plot).chain([table, reasons(&list.advice)]).collect();
    let changes = Section::new(
        "What each change would do",
        "Each was tried by replaying the part of the trace that it can touch.",
        items,
    );
    let objects = together.map(|together| {
        let how = format!(
            "Those of {}, the best of the call sites, at that of eight snapshots with most of them.",
            together.best
        );
        whatif::objects(&together.what_if, &how)
    });
    let flame = sources.flame("as recorded", &list.recorded);
    let source = Section::new(
        "Where the waste comes from",
        "",
        flame.into_iter().chain(sources.missing()).collect(),
    );
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
fn saved(useful: &[&Advice], together: &Together) -> Plot {
    let sites = useful.iter().filter(|a| matches!(a.change, Change::Dedicate { .. }));
    let steps = sites.map(|a| (a.subject.clone(), -a.saved_bytes_at_peak as f64)).collect();
    let held = |allocator: &Allocator| allocator.held_bytes.end as f64;
    let (before, after) = (&together.moment.before, &together.moment.after);
    let waterfall = Waterfall {
        label: "call site".to_owned(),
        quantity: ("held".to_owned(), "B".to_owned()),
        ..Waterfall::new(("as recorded", held(before)), ("all of them", held(after)), steps)
    };
    let how = "Each step is what that cache saves alone. The last bar is a replay with all of them; the difference to the \
               sum of the steps is in the step of the others.";
    Plot::new("Bytes held at the peak, by call site that gets a cache", how, waterfall)
}

fn walks(useful: &[&Advice]) -> Plot {
    let sites = useful.iter().filter(|a| matches!(a.change, Change::Dedicate { .. }));
    let gathers = sites.filter(|a| a.before.lines_per_walk != a.after.lines_per_walk);
    let group = |advice: &&Advice| BarGroup {
        name: name(advice),
        bars: vec![
            ("as recorded".to_owned(), advice.before.lines_per_walk as f64),
            ("changed".to_owned(), advice.after.lines_per_walk as f64),
        ],
    };
    let bars = Bars {
        label: "call site or class".to_owned(),
        quantity: ("cache lines".to_owned(), String::new()),
        groups: gathers.take(BARS_MAX).map(group).collect(),
    };
    let how = "With as many objects alive as at the peak.";
    Plot::new("Cache lines that a walk over all objects touches", how, bars)
}

fn reasons(advice: &[Advice]) -> Item {
    let fields = [
        field::text("call site or class", "subject", name),
        field::name("reason", "reason", |a| &a.reason),
        field::cell("caveat", "caveat", |a| a.caveat.as_ref().map_or(Cell::Missing, Cell::text)),
    ];
    let title = "Reasons, and what speaks against each change";
    Item::table(title, "In the same order.", Table::of(advice, fields))
}
