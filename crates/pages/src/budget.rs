//! The page of a load on little memory: what fits, what each allocator needs, what is left in one block, what fails first.

use slablab_replay::{Budget, Contender, Failure, FreeBlocks};
use slablab_report::{BarGroup, Bars, Document, Fact, Item, Plot, Section, Table, field, short};

use crate::size;
use crate::tables;
use crate::trace::facts;

/// Makes the page of the trace in `file` on so much memory.
pub fn budget(file: &str, budget: &Budget) -> Document {
    let mut facts = facts(&budget.trace, file);
    facts.push(Fact::new("memory", size(budget.memory_bytes)));
    let how = "A machine of that memory each, without programs and page cache, empty before the first event.";
    let mut items = vec![
        Item::Plot(needs(budget)),
        Item::table("On that memory", BUDGET_COLUMNS, tables::budget(budget)),
        Item::Plot(free(budget)),
    ];
    let typed = typed(budget);
    if !typed.is_empty() {
        items.push(Item::table(
            "What to type",
            "Where it is not the recorded kernel as it is.",
            typed,
        ));
    }
    let failures: Vec<_> = first_failures(budget).collect();
    if !failures.is_empty() {
        let fields = [
            field::name("allocator", "allocator", |(name, _): &(String, String)| name),
            field::name("first failure", "failure", |(_, sentence)| sentence),
        ];
        items.push(Item::table("First failures", "", Table::of(&failures, fields)));
    }
    Document {
        title: format!("The load of {file} on {}", size(budget.memory_bytes)),
        question: "Does the load fit, what fails first, and what makes it fit?".to_owned(),
        answers: vec![budget_sentence(budget)],
        sections: vec![Section::new("Allocators and settings", how, items)],
        facts,
        ..Document::default()
    }
}

/// Says what the columns of [`tables::budget`] are.
pub const BUDGET_COLUMNS: &str = "needs: the least memory in which no allocation fails, found to 2 %; machines of less than \
    4 MiB are not tried. largest free: the largest block of free pages at the end; at worst: when it was smallest (4 MiB is \
    the largest that Linux keeps).";

/// Cuts a long name at its end, as settings differ in the first words.
fn cut(name: String) -> String {
    match name.char_indices().nth(23) {
        Some((end, _)) if name.chars().count() > 24 => format!("{}…", &name[..end]),
        _ => name,
    }
}

fn bars(budget: &Budget, values: impl Fn(&Contender) -> Vec<(&'static str, u64)>) -> Vec<BarGroup> {
    let group = |contender: &Contender| {
        let bars = values(contender).into_iter().map(|(name, n)| (name.to_owned(), n as f64));
        BarGroup { name: cut(contender_name(contender)), bars: bars.collect() }
    };
    budget.contenders.iter().map(group).collect()
}

fn needs(budget: &Budget) -> Plot {
    let groups = bars(budget, |c| {
        vec![("needs", c.memory_bytes_min), ("held at the peak", c.held_bytes.peak)]
    });
    let (label, quantity) = ("allocator".to_owned(), ("memory".to_owned(), "B".to_owned()));
    let how = "The least memory in which no allocation fails, with the reserves of the page allocator, and what is held of it.";
    Plot::new("What the load needs", how, Bars { label, quantity, groups })
}

/// Pages that are free in blocks of each order, when the largest of them was smallest.
fn free(budget: &Budget) -> Plot {
    let largest = |blocks: &FreeBlocks| blocks.largest_bytes();
    let groups = bars(budget, |c| {
        vec![("at the end", largest(&c.free_end)), ("at worst", largest(&c.free_worst))]
    });
    let (label, quantity) = ("allocator".to_owned(), ("block".to_owned(), "B".to_owned()));
    let how = "Fragmentation of the page allocator. 4 MiB is the largest block that Linux keeps.";
    Plot::new("The largest block of free pages", how, Bars { label, quantity, groups })
}

fn typed(budget: &Budget) -> Table {
    let rows: Vec<_> = budget
        .contenders
        .iter()
        .filter(|contender| !contender.setting.is_recorded())
        .flat_map(|contender| {
            let name = contender_name(contender);
            tables::typed_lines(&contender.typed)
                .map(move |(place, line)| (name.clone(), place, line))
        })
        .collect();
    tables::typed(&rows)
}

/// Says of each allocator on which an allocation failed which one was the first.
pub fn first_failures(budget: &Budget) -> impl Iterator<Item = (String, String)> {
    let failing = budget.contenders.iter().filter_map(|c| Some((c, c.first_failure.as_ref()?)));
    failing.map(|(contender, failure)| (contender_name(contender), failure_sentence(failure)))
}

/// Names an allocator with its settings.
pub fn contender_name(contender: &Contender) -> String {
    match contender.setting.is_recorded() {
        true => contender.allocator.clone(),
        false => match contender.setting.short() {
            tiny if tiny.starts_with("SLUB_TINY") => tiny,
            setting => format!("{} {setting}", contender.allocator),
        },
    }
}

fn failure_sentence(failure: &Failure) -> String {
    let cache = if failure.cache.is_empty() { "kmalloc" } else { &failure.cache };
    format!(
        "event {} ({} after the first) found no memory: {} asked {cache} for {}, with {} held and {} free, the largest block \
         {}.",
        failure.event,
        short(failure.time_ns as f64, "ns"),
        failure.site,
        size(failure.requested_bytes),
        size(failure.held_bytes),
        size(failure.free.bytes()),
        size(failure.free.largest_bytes())
    )
}

/// Says whether the load fits, and under what.
pub fn budget_sentence(budget: &Budget) -> String {
    let Some(recorded) = budget.contenders.first() else { return String::new() };
    // What was there before is needed beside it, and may be far more than the memory asked about.
    let load = if budget.slab_bytes_before > 0 { "The load by itself" } else { "The load" };
    let verdict = match (recorded.fits(), budget.first_fit()) {
        (true, _) => format!(
            "{load} fits into {} under {}.",
            size(budget.memory_bytes),
            contender_name(recorded)
        ),
        (false, Some(fit)) => format!(
            "{load} does not fit into {} under {}, which needs {}; under {} it fits.",
            size(budget.memory_bytes),
            contender_name(recorded),
            size(recorded.memory_bytes_min),
            contender_name(fit)
        ),
        (false, None) => format!(
            "{load} fits into {} under none of these; {} needs {}.",
            size(budget.memory_bytes),
            contender_name(recorded),
            size(recorded.memory_bytes_min)
        ),
    };
    let before = match budget.slab_bytes_before {
        0 => String::new(),
        held => format!(
            " The {} that the recorded machine held before the first event are left out, and are needed beside it; a \
             recording from the boot on has least of them.",
            size(held)
        ),
    };
    format!(
        "{verdict} Its live objects ask for {} at most. Counted are slabs and large blocks with the reserves of the page \
         allocator, not programs and page cache; no shrinker frees dentries or inodes here, as Linux's would.{before}",
        size(budget.requested_bytes_peak)
    )
}
