//! What `record` and `import` say of the trace that they wrote: one line, in perf's manner, or JSON or CSV.

use std::marker::PhantomData;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use slablab_trace::{Meta, Quality};

use crate::cli::{Format, OutputArgs};
use crate::output::{Cell, Column, Report, Table, bytes, print, thousands};
use crate::say::say;

/// A trace that was written.
#[derive(Debug, Serialize)]
pub(crate) struct Written {
    file: String,
    file_bytes: u64,
    events: u64,
    lost: u64,
    unplaced_share: f64,
    duration_seconds: Option<f64>,
    addresses_stripped: bool,
    /// Processes that the recorded command left behind
    left_running: Vec<String>,
    quality: Quality,
}

/// Which command wrote it, for the schema.
pub(crate) trait Writer: Serialize {
    const NAME: &'static str;
    const SCHEMA: &'static str;
}

macro_rules! writer {
    ($type:ident, $name:literal) => {
        #[doc = concat!("`slablab ", $name, "`")]
        #[derive(Debug, Serialize)]
        pub(crate) struct $type;

        impl Writer for $type {
            const NAME: &'static str = $name;
            const SCHEMA: &'static str = concat!("slablab.", $name, "/1");
        }
    };
}

writer!(Record, "record");
writer!(Import, "import");

#[derive(Serialize)]
struct By<'a, W> {
    #[serde(flatten)]
    written: &'a Written,
    #[serde(skip)]
    writer: PhantomData<W>,
}

impl Written {
    pub(crate) fn new(
        file: &Path,
        meta: &Meta,
        elapsed: Option<Duration>,
        left_running: Vec<String>,
    ) -> Self {
        Self {
            file: file.display().to_string(),
            file_bytes: std::fs::metadata(file).map_or(0, |file| file.len()),
            events: meta.events,
            lost: meta.quality.lost_total(),
            unplaced_share: meta.unplaced_share(),
            duration_seconds: elapsed.map(|elapsed| elapsed.as_secs_f64()),
            addresses_stripped: meta.addresses_stripped,
            left_running,
            quality: meta.quality.clone(),
        }
    }

    /// Says so: as a line on standard error, beside what the recorded command prints, or as asked for.
    pub(crate) fn print<W: Writer>(&self, output: &OutputArgs) -> Result<()> {
        if output.format != Format::Table {
            return print(&By::<W> { written: self, writer: PhantomData }, output, None);
        }
        let written = format!("{} written to {}", bytes(self.file_bytes), self.file);
        let events = thousands(self.events);
        let what = match self.duration_seconds {
            Some(seconds) => format!("{events} events in {seconds:.2} s, {}", self.losses()),
            None => {
                format!("{events} events, {:.1} % of them not placed", self.unplaced_share * 100.0)
            }
        };
        say(format_args!("[ slablab {}: {what}; {written} ]", W::NAME));
        if !self.left_running.is_empty() {
            let left = self.left_running.join(", ");
            say(format_args!("[ slablab {}: the command left running: {left} ]", W::NAME));
        }
        Ok(())
    }

    fn losses(&self) -> String {
        match self.lost {
            0 => "none lost".to_owned(),
            lost => format!(
                "{} LOST ({:.1} %; a larger --buffer may keep them)",
                thousands(lost),
                100.0 * lost as f64 / (lost + self.events) as f64
            ),
        }
    }
}

impl<W: Writer> Report for By<'_, W> {
    const SCHEMA: &'static str = W::SCHEMA;

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("file", "file"),
            Column::number("file bytes", "file_bytes"),
            Column::number("events", "events"),
            Column::number("lost", "lost"),
            Column::number("unplaced share", "unplaced_share"),
        ]);
        table.row([
            Cell::text(&self.written.file),
            Cell::Bytes(self.written.file_bytes),
            Cell::Count(self.written.events),
            Cell::Count(self.written.lost),
            Cell::Number(self.written.unplaced_share, 6),
        ]);
        table
    }
}
