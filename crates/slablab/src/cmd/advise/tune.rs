//! `slablab advise --tune`: which settings of the recorded kernel hold less memory, as what to type.

use std::path::Path;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_host::{printable, shell};
use slablab_kmem::BackendKind;
use slablab_pages::tables;
use slablab_replay::{Answer, AnswerKind, Budget, HeldAt, Outcome, Tuning, Typed, tune};
use slablab_trace::TraceReader;

use super::super::question::QuestionArgs;
use super::{budget, typed};
use crate::output::{Page, Report, Table, bytes, write_whole};
use crate::progress::Progress;

/// An uncontended lock or atomic operation on a processor of today, for an estimate in nanoseconds.
const LOCK_NS: f64 = 10.0;

/// Searches the settings.
pub(super) fn search(
    question: &QuestionArgs,
    trace: &TraceReader,
    kind: BackendKind,
    memory_bytes: u64,
    locks_share_max: f64,
    held_at: HeldAt,
) -> Result<Tuning> {
    // Some 40 settings; the bar need not be exact.
    let progress = Progress::new("trying", trace.meta().events * 40);
    let mut done = 0;
    let mut note = |rows: u64| {
        done += rows;
        progress.set(done);
    };
    let tuning = tune(trace, kind, memory_bytes, locks_share_max, held_at, &mut note);
    question.with_trace_name(tuning)
}

/// Reads `peak`, `mean` or `end`.
pub(super) fn parse_held_at(text: &str) -> Result<HeldAt, String> {
    match text {
        "peak" => Ok(HeldAt::Peak),
        "mean" => Ok(HeldAt::Mean),
        "end" => Ok(HeldAt::End),
        _ => Err("memory is counted at its peak, on average (mean) or at the end".to_owned()),
    }
}

/// Reads `+10%` or `10%`: so much more than as recorded.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let error = || format!("{text:?} is no share; shares look like +10%");
    let number = text.trim().trim_start_matches('+').strip_suffix('%').ok_or_else(error)?;
    let percent: f64 = number.trim().parse().map_err(|_| error())?;
    if !(0.0..=100_000.0).contains(&percent) {
        return Err(format!("{text:?}: a share is from 0% to 100000%"));
    }
    Ok(1.0 + percent / 100.0)
}

/// Writes what is set at run time as a script that can undo it.
pub(super) fn write_script(tuning: &Tuning, release: &str, file: &str, path: &Path) -> Result<()> {
    write_whole(path, script(advised(tuning), release, file).as_bytes())
}

fn script(answer: Option<&Answer>, release: &str, file: &str) -> String {
    // What ends a line would end the comment, too, and root will run the rest.
    let kernel = if release.is_empty() { "an unnamed kernel".into() } else { printable(release) };
    let file = printable(file);
    let mut text = format!(
        "#!/bin/sh\n# Slab settings for the load of {file}, recorded on {kernel}.\n\
         # sh SCRIPT        sets them, and keeps in $UNDO how to set them back\n\
         # sh SCRIPT undo   sets them back\n"
    );
    let Some(answer) = answer else {
        text.push_str(
            "# No setting holds less for what it is allowed to cost: there is nothing to set.\n",
        );
        return text;
    };
    for line in &answer.typed.kconfig {
        text.push_str(&format!("# The kernel's configuration needs {line}\n"));
    }
    text.push_str(
        "UNDO=${UNDO:-/run/slablab-undo}\n\
         status=0\n\
         # Not echo, which would obey a backslash.\n\
         put() {\n\
         \x20   printf '%s\\n' \"$1\" > \"$2\" || { printf '%s does not take %s\\n' \"$2\" \"$1\" >&2; status=1; return 1; }\n\
         }\n\
         # Lines of a number and a file, which no shell reads. Several names may be one cache: the first number noted is\n\
         # the old one, so the last line goes first.\n\
         if [ \"$1\" = undo ]; then\n\
         \x20   [ -e \"$UNDO\" ] || { echo \"$UNDO is not there: nothing was set\" >&2; exit 1; }\n\
         \x20   while read -r old file; do put \"$old\" \"$file\"; done <<UNDO\n\
         $(sed -n '1!G;h;$p' \"$UNDO\")\n\
         UNDO\n\
         \x20   [ $status -ne 0 ] || rm \"$UNDO\"\n\
         \x20   exit $status\n\
         fi\n\
         [ ! -e \"$UNDO\" ] || { echo \"$UNDO exists: undo first\" >&2; exit 1; }\n\
         set_file() {\n\
         \x20   old=$(cut -d' ' -f1 \"$2\") && put \"$1\" \"$2\" && printf '%s %s\\n' \"$old\" \"$2\" >> \"$UNDO\" || status=1\n\
         }\n",
    );
    for word in &answer.typed.command_line {
        let (word, said) =
            (shell::word(word), shell::word(&format!("add to the kernel command line: {word}")));
        text.push_str(&format!("grep -qw -- {word} /proc/cmdline || echo {said}\n"));
    }
    for line in &answer.typed.shell {
        text.push_str(&scripted(line));
        text.push('\n');
    }
    text.push_str("exit $status\n");
    text
}

