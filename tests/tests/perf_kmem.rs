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

    // The imported file follows other rules (an implicit free is a free), so only facts that both
    // must know are compared.
    let trace = folder.path().join("t.parquet");
    let output = run(&["import", file, "-o", trace.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let sentence = refusal(&["stat", "--compat", "perf", trace.to_str().unwrap()]);
    assert!(sentence.contains("holds no addresses"), "{sentence}");
}

/// As perf counts them they are objects at address 0, and a size of 4 GiB is 0.
#[test]
fn failed_allocations_and_frees_of_null_count_nothing_and_sizes_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("trace.txt");
    let event = |time: u32, event: &str| format!("x-1 [000] ..... 1.{time:06}: {event}\n");
    let sizes = |bytes: u64| {
        format!(
            "bytes_req={bytes} bytes_alloc={bytes} gfp_flags=GFP_KERNEL node=-1 accounted=false"
        )
    };
    let whole = 5_u64 << 30;
    let lines = [
        event(1, &format!("kmalloc: call_site=f+0x1/0x9 ptr=(null) {}", sizes(64))),
        event(2, "kfree: call_site=f+0x2/0x9 ptr=(null)"),
        event(3, &format!("kmalloc: call_site=g+0x1/0x9 ptr=0xffff888100000000 {}", sizes(whole))),
        event(4, "kfree: call_site=g+0x2/0x9 ptr=0xffff888100000000"),
        event(5, &format!("kmalloc: call_site=f+0x1/0x9 ptr=(null) {}", sizes(64))),
    ];
    std::fs::write(&text, lines.concat()).unwrap();
    let json = stdout(&["stat", "--format", "json", text.to_str().unwrap()]);
    let stat: serde_json::Value = serde_json::from_str(&json).unwrap();
    let totals =
        ["bytes_requested", "bytes_freed", "allocs"].map(|name| stat["totals"][name].as_u64());
    assert_eq!(totals, [Some(whole), Some(whole), Some(1)], "{stat}");
    assert_eq!(stat["sites"].as_array().unwrap().len(), 1, "{stat}");
}

/// perf pads some lines with blanks.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

/// Whatever way perf records: as many events as perf itself reads from the file.
#[test]
fn every_way_to_record_is_read_whole() {
    const EVENTS: &str = "kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free";
    let folder = tempfile::tempdir().unwrap();
    if recorded(&folder.path().join("perf.data")).is_none() {
        eprintln!("not run: perf kmem record does not work here (it needs linux-perf and root)");
        return;
    }
    let grouped = "{kmem:kmalloc,kmem:kfree},{kmem:kmem_cache_alloc,kmem:kmem_cache_free}";
    let ways: [(&str, &str, &[&str]); 7] = [
        ("call chains", EVENTS, &["-a", "-g"]),
        ("compressed", EVENTS, &["-a", "-z"]),
        ("groups", grouped, &["-a"]),
        ("by thread", EVENTS, &["--per-thread"]),
        ("all of kmem", "kmem:*", &["-a"]),
        ("with another event", "cpu-clock,kmem:kmalloc,kmem:kfree", &["-a"]),
        ("more in each sample", EVENTS, &["-a", "-d", "-W", "-s"]),
    ];
    for (way, events, options) in ways {
        let path = folder.path().join("way.data");
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-m", "1M", "-e", events]).args(options).arg("-o").arg(&path);
        let status = perf.args(["--", "ls", "/"]).stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{way}");
        assert_eq!(placed(&path), by_perf_script(&path), "{way}");
    }
    let path = folder.path().join("pipe.data");
    let script = format!("perf record -q -a -e {EVENTS} -o - -- true >{}", path.display());
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    assert_eq!(placed(&path), by_perf_script(&path), "through a pipe");
}

/// Returns the kmem events that slablab finds in a file.
fn placed(path: &Path) -> u64 {
    let text = stdout(&["info", "--format", "json", path.to_str().unwrap()]);
    let info: serde_json::Value = serde_json::from_str(&text).unwrap();
    let kinds = info["events_by_kind"].as_array().unwrap();
    let recorded = kinds.iter().filter(|kind| kind[0] != "implicit_free");
    recorded.map(|kind| kind[1].as_u64().unwrap()).sum()
}

/// Returns the kmem events that perf prints.
fn by_perf_script(path: &Path) -> u64 {
    let mut perf = Command::new("perf");
    perf.args(["script", "-F", "event", "-G", "-i"]).arg(path).stdin(Stdio::null());
    let text = String::from_utf8(perf.output().unwrap().stdout).unwrap();
    let names = ["kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"];
    let known = |line: &&str| names.iter().any(|name| line.trim() == format!("kmem:{name}:"));
    text.lines().filter(known).count() as u64
}

/// A child without an exec has its parent's name. It used to be of no known program, and `--comm` dropped what it allocated.
#[test]
fn a_child_without_an_exec_is_called_as_its_parent() {
    const SCRIPT: &str = "import os\n\
                          for n in range(30):\n    \
                              if os.fork() == 0:\n        \
                                  pipes = [os.pipe() for n in range(20)]\n        \
                                  os._exit(0)\n    \
                              os.wait()\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let events = ["kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"]
        .map(|event| format!("kmem:{event}"))
        .join(",");
    let status = Command::new("perf")
        .args(["record", "-q", "-a", "-c", "1", "-m", "8M", "-e", &events, "-o"])
        .arg(&path)
        .args(["--", "python3", "-c", SCRIPT])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !status.is_ok_and(|status| status.success()) || !path.exists() {
        eprintln!("not run: perf record does not work here (it needs linux-perf and root)");
        return;
    }
    let file = path.to_str().unwrap();
    let stat = ["stat", file, "--by", "program", "--format", "json", "--site", "alloc_pipe_info"];
    let answer: serde_json::Value = serde_json::from_str(&stdout(&stat)).unwrap();
    let groups = answer["groups"].as_array().unwrap();
    let allocated = |name: &str| {
        let group = groups.iter().find(|group| group["names"][0] == name);
        group.map_or(0, |group| group["allocs"].as_u64().unwrap())
    };
    // Two of each pipe: its description, and its ring.
    assert!(allocated("python3") >= 1_200, "{answer}");
    assert!(allocated("(not known)") < 60, "{answer}");
}
