//! `slablab advise --tune`: which settings of the recorded kernel hold less memory, as what to type.

use std::path::Path;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_pages::tables;
use slablab_replay::{Answer, AnswerKind, Budget, HeldAt, Tuning, tune};
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
    let answer =
        tuning.answer(AnswerKind::WithinLocks).or_else(|| tuning.answer(AnswerKind::NoMoreLocks));
    write_whole(path, script(answer, release, file).as_bytes())
}

fn script(answer: Option<&Answer>, release: &str, file: &str) -> String {
    // What ends a line would end the comment, too, and root will run the rest.
    let in_comment =
        |text: &str| text.chars().map(|c| if c.is_control() { '?' } else { c }).collect::<String>();
    let kernel = if release.is_empty() { "an unnamed kernel" } else { &in_comment(release) };
    let file = in_comment(file);
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
        "UNDO=${UNDO:-/run/slablab-undo.sh}\n\
         # Several names may be one cache: the first number noted is the old one, so the last line goes first.\n\
         if [ \"$1\" = undo ]; then sed -n '1!G;h;$p' \"$UNDO\" | sh && rm \"$UNDO\"; exit; fi\n\
         [ ! -e \"$UNDO\" ] || { echo \"$UNDO exists: undo first\" >&2; exit 1; }\n\
         status=0\n\
         set_file() {\n\
         \x20   old=$(cut -d' ' -f1 \"$2\") && echo \"$1\" > \"$2\" || { echo \"$2 does not take $1\" >&2; status=1; return; }\n\
         \x20   echo \"echo $old > '$2'\" >> \"$UNDO\"\n\
         }\n",
    );
    for word in &answer.typed.command_line {
        text.push_str(&format!(
            "grep -qw -- '{word}' /proc/cmdline || echo 'add to the kernel command line: {word}'\n"
        ));
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
        let mut shown = Vec::new();
        for answer in &self.tuning.answers {
            // What two questions have in common is printed once.
            if !shown.contains(&&answer.typed) {
                page.heading(&format!("To type for {}", names(&self.tuning, answer)));
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

impl TuneAnswer {
    fn summary(&self) -> String {
        let tuning = &self.tuning;
        let recorded = &tuning.recorded;
        let mut text = format!(
            "Under {} the load held {} at its peak and took {:.3} locks and atomic operations for each allocation or \
             free (some {:.1} ns, an estimate at {LOCK_NS:.0} ns each). {} settings that this kernel has were replayed from \
             the first event to the last, on a machine that was empty before.",
            tuning.allocator,
            bytes(recorded.held_bytes.peak),
            recorded.locks_per_operation(),
            recorded.locks_per_operation() * LOCK_NS,
            tuning.tried.len() - 1
        );
        if tuning.trace.kernel_release.is_empty() {
            text += " The trace does not say which release it was recorded on, which may lack some of the settings \
                     (SLUB_TINY is there from 6.2 on).";
        }
        text += &match tuning.answer(AnswerKind::WithinLocks) {
            Some(answer) => {
                let at = tuning.held_at;
                let (held, was) = (at.of(&answer.outcome), at.of(recorded));
                format!(
                    " With at most {:+.0} % of locks it can hold {:.1} % less{}.{}",
                    (tuning.locks_share_max - 1.0) * 100.0,
                    (1.0 - held as f64 / was as f64) * 100.0,
                    match at {
                        HeldAt::Peak => "",
                        HeldAt::Mean => " on average",
                        HeldAt::End => " at the end",
                    },
                    if at == HeldAt::Mean {
                        String::new()
                    } else {
                        rounding(answer, was.saturating_sub(held))
                    }
                )
            }
            None => format!(
                " None saves more than {} with at most {:+.0} % of locks: the settings are best left alone.",
                bytes(tuning.saving_bytes_min),
                (tuning.locks_share_max - 1.0) * 100.0
            ),
        };
        text
    }
}

/// Says how far a saving may be another in the next boot, where that is more than a quarter of it.
fn rounding(answer: &Answer, saved: u64) -> String {
    if answer.rounding_bytes <= saved / 4 {
        return String::new();
    }
    format!(
        " That is {}, of one boot: as caches hold whole slabs, another may save some {} more or less.",
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
    fn a_line_of_a_script_keeps_the_old_number() {
        assert_eq!(scripted("echo 0 > /sys/x"), "set_file 0 /sys/x");
        assert_eq!(
            scripted("for f in /sys/*/x; do echo 0 > \"$f\"; done"),
            "for f in /sys/*/x; do set_file 0 \"$f\"; done"
        );
    }
}