/// Turns `echo N > FILE` into a call that keeps the old number.
fn scripted(line: &str) -> String {
    let Some((before, rest)) = line.split_once("echo ") else { return line.to_owned() };
    let Some((number, file)) = rest.split_once(" > ") else { return line.to_owned() };
    format!("{before}set_file {number} {file}")
}

/// What `slablab advise --tune` says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TuneAnswer {
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) tuning: Tuning,
    /// Whether the load fits into the memory asked about, if any was
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) budget: Option<Budget>,
    #[serde(skip)]
    pub(super) lines: usize,
}

impl Report for TuneAnswer {
    const SCHEMA: &'static str = "slablab.tune/1";

    fn text(&self, page: &mut Page) {
        super::super::replay::header(&self.file, &self.tuning.trace, page);
        page.line("");
        page.paragraph(&self.summary(), 0);
        page.heading("Answers");
        page.table(&tables::answers(&self.tuning));
        let kinds = [AnswerKind::NoMoreLocks, AnswerKind::WithinLocks, AnswerKind::WithoutBoot];
        for kind in kinds.into_iter().filter(|kind| self.tuning.answer(*kind).is_none()) {
            let name = tables::answer_name(kind);
            page.line(format!("\"{name}\": nothing that saves enough to be worth it"));
        }
        // What is advised comes first, and what two questions have in common once.
        let advised = advised(&self.tuning);
        let mut shown: Vec<&Typed> = Vec::new();
        for answer in advised.into_iter().chain(&self.tuning.answers) {
            if !shown.contains(&&answer.typed) {
                let to = if shown.is_empty() { "To type" } else { "Or, to type" };
                page.heading(&format!("{to} for {}", names(&self.tuning, answer)));
                typed::block(&answer.typed, page);
                shown.push(&answer.typed);
            }
        }
        page.heading(
            "Settings that hold less the more locks they take (+2: two caches set otherwise)",
        );
        let front: Vec<_> = self.tuning.front().take(self.lines).cloned().collect();
        page.table(&tables::front(&front, self.tuning.held_at));
        if let Some(on_memory) = &self.budget {
            page.heading(&format!("On {}", bytes(on_memory.memory_bytes)));
            budget::verdict(on_memory, page);
        }
    }

    fn csv(&self) -> Table {
        tables::outcomes(&self.tuning.tried)
    }
}

/// Returns the names of all answers that take the same to type.
fn names(tuning: &Tuning, answer: &Answer) -> String {
    let same = tuning.answers.iter().filter(|other| other.typed == answer.typed);
    same.map(|answer| format!("\"{}\"", tables::answer_name(answer.kind)))
        .collect::<Vec<_>>()
        .join(" and ")
}

/// Returns what is advised: what holds least within the locks that are allowed.
fn advised(tuning: &Tuning) -> Option<&Answer> {
    tuning.answer(AnswerKind::WithinLocks).or_else(|| tuning.answer(AnswerKind::NoMoreLocks))
}

