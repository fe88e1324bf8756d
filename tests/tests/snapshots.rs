//! What `info` and `advise` say of `/proc/slabinfo` and `/proc/allocinfo`, of this machine where it lets us read them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use slablab_tests::{refusal, slablab, stdout};

/// Writes a series of three moments: the second and third as the first, but that one cache grows.
fn series(folder: &Path) -> PathBuf {
    let cache = |name: &str, active: u64, slabs: u64| {
        format!(
            "{name} {active} {} 192 21 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n",
            slabs * 21
        )
    };
    let moment = |step: u64| {
        let head = "slabinfo - version: 2.1\n# name            <active_objs> <num_objs>\n";
        let caches =
            [cache("filp", 100 + step * 500, 60 + step * 20), cache("kmalloc-192", 42, 40)];
        format!("{head}{}", caches.concat())
    };
    let path = folder.join("series");
    fs::write(&path, (0..4).map(moment).collect::<String>()).unwrap();
    path
}

fn json(words: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(&[words, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn a_series_is_told_by_cache_with_growth_and_slabs_beyond_need() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path());
    let file = path.to_str().unwrap();
    let info = json(&["info", file]);
    assert_eq!((&info["schema"], &info["moments"]), (&"slablab.snapshot/1".into(), &4.into()));
    let filp = &info["entries"][0];
    assert_eq!((&filp["name"], &filp["objects"]), (&"filp".into(), &1600.into()));
    assert_eq!((&filp["growth_bytes"], &filp["grows_on"]), (&(1500 * 192).into(), &true.into()));
    let kmalloc = &info["entries"][1];
    // 42 objects fit two slabs of the 40.
    assert_eq!(
        (&kmalloc["slab_bytes"], &kmalloc["idle_bytes"]),
        (&163_840.into(), &(38 * 4096).into())
    );
    let advice = stdout(&["advise", file]);
    for line in ["kmalloc-192", "shrink", "possible leak", "filp", "A snapshot does not tell"] {
        assert!(advice.contains(line), "{line}: {advice}");
    }
    assert!(advice.lines().all(|line| line.chars().count() <= 80), "{advice}");
    let mut piped = slablab();
    piped.args(["info", "-", "--format", "json"]).stdin(File::open(&path).unwrap());
    let piped: serde_json::Value = serde_json::from_slice(&piped.output().unwrap().stdout).unwrap();
    assert_eq!(piped["entries"], info["entries"]);
}

#[test]
fn allocinfo_is_told_by_line_of_the_source_and_by_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("allocinfo");
    let text = "allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n\
        8192 2 ./arch/x86/include/asm/pgalloc.h:34 func:pte_alloc\n\
        19200 100 fs/file_table.c:257 func:alloc_empty_file\n\
        4096 4 drivers/net/veth.c:9 [veth] func:veth_open\n";
    fs::write(&path, text).unwrap();
    let info = json(&["info", path.to_str().unwrap()]);
    assert_eq!(
        (&info["live_bytes"], &info["slab_bytes"]),
        (&31_488.into(), &serde_json::Value::Null)
    );
    assert_eq!(info["entries"][0]["name"], "alloc_empty_file");
    assert_eq!(info["folders"][0]["folder"], "fs");
    assert!(stdout(&["advise", path.to_str().unwrap()]).contains("drivers/net/veth.c:9 [veth]"));
}

#[test]
fn this_machines_slabinfo_is_read_whole() {
    let Ok(text) = fs::read_to_string("/proc/slabinfo") else {
        eprintln!("not run: /proc/slabinfo cannot be read here (it needs root)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slabinfo");
    fs::write(&path, &text).unwrap();
    let info = json(&["info", path.to_str().unwrap()]);
    let lines: Vec<Vec<&str>> =
        text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(info["entries"].as_array().unwrap().len(), lines.len());
    let number = |line: &Vec<&str>, place: usize| line[place].parse::<u64>().unwrap();
    let slabs: u64 = lines.iter().map(|line| number(line, 14) * number(line, 5) * 4096).sum();
    assert_eq!(info["slab_bytes"], slabs);
}

#[test]
fn what_needs_events_refuses_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path());
    let file = path.to_str().unwrap();
    for words in [&["replay", file][..], &["whatif", file, "--no-merge"], &["import", file]] {
        let said = refusal(words);
        assert!(
            said.contains("a snapshot of /proc/slabinfo") && said.contains("slablab info"),
            "{said}"
        );
    }
    assert!(refusal(&["info", file, "--cpu", "0"]).contains("a snapshot has no events"));
}

#[test]
fn a_heading_with_nothing_that_can_be_read_below_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slabinfo");
    for rows in ["", "foo 1 2\nbar x y z\n"] {
        std::fs::write(&path, format!("slabinfo - version: 2.1\n{rows}")).unwrap();
        let said = slablab_tests::refusal(&["info", path.to_str().unwrap()]);
        assert!(said.contains("no line below it that can be read"), "{said}");
    }
}
