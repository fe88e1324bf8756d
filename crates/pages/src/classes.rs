//! The page of further kmalloc size classes: what each set would allocate and hold.

use slablab_replay::{ClassAdvice, ClassSetFit};
use slablab_report::{BarGroup, Bars, Document, Fact, Item, Plot, Section};

use crate::size;
use crate::tables;
use crate::trace::facts;

/// Makes the page of the classes that are proposed for the trace in `file`.
pub fn classes(file: &str, advice: &ClassAdvice) -> Document {
    let mut facts = facts(&advice.trace, file);
    facts.push(Fact::new("allocator", &advice.allocator));
    let how = "The sets are the best there are by what they allocate; what slabs then hold was replayed, from an empty machine.";
    let items =
        vec![Item::Plot(plot(advice)), Item::table("Sets of classes", "", tables::classes(advice))];
    Document {
        title: format!("Size classes for the load of {file}"),
        question: "Which further kmalloc size classes would save memory?".to_owned(),
        answers: vec![classes_sentence(advice)],
        sections: vec![Section::new("Further classes", how, items)],
        facts,
        ..Document::default()
    }
}

fn plot(advice: &ClassAdvice) -> Plot {
    let group = |fit: &ClassSetFit| {
        let bars = [
            ("allocated, mean", fit.allocated_bytes_mean),
            ("held, mean", fit.held_bytes.mean),
            ("held, peak", fit.held_bytes.peak),
        ];
        let bars = bars.map(|(name, bytes)| (name.to_owned(), bytes as f64)).to_vec();
        BarGroup { name: tables::further(fit), bars }
    };
    let groups = std::iter::once(&advice.recorded).chain(&advice.proposals).map(group).collect();
    let (label, quantity) = ("further classes".to_owned(), ("memory".to_owned(), "B".to_owned()));
    let how = "Allocated are the classes' bytes of live objects of kmalloc; held are the slabs of all caches.";
    Plot::new("What each set takes", how, Bars { label, quantity, groups })
}

/// Says what the sets of classes are, and whether they save anything.
pub fn classes_sentence(advice: &ClassAdvice) -> String {
    let recorded = &advice.recorded;
    let mut text = format!(
        "The objects of kmalloc's {} classes had {} on average. Of all sets with so many further classes, those below \
         allocate the least; what slabs then hold was replayed under {}, from an empty machine.",
        recorded.classes.len(),
        size(recorded.allocated_bytes_mean),
        advice.allocator
    );
    let saves = |fit: &&ClassSetFit| fit.held_bytes.peak < recorded.held_bytes.peak;
    text += match advice.proposals.iter().any(|fit| saves(&fit)) {
        true => "",
        false if advice.proposals.is_empty() => " No further class saves anything.",
        false => {
            " None of them holds less at the peak: more classes are more slabs that are not full."
        }
    };
    text
}