impl TuneAnswer {
    /// Says first what the load held, then what it would hold and for what, then how that was found.
    fn summary(&self) -> String {
        let tuning = &self.tuning;
        let (recorded, at) = (&tuning.recorded, tuning.held_at);
        let was = at.of(recorded);
        let when = match at {
            HeldAt::Peak => "at its peak",
            HeldAt::Mean => "on average",
            HeldAt::End => "at its end",
        };
        let mut text = format!(
            "Under {} the load held {} {when} and took {:.3} locks and atomic operations for each allocation or \
             free (some {:.1} ns, an estimate at {LOCK_NS:.0} ns each).",
            tuning.allocator,
            bytes(was),
            recorded.locks_per_operation(),
            recorded.locks_per_operation() * LOCK_NS,
        );
        let share = |least: u64| (1.0 - least as f64 / was as f64) * 100.0;
        let allowed = match (tuning.locks_share_max - 1.0) * 100.0 {
            none if none < 0.5 => "Without more locks".to_owned(),
            percent => format!("For at most {percent:.0} % more locks"),
        };
        text += &match advised(tuning) {
            Some(answer) => {
                let held = at.of(&answer.outcome);
                let rounding = match at {
                    HeldAt::Mean => String::new(),
                    HeldAt::Peak | HeldAt::End => rounding(answer, was.saturating_sub(held)),
                };
                format!(
                    " With what is to be typed below it would hold {:.1} % less, for {} locks.{rounding}",
                    share(held),
                    more(&answer.outcome, recorded),
                )
            }
            None => format!(
                " {allowed} no setting saves more than {}: best leave them alone.{}",
                bytes(tuning.saving_bytes_min),
                tuning.least_beyond().map_or_else(String::new, |outcome| {
                    format!(
                        " With {} it would hold {:.1} % less, for {} locks: --max-locks +{:.0}% allows it.",
                        outcome.setting.short(),
                        share(at.of(outcome)),
                        more(outcome, recorded),
                        percent(outcome, recorded).ceil()
                    )
                })
            ),
        };
        text += &format!(
            " {} settings that this kernel has were replayed from the first event to the last, on a machine that was \
             empty before.",
            tuning.tried.len() - 1
        );
        if tuning.trace.kernel_release.is_empty() {
            text += " The trace does not say which release it was recorded on, which may lack some of the settings \
                     (SLUB_TINY is there from 6.2 on).";
        }
        text
    }
}

/// Returns how many locks an outcome takes more than the recorded kernel, in percent.
fn percent(outcome: &Outcome, recorded: &Outcome) -> f64 {
    (outcome.locks as f64 / recorded.locks.max(1) as f64 - 1.0) * 100.0
}

/// Says that: `8.2 % more`.
fn more(outcome: &Outcome, recorded: &Outcome) -> String {
    let percent = percent(outcome, recorded);
    format!("{:.1} % {}", percent.abs(), if percent < 0.0 { "fewer" } else { "more" })
}

/// Says how far a saving may be another in the next boot, where that is more than a quarter of it, and how many boots would
/// tell.
fn rounding(answer: &Answer, saved: u64) -> String {
    let quarter = saved / 4;
    if answer.rounding_bytes <= quarter {
        return String::new();
    }
    let boots = (answer.rounding_bytes as f64 / quarter.max(1) as f64).powi(2).ceil();
    format!(
        " That is {}, of one boot: as caches hold whole slabs, another may save some {} more or less. The mean of {boots:.0} \
         recordings would be within a quarter of it.",
        bytes(saved),
        bytes(answer.rounding_bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percent_more() {
        assert_eq!((parse_share("+10%"), parse_share("50 %")), (Ok(1.1), Ok(1.5)));
        for text in ["", "10", "-5%", "x%", "nan%", "%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_one_boot_does_not_tell_several_would() {
        let said = |rounding_bytes, saved| {
            let answer = Answer {
                kind: AnswerKind::WithinLocks,
                outcome: Outcome::default(),
                rounding_bytes,
                typed: Typed::default(),
            };
            rounding(&answer, saved)
        };
        assert_eq!(said(20 << 10, 80 << 10), "");
        let text = said(40 << 10, 80 << 10);
        assert!(text.contains("some 40.0 KiB more or less. The mean of 4 recordings"), "{text}");
    }

    #[test]
    fn a_line_of_a_script_keeps_the_old_number() {
        assert_eq!(scripted("echo 0 > /sys/x"), "set_file 0 /sys/x");
        assert_eq!(
            scripted("for f in /sys/*/x; do echo 0 > \"$f\"; done"),
            "for f in /sys/*/x; do set_file 0 \"$f\"; done"
        );
    }
}
