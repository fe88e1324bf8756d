//! Settings of the recorded kernel: which hold less memory, what each costs in locks, and what to type for it.

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_replay::{
    AdvisedSetting, AnswerKind, HeldAt, Outcome, RestOfMachine, Setting, Tuning, Typed,
};
use slablab_report::{
    AxisScale, Cell, Document, Fact, Item, Lines, Plot, Point, Section, Series, Table, counted,
    field,
};

use super::rest;
use super::trace::{facts, sampled, source};
use crate::output::{Answer, bytes};

/// An uncontended lock or atomic operation on a processor of today, for an estimate in nanoseconds.
const LOCK_NS: f64 = 10.0;

/// What `slablab tune` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct TuneAnswer {
    pub(crate) file: String,
    #[serde(flatten)]
    pub(crate) tuning: Tuning,
    /// What the rest of the machine sees of what is advised, where the trace has events of pages, or free lists were told
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<RestOfMachine>,
}

impl Answer for TuneAnswer {
    const SCHEMA: &'static str = "slablab.tune/1";

    fn document(&self) -> Document {
        let Self { file, tuning, rest } = self;
        let is_of_sheaves = is_of_sheaves(tuning);
        let tried = counted((tuning.tried.len() - 1) as u64, "setting");
        let mut facts = facts(file, &tuning.trace, None);
        facts.extend([
            Fact::new("allocator", &tuning.allocator),
            Fact::new("settings tried", &tried),
        ]);
        let front: Vec<_> = tuning.front().cloned().collect();
        let mut sections = vec![Section::first("answers", "", vec![answers(tuning)]).with_method(
            "Each was replayed as a whole, on a machine that was empty before the first event.",
        )];
        sections.extend(self.to_type());
        sections.extend([
            Section::named(
                "front",
                "Settings that hold less the more locks they take (+2: two caches set otherwise)",
                vec![plot(tuning, &front), Item::table("", "", outcomes(&front, tuning))],
            ),
            Section::named(
                "tried",
                "All settings, least held first",
                vec![Item::table("", "", outcomes(&tuning.tried, tuning))],
            ),
        ]);
        sections.extend(rest.iter().flat_map(rest::sections));
        let in_source = is_of_sheaves.then(|| {
            "Capacities of sheaves and limits of barns are constants of Linux's source: who does not build a kernel has \
             `slablab tune` without --sheaves."
                .to_owned()
        });
        let unnamed = (tuning.trace.kernel_release.is_empty() && !is_of_sheaves).then(|| {
            "The trace does not say which release it was recorded on, which may lack some of the settings (SLUB_TINY is \
             there from 6.2 on)."
                .to_owned()
        });
        let how = format!(
            "{tried} of {} were replayed, each from an empty machine. Locks cost about {:.1} ns per operation as it is, at \
             {LOCK_NS:.0} ns each.",
            if is_of_sheaves { "sheaves and barns" } else { "this kernel" },
            tuning.recorded.locks_per_operation() * LOCK_NS
        );
        Document {
            title: format!("Settings for the load of {file}, under {}", tuning.allocator),
            question: match is_of_sheaves {
                true => "Which sheaves and barns hold less memory, and at what cost?".to_owned(),
                false => {
                    "Which settings of this kernel hold less memory, and at what cost?".to_owned()
                }
            },
            answers: self
                .sentences()
                .into_iter()
                .chain(rest.iter().flat_map(rest::sentences))
                .collect(),
            sections,
            source: source(file, &tuning.trace, None),
            notes: sampled(&tuning.trace)
                .into_iter()
                .chain([how])
                .chain(rest.as_ref().map(rest::truth))
                .chain(unnamed)
                .chain(in_source)
                .collect(),
            facts,
            ..Document::default()
        }
    }
}

/// Returns whether constants of the source were searched, in place of what an administrator sets.
fn is_of_sheaves(tuning: &Tuning) -> bool {
    tuning.tried.iter().any(|outcome| outcome.setting.barn_sheaves.is_some())
}

