//! `slablab record` killed at random moments, while it records and while it makes the trace: what it had is recovered. What
//! waits for that is small.
//!
//! How it works: a program beside it opens a file each 10 ms. After SIGKILL, `record --recover` makes the trace, whose last
//! event of that program may be at most two seconds older than the kill. `SLABLAB_KILLS` says how often: `make
//! test-killed` asks for 200, the tests of each commit for a few.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slablab_tests::slablab;
use slablab_trace::{State, TraceReader, probe};

/// Events may be lost that are younger than this when the recorder is killed.
const LOST_MAX: Duration = Duration::from_secs(2);

/// The clock that events have.
fn now_ns() -> u64 {
    let text = fs::read_to_string("/proc/uptime").unwrap();
    let seconds: f64 = text.split(' ').next().unwrap().parse().unwrap();
    (seconds * 1e9) as u64
}

/// A number below `below`, another at each call.
fn random(below: u64) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    (since.subsec_nanos() as u64 / 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) % below
}

/// Opens a file of a folder each 10 ms until its group is killed.
fn program(folder: &Path) -> Child {
    let script = "while :; do : > open; sleep 0.01; done";
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).process_group(0);
    command.stderr(Stdio::null()).spawn().unwrap()
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills a recorder `after_ms` milliseconds after its start; returns when that was, or `None` when it had ended.
fn killed(output: &Path, seconds: &str, after_ms: u64) -> Option<u64> {
    let mut command = slablab();
    command.args(["record", "-m", "4M", "--duration", seconds, "-o"]).arg(output);
    let mut recorder = command.stderr(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_millis(after_ms));
    let at_ns = now_ns();
    let has_ended = recorder.try_wait().unwrap().is_some();
    kill(&mut recorder);
    (!has_ended).then_some(at_ns)
}

/// Recovers a recording that was killed; returns the time of its last event, `None` where it had not begun.
fn recovered(output: &Path) -> Option<u64> {
    let ran = slablab().args(["record", "--recover", "-o"]).arg(output).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let before_it_began = ["no interrupted recording is there", "ended before the first event"];
    if before_it_began.iter().any(|text| said.contains(text)) {
        return None;
    }
    assert_eq!(ran.status.code(), Some(0), "{said}");
    // Without one it was killed while it turned the events on.
    Some(TraceReader::open(output).unwrap().meta().time_last_ns).filter(|last_ns| *last_ns > 0)
}

#[test]
fn a_recorder_that_is_killed_at_any_moment_loses_two_seconds_at_most() {
    if probe().into_iter().any(|fact| fact.state == State::Missing) {
        eprintln!("not run: nothing can be recorded here");
        return;
    }
    let kills = std::env::var("SLABLAB_KILLS").ok().and_then(|kills| kills.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    let mut beside = program(folder.path());
    let (mut while_recorded, mut while_made, mut not_begun) = (0, 0, 0);
    for kill in 0..kills.unwrap_or(6) {
        let output = folder.path().join(format!("{kill}.parquet"));
        // Of a minute it is killed while it records, of half a second most often behind that.
        let (seconds, moments_ms) = if kill % 2 == 0 { ("60", 6000) } else { ("0.5", 2500) };
        let Some(killed_ns) = killed(&output, seconds, random(moments_ms)) else { continue };
        let Some(last_ns) = recovered(&output) else {
            let _ = fs::remove_dir_all(output.with_extension("parquet.recording"));
            not_begun += 1;
            continue;
        };
        if kill % 2 == 0 {
            let lost = Duration::from_nanos(killed_ns.saturating_sub(last_ns));
            assert!(lost < LOST_MAX, "kill {kill}: the last {lost:?} are not there");
            while_recorded += 1;
        } else {
            while_made += 1;
        }
        let instances = fs::read_dir("/sys/kernel/tracing/instances").unwrap().flatten();
        let left = instances.filter(|at| at.file_name().to_string_lossy().starts_with("slablab-"));
        let is_gone = |name: &str| {
            let pid = name.trim_start_matches("slablab-");
            !Path::new("/proc").join(pid).exists()
        };
        let left: Vec<_> = left.map(|at| at.file_name().to_string_lossy().into_owned()).collect();
        assert!(!left.iter().any(|name| is_gone(name)), "traces on: {left:?}");
        fs::remove_file(&output).unwrap();
    }
    kill(&mut beside);
    eprintln!(
        "recovered: {while_recorded} killed while recorded, {while_made} behind; {not_begun} had not begun"
    );
    assert!(while_recorded + while_made > 0, "all were killed before the first event");
}

/// Returns the bytes of the files in the folder of a recording that grow with its events.
fn waiting_bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap().flatten();
    let grow = files.filter(|at| {
        let name = at.file_name().into_string().unwrap();
        name == "reserve" || name.ends_with(".pages")
    });
    grow.map(|at| at.metadata().unwrap().blocks() * 512).sum()
}

/// The pages of the ring buffer take 60 bytes an event; so much waited for its trace before.
#[test]
fn what_waits_for_its_trace_takes_at_most_30_bytes_an_event() {
    if probe().into_iter().any(|fact| fact.state == State::Missing) {
        eprintln!("not run: nothing can be recorded here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    let mut command = slablab();
    command.args(["record", "-m", "1M", "--duration", "60", "-o"]).arg(&output);
    let mut recorder = command.stderr(Stdio::null()).spawn().unwrap();
    let left = folder.path().join("t.parquet.recording");
    while !left.join("threads.json").exists() {
        sleep(Duration::from_millis(20));
    }
    let storm = "for n in $(seq 3000); do /bin/true; done";
    assert!(Command::new("sh").args(["-c", storm]).status().unwrap().success());
    kill(&mut recorder);
    let bytes = waiting_bytes(&left);
    recovered(&output).expect("events of the storm");
    let events = TraceReader::open(&output).unwrap().meta().events;
    eprintln!("{events} events in {bytes} bytes");
    assert!(events > 300_000 && bytes <= 30 * events, "{bytes} bytes for {events} events");
}
