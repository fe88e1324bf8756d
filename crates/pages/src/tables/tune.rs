//! Settings of a kernel: a row a setting.

use slablab_replay::{AnswerKind, HeldAt, Outcome, Tuning, Typed};
use slablab_report::{Cell, Table, field};

/// Returns an answer's name.
pub fn answer_name(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::NoMoreLocks => "no more locks",
        AnswerKind::WithinLocks => "some more locks",
        AnswerKind::WithoutBoot => "without a boot",
        AnswerKind::Extreme => "whatever it costs",
    }
}

/// Returns the answers beside what was recorded.
pub fn answers(tuning: &Tuning) -> Table {
    let recorded = ("as recorded", &tuning.recorded);
    let answers = tuning.answers.iter().map(|answer| (answer_name(answer.kind), &answer.outcome));
    let rows: Vec<_> = std::iter::once(recorded).chain(answers).collect();
    let (held_at, locks) = (tuning.held_at, tuning.recorded.locks_per_operation());
    let held = held_at.of(&tuning.recorded);
    let change = |now: f64, then: f64| match now / then {
        _ if then == 0.0 => Cell::Missing,
        times if times >= 10.0 => Cell::text(format!("x {times:.0}")),
        times => Cell::text(format!("{:+.1} %", (times - 1.0) * 100.0)),
    };
    let fields = [
        field::name("answer", "answer", |(name, _): &(&str, &Outcome)| name),
        field::bytes("held, peak", "held_bytes_peak", |(_, o)| o.held_bytes.peak),
        field::by(change_name(held_at), "held_change", move |(_, o): &(&str, &Outcome)| {
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
    ];
    Table::of(&rows, fields)
}

/// Returns what a change of the memory that counts is called: beside the others it must say which of them it is of.
fn change_name(held_at: HeldAt) -> &'static str {
    match held_at {
        HeldAt::Peak => "change",
        HeldAt::Mean => "mean, change",
        HeldAt::End => "end, change",
    }
}

/// Returns settings as a terminal has room for them, with the memory that counts.
pub fn front(outcomes: &[Outcome], held_at: HeldAt) -> Table {
    let (title, name) = match held_at {
        HeldAt::Peak => ("held, peak", "held_bytes_peak"),
        HeldAt::Mean => ("held, mean", "held_bytes_mean"),
        HeldAt::End => ("held, end", "held_bytes_end"),
    };
    let fields = [
        field::by(title, name, move |o: &Outcome| Cell::Bytes(held_at.of(o))),
        field::cell("locks/op", "locks_per_operation", |o| {
            Cell::Number(o.locks_per_operation(), 3)
        }),
        field::text("setting", "setting", |o| o.setting.short()),
    ];
    Table::of(outcomes, fields)
}

/// Returns settings that were tried.
pub fn outcomes(outcomes: &[Outcome]) -> Table {
    let fields = [
        field::text("setting", "setting", |o: &Outcome| o.setting.short()),
        field::bytes("held, peak", "held_bytes_peak", |o| o.held_bytes.peak),
        field::bytes("mean", "held_bytes_mean", |o| o.held_bytes.mean),
        field::bytes("end", "held_bytes_end", |o| o.held_bytes.end),
        field::cell("locks/op", "locks_per_operation", |o| {
            Cell::Number(o.locks_per_operation(), 3)
        }),
        field::share("slow path", "slow_share", |o| o.slow_share),
    ];
    Table::of(outcomes, fields)
}

/// Returns what has to be typed for a setting: where, and the line.
pub fn typed_lines(typed: &Typed) -> impl Iterator<Item = (&'static str, String)> {
    let boot = (!typed.command_line.is_empty()).then(|| typed.command_line.join(" "));
    let row = |place: &'static str| move |line: String| (place, line);
    let boot = boot.into_iter().map(row("kernel's command line"));
    let kconfig = typed.kconfig.clone().into_iter().map(row("kernel's configuration"));
    let shell = typed.shell.clone().into_iter().map(row("as root, after each boot"));
    boot.chain(kconfig).chain(shell)
}

/// Returns what has to be typed: for what, where, and the line.
pub fn typed(rows: &[(String, &'static str, String)]) -> Table {
    let fields = [
        field::name("for", "answer", |(name, ..): &(String, &str, String)| name),
        field::name("where", "where", |(_, place, _)| place),
        field::name("line", "line", |(.., line)| line),
    ];
    Table::of(rows, fields)
}