/// Names what nothing is changed of. A recorded kernel may have no sheaves.
fn unchanged(tuning: &Tuning) -> &'static str {
    if is_of_sheaves(tuning) { "Linux's own" } else { "as recorded" }
}

/// Describes a setting in as few words as a table has room for.
fn in_table(setting: &Setting, none: &str) -> String {
    if setting.is_recorded() { none.to_owned() } else { setting.short() }
}

/// Returns what is advised: what holds least within the locks that are allowed.
pub(crate) fn advised(tuning: &Tuning) -> Option<&AdvisedSetting> {
    tuning.answer(AnswerKind::WithinLocks).or_else(|| tuning.answer(AnswerKind::NoMoreLocks))
}

impl TuneAnswer {
    /// Says what is advised and what it saves, then what holds less at any cost, and how much another boot may save.
    fn sentences(&self) -> Vec<String> {
        let tuning = &self.tuning;
        let (recorded, at) = (&tuning.recorded, tuning.held_at);
        let was = at.of(recorded);
        let when = match at {
            HeldAt::Peak => "at the peak",
            HeldAt::Mean => "on average",
            HeldAt::End => "at the end",
        };
        let share = |least: u64| (1.0 - least as f64 / was.max(1) as f64) * 100.0;
        let Some(answer) = advised(tuning) else {
            let none = format!(
                "No setting saves more than {} {when} {}: leave them as they are.",
                bytes(tuning.saving_bytes_min),
                allowed(tuning)
            );
            let beyond = tuning.least_beyond().map(|outcome| {
                format!(
                    "With {} it would hold {:.1} % less, for {} locks: --max-locks +{:.0}% allows it.",
                    in_words(&outcome.setting),
                    share(at.of(outcome)),
                    more(outcome, recorded),
                    percent(outcome, recorded).ceil()
                )
            });
            let held = format!("Under {} the load held {} {when}.", tuning.allocator, bytes(was));
            return [Some(none), beyond, Some(held)].into_iter().flatten().collect();
        };
        let held = at.of(&answer.outcome);
        let mut sentences = vec![format!(
            "With {}, {} would hold {} {when} instead of {} ({:.1} % less), for {} locks and atomic operations.",
            in_words(&answer.outcome.setting),
            tuning.allocator,
            bytes(held),
            bytes(was),
            share(held),
            more(&answer.outcome, recorded),
        )];
        sentences.extend(rounding(answer, was.saturating_sub(held)).filter(|_| at != HeldAt::Mean));
        // Nothing sets what is a constant of the source while the kernel runs.
        let kinds: &[AnswerKind] = match is_of_sheaves(tuning) {
            true => &[AnswerKind::NoMoreLocks, AnswerKind::WithinLocks],
            false => &[AnswerKind::NoMoreLocks, AnswerKind::WithinLocks, AnswerKind::WithoutBoot],
        };
        let missing = kinds.iter().copied().filter(|kind| tuning.answer(*kind).is_none());
        let missing: Vec<_> = missing.map(|kind| format!("\"{}\"", name(kind))).collect();
        if !missing.is_empty() {
            let missing = missing.join(" and ");
            sentences.push(format!("Nothing saves enough to be worth it: {missing}."));
        }
        sentences
    }

    /// Returns what to type for each answer: first for what is advised, and once what two answers have in common.
    fn to_type(&self) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut others = Vec::new();
        let mut shown: Vec<&Typed> = Vec::new();
        for answer in advised(&self.tuning).into_iter().chain(&self.tuning.answers) {
            if shown.contains(&&answer.typed) {
                continue;
            }
            shown.push(&answer.typed);
            let title = format!("To type for {}", self.names(answer));
            let lines = Item::Lines(typed_lines(&answer.typed));
            match sections.is_empty() {
                true => sections.push(Section::first("type", title, vec![lines])),
                false => others.extend([Item::Text(title), lines]),
            }
        }
        sections.push(Section::named("others", "To type for the other answers", others));
        sections
    }

    /// Returns the names of all answers that take the same to type.
    fn names(&self, answer: &AdvisedSetting) -> String {
        let same = self.tuning.answers.iter().filter(|other| other.typed == answer.typed);
        let names: Vec<_> = same.map(|answer| format!("\"{}\"", name(answer.kind))).collect();
        names.join(" and ")
    }
}

