//! The default output of every command: a sentence first, and at most 40 lines of 80 columns.
//!
//! `tests/first-screen-exceptions.txt` lists the commands that do not fit yet; a command that fits must be taken off the
//! list.

use std::fs;
use std::path::Path;

use slablab_tests::{root, shown, slablab, typed_trace};

const LINES_MAX: usize = 40;
const COLUMNS_MAX: usize = 80;

/// Commands that are asked about each of the sample traces.
const OF_TRACES: [&str; 10] = [
    "replay TRACE",
    "info TRACE",
    "advise TRACE",
    "tune TRACE",
    "fit TRACE --memory 64M",
    "classes TRACE",
    "whatif TRACE --page-size 16K",
    "partition TRACE --by random:4",
    "stat TRACE",
    "stat TRACE --pins",
];

/// Other commands; `TMP` has snapshots.
const OTHERS: [&str; 14] = [
    "info traces/boot.parquet traces/build.parquet traces/hackbench.parquet",
    "replay traces/boot.parquet traces/build.parquet",
    "advise traces/boot.parquet traces/build.parquet",
    "stat traces/boot.parquet traces/build.parquet",
    "patch traces/hackbench.parquet alloc_fdtable+0xd0 --source none",
    "lab compare --csv tests/data/hackbench-31-pairs.csv",
    "partition TMP/typed/typed.parquet --by typed:64",
    "partition TMP/typed/typed.parquet --by typed:2 --with sock",
    "fit traces/boot.parquet --order 10 --aged tests/data/aged.txt",
    "info TMP/slabinfo",
    "info tests/data/slabinfo-mail.txt",
    "info TMP/allocinfo",
    "info TMP/allocinfo-series",
    "doctor",
];

/// Commands for root, who may look at the kernel.
const AS_ROOT: [&str; 4] = [
    "top --once --seconds 1",
    "top --once --seconds 1 --by cache",
    "leaks --once --for 3s",
    "info --census",
];

const EXCEPTIONS: &str = "tests/first-screen-exceptions.txt";

#[test]
fn every_command_begins_with_a_sentence_and_fits_a_screen() {
    let folder = tempfile::tempdir().unwrap();
    snapshots(folder.path());
    let _ = typed_trace(&folder.path().join("typed"));
    let traces = ["hackbench", "boot", "build"].map(|name| format!("traces/{name}.parquet"));
    let of_traces =
        OF_TRACES.iter().flat_map(|command| traces.iter().map(|t| command.replace("TRACE", t)));
    let mut commands: Vec<String> =
        of_traces.chain(OTHERS.iter().map(ToString::to_string)).collect();
    match shown::is_root() && Path::new("/sys/kernel/tracing/events/kmem").exists() {
        true => commands.extend(AS_ROOT.map(str::to_owned)),
        false => eprintln!("not run: top --once needs root and tracefs"),
    }
    let exceptions = fs::read_to_string(root().join(EXCEPTIONS)).unwrap();
    let exceptions: Vec<_> = exceptions.lines().filter(|line| !line.starts_with('#')).collect();
    let mut wrong = Vec::new();
    for command in &commands {
        // An exception is one for every trace.
        let is_exception = exceptions.iter().any(|exception| command.starts_with(exception));
        match (fault(command, folder.path()), is_exception) {
            (Some(fault), false) => wrong.push(format!("slablab {command}: {fault}")),
            (None, true) => wrong.push(format!("slablab {command}: take it off {EXCEPTIONS}")),
            _ => {}
        }
    }
    for exception in exceptions {
        if !commands.iter().any(|command| command.starts_with(exception)) {
            wrong.push(format!("{EXCEPTIONS}: {exception}: is not a command of this test"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Says what is wrong with what `command` prints.
fn fault(command: &str, folder: &Path) -> Option<String> {
    let words = command.replace("TMP", folder.to_str().unwrap());
    let output = slablab().args(words.split(' ')).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Status 1 is an answer, for example a load that does not fit.
    if !matches!(output.status.code(), Some(0 | 1)) || text.is_empty() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Some(format!("fails: {}", stderr.lines().next().unwrap_or_default()));
    }
    fault_of(&text)
}

/// Says what is wrong with a first screen.
fn fault_of(text: &str) -> Option<String> {
    let lines = text.lines().count();
    if lines > LINES_MAX {
        return Some(format!("has {lines} lines"));
    }
    let longest = text.lines().max_by_key(|line| line.chars().count())?;
    if longest.chars().count() > COLUMNS_MAX {
        return Some(format!("has a line of {} columns: {longest}", longest.chars().count()));
    }
    let first: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let first = first.join(" ");
    let is_sentence = first.split(' ').count() > 3 && first.ends_with('.') && !first.contains("  ");
    (!is_sentence).then(|| format!("does not begin with a sentence: {first}"))
}

#[test]
fn a_long_a_wide_and_a_wordless_screen_are_faults() {
    let good = "Nothing is wrong with this.\n\nhead  other\na     b\n";
    assert_eq!(fault_of(good), None);
    assert!(fault_of(&format!("{good}{}", "x\n".repeat(37))).unwrap().contains("41 lines"));
    assert!(fault_of(&format!("{good}{}", "x".repeat(81))).unwrap().contains("81 columns"));
    for text in
        ["head  other column\na  b\n", "trace     a.parquet is what it is.\n", "Two words.\n"]
    {
        assert!(fault_of(text).unwrap().starts_with("does not begin"), "{text}");
    }
}

/// Writes a slabinfo of 300 caches, an allocinfo of 5,000 lines, and a series of the latter.
fn snapshots(folder: &Path) {
    let cache = |at: u64| {
        let (active, slabs) = (at * 37 % 5000, at * 37 % 5000 / 10 + 2);
        format!(
            "a_cache_of_a_subsystem_{at} {active} {} 192 21 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n",
            slabs * 21
        )
    };
    let head = "slabinfo - version: 2.1\n# name            <active_objs> <num_objs>\n";
    let caches: String = (0..300).map(cache).collect();
    fs::write(folder.join("slabinfo"), format!("{head}{caches}")).unwrap();

    let head = "allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n";
    let line = |at: u64, step: u64| {
        let calls = at * 7919 % 10_007 + step * (at % 3);
        format!(
            "{} {calls} drivers/net/ethernet/vendor{}/a_driver_with_a_long_name_{at}.c:{at} [module_{}] \
             func:a_function_with_a_long_name_that_allocates_{at}\n",
            calls * 64,
            at % 50,
            at % 20
        )
    };
    let moment = |step: u64| (0..5000).map(|at| line(at, step)).collect::<String>();
    fs::write(folder.join("allocinfo"), format!("{head}{}", moment(0))).unwrap();
    let series: String = (0..4).map(|step| format!("{head}{}", moment(step))).collect();
    fs::write(folder.join("allocinfo-series"), series).unwrap();
}
