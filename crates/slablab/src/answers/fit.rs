//! A load on little memory: whether it fits, what each allocator needs, and what fails first.

use serde::Serialize;
use slablab_replay::{Budget, Contender, Failure, RestOfMachine};
use slablab_report::{BarGroup, Bars, Document, Fact, Item, Plot, Section, Table, field};

use super::rest;
use super::trace::{facts, sampled, source};
use super::tune::typed_lines;
use crate::output::{Answer, bytes, duration};

/// Characters of an allocator's name beside bars, where settings differ in the first words.
const NAME_CHARS_MAX: usize = 24;

/// What `slablab fit` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct FitAnswer {
    pub(crate) file: String,
    #[serde(flatten)]
    pub(crate) budget: Budget,
    /// What the rest of the machine sees of a setting, where the trace has events of pages, or free lists were told
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<RestOfMachine>,
}

impl Answer for FitAnswer {
    const SCHEMA: &'static str = "slablab.budget/1";

    fn document(&self) -> Document {
        let Self { file, budget, rest } = self;
        let memory = bytes(budget.memory_bytes);
        let mut facts = facts(file, &budget.trace, None);
        facts.push(Fact::new("memory", &memory));
        let how = "A machine of that memory each, without programs and page cache, empty before the first event.";
        let failures: Vec<_> = first_failures(budget).map(Item::Text).collect();
        let fit = budget.first_fit().filter(|fit| !fit.setting.is_recorded());
        let type_title = fit.map_or_else(String::new, |fit| format!("To type for {}", name(fit)));
        let lines = fit.map(|fit| Item::Lines(typed_lines(&fit.typed)));
        let largest = vec![largest(budget)];
        Document {
            title: format!("The load of {file} on {memory}"),
            question: "Does the load fit, what fails first, and what makes it fit?".to_owned(),
            answers: sentences(budget)
                .into_iter()
                .chain(rest.iter().flat_map(rest::sentences))
                .collect(),
            sections: [
                Section::first("fit", "", vec![needs(budget), table(budget)]).with_method(how),
                Section::first("type", type_title, lines.into_iter().collect()),
                Section::named("failures", "First failures", failures),
                Section::named("settings", "What to type for the others", settings(budget)),
                Section::page("blocks", "Free blocks", largest),
            ]
            .into_iter()
            .chain(rest.iter().flat_map(rest::sections))
            .collect(),
            source: source(file, &budget.trace, None),
            notes: sampled(&budget.trace)
                .into_iter()
                .chain(notes(budget))
                .chain(rest.as_ref().map(rest::truth))
                .collect(),
            facts,
            ..Document::default()
        }
    }
}

/// Says whether the load fits, under what, and which allocation fails first.
fn sentences(budget: &Budget) -> Vec<String> {
    let Some(recorded) = budget.contenders.first() else { return Vec::new() };
    // The objects from before are needed beside the load, and may be far more than the memory in
    // question.
    let load = if budget.slab_bytes_before > 0 { "The load by itself" } else { "The load" };
    let (memory, needs) = (bytes(budget.memory_bytes), bytes(recorded.memory_bytes_min));
    let recorded_name = name(recorded);
    let verdict = match (recorded.fits(), budget.first_fit()) {
        (true, _) => {
            format!("{load} fits into {memory} under {recorded_name}, which needs {needs}.")
        }
        (false, Some(fit)) => format!(
            "{load} does not fit into {memory} under {recorded_name}, which needs {needs}; under {} it fits.",
            name(fit)
        ),
        (false, None) => {
            format!("{load} fits into {memory} under none of these; {recorded_name} needs {needs}.")
        }
    };
    let asked = bytes(budget.requested_bytes_peak);
    let live = match budget.memory_bytes < budget.requested_bytes_peak {
        true => format!(
            "Its live objects alone ask for {asked} at once, which is more, so no allocator fits it."
        ),
        false => format!("Its live objects ask for {asked} at most."),
    };
    let mut sentences = vec![verdict, live];
    sentences.extend(first_failures(budget).next());
    sentences
}

