//! The page of a search for settings: the front of bytes against locks, what to type, and everything that was tried.

use slablab_replay::{Answer, Budget, Outcome, Tuning};
use slablab_report::{
    AxisScale, Document, Fact, Item, Lines, Plot, Point, Section, Series, Table, human,
};

use crate::tables;
use crate::trace::facts;

/// Makes the page of the settings that were tried on the trace in `file`, and of whether it fits into a memory.
pub fn tune(file: &str, tuning: &Tuning, budget: Option<&Budget>) -> Document {
    let mut facts = facts(&tuning.trace, file);
    facts.extend([
        Fact::new("allocator", &tuning.allocator),
        Fact::new("settings tried", (tuning.tried.len() - 1).to_string()),
    ]);
    let answers = Section::new(
        "Answers",
        "Each was replayed as a whole, on a machine that was empty before the first event.",
        vec![
            Item::table("What each would hold", "", tables::answers(tuning)),
            Item::table("What to type", "In the order of the answers.", typed(&tuning.answers)),
        ],
    );
    let front: Vec<_> = tuning.front().cloned().collect();
    let tried = Section::new(
        "Everything that was tried",
        "",
        vec![
            Item::Plot(plot(tuning, &front)),
            Item::table(
                "The front",
                "Nothing that was tried is both smaller and faster. +2: two caches are set otherwise.",
                tables::outcomes(&front),
            ),
            Item::table(
                "All settings",
                "Least held at the peak first.",
                tables::outcomes(&tuning.tried),
            ),
        ],
    );
    let mut document = Document {
        title: format!("Settings for the load of {file}, under {}", tuning.allocator),
        question: "Which settings of this kernel hold less memory, and at what cost?".to_owned(),
        answers: sentences(tuning),
        sections: vec![answers, tried],
        facts,
        ..Document::default()
    };
    if let Some(budget) = budget {
        let on_memory = crate::budget::budget(file, budget);
        document.answers.extend(on_memory.answers);
        document.sections.extend(on_memory.sections);
    }
    document
}

fn sentences(tuning: &Tuning) -> Vec<String> {
    let recorded = &tuning.recorded;
    let sentence = |answer: &Answer| {
        let outcome = &answer.outcome;
        let change = |now: u64, then: u64| (now as f64 / then.max(1) as f64 - 1.0) * 100.0;
        let locks = match change(outcome.locks, recorded.locks) {
            more if more >= 100.0 => format!("{:.0} times the", more / 100.0 + 1.0),
            percent => format!("{percent:+.1} % of"),
        };
        format!(
            "{}: {} held at the peak instead of {} ({:+.1} %), for {locks} locks and atomic operations: {}.",
            tables::answer_name(answer.kind),
            human(outcome.held_bytes.peak as f64, "B"),
            human(recorded.held_bytes.peak as f64, "B"),
            change(outcome.held_bytes.peak, recorded.held_bytes.peak),
            outcome.setting.short()
        )
    };
    if tuning.answers.is_empty() {
        return vec!["No setting holds so much less that it is worth setting.".to_owned()];
    }
    tuning.answers.iter().map(sentence).collect()
}

fn typed(answers: &[Answer]) -> Table {
    let lines = |answer: &Answer| {
        let name = tables::answer_name(answer.kind).to_owned();
        let lines = tables::typed_lines(&answer.typed);
        lines.map(|(place, line)| (name.clone(), place, line)).collect::<Vec<_>>()
    };
    tables::typed(&answers.iter().flat_map(lines).collect::<Vec<_>>())
}

fn plot(tuning: &Tuning, front: &[Outcome]) -> Plot {
    let points = |outcomes: &mut dyn Iterator<Item = &Outcome>| {
        let point = |o: &Outcome| Point {
            x: o.locks_per_operation(),
            y: tuning.held_at.of(o) as f64,
            spread: None,
        };
        let mut points: Vec<_> = outcomes.map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    };
    let series = [
        ("front".to_owned(), points(&mut front.iter())),
        ("as recorded".to_owned(), points(&mut std::iter::once(&tuning.recorded))),
    ];
    let lines = Lines {
        x: ("locks and atomic operations for each allocation or free".to_owned(), String::new()),
        y: ("held".to_owned(), "B".to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::Linear,
        series: series.into_iter().map(|(name, points)| Series { name, points }).collect(),
    };
    let how = "Each mark is a setting that no other one beats in both. Left and down is better.";
    Plot::new("Memory against locks", how, lines)
}
