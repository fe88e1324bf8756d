//! `slablab advise` on many traces: sums, hosts, what is named, and runs that are killed and go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use slablab_tests::{refusal, root, slablab, stdout};

/// Puts a copy of a sample where the trace of a host on a day lies.
fn put(fleet: &Path, host: &str, date: &str, sample: &str) -> PathBuf {
    let folder = fleet.join(format!("host={host}/date={date}"));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(sample);
    fs::copy(root().join("traces").join(sample), &path).unwrap();
    path
}

fn advice(words: &[&str]) -> Value {
    let words = [&["advise"], words, &["--format", "json"]].concat();
    serde_json::from_str(&stdout(&words)).unwrap()
}

fn sites(answer: &Value) -> Vec<(&str, i64)> {
    let sites = answer["sites"].as_array().unwrap().iter();
    sites
        .map(|s| (s["site"].as_str().unwrap(), s["saved_bytes_at_peak"].as_i64().unwrap()))
        .collect()
}

#[test]
fn advice_over_copies_is_so_many_times_the_advice_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one");
    put(&one, "a", "1", "hackbench.parquet");
    let alone = advice(&[one.to_str().unwrap()]);
    let single = advice(&["traces/hackbench.parquet"]);
    let of = |site: &str| {
        let all = single["advice"].as_array().unwrap();
        let own = all.iter().find(|a| a["subject"] == site).unwrap();
        own["saved_bytes_at_peak"].as_i64().unwrap()
    };
    assert!(sites(&alone).iter().all(|(site, saved)| of(site) == *saved), "{alone}");
    assert!(sites(&alone).len() > 5 && alone["sites"][0]["saved_bytes_at_peak_interval"].is_null());
    let five = folder.path().join("five");
    for (host, date) in [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2"), ("c", "1")] {
        put(&five, host, date, "hackbench.parquet");
    }
    let pattern = format!("{}/host=*/date=?/*.parquet", five.display());
    let many = advice(&[&pattern]);
    assert_eq!(many["traces"], 5);
    assert_eq!(many["hosts"], serde_json::json!(["a", "b", "c"]));
    let scaled: Vec<_> = sites(&alone).into_iter().map(|(site, saved)| (site, 5 * saved)).collect();
    let mut found = sites(&many);
    // What costs most is last in both, and ties are in order of names.
    found.sort_unstable();
    let mut expected = scaled;
    expected.sort_unstable();
    assert_eq!(found, expected);
    let times = |key: &str| many[key].as_u64() == alone[key].as_u64().map(|n| 5 * n);
    assert!(times("events") && times("held_bytes_peak"), "{many}");
    assert!(many["remarks"][0].as_str().unwrap().contains("and 3 more are the same recording"));
}

#[test]
fn a_run_that_is_killed_goes_on_and_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (fleet, kept) = (folder.path().join("fleet"), folder.path().join("kept"));
    for host in ["a", "b", "c", "d"] {
        for sample in ["hackbench.parquet", "build.parquet", "boot.parquet"] {
            put(&fleet, host, "1", sample);
        }
    }
    let fleet = fleet.to_str().unwrap();
    let words = ["advise", fleet, "--format", "json", "--resume", kept.to_str().unwrap()];
    let whole = stdout(&words[..4]);
    let files = || fs::read_dir(&kept).map_or(0, |files| files.flatten().count());
    let mut kills = 0;
    for wait_ms in (100..).step_by(150) {
        let mut run =
            slablab().args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(wait_ms));
        if run.try_wait().unwrap().is_some() {
            break;
        }
        run.kill().unwrap();
        run.wait().unwrap();
        kills += 1;
    }
    assert!(kills > 0 && files() >= 12, "{kills} kills, {} files", files());
    assert_eq!(stdout(&words), whole);
    // What is kept and no answer is made again: a torn file, another question.
    for file in fs::read_dir(&kept).unwrap().flatten() {
        fs::write(file.path(), "{\"schema\":").unwrap();
    }
    assert_eq!(stdout(&words), whole);
    let slab = [&words[..], &["--allocator", "slab"]].concat();
    assert_ne!(stdout(&slab), whole);
    assert_eq!(stdout(&words), whole);
}

#[test]
fn info_has_a_line_for_each_of_many_traces() {
    let folder = tempfile::tempdir().unwrap();
    let one = put(folder.path(), "a", "2026-11-21", "build.parquet");
    put(folder.path(), "b", "2026-11-22", "boot.parquet");
    let info = |words: &[&str]| -> Value {
        serde_json::from_str(&stdout(&[&["info"], words, &["--format", "json"]].concat())).unwrap()
    };
    let many = info(&[folder.path().to_str().unwrap()]);
    let single = info(&[one.to_str().unwrap()]);
    assert_eq!((&many["hosts"], many["traces"].as_array().unwrap().len()), (&2.into(), 2));
    let row = &many["traces"][0];
    assert_eq!((&row["host"], &row["date"]), (&"a".into(), &"2026-11-21".into()));
    assert_eq!(
        (&row["events"], &row["unplaced_share"]),
        (&single["events"], &single["unplaced_share"])
    );
    let said = refusal(&["info", folder.path().to_str().unwrap(), "--cpu", "0"]);
    assert!(said.contains("take a part of one trace"), "{said}");
}

#[test]
fn what_is_no_trace_among_many_is_named_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = folder.path().join("fleet");
    put(&fleet, "a", "1", "build.parquet");
    let own = put(&fleet, "b", "1", "build.parquet");
    let name = fleet.to_str().unwrap();
    let said = refusal(&["advise", name, own.to_str().unwrap()]);
    assert!(said.contains("is named twice"), "{said}");
    assert!(refusal(&["advise", name, "none*"]).contains("none*: no trace is there"));
    assert!(refusal(&["advise", name, "/dev/null"]).contains("/dev/null: the file is empty"));
    let whole = fs::read(&own).unwrap();
    let other = own.with_file_name("other.parquet");
    fs::write(&other, &whole[..whole.len() / 2]).unwrap();
    assert!(refusal(&["advise", name]).contains("other.parquet: is not a Parquet file"));
    // Of another version: its metadata is JSON, and has its length kept.
    let text = br#""schema_version":1,"#;
    let at = whole.windows(text.len()).position(|bytes| bytes == text).expect("it is of version 1");
    let mut newer = whole.clone();
    newer[at + text.len() - 2] = b'9';
    let least = br#""reader_version_min":1,"#;
    if let Some(at) = newer.windows(least.len()).position(|bytes| bytes == least) {
        newer[at + least.len() - 2] = b'9';
    }
    fs::write(&other, newer).unwrap();
    let said = refusal(&["advise", name]);
    assert!(said.contains("other.parquet") && said.contains("version"), "{said}");
    fs::remove_file(other).unwrap();
    assert!(
        refusal(&["advise", own.to_str().unwrap(), "--resume", "x"]).contains("several traces")
    );
}
