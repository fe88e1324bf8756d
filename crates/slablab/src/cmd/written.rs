//! The report of `record` and `import` about the trace that they wrote: one line, in perf's manner, or JSON
//! or CSV.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;
use slablab_host::printable;
use slablab_report::{Document, Item, Section, counted};
use slablab_trace::{Input, Keep, Meta, Quality, RecordSummary, SlabPart};

use crate::cli::{AnswerArgs, Format, OutputArgs};
use crate::output::{Answer, Table, bytes, field, give, thousands};
use crate::say::say;

/// Which command wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    Record,
    Import,
}

/// A thread that empties a ring buffer waits for the disk for more of its time than this where the disk loses events.
const SLOW_DISK_SHARE: f64 = 0.5;

/// A trace that was written.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct Written {
    #[serde(skip)]
    writer: Writer,
    file: String,
    file_bytes: u64,
    events: u64,
    /// Events of pages, which `events` does not count
    #[serde(skip_serializing_if = "Option::is_none")]
    page_events: Option<u64>,
    lost: u64,
    unplaced_share: f64,
    duration_seconds: Option<f64>,
    /// From the first event to the last where older ones were not kept
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_seconds: Option<f64>,
    addresses_stripped: bool,
    /// Processes that the recorded command left behind
    left_running: Vec<String>,
    /// Functions that were to be recorded and allocated nothing, with the parts that the compiler made of each
    #[serde(skip_serializing_if = "Vec::is_empty")]
    silent: Vec<(String, Vec<String>)>,
    /// Caches that were to be recorded and that no event names
    #[serde(skip_serializing_if = "Vec::is_empty")]
    silent_caches: Vec<String>,
    /// Functions that no call stack goes through, with the parts that the compiler made of each
    #[serde(skip_serializing_if = "Vec::is_empty")]
    silent_callers: Vec<(String, Vec<String>)>,
    /// Whether the disk was slower than the events came
    #[serde(skip)]
    is_disk_slow: bool,
    /// What slabs held when that ended the recording
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at_slab_bytes: Option<u64>,
    /// What unreclaimable slabs held when that ended the recording
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at_unreclaimable_bytes: Option<u64>,
    /// Why the recording ended before what was recorded did
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_early: Option<String>,
    quality: Quality,
}

/// Refuses `-`, which would make a file of that name, and a file of something else, which would be lost.
pub(crate) fn refuse_output(path: &Path) -> Result<()> {
    let is_other = || Input::open(path).is_ok_and(|input| !input.is_parquet());
    if path.is_file() && is_other() {
        bail!(
            "-o {}: no trace is there, and the file would be lost: name another one, or remove it",
            path.display()
        );
    }
    if path.as_os_str() == "-" {
        bail!(
            "-o -: a trace cannot go to standard output, as its index is written last; name a file (./- for that name)"
        );
    }
    Ok(())
}

impl Written {
    pub(crate) fn recorded(file: &Path, summary: RecordSummary) -> Self {
        let reached = |part| {
            summary.slab_reached.filter(|reached| reached.part == part).map(|reached| reached.bytes)
        };
        Self {
            writer: Writer::Record,
            duration_seconds: Some(summary.elapsed.as_secs_f64()),
            kept_seconds: (summary.keep == Keep::Last).then(|| {
                summary.meta.time_last_ns.saturating_sub(summary.meta.time_first_ns) as f64 / 1e9
            }),
            left_running: summary.left_running,
            ended_at_slab_bytes: reached(SlabPart::All),
            ended_at_unreclaimable_bytes: reached(SlabPart::Unreclaimable),
            is_disk_slow: summary.write_share > SLOW_DISK_SHARE,
            silent: summary.silent,
            silent_caches: summary.silent_caches,
            silent_callers: summary.silent_callers,
            ..Self::imported(file, &summary.meta)
        }
    }

    pub(crate) fn imported(file: &Path, meta: &Meta) -> Self {
        Self {
            writer: Writer::Import,
            file: file.display().to_string(),
            file_bytes: std::fs::metadata(file).map_or(0, |file| file.len()),
            events: meta.events,
            page_events: meta.pages.as_ref().map(|pages| pages.events),
            lost: meta.quality.lost_total(),
            unplaced_share: meta.unplaced_share(),
            duration_seconds: None,
            kept_seconds: None,
            addresses_stripped: meta.addresses_stripped,
            left_running: Vec::new(),
            silent: Vec::new(),
            silent_caches: Vec::new(),
            silent_callers: Vec::new(),
            is_disk_slow: false,
            ended_at_slab_bytes: None,
            ended_at_unreclaimable_bytes: None,
            ended_early: meta.ended_early.clone(),
            quality: meta.quality.clone(),
        }
    }

    /// Prints the answer: as lines on standard error, beside the output of the recorded command, or in the
    /// requested format.
    pub(crate) fn print(&self, output: &OutputArgs) -> Result<()> {
        if output.format != Format::Table {
            return give(self, output, &AnswerArgs::default());
        }
        let name = if self.writer == Writer::Record { "record" } else { "import" };
        let say = |sentence: String| say(format_args!("[ slablab {name}: {sentence} ]"));
        self.sentences().into_iter().for_each(say);
        Ok(())
    }

