//! `watch`: moments of this machine in a file that stays small, which `info` reads, and as OpenMetrics.

use std::fs;

use slablab_tests::{refusal, slablab, stdout};

/// Says why nothing is tested where slabinfo cannot be read.
fn can_read() -> bool {
    let can = fs::read_to_string("/proc/slabinfo").is_ok_and(|text| text.lines().count() > 2);
    if !can {
        eprintln!("not run: /proc/slabinfo cannot be read here (it needs root)");
    }
    can
}

#[test]
fn moments_of_this_machine_are_a_series_with_times_and_continue_after_a_cut() {
    if !can_read() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series");
    let file = path.to_str().unwrap();
    let words = ["watch", "--every", "1s", "--count", "3", "-o", file];
    assert_eq!(stdout(&words), "");
    let info: serde_json::Value =
        serde_json::from_str(&stdout(&["info", file, "--format", "json"])).unwrap();
    let table = &info["tables"][0];
    assert_eq!((&table["kind"], &table["moments"]), (&"slabinfo".into(), &3.into()));
    let seconds = table["seconds"].as_f64().unwrap();
    assert!((2.0..=4.0).contains(&seconds), "{seconds}");
    assert!(info["machine"]["slab_bytes"].as_u64().unwrap() > 1 << 20);
    // A power cut in the middle of a moment.
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    let said = stdout(&["info", file]);
    assert!(said.contains("at 2 moments"), "{said}");
    assert!(said.contains("The last moment is not whole"), "{said}");
    assert_eq!(stdout(&["watch", "--every", "1s", "--count", "1", "-o", file]), "");
    let said = stdout(&["info", file]);
    assert!(said.contains("at 3 moments") && !said.contains("not whole"), "{said}");
}

#[test]
fn an_exporter_prints_open_metrics_that_info_reads() {
    if !can_read() {
        return;
    }
    let text = stdout(&["watch", "--exporter"]);
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(text.contains("slablab_slabinfo_active_objects{slab=\"dentry\"} "), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slablab.prom");
    fs::write(&path, text).unwrap();
    let info = stdout(&["info", path.to_str().unwrap(), "--format", "json"]);
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["tables"][0]["kind"], "prometheus");
    assert_eq!(info["unread_lines"], 0);
}

#[test]
fn what_cannot_be_watched_is_refused_and_no_file_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let letter = folder.path().join("letter");
    fs::write(&letter, "Dear A.\n").unwrap();
    let said = refusal(&["watch", "--count", "1", "-o", letter.to_str().unwrap()]);
    assert!(said.contains("was not written by `slablab watch`"), "{said}");
    assert_eq!(fs::read_to_string(&letter).unwrap(), "Dear A.\n");
    let file = folder.path().join("series");
    let file = file.to_str().unwrap();
    assert!(refusal(&["watch", "-o", file, "--limit", "1K"]).contains("256K"));
    assert!(refusal(&["watch", "-o", file, "--every", "0.01s"]).contains("0.1 s"));
    assert!(refusal(&["watch", "--count", "2"]).contains("name a file"));
    let words = ["watch", "-o", file, "--every", "1y"];
    assert!(!slablab().args(words).output().unwrap().status.success());
    assert!(!folder.path().join("series").exists());
}
