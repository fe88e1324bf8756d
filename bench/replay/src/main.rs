//! How fast traces are replayed, imported and searched, beside `perf kmem` in the same run.
//!
//! Run from the root of the tree after `cargo build --release -p slablab`:
//!
//! ```text
//! cargo run --release --manifest-path bench/Cargo.toml --bin bench-replay -- [--rounds 7] [--events 2000000] [--long]
//!     [--slablab target/release/slablab] [-o FOLDER]
//! ```
//!
//! Every command runs as a whole, pinned to one core by taskset; commands to be compared take turns within a
//! round, so that a slow moment of the machine hits them alike. `raw.jsonl` has a row a run, the table medians,
//! ranges and ratios. `--long` adds the replay of 100 million events with its peak memory (needs 600 MB of disk).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use slablab_trace::synth::{SynthOptions, synth};

type Failure = Box<dyn std::error::Error>;

const EVENTS: u64 = 2_000_000;
const EVENTS_LONG: u64 = 100_000_000;

/// One command to be timed.
struct Case {
    name: &'static str,
    words: Vec<String>,
    /// Events it handles, for a rate; 0 for none
    events: u64,
}

/// One run of a command.
struct Run {
    seconds: f64,
    peak_kib: u64,
}

fn main() -> Result<(), Failure> {
    let options: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        options.iter().position(|word| word == name).and_then(|i| options.get(i + 1)).cloned()
    };
    let rounds: usize = value("--rounds").map_or(Ok(7), |n| n.parse())?;
    let events: u64 = value("--events").map_or(Ok(EVENTS), |n| n.parse())?;
    let folder = tempfile::tempdir()?;
    let mut out = Output::new(value("-o").map(PathBuf::from))?;
    let slablab = value("--slablab").unwrap_or_else(|| "target/release/slablab".to_owned());
    let slablab =
        fs::canonicalize(&slablab).map_err(|e| format!("{slablab}: {e}; run make build first"))?;
    let slablab = slablab.display().to_string();

    let trace = folder.path().join("synthetic.parquet");
    synth(&trace, &SynthOptions { events, ..SynthOptions::default() }, &mut |_| ())?;
    let trace = trace.display().to_string();
    let words = |words: &[&str]| -> Vec<String> {
        let pinned = ["taskset", "-c", "1"];
        pinned.iter().chain(words).map(|word| (*word).to_owned()).collect()
    };
    let replay =
        |allocator| words(&[&slablab, "replay", &trace, "-a", allocator, "--format", "csv"]);
    let mut cases = vec![
        Case { name: "replay slub", words: replay("slub"), events },
        Case { name: "replay slab", words: replay("slab"), events },
        Case { name: "replay slob", words: replay("slob"), events },
        Case { name: "replay slmb", words: replay("slmb"), events },
        Case {
            name: "whatif slub",
            words: words(&[&slablab, "whatif", &trace, "--dedicate", "kstrdup", "--format", "csv"]),
            events,
        },
        Case {
            name: "advise slub",
            words: words(&[&slablab, "advise", &trace, "--format", "csv"]),
            events,
        },
    ];
    if let Some(perf_data) = perf_data(folder.path()) {
        cases.push(Case {
            name: "perf kmem --caller stat",
            words: words(&["perf", "kmem", "-f", "-i", &perf_data, "--caller", "stat"]),
            events: 0,
        });
        cases.push(Case {
            name: "import perf.data and replay slub",
            words: words(&[&slablab, "replay", &perf_data, "-a", "slub", "--format", "csv"]),
            events: 0,
        });
    }
    let mut runs: BTreeMap<&str, Vec<Run>> = BTreeMap::new();
    for round in 0..rounds {
        for case in &cases {
            let run = run(&case.words)?;
            out.row(round, case, &run)?;
            runs.entry(case.name).or_default().push(run);
        }
    }
    if options.iter().any(|word| word == "--long") {
        let path = folder.path().join("long.parquet");
        let options = SynthOptions { events: EVENTS_LONG, ..SynthOptions::default() };
        synth(&path, &options, &mut |_| ())?;
        let path = path.display().to_string();
        let case = Case {
            name: "replay slub, 100 million events",
            words: words(&[&slablab, "replay", &path, "-a", "slub", "--format", "csv"]),
            events: EVENTS_LONG,
        };
        let run = run(&case.words)?;
        out.row(0, &case, &run)?;
        runs.entry(case.name).or_default().push(run);
        cases.push(case);
    }
    out.table(&cases, &runs)
}

