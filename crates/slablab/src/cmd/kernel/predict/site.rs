//! What the cases share: guests that record themselves, and the table of predictions and measurements.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::Serialize;
use slablab_lab::guest::{Recorder, Recording};
use slablab_trace::{ImportOptions, SlabSnapshot, TraceReader};
use slablab_vm::{Accel, Kernel, KernelBuilder, Spec};

use super::super::options::{self, AccelArg, BuilderArgs, InstallArgs};
use crate::cli::OutputArgs;
use crate::output::{self, Cell, Column, Page, Report, Table};
use crate::progress::Progress;

/// How far a prediction may be off.
const TOLERANCE_SHARE: f64 = 0.25;

/// Options of every case.
#[derive(clap::Args, Debug)]
pub(super) struct Common {
    /// How often each kernel is booted and measured
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) rounds: u32,
    /// Accelerator: kvm, tcg (emulation, with emulated times), or auto: kvm if a test boot works
    #[arg(long, value_enum, default_value_t = AccelArg::Auto, hide_possible_values = true)]
    pub(super) accel: AccelArg,
    /// Write traces and consoles into this folder [default: slablab-results/predict-CASE, or the
    /// next that is free]
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) builder: BuilderArgs,
    #[command(flatten)]
    pub(super) install: InstallArgs,
}

/// What a case works with: kernels get built in it, guests boot and record in it.
pub(super) struct Site {
    pub(super) builder: KernelBuilder,
    pub(super) accel: Accel,
    pub(super) folder: PathBuf,
}

/// How a guest is to be booted and what it records.
pub(super) struct Boot<'a> {
    pub(super) name: String,
    pub(super) kernel: &'a Kernel,
    pub(super) cpus: u32,
    pub(super) arguments: &'a [&'a str],
    pub(super) load: &'a str,
    pub(super) from_boot: bool,
}

impl Site {
    /// Builds the kernels of `specs`.
    pub(super) fn open(common: &Common, case: &str, specs: &[Spec]) -> Result<(Self, Vec<Kernel>)> {
        let folder = options::results_folder(common.output.as_deref(), &format!("predict-{case}"))?;
        let mut bar = Progress::default();
        let needs: Vec<_> = specs.iter().flat_map(Spec::needs).collect();
        let builder = common.install.open(&common.builder, &needs, &mut bar)?;
        let kernels = options::build(&builder, specs, &mut bar)?;
        let (accel, _) = common.accel.resolve(&builder, &kernels[0], &mut bar)?;
        bar.clear();
        Ok((Self { builder, accel, folder }, kernels))
    }

    /// Boots a guest that records itself.
    pub(super) fn record(&self, boot: &Boot<'_>) -> Result<Recording> {
        let _progress = Progress::spinner(&format!("{} under {}", boot.name, self.accel.name()));
        let recorder = Recorder {
            builder: &self.builder,
            kernel: boot.kernel.clone(),
            cpus: boot.cpus,
            arguments: boot.arguments.iter().map(|&argument| argument.to_owned()).collect(),
            load: boot.load.to_owned(),
            accel: self.accel,
        };
        let folder = self.folder.join(&boot.name);
        let recording = match boot.from_boot {
            true => recorder.from_boot(&folder)?,
            false => recorder.of_load(&std::env::current_exe()?, &folder)?,
        };
        // A page of the trace takes source lines from the vmlinux in the trace's folder.
        let vmlinux = recording.trace.with_file_name("vmlinux");
        let built = boot.kernel.folder.join("vmlinux");
        if built.exists() {
            std::os::unix::fs::symlink(built, &vmlinux)
                .with_context(|| format!("{}: cannot make the link", vmlinux.display()))?;
        }
        Ok(recording)
    }
}

/// Opens what a guest recorded; text is imported first, into the same folder.
pub(super) fn open_trace(recording: &Recording) -> Result<(PathBuf, TraceReader)> {
    let path = recording.trace.with_extension("parquet");
    if path != recording.trace {
        let slabinfo = (!recording.slabinfo.is_empty()).then(|| recording.slabinfo.clone());
        let options = ImportOptions { slabinfo, ..ImportOptions::new(&recording.trace, &path) };
        let mut progress = Progress::default();
        slablab_trace::import(&options, &mut |step| progress.step(step))?;
    }
    let reader = TraceReader::open(&path)?;
    Ok((path, reader))
}

/// Makes a text of `/proc/slabinfo` readable.
pub(super) fn snapshot(slabinfo: &str) -> SlabSnapshot {
    let mut snapshot = SlabSnapshot::default();
    snapshot.slabinfo = slabinfo.to_owned();
    snapshot
}