/// Says what is counted, and what the columns are.
fn notes(budget: &Budget) -> Vec<String> {
    let before = match budget.slab_bytes_before {
        0 => None,
        held => Some(format!(
            "The {} of slabs that the kernel had before the first event are needed beside it. A recording from the boot on has \
             least of them.",
            bytes(held)
        )),
    };
    let counted = "Counted are slabs, large blocks and the reserves of the page allocator. Programs, page cache and shrinkers \
                   are not simulated.";
    let columns = "Needs: the least memory in which no allocation fails, found to 2 %, from 4 MiB on. Largest free: the \
                   largest block of free pages at the end, and when it was smallest; Linux keeps at most 4 MiB.";
    [counted.to_owned(), columns.to_owned()].into_iter().chain(before).collect()
}

/// Returns what each allocator makes of the memory.
fn table(budget: &Budget) -> Item {
    let fields = [
        field::text("allocator", "allocator", name),
        field::bytes("needs", "memory_bytes_min", |c: &Contender| c.memory_bytes_min),
        field::count("failed", "failed", |c| c.failed),
        field::bytes("held, peak", "held_bytes_peak", |c| c.held_bytes.peak),
        field::bytes("largest free", "free_largest_bytes_end", |c: &Contender| {
            c.free_end.largest_bytes()
        })
        .where_room(),
        field::bytes("at worst", "free_largest_bytes_worst", |c: &Contender| {
            c.free_worst.largest_bytes()
        })
        .where_room(),
    ];
    Item::table("On that memory", "", Table::of(&budget.contenders, fields))
}

/// Names an allocator with its settings.
fn name(contender: &Contender) -> String {
    match contender.setting.is_recorded() {
        true => contender.allocator.clone(),
        false => match contender.setting.short() {
            tiny if tiny.starts_with("SLUB_TINY") => tiny,
            setting => format!("{} {setting}", contender.allocator),
        },
    }
}

/// Says of each allocator on which an allocation failed which one was the first.
fn first_failures(budget: &Budget) -> impl Iterator<Item = String> {
    let failing = budget.contenders.iter().filter_map(|c| Some((c, c.first_failure.as_ref()?)));
    failing.map(|(contender, failure)| format!("{}: {}", name(contender), failed(failure)))
}

fn failed(failure: &Failure) -> String {
    let cache = if failure.cache.is_empty() { "kmalloc" } else { &failure.cache };
    format!(
        "the first failure is event {}, {} after the first: {} asks {cache} for {} where {} are held and {} are free, in \
         blocks of at most {}.",
        failure.event,
        duration(failure.time_ns),
        failure.site,
        bytes(failure.requested_bytes),
        bytes(failure.held_bytes),
        bytes(failure.free.bytes()),
        bytes(failure.free.largest_bytes())
    )
}

/// Returns what to type for each contender that is the recorded kernel otherwise set.
fn settings(budget: &Budget) -> Vec<Item> {
    let set = budget.contenders.iter().filter(|contender| !contender.setting.is_recorded());
    set.flat_map(|contender| {
        [Item::Text(format!("{}:", name(contender))), Item::Lines(typed_lines(&contender.typed))]
    })
    .collect()
}

fn bars(budget: &Budget, values: impl Fn(&Contender) -> [(&'static str, u64); 2]) -> Vec<BarGroup> {
    let cut = |name: String| match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    };
    let group = |contender: &Contender| {
        let bars = values(contender).map(|(name, n)| (name.to_owned(), n as f64));
        BarGroup { name: cut(name(contender)), bars: bars.to_vec() }
    };
    budget.contenders.iter().map(group).collect()
}

fn needs(budget: &Budget) -> Item {
    let groups =
        bars(budget, |c| [("needs", c.memory_bytes_min), ("held at the peak", c.held_bytes.peak)]);
    let (label, quantity) = ("allocator".to_owned(), ("memory".to_owned(), "B".to_owned()));
    let how = "The least memory in which no allocation fails, with the reserves of the page allocator, and what is held of it.";
    Plot::new("What the load needs", how, Bars { label, quantity, groups }).into()
}

/// Draws the largest free block at the end, and when it was smallest.
fn largest(budget: &Budget) -> Item {
    let groups = bars(budget, |c| {
        [("at the end", c.free_end.largest_bytes()), ("at worst", c.free_worst.largest_bytes())]
    });
    let (label, quantity) = ("allocator".to_owned(), ("block".to_owned(), "B".to_owned()));
    let how = "Fragmentation of the page allocator. 4 MiB is the largest block that Linux keeps.";
    Plot::new("The largest block of free pages", how, Bars { label, quantity, groups }).into()
}
