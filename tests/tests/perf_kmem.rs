//! `slablab stat --compat perf` and `perf kmem --caller stat`, on one and the same file: the same text.

use std::path::Path;
use std::process::{Command, Stdio};

use slablab_tests::{refusal, run, stdout};

/// Records a perf.data with some losses and many call sites; `None` where perf cannot.
fn recorded(path: &Path) -> Option<()> {
    let status = Command::new("perf")
        .args(["kmem", "record", "-m", "4M", "-o"])
        .arg(path)
        .args(["--", "perf", "bench", "sched", "messaging", "-g", "1", "-l", "20"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    (status.is_ok_and(|status| status.success()) && path.exists()).then_some(())
}

/// Returns what perf prints about the file, its blank line at the top left out.
fn by_perf(path: &Path, words: &[&str]) -> String {
    let output = Command::new("perf")
        .args(["kmem", "-f", "-i"])
        .arg(path)
        .args(words)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn every_digit_is_perfs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    if recorded(&path).is_none() {
        eprintln!("not run: perf kmem record does not work here (it needs linux-perf and root)");
        return;
    }
    let file = path.to_str().unwrap();
    let ours = |words: &[&str]| {
        let text = stdout(&[&["stat", "--compat", "perf", file], words].concat());
        text.trim().to_owned()
    };
    assert_eq!(lines(&ours(&[])), lines(&by_perf(&path, &["--caller", "stat"])));
    let raw = by_perf(&path, &["--caller", "--raw-ip", "-l", "7", "stat"]);
    assert_eq!(lines(&ours(&["--raw-ip", "-l", "7"])), lines(&raw));
    let sorted = by_perf(&path, &["--caller", "-s", "pingpong,bytes", "stat"]);
    assert_eq!(lines(&ours(&["-s", "pingpong,bytes"])), lines(&sorted));

    // The same file imported: other rules (an implicit free is a free), so only what both must know.
    let trace = folder.path().join("t.parquet");
    let output = run(&["import", file, "-o", trace.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let sentence = refusal(&["stat", "--compat", "perf", trace.to_str().unwrap()]);
    assert!(sentence.contains("holds no addresses"), "{sentence}");
}

/// perf pads some lines with blanks.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}