/// Returns the bytes that these caches of a guest hold in slabs, by its slabinfo.
pub(super) fn held_bytes(recording: &Recording, caches: &[&str]) -> i64 {
    let slabs = snapshot(&recording.slabinfo);
    let of_caches = slabs.slabinfo().filter(|line| caches.contains(&line.name));
    of_caches.map(|line| (line.num_slabs * line.pagesperslab * 4096).cast_signed()).sum()
}

/// A prediction and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Line {
    pub(super) what: String,
    pub(super) predicted_bytes: i64,
    /// Median over the rounds
    pub(super) measured_bytes: i64,
    pub(super) measured_bytes_min: i64,
    pub(super) measured_bytes_max: i64,
    /// What a measurement is a multiple of
    pub(super) slab_bytes: i64,
    pub(super) within: bool,
}

impl Line {
    pub(super) fn new(
        what: String,
        predicted_bytes: i64,
        mut measured: Vec<i64>,
        slab_bytes: i64,
    ) -> Self {
        measured.sort_unstable();
        let middle = measured[measured.len() / 2];
        let off = (predicted_bytes - middle).abs();
        Self {
            what,
            predicted_bytes,
            measured_bytes: middle,
            measured_bytes_min: measured[0],
            measured_bytes_max: measured[measured.len() - 1],
            slab_bytes,
            within: off <= slab_bytes || off as f64 <= middle.abs() as f64 * TOLERANCE_SHARE,
        }
    }
}

/// What a case answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    pub(super) question: &'static str,
    pub(super) facts: Vec<String>,
    pub(super) lines: Vec<Line>,
    pub(super) notes: Vec<String>,
    pub(super) trace: PathBuf,
}

impl Answer {
    pub(super) fn print(&self, output: &OutputArgs) -> Result<ExitCode> {
        output::print(self, output, None)?;
        let holds = self.lines.iter().all(|line| line.within);
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

impl Report for Answer {
    const SCHEMA: &'static str = "slablab.kernel-predict/1";

    fn text(&self, page: &mut Page) {
        page.line(self.question);
        self.facts.iter().for_each(|fact| page.line(fact));
        page.heading("Predicted and measured");
        page.table(&self.csv());
        page.line("");
        self.notes.iter().for_each(|note| page.line(note));
        page.line(format!("trace: {}", self.trace.display()));
    }

    fn csv(&self) -> Table {
        let mut table = Table::new([
            Column::name("what", "what"),
            Column::number("predicted", "predicted_bytes"),
            Column::number("measured", "measured_bytes"),
            Column::number("least", "measured_bytes_min"),
            Column::number("most", "measured_bytes_max"),
            Column::number("off by", "off_share"),
            Column::number("a slab", "slab_bytes"),
            Column::name("within 25 % or a slab", "within"),
        ]);
        for line in &self.lines {
            let off = (line.predicted_bytes - line.measured_bytes) as f64;
            table.row([
                Cell::text(&line.what),
                Cell::SignedBytes(line.predicted_bytes),
                Cell::SignedBytes(line.measured_bytes),
                Cell::SignedBytes(line.measured_bytes_min),
                Cell::SignedBytes(line.measured_bytes_max),
                match line.measured_bytes {
                    0 => Cell::Missing,
                    measured => Cell::Share(off / measured as f64),
                },
                Cell::SignedBytes(line.slab_bytes),
                Cell::text(if line.within { "yes" } else { "NO" }),
            ]);
        }
        table
    }
}

/// Returns the trace's name and number of events.
pub(super) fn describe(path: &Path, reader: &TraceReader) -> String {
    let events = output::thousands(reader.meta().events);
    format!("{}: {events} events", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_holds_within_a_quarter_or_a_slab() {
        let line = |predicted, measured: &[i64]| {
            Line::new("x".into(), predicted, measured.to_vec(), 4096).within
        };
        assert!(line(40_000, &[32_000, 32_000, 90_000]));
        assert!(!line(40_001, &[32_000]));
        assert!(!line(100_000, &[60_000, 70_000, 75_000]));
        assert!(line(0, &[4096]) && line(-4096, &[0]) && !line(0, &[8192]));
    }

    #[test]
    fn held_bytes_are_read_from_slabinfo() {
        let slabinfo = "slabinfo - version: 2.1\n# name\n\
            kmalloc-64 1 64 64 64 1 : tunables 0 0 0 : slabdata 1 3 0\n\
            kmalloc-1k 1 64 1024 8 2 : tunables 0 0 0 : slabdata 1 2 0\n";
        let recording = Recording {
            trace: PathBuf::new(),
            slabinfo: slabinfo.into(),
            slab_kb: 0,
            slab_kb_before: 0,
        };
        assert_eq!(held_bytes(&recording, &["kmalloc-64", "kmalloc-1k"]), 3 * 4096 + 4 * 4096);
    }
}
