//! What `info` says of tables of slab memory, of this machine where it lets us read them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

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
    for words in [
        "Objects of flow take 393.8 KiB more",
        "cannot tell a leak from a cache that fills",
        "five",
    ] {
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
        fs::write(&path, format!("My machine is slow\n{rows}")).unwrap();
        let said = refusal(&["info", path.to_str().unwrap()]);
        let has = if lines == "1 line" { "has" } else { "have" };
        let begin = format!("{lines} beginning with \"My machine is slow\" {has} no row of a");
        assert!(said.contains(&begin), "{said}");
        assert!(said.contains("slabtop"), "{said}");
    }
    fs::write(&path, "slabinfo - version: 2.1\n").unwrap();
    let said = refusal(&["info", path.to_str().unwrap()]);
    assert!(said.contains("the heading of slabinfo is there and none of its rows"), "{said}");
}

#[test]
fn a_paste_of_ten_megabytes_takes_less_than_fifty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("allocinfo");
    let mut text = "allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n".to_owned();
    for at in 0.. {
        if text.len() >= 10_000_000 {
            break;
        }
        let (bytes, calls, line) = (at * 4096, at % 977, at % 2971);
        text.push_str(&format!(
            "{bytes:12} {calls:8} drivers/net/ethernet/intel/file{}.c:{line} [igb] func:of_line_{at}\n",
            at / 2971
        ));
    }
    fs::write(&path, text).unwrap();
    let kibibytes = |words: &[&str]| {
        let program = slablab().get_program().to_owned();
        let script = "import resource, subprocess, sys\n\
                      subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n\
                      print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
        let mut python = Command::new("python3");
        let output = python.args(["-c", script]).arg(program).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().parse::<u64>().unwrap()
    };
    // A program for tests is larger than one that people install, where this is 8 MB.
    let without = kibibytes(&["--version"]).saturating_sub(8 << 10);
    let with = kibibytes(&["info", path.to_str().unwrap()]);
    assert!((with - without) * 1024 < 50_000_000, "{with} KiB, {without} of them before it reads");
}

#[test]
fn tables_of_two_machines_are_not_moments_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let row = |objects: u64| {
        let slabs = objects / 21;
        format!("flow {objects} {objects} 192 21 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n")
    };
    let paths = ["large", "small"].map(|name| folder.path().join(name));
    fs::write(&paths[0], format!("MemTotal: 16000000 kB\n{}", row(2100))).unwrap();
    fs::write(&paths[1], format!("MemTotal: 4000000 kB\n{}", row(4200))).unwrap();
    let [large, small] = paths.each_ref().map(|path| path.to_str().unwrap());
    for words in [&["info", large, small][..], &["info", folder.path().to_str().unwrap()]] {
        let said = stdout(words).replace('\n', " ");
        assert!(said.contains("MemTotal is 15.3 GiB at one moment and 3.81 GiB"), "{said}");
        assert!(said.contains("what grows cannot be told"), "{said}");
        assert!(!said.contains("What grows"), "{said}");
    }
}

#[test]
fn a_table_beside_a_recording_or_beside_no_table_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let table = series(folder.path());
    let table = table.to_str().unwrap();
    let other = folder.path().join("other");
    fs::write(&other, "hello\n").unwrap();
    let other = other.to_str().unwrap();
    let trace = slablab_tests::root().join("traces/hackbench.parquet");
    let trace = trace.to_str().unwrap();
    for words in [["info", table, trace], ["info", trace, table]] {
        let said = refusal(&words);
        assert!(said.contains(&format!("{table} is a table")), "{said}");
        assert!(said.contains(&format!("{trace} is a recording")), "{said}");
    }
    for words in [["info", table, other], ["info", other, table]] {
        let said = refusal(&words);
        assert!(said.contains(&format!("{other}: 1 line beginning with \"hello\"")), "{said}");
    }
    fs::write(other, "\n \n").unwrap();
    assert!(refusal(&["info", other]).contains("the text is blank"));
}

#[test]
fn a_list_of_which_rows_are_lost_says_so_in_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let text = "slabinfo - version: 2.1\nflow 210 210 192 21 1 : tunables 0 0 0 : slabdata 10 10 0\nbio-2 32 32 12\n";
    fs::write(&path, text).unwrap();
    let said = stdout(&["info", path.to_str().unwrap()]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[1], "1 of 2 rows could not be read, so these sums are too low.", "{said}");
}

#[test]
fn meminfo_alone_tells_how_much_and_how_to_see_which_caches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("meminfo");
    let text = "MemTotal: 1048576 kB\nMemFree: 5 kB\nSlab: 524288 kB\nSReclaimable: 102400 kB\nSUnreclaim: 421888 kB\n";
    fs::write(&path, text).unwrap();
    let said = stdout(&["info", path.to_str().unwrap()]);
    for words in
        ["Slabs hold 512.0 MiB of 1.00 GiB of memory (50 %).", "slablab info /proc/slabinfo"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn of_several_hosts_the_one_on_which_something_grows_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hosts");
    let row = |objects: u64| {
        let slabs = objects / 21;
        format!("flow {objects} {objects} 192 21 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n")
    };
    let prompt = |host: &str, rows: String| format!("root@{host}:~# cat /proc/slabinfo\n{rows}");
    let moment = |at: u64| prompt("large", row(2_100_000)) + &prompt("small", row(2100 * at));
    fs::write(&path, (1..8).map(moment).collect::<String>()).unwrap();
    let said = stdout(&["info", path.to_str().unwrap()]).replace('\n', " ");
    assert!(said.starts_with("small: flow holds"), "{said}");
    for words in
        ["flow grows by 393.8 KiB a moment", "large: flow holds", "names 2 hosts (small, large)"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
}