    /// Says what was written, and what is missing in it.
    fn sentences(&self) -> Vec<String> {
        let written = match self.file_bytes {
            // A pipe has no length.
            0 => format!("written to {}", self.file),
            length => format!("{} written to {}", bytes(length), self.file),
        };
        let mut events = counted(self.events, "event");
        if let Some(pages) = self.page_events {
            events += &format!(" of slabs and {} of pages", thousands(pages));
        }
        let what = match (self.duration_seconds, self.kept_seconds) {
            (Some(seconds), Some(kept)) => {
                format!(
                    "the last {events}, of the last {kept:.2} s of {seconds:.2} s, {}",
                    self.losses()
                )
            }
            (Some(seconds), None) => format!("{events} in {seconds:.2} s, {}", self.losses()),
            (None, _) => {
                let lost =
                    if self.lost > 0 { format!(", {}", self.lost_share()) } else { String::new() };
                format!("{events}, {:.1} % of them not placed{lost}", self.unplaced_share * 100.0)
            }
        };
        let mut sentences = vec![format!("{what}; {written}")];
        if self.events == 0 {
            // That nothing matched is what matters: without it, "none lost" reads as a success.
            sentences.splice(..0, self.silences());
        }
        if let Some(most) = self.quality.skipped.iter().max_by_key(|skipped| skipped.count) {
            let all = self.quality.skipped.iter().map(|skipped| skipped.count).sum::<u64>();
            let first = match most.first.as_str() {
                "" => String::new(),
                first => format!(" (first at {})", printable(first)),
            };
            sentences.push(format!(
                "{} left out, most of them: {}{first}",
                if all == 1 {
                    "1 record is".to_owned()
                } else {
                    format!("{} records are", thousands(all))
                },
                printable(&most.reason)
            ));
        }
        let early = self.ended_early.iter();
        sentences.extend(early.map(|why| format!("the recording ended early: {}", printable(why))));
        if let Some(slab) = self.ended_at_slab_bytes {
            sentences.push(format!("ended as slabs took {}", bytes(slab)));
        }
        if let Some(slab) = self.ended_at_unreclaimable_bytes {
            sentences.push(format!("ended as unreclaimable slabs took {}", bytes(slab)));
        }
        if self.events > 0 {
            sentences.extend(self.silences());
        }
        if !self.left_running.is_empty() {
            sentences.push(format!("the command left running: {}", self.left_running.join(", ")));
        }
        sentences
    }

    /// Names what was chosen and had no event.
    fn silences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let silent = self.silent.iter().chain(&self.silent_callers);
        for (site, parts) in silent {
            let parts = match &parts[..] {
                [] => String::new(),
                parts => format!("; what it allocates may be in {}", parts.join(", ")),
            };
            sentences.push(format!("no event came from {site}{parts}"));
        }
        for cache in &self.silent_caches {
            sentences.push(format!(
                "no event names the cache {cache}; those of kmalloc and of kmem_buckets name none"
            ));
        }
        sentences
    }

    fn losses(&self) -> String {
        match self.lost {
            0 => "none lost".to_owned(),
            _ => {
                let lost = self.lost_share();
                let remedy = match self.is_disk_slow {
                    true => {
                        "the disk is too slow: name another with -o, or record less: --sample, --sites, --caches"
                    }
                    false => "a larger --buffer may keep them",
                };
                // Whether a killed recorder's buffers were too small, or a file is damaged, is not known.
                match self.ended_early {
                    Some(_) => lost,
                    None => format!("{lost}: {remedy}"),
                }
            }
        }
    }

    /// Says how many events were lost; a gap that does not tell counts as one.
    fn lost_share(&self) -> String {
        let least = if self.quality.gaps_uncounted > 0 { "at least " } else { "" };
        let share = 100.0 * self.lost as f64 / (self.lost as f64 + self.events as f64);
        format!("{least}{} LOST ({share:.1} %)", thousands(self.lost))
    }
}

impl Answer for Written {
    const SCHEMA: &'static str = "slablab.record/1";

    fn schema(&self) -> &'static str {
        if self.writer == Writer::Record { Self::SCHEMA } else { "slablab.import/1" }
    }

    fn document(&self) -> Document {
        let fields = [
            field::name("file", "file", |written: &&Self| &written.file),
            field::bytes("file bytes", "file_bytes", |written| written.file_bytes),
            field::count("events", "events", |written| written.events),
            field::count("lost", "lost", |written| written.lost),
            field::share("unplaced", "unplaced_share", |written| written.unplaced_share),
        ];
        let table = Item::table("", "", Table::of(&[self], fields));
        Document {
            answers: self.sentences(),
            sections: vec![Section::first("trace", "", vec![table])],
            ..Document::default()
        }
    }
}
