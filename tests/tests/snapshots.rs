//! What `info` says of tables of slab memory, of this machine where it lets us read them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use slablab_tests::{refusal, slablab, stdout};

/// Writes a series of four moments, in which one cache grows.
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
    fs::write(&path, (0..6).map(moment).collect::<String>()).unwrap();
    path
}

fn json(words: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(&[words, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn of_two_lists_of_caches_the_longer_one_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mail");
    let one = "dentry 2369308 2369325 192 21 1 : tunables 0 0 0 : slabdata 112825 112825 0\n";
    let all = "  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME\n\
               2369325 2369308  99%    0.19K 112825       21    451300K dentry\n\
               1015644 1015620  99%    0.09K  24182       42     96728K kmalloc-rcl-96\n";
    fs::write(&path, format!("{one}\nslabtop\n{all}")).unwrap();
    let info = json(&["info", path.to_str().unwrap()]);
    let tables: Vec<_> =
        (0..2).map(|at| (&info["tables"][at]["kind"], &info["tables"][at]["rows"])).collect();
    assert_eq!(tables, [(&"slabtop".into(), &2.into()), (&"slabinfo".into(), &1.into())]);
}

#[test]
fn a_series_says_what_holds_memory_and_what_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path());
    let file = path.to_str().unwrap();
    let info = json(&["info", file, "--every", "60s"]);
    let table = &info["tables"][0];
    assert_eq!((&info["schema"], &table["moments"]), (&"slablab.holding/1".into(), &6.into()));
    let filp = &table["families"][0];
    assert_eq!((&filp["name"], &filp["objects"]), (&"filp".into(), &2600.into()));
    assert_eq!(filp["held_bytes"], 160 * 4096);
    let growth = &table["growth"][0];
    assert_eq!((&growth["name"], &growth["pace"]), (&"filp".into(), &"grows".into()));
    let an_hour = growth["rise"]["bytes_per_step"].as_f64().unwrap() * 3600.0;
    assert!((an_hour - 500.0 * 192.0 * 60.0).abs() < 1.0, "{growth}");
    // 42 objects fit two of the 40 slabs.
    assert_eq!(table["families"][1]["unused_bytes"], 40 * 4096 - 42 * 192);
    let said = stdout(&["info", file, "--every", "60s"]);
    for words in ["filp grows by 5.49 MiB an hour", "slablab record --caches filp", "verdict"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let mut piped = slablab();
    piped.args(["info", "-", "--every", "1m", "--format", "json"]);
    let piped = piped.stdin(File::open(&path).unwrap()).output().unwrap();
    let piped: serde_json::Value = serde_json::from_slice(&piped.stdout).unwrap();
    assert_eq!(piped["tables"], info["tables"]);
    let mut pasted = slablab();
    pasted.args(["info", "--paste", "--every", "1m", "--format", "json"]);
    let pasted = pasted.stdin(File::open(&path).unwrap()).output().unwrap();
    let pasted: serde_json::Value = serde_json::from_slice(&pasted.stdout).unwrap();
    assert_eq!(pasted["tables"], info["tables"]);
}

#[test]
fn two_moments_give_no_verdict_and_say_what_would() {
    let folder = tempfile::tempdir().unwrap();
    let row = |objects: u64| {
        let slabs = objects / 21;
        format!("flow {objects} {objects} 192 21 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n")
    };
    let paths = ["first", "last"].map(|name| folder.path().join(name));
    fs::write(&paths[0], row(2100)).unwrap();
    fs::write(&paths[1], row(4200)).unwrap();
    let [first, last] = paths.each_ref().map(|path| path.to_str().unwrap());
    let said = stdout(&["info", first, last]);
    let one_line = said.replace('\n', " ");
    for words in ["flow is 393.8 KiB larger", "cannot tell a leak from a cache that fills", "five"]
    {
        assert!(one_line.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("an hour"), "files of one moment tell no time: {said}");
}

#[test]
fn allocinfo_is_told_by_line_of_the_source_and_by_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("allocinfo");
    let text = "allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n\
        8192 2 ./arch/x86/include/asm/pgalloc.h:34 func:pte_alloc\n\
        19200 100 fs/file_table.c:257 func:alloc_empty_file\n\
        65536 16 mm/slub.c:2259 func:alloc_slab_page\n\
        4096 4 drivers/net/veth.c:9 [veth] func:veth_open\n";
    fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    let table = &json(&["info", file])["tables"][0];
    assert_eq!(table["held_bytes"], 31_488, "pages of slabs are not added to their objects");
    assert_eq!(table["slab_page_bytes"], 65_536);
    assert_eq!(table["families"][0]["name"], "alloc_empty_file");
    let folders = stdout(&["info", file, "--show", "folders", "--format", "csv"]);
    assert!(folders.starts_with("folder,held_bytes,objects\nfs,19200,100\n"), "{folders}");
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
    let table = &info["tables"][0];
    assert_eq!((&table["rows"], &info["unread_lines"]), (&lines.len().into(), &0.into()));
    let number = |line: &Vec<&str>, place: usize| line[place].parse::<u64>().unwrap();
    let slabs: u64 = lines.iter().map(|line| number(line, 14) * number(line, 5) * 4096).sum();
    assert_eq!(table["held_bytes"], slabs);
}

#[test]
fn what_needs_events_refuses_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = series(folder.path());
    let file = path.to_str().unwrap();
    for words in [&["replay", file][..], &["whatif", file, "--no-merge"], &["import", file]] {
        assert!(refusal(words).contains("slablab info"), "{}", refusal(words));
    }
    assert!(refusal(&["info", file, "--cpu", "0"]).contains("a table has no events"));
}

#[test]
fn a_text_without_a_row_is_refused_with_what_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slabinfo");
    for (rows, lines) in [("", "1 line"), ("foo 1 2\nbar x y z\n", "3 lines")] {
        fs::write(&path, format!("slabinfo - version: 2.1\n{rows}")).unwrap();
        let said = refusal(&["info", path.to_str().unwrap()]);
        let has = if lines == "1 line" { "has" } else { "have" };
        let begin = format!("{lines} beginning with \"slabinfo - version: 2.1\" {has} no row of a");
        assert!(said.contains(&begin), "{said}");
        assert!(said.contains("slabtop"), "{said}");
    }
}