/// Names a setting in a sentence.
fn in_words(setting: &Setting) -> String {
    let caches = setting.caches.len();
    let every = Setting { caches: BTreeMap::new(), ..setting.clone() };
    let own = match caches {
        1 => "1 cache set on its own".to_owned(),
        caches => format!("{caches} caches set one by one"),
    };
    match (caches, every.is_recorded()) {
        (0, _) => every.short(),
        (_, true) => own,
        (_, false) => format!("{} and {own}", every.short()),
    }
}

/// Says how many locks an answer may take.
fn allowed(tuning: &Tuning) -> String {
    match (tuning.locks_share_max - 1.0) * 100.0 {
        none if none < 0.5 => "without more locks".to_owned(),
        percent => format!("for at most {percent:.0} % more locks"),
    }
}

/// Returns how many locks an outcome takes more than the recorded kernel, in percent.
fn percent(outcome: &Outcome, recorded: &Outcome) -> f64 {
    (outcome.locks as f64 / recorded.locks.max(1) as f64 - 1.0) * 100.0
}

/// Returns the same as words: `8.2 % more`.
fn more(outcome: &Outcome, recorded: &Outcome) -> String {
    let percent = percent(outcome, recorded);
    if percent >= 900.0 {
        return format!("{:.0} times as many", 1.0 + percent / 100.0);
    }
    format!("{:.1} % {}", percent.abs(), if percent < 0.0 { "fewer" } else { "more" })
}

/// Says how far a saving may be another in the next boot, where that is more than a quarter of it, and how many boots would
/// tell.
fn rounding(answer: &AdvisedSetting, saved: u64) -> Option<String> {
    let quarter = saved / 4;
    if answer.rounding_bytes <= quarter {
        return None;
    }
    let boots = (answer.rounding_bytes as f64 / quarter.max(1) as f64).powi(2).ceil();
    Some(format!(
        "Caches hold whole slabs, so another boot may save {} more or less than these {}; the mean of {boots:.0} recordings is \
         within a quarter of it.",
        bytes(answer.rounding_bytes),
        bytes(saved)
    ))
}

/// Returns an answer's name.
fn name(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::NoMoreLocks => "no more locks",
        AnswerKind::WithinLocks => "some more locks",
        AnswerKind::WithoutBoot => "without a boot",
        AnswerKind::Extreme => "whatever it costs",
    }
}

/// Returns the answers beside what was recorded.
fn answers(tuning: &Tuning) -> Item {
    let recorded = (unchanged(tuning), &tuning.recorded);
    let answers = tuning.answers.iter().map(|answer| (name(answer.kind), &answer.outcome));
    let rows: Vec<_> = std::iter::once(recorded).chain(answers).collect();
    let (held_at, locks) = (tuning.held_at, tuning.recorded.locks_per_operation());
    let none = unchanged(tuning);
    let held = held_at.of(&tuning.recorded);
    let change = |now: f64, then: f64| match now / then {
        _ if then == 0.0 => Cell::Missing,
        times if times >= 10.0 => Cell::text(format!("x {times:.0}")),
        times => Cell::text(format!("{:+.1} %", (times - 1.0) * 100.0)),
    };
    // Beside the others a change must say which of them it is of.
    let held_change = match held_at {
        HeldAt::Peak => "change",
        HeldAt::Mean => "mean, change",
        HeldAt::End => "end, change",
    };
    let fields = [
        field::name("answer", "answer", |(name, _): &(&str, &Outcome)| name),
        field::bytes("held, peak", "held_bytes_peak", |(_, o)| o.held_bytes.peak),
        field::by(held_change, "held_change", move |(_, o): &(&str, &Outcome)| {
            change(held_at.of(o) as f64, held as f64)
        }),
        field::bytes("mean", "held_bytes_mean", |(_, o)| o.held_bytes.mean),
        field::bytes("end", "held_bytes_end", |(_, o)| o.held_bytes.end),
        field::cell("locks/op", "locks_per_operation", |(_, o)| {
            Cell::Number(o.locks_per_operation(), 3)
        }),
        field::by("change", "locks_change", move |(_, o): &(&str, &Outcome)| {
            change(o.locks_per_operation(), locks)
        }),
        field::by("setting", "setting", move |(_, o): &(&str, &Outcome)| {
            Cell::text(in_table(&o.setting, none))
        })
        .on_page(),
    ];
    Item::table("What each would hold", "", Table::of(&rows, fields))
}

