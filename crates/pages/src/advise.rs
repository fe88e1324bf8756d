//! The page of an advice: what each change would save, how the objects would lie, and why.

use slablab_replay::{Advice, AdviceList, Allocator, Change, WhatIf, Worth};
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
    let of = |worth: Worth| -> Vec<&Advice> {
        list.advice.iter().filter(|advice| advice.worth == worth).collect()
    };
    let (saving, gathering) = (of(Worth::SavesMemory), of(Worth::ImprovesLocality));
    let rest: Vec<_> = list.advice.iter().filter(|advice| !advice.worth.is_useful()).collect();
    let mut facts = facts(&list.trace, file);
    facts.extend([
        Fact::new("allocator", &list.allocator),
        Fact::new("held at peak, as recorded", human(list.held_bytes_peak as f64, "B")),
        Fact::new("kmalloc call sites", list.sites.to_string()),
        Fact::new("of these with less than a page at any time", list.sites_too_small.to_string()),
    ]);
    let steps = together.map(|together| saved(&saving, together));
    let saving_plots = steps.into_iter().chain([walks(&saving)]).collect();
    let changes = [
        changes(
            "Worth making, by memory saved at the peak",
            "Each change was tried by replaying the part of the trace that it can touch.",
            saving_plots,
            &saving,
        ),
        changes(
            "Closer together, for little or no memory",
            "These caches bring objects closer together that are scattered now. Whether code walks over them, only its \
             author knows.",
            vec![walks(&gathering)],
            &gathering,
        ),
        changes("Tried, and not worth making", "", Vec::new(), &rest),
    ];
    let objects = together.map(|together| {
        let how = format!(
            "Those of {}, the best of the call sites, in the one of eight snapshots that has most of them.",
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
    let sections = changes.into_iter().chain(objects).chain([source]);
    Document {
        title: format!("Call sites of {file} worth a cache of their own, under {}", list.allocator),
        question: "Which call site should have its own cache, and what would it change?".to_owned(),
        answers: answers(&saving, &gathering),
        sections: sections.filter(|section| !section.items.is_empty()).collect(),
        facts,
        ..Document::default()
    }
}

/// Returns the section of changes of one kind: plots of what they do, the numbers and the reasons of each.
fn changes(title: &str, method: &str, plots: Vec<Plot>, advice: &[&Advice]) -> Section {
    if advice.is_empty() {
        return Section::new(title, method, Vec::new());
    }
    let how = "Slot: what kmalloc allocates for an object. Lines/walk: cache lines that a walk over all objects \
               touches, in the one of eight snapshots that has most of them.";
    let table = Item::table("Numbers", how, tables::advice(advice));
    let plots = plots.into_iter().filter(|plot| !plot.is_empty()).map(Item::Plot);
    Section::new(title, method, plots.chain([table, reasons(advice)]).collect())
}

fn answers(saving: &[&Advice], gathering: &[&Advice]) -> Vec<String> {
    let sentence = |advice: &&Advice| format!("{}: {}", advice.subject, advice.reason);
    let mut answers: Vec<String> = saving.iter().take(5).map(sentence).collect();
    if answers.is_empty() {
        answers.push("No change saves memory that is worth a patch.".to_owned());
    }
    let names: Vec<_> = gathering.iter().take(5).map(|advice| advice.subject.as_str()).collect();
    answers.extend(match gathering.len() {
        0 => None,
        1 => {
            Some(format!("A cache of its own brings the objects of {} closer together.", names[0]))
        }
        n => Some(format!(
            "{n} bring scattered objects closer together, first {}.",
            names.join(", ")
        )),
    });
    answers
}

fn name(advice: &Advice) -> String {
    match &advice.change {
        Change::Dedicate { .. } => advice.subject.clone(),
        class @ Change::Class { .. } => format!("{}, {class}", advice.subject),
    }
}

/// Returns what each advised cache would save, down to what all of them together leave.
fn saved(saving: &[&Advice], together: &Together) -> Plot {
    let sites = saving.iter().filter(|a| matches!(a.change, Change::Dedicate { .. }));
    let steps = sites.map(|a| (a.subject.clone(), -a.saved_bytes_at_peak as f64)).collect();
    let held =
        |allocators: &[Allocator]| allocators.first().map_or(0.0, |a| a.held_bytes.peak as f64);
    let (before, after) = (&together.what_if.before, &together.what_if.after);
    let (before, after) = (held(&before.allocators), held(&after.allocators));
    let waterfall = Waterfall {
        label: "call site".to_owned(),
        quantity: ("held".to_owned(), "B".to_owned()),
        ..Waterfall::new(("as recorded", before), ("all of them", after), steps)
    };
    let how = "Each step is what that cache saves alone. The last bar is a replay with all of them; the difference to the \
               sum of the steps is in the step of the others.";
    Plot::new("Bytes held at the peak, by call site that gets a cache", how, waterfall)
}

fn walks(advice: &[&Advice]) -> Plot {
    let sites = advice.iter().filter(|a| matches!(a.change, Change::Dedicate { .. }));
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
    let how = "In the one of eight snapshots that has most of them.";
    Plot::new("Cache lines that a walk over all objects touches", how, bars)
}

fn reasons(advice: &[&Advice]) -> Item {
    let fields = [
        field::text("call site or class", "subject", |a: &&Advice| name(a)),
        field::name("reason", "reason", |a: &&Advice| &a.reason),
        field::cell("caveat", "caveat", |a: &&Advice| {
            a.caveat.as_ref().map_or(Cell::Missing, Cell::text)
        }),
    ];
    let title = "Reasons, and what speaks against each change";
    Item::table(title, "In the same order.", Table::of(advice, fields))
}
