//! `slablab stat --pages --compat perf` and `perf kmem --page --caller --alloc stat`, on one and the same file: the same
//! numbers; and what `stat --pages` counts is what perf counts.
//!
//! The column of call sites is left out, and rows that differ in it alone are added up: perf 6.1 takes the address of
//! the first frame for an offset in the kernel's image, so that it names one function in two ways.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use slablab_tests::{refusal, stdout};

/// Records a perf.data of pages; `None` where perf cannot.
fn recorded(path: &Path) -> Option<()> {
    let script = "find /usr/share/doc >/dev/null; tar cf /dev/null /usr/bin 2>/dev/null; perf bench sched messaging -g 1 -l 20";
    let status = Command::new("perf")
        .args(["kmem", "--page", "record", "-m", "4M", "-o"])
        .arg(path)
        .args(["--", "sh", "-c", script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    (status.is_ok_and(|status| status.success()) && path.exists()).then_some(())
}

fn by_perf(path: &Path) -> String {
    let output = Command::new("perf")
        .args(["kmem", "-f", "-i"])
        .arg(path)
        .args(["--page", "--caller", "--alloc", "stat"])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What is compared: rows of both tables without call sites (bytes and hits by all else), and all other lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    rows: BTreeMap<Vec<String>, (u64, u64)>,
    lines: Vec<String>,
}

fn told(text: &str) -> Told {
    let mut told = Told::default();
    for line in text.trim().lines().map(str::trim_end) {
        let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
        // [page,] KB, hits, order, type, flags, call site
        let number = |place: usize| cells.get(cells.len().checked_sub(place)?)?.parse::<u64>().ok();
        match (cells.len(), number(6), number(5)) {
            (6 | 7, Some(kilobytes), Some(hits)) => {
                let page = cells[..cells.len() - 6].iter();
                let key = page.chain(&cells[cells.len() - 4..cells.len() - 1]);
                let sum = told.rows.entry(key.map(|&cell| cell.to_owned()).collect()).or_default();
                *sum = (sum.0 + kilobytes, sum.1 + hits);
            }
            _ => told.lines.push(line.to_owned()),
        }
    }
    told
}

#[test]
fn every_number_of_pages_is_perfs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    if recorded(&path).is_none() {
        eprintln!(
            "not run: perf kmem --page record does not work here (it needs linux-perf and root)"
        );
        return;
    }
    let file = path.to_str().unwrap();
    let (ours, perfs) = (stdout(&["stat", "--pages", "--compat", "perf", file]), by_perf(&path));
    let (ours, perfs) = (told(&ours), told(&perfs));
    assert!(perfs.rows.len() > 100 && perfs.lines.len() > 20, "{perfs:?}");
    assert_eq!(ours.lines, perfs.lines);
    assert_eq!(ours.rows, perfs.rows);

    // The answer of our own counts the same events: allocations, and how many of their pages were freed.
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["stat", "--pages", "--format", "json", file])).unwrap();
    let perf: serde_json::Value = serde_json::from_str(&stdout(&[
        "stat", "--pages", "--compat", "perf", "--format", "json", file,
    ]))
    .unwrap();
    let total = &json["total"];
    let failed = json["failed_allocs"].as_u64().unwrap();
    assert_eq!(
        total["allocs"].as_u64().unwrap() + failed,
        perf["totals"]["allocs"][0].as_u64().unwrap()
    );
    let count = |kind: &str| {
        let kinds = json["events_by_kind"].as_array().unwrap();
        kinds.iter().find(|row| row[0] == kind).map_or(0, |row| row[1].as_u64().unwrap())
    };
    assert_eq!(count("mm_page_free"), perf["totals"]["frees"][0].as_u64().unwrap());

    // The imported file has no numbers of pages.
    let trace = folder.path().join("t.parquet");
    _ = stdout(&["import", file, "-o", trace.to_str().unwrap()]);
    let sentence = refusal(&["stat", "--pages", "--compat", "perf", trace.to_str().unwrap()]);
    assert!(sentence.contains("holds no numbers of pages"), "{sentence}");
    let sentence = refusal(&["replay", trace.to_str().unwrap()]);
    assert!(sentence.contains("stat --pages"), "{sentence}");
}