/// Returns settings that were tried, with the memory that counts first.
fn outcomes(outcomes: &[Outcome], tuning: &Tuning) -> Table {
    let (held_at, none) = (tuning.held_at, unchanged(tuning));
    let peak = field::bytes("held, peak", "held_bytes_peak", |o: &Outcome| o.held_bytes.peak);
    let mean = field::bytes("mean", "held_bytes_mean", |o: &Outcome| o.held_bytes.mean);
    let end = field::bytes("end", "held_bytes_end", |o: &Outcome| o.held_bytes.end);
    let [first, second, third] = match held_at {
        HeldAt::Peak => [peak, mean, end],
        HeldAt::Mean => [mean, peak, end],
        HeldAt::End => [end, peak, mean],
    };
    let fields = [
        field::by("setting", "setting", move |o: &Outcome| Cell::text(in_table(&o.setting, none))),
        first,
        second.where_room(),
        third.where_room(),
        field::cell("locks/op", "locks_per_operation", |o| {
            Cell::Number(o.locks_per_operation(), 3)
        }),
        field::share("slow path", "slow_share", |o: &Outcome| o.slow_share).where_room(),
    ];
    Table::of(outcomes, fields)
}

/// Returns what has to be typed for a setting, as lines to paste.
pub(crate) fn typed_lines(typed: &Typed) -> Vec<String> {
    let mut lines = Vec::new();
    if !typed.command_line.is_empty() {
        lines.push(format!("on the kernel's command line:  {}", typed.command_line.join(" ")));
    }
    lines.extend(typed.kconfig.iter().map(|line| format!("in the kernel's configuration: {line}")));
    lines.extend(typed.source.iter().map(|line| format!("in mm/slub.c: {line}")));
    if !typed.shell.is_empty() {
        lines.push("as root, after each boot:".to_owned());
        lines.extend(typed.shell.iter().map(|line| format!("  {line}")));
    }
    lines
}

fn plot(tuning: &Tuning, front: &[Outcome]) -> Item {
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
        (unchanged(tuning).to_owned(), points(&mut std::iter::once(&tuning.recorded))),
    ];
    let lines = Lines {
        x: ("locks and atomic operations for each allocation or free".to_owned(), String::new()),
        y: ("held".to_owned(), "B".to_owned()),
        x_scale: AxisScale::Linear,
        y_scale: AxisScale::Linear,
        series: series.into_iter().map(|(name, points)| Series { name, points }).collect(),
    };
    let how = "Each mark is a setting that no other one beats in both. Left and down is better.";
    Plot::new("Memory against locks", how, lines).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_boot_does_not_tell_several_would() {
        let said = |rounding_bytes, saved| {
            let answer = AdvisedSetting {
                kind: AnswerKind::WithinLocks,
                outcome: Outcome::default(),
                rounding_bytes,
                typed: Typed::default(),
            };
            rounding(&answer, saved)
        };
        assert_eq!(said(20 << 10, 80 << 10), None);
        let text = said(40 << 10, 80 << 10).unwrap();
        assert!(text.contains("may save 40.0 KiB more or less"), "{text}");
        assert!(text.contains("the mean of 4 recordings"), "{text}");
    }
}
