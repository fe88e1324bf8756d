//! Further kmalloc size classes: what each set would allocate and hold.

use std::path::Path;

use serde::Serialize;
use slablab_host::shell;
use slablab_replay::{ClassAdvice, ClassSetFit};
use slablab_report::{BarGroup, Bars, Document, Fact, Item, Plot, Section, Table, field};

use super::trace::{facts, sampled, source};
use crate::output::{Answer, bytes};

/// What `slablab classes` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct ClassesAnswer {
    pub(crate) file: String,
    #[serde(flatten)]
    pub(crate) advice: ClassAdvice,
}

impl Answer for ClassesAnswer {
    const SCHEMA: &'static str = "slablab.classes/1";

    fn document(&self) -> Document {
        let Self { file, advice } = self;
        let mut facts = facts(file, &advice.trace, None);
        facts.push(Fact::new("allocator", &advice.allocator));
        let sets = sets(advice);
        let mut notes: Vec<_> = sampled(&advice.trace).into_iter().collect();
        notes.push("Each set is the best of its size by what it allocates, and was then replayed from an empty machine.".into());
        Document {
            title: format!("Size classes for the load of {file}"),
            question: "Which further kmalloc size classes would save memory?".to_owned(),
            answers: sentences(advice),
            sections: vec![
                Section::first("classes", "", vec![plot(&sets), table(&sets)]),
                Section::first("try", "To try the last one", self.trial()),
            ],
            source: source(file, &advice.trace, None),
            notes,
            facts,
            ..Document::default()
        }
    }
}

impl ClassesAnswer {
    /// Returns the command that replays the last set.
    fn trial(&self) -> Vec<Item> {
        let command = |best: &ClassSetFit| {
            let classes: Vec<_> = best.classes.iter().map(u32::to_string).collect();
            let file = shell::path(Path::new(&self.file));
            format!("slablab whatif {file} --classes {}", classes.join(","))
        };
        self.advice
            .proposals
            .last()
            .map(|best| Item::Lines(vec![command(best)]))
            .into_iter()
            .collect()
    }
}

/// Returns the recorded classes and the proposed sets.
fn sets(advice: &ClassAdvice) -> Vec<&ClassSetFit> {
    std::iter::once(&advice.recorded).chain(&advice.proposals).collect()
}

/// Says which set holds least, and what the recorded classes have.
fn sentences(advice: &ClassAdvice) -> Vec<String> {
    let recorded = &advice.recorded;
    let was = recorded.held_bytes.peak;
    let best = advice.proposals.iter().min_by_key(|fit| (fit.held_bytes.peak, fit.classes.len()));
    let finding = match best {
        None => "No further class saves anything.".to_owned(),
        Some(best) if best.held_bytes.peak < was => format!(
            "With further classes of {} B, {} holds {} at the peak instead of {}.",
            further(best).replace(' ', ", "),
            advice.allocator,
            bytes(best.held_bytes.peak),
            bytes(was)
        ),
        Some(_) => "No set of further classes holds less at the peak: more classes are more slabs that are not full."
            .to_owned(),
    };
    let allocated = format!(
        "As recorded, kmalloc's {} classes give {} to live objects on average.",
        recorded.classes.len(),
        bytes(recorded.allocated_bytes_mean)
    );
    vec![finding, allocated]
}

/// Names the classes beyond the recorded ones.
fn further(fit: &ClassSetFit) -> String {
    match fit.added.is_empty() {
        true => "as recorded".to_owned(),
        false => fit.added.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
    }
}

fn plot(sets: &[&ClassSetFit]) -> Item {
    let group = |fit: &&ClassSetFit| {
        let bars = [
            ("allocated, mean", fit.allocated_bytes_mean),
            ("held, mean", fit.held_bytes.mean),
            ("held, peak", fit.held_bytes.peak),
        ];
        let bars = bars.map(|(name, bytes)| (name.to_owned(), bytes as f64)).to_vec();
        BarGroup { name: further(fit), bars }
    };
    let groups = sets.iter().map(group).collect();
    let (label, quantity) = ("further classes".to_owned(), ("memory".to_owned(), "B".to_owned()));
    let how = "Allocated are the classes' bytes of live objects of kmalloc; held are the slabs of all caches.";
    Plot::new("What each set takes", how, Bars { label, quantity, groups }).into()
}

/// Returns what each set of classes allocates and holds.
fn table(sets: &[&ClassSetFit]) -> Item {
    let fields = [
        field::text("further classes", "added", |fit: &&ClassSetFit| further(fit)),
        field::bytes("allocated, mean", "allocated_bytes_mean", |fit| fit.allocated_bytes_mean),
        field::bytes("held, peak", "held_bytes_peak", |fit| fit.held_bytes.peak),
        field::bytes("mean", "held_bytes_mean", |fit| fit.held_bytes.mean),
        field::bytes("end", "held_bytes_end", |fit| fit.held_bytes.end),
    ];
    Item::table("Sets of classes", "", Table::of(sets, fields))
}