/// Records a perf.data of hackbench, where perf may.
fn perf_data(folder: &Path) -> Option<String> {
    let path = folder.join("perf.data").display().to_string();
    let words = ["kmem", "record", "-m", "64M", "-o", &path, "--", "perf", "bench", "sched"];
    let status = Command::new("perf")
        .args(words)
        .args(["messaging", "-g", "5", "-l", "100"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let made = status.is_ok_and(|status| status.success()) && Path::new(&path).exists();
    if !made {
        eprintln!("perf kmem record does not work here: no comparison with perf");
    }
    made.then_some(path)
}

/// Runs a command to its end, and looks at its memory meanwhile.
fn run(words: &[String]) -> Result<Run, Failure> {
    let start = Instant::now();
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let text = fs::read_to_string(&status_file).unwrap_or_default();
        let high = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let high = high.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        peak_kib = peak_kib.max(high.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    };
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("{} failed: {status}", words.join(" ")).into());
    }
    Ok(Run { seconds, peak_kib })
}

fn median(seconds: &[f64]) -> f64 {
    slablab_stats::quantile(seconds, 0.5).expect("a case has run at least once")
}

/// Where rows and the table go.
struct Output {
    folder: Option<PathBuf>,
    raw: Option<File>,
}

impl Output {
    fn new(folder: Option<PathBuf>) -> Result<Self, Failure> {
        let raw = match &folder {
            None => None,
            Some(folder) => {
                fs::create_dir_all(folder)?;
                Some(File::create(folder.join("raw.jsonl"))?)
            }
        };
        Ok(Self { folder, raw })
    }

    fn row(&mut self, round: usize, case: &Case, run: &Run) -> Result<(), Failure> {
        let Some(raw) = &mut self.raw else { return Ok(()) };
        let row = json!({
            "case": case.name, "round": round, "seconds": run.seconds, "peak_kib": run.peak_kib,
        });
        writeln!(raw, "{row}")?;
        Ok(())
    }

    fn table(&self, cases: &[Case], runs: &BTreeMap<&str, Vec<Run>>) -> Result<(), Failure> {
        let seconds = |name: &str| -> Vec<f64> {
            runs.get(name).into_iter().flatten().map(|run| run.seconds).collect()
        };
        let mut text = String::from(
            "| command | median s | least | most | million events/s | peak MiB |\n|---|---|---|---|---|---|\n",
        );
        for case in cases {
            let mut times = seconds(case.name);
            times.sort_by(f64::total_cmp);
            let median = median(&times);
            let peak = runs[case.name].iter().map(|run| run.peak_kib).max().unwrap_or(0);
            let rate = match case.events {
                0 => "-".to_owned(),
                events => format!("{:.1}", events as f64 / median / 1e6),
            };
            text += &format!(
                "| {} | {median:.3} | {:.3} | {:.3} | {rate} | {} |\n",
                case.name,
                times[0],
                times[times.len() - 1],
                peak / 1024
            );
        }
        let ratios = [
            ("import perf.data and replay slub", "perf kmem --caller stat"),
            ("whatif slub", "replay slub"),
            ("advise slub", "replay slub"),
        ];
        text += "\n| ratio of medians | |\n|---|---|\n";
        for (of, to) in ratios {
            let (a, b) = (seconds(of), seconds(to));
            if !a.is_empty() && !b.is_empty() {
                let ratio = median(&a) / median(&b);
                text += &format!("| {of} / {to} | {ratio:.2} |\n");
            }
        }
        print!("{text}");
        if let Some(folder) = &self.folder {
            fs::write(folder.join("table.md"), &text)?;
        }
        Ok(())
    }
}
