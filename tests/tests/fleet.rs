//! The commands that take many traces: sums, hosts, what is named, and runs that are killed and go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use slablab_tests::{refusal, root, run, slablab, stdout};
use slablab_trace::{Meta, NONE, Recorded, TraceReader, TraceWriter};

/// Puts a copy of a sample where the trace of a host on a day lies.
fn put(fleet: &Path, host: &str, date: &str, sample: &str) -> PathBuf {
    let folder = fleet.join(format!("host={host}/date={date}"));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(sample);
    fs::copy(root().join("traces").join(sample), &path).unwrap();
    path
}

fn advice(words: &[&str]) -> Value {
    let words = [&["advise"], words, &["--allocator", "slub", "--format", "json"]].concat();
    serde_json::from_str(&stdout(&words)).unwrap()
}

fn sites(answer: &Value) -> Vec<(&str, i64)> {
    let advice = answer["advice"].as_array().unwrap().iter();
    let caches = advice.filter(|advice| advice["change"]["kind"] == "dedicate");
    caches
        .map(|a| (a["subject"].as_str().unwrap(), a["saved_bytes_at_peak"].as_i64().unwrap()))
        .collect()
}

#[test]
fn advice_over_copies_is_so_many_times_the_advice_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one");
    put(&one, "a", "1", "hackbench.parquet");
    let alone = advice(&[one.to_str().unwrap()]);
    assert_eq!(alone["advice"], advice(&["traces/hackbench.parquet"])["advice"]);
    assert!(sites(&alone).len() >= 5, "{alone}");
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
    let times = |of: fn(&Value) -> &Value| of(&many).as_u64() == of(&alone).as_u64().map(|n| 5 * n);
    assert!(times(|answer| &answer["held_bytes_peak"]), "{many}");
    assert!(times(|answer| &answer["trace"]["events"]), "{many}");
    let over = &many["advice"][0]["saved_bytes_at_peak_over_hosts"];
    assert!(over["interval"].is_null() && over["median"].is_i64(), "three hosts: {over}");
    assert!(many["remarks"][0].as_str().unwrap().contains("and 3 more are the same recording"));
}

/// Replays of several traces have no line of memory over time, and the page was refused for it.
#[test]
fn each_answer_about_several_traces_has_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let traces = ["traces/boot.parquet", "traces/hackbench.parquet"];
    let questions: [&[&str]; 5] = [
        &["replay", "-a", "slub"],
        &["whatif", "--max-order", "0"],
        &["advise", "--allocator", "slub"],
        &["stat"],
        &["info"],
    ];
    for question in questions {
        let words = [question, &traces, &["--report", page.to_str().unwrap()]].concat();
        let _ = stdout(&words);
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains("<h2>") && text.trim_end().ends_with("</html>"), "{question:?}");
        fs::remove_file(&page).unwrap();
    }
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

/// Asks in JSON.
fn ask(words: &[&str]) -> Value {
    serde_json::from_str(&stdout(&[words, &["--format", "json"]].concat())).unwrap()
}

/// Returns `value` with every number but shares multiplied.
fn times(value: &Value, factor: u64) -> Value {
    match value {
        Value::Number(n) if n.is_u64() => (n.as_u64().unwrap() * factor).into(),
        Value::Array(all) => all.iter().map(|value| times(value, factor)).collect(),
        Value::Object(all) => all.iter().map(|(k, v)| (k.clone(), times(v, factor))).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_replay_of_copies_is_so_many_times_that_of_one() {
    let folder = tempfile::tempdir().unwrap();
    for (host, date) in [("a", "1"), ("a", "2"), ("b", "1")] {
        put(folder.path(), host, date, "boot.parquet");
    }
    let kept = folder.path().join("kept");
    let fleet = folder.path().to_str().unwrap();
    let words = ["replay", fleet, "-a", "slub,slob", "--resume", kept.to_str().unwrap()];
    let many = ask(&words);
    let single = ask(&["replay", "traces/boot.parquet", "-a", "slub,slob"]);
    for (sum, one) in
        many["allocators"].as_array().unwrap().iter().zip(single["allocators"].as_array().unwrap())
    {
        for key in ["operations", "held_bytes", "slab_bytes", "slabs", "paths", "locks", "failed"] {
            assert_eq!(sum[key], times(&one[key], 3), "{key}");
        }
        for share in ["internal_share", "external_share"] {
            assert_eq!(sum["at_peak"][share], one["at_peak"][share]);
        }
        let caches = |of: &Value| -> Vec<(String, u64)> {
            let all = of["caches"].as_array().unwrap().iter();
            let pair = |c: &Value| (c["cache"].to_string(), c["held_bytes_peak"].as_u64().unwrap());
            let mut all: Vec<_> = all.map(pair).collect();
            all.sort_unstable();
            all
        };
        let tripled: Vec<_> =
            caches(one).into_iter().map(|(name, bytes)| (name, 3 * bytes)).collect();
        assert_eq!(caches(sum), tripled);
        assert!(sum.get("series").is_none() && sum.get("peak_event").is_none());
    }
    let held = many["allocators"][0]["held_bytes"]["peak"].as_u64().unwrap();
    let over = &many["allocators"][0]["held_bytes_peak_over_hosts"];
    assert_eq!((&over["sum"], &over["p90"]), (&held.into(), &(held / 3 * 2).into()));
    assert_eq!(over["most_on"], serde_json::json!([["a", held / 3 * 2], ["b", held / 3]]));
    let of = |answer: &Value, index: usize| answer["sites"][index].clone();
    for index in 0..20 {
        let (sum, one) = (of(&many, index), of(&single, index));
        assert_eq!((&sum["site"], &sum["sites"]), (&one["site"], &3.into()));
        let waste = |site: &Value| site["under"][1]["waste_bytes_peak"].clone();
        assert_eq!(waste(&sum), times(&waste(&one), 3));
        let lacks = |key: &str| sum.get(key).is_none() && one.get(key).is_some();
        assert!(lacks("lifetime") && sum["under"][1].get("adjacent_share").is_none(), "{sum}");
        assert_eq!(sum["allocs"], times(&one["allocs"], 3));
    }
    // What was kept gives the same answer; with another machine it is another question.
    let files = || fs::read_dir(&kept).unwrap().count();
    assert_eq!((ask(&words), files()), (many, 2));
    ask(&[&words[..], &["--cold"]].concat());
    assert_eq!(files(), 4);
    let said = refusal(&["replay", fleet, "--show", "series", "--format", "csv"]);
    assert!(said.contains("series") && said.contains("totals"), "{said}");
    let said = refusal(&["replay", "traces/boot.parquet", "--resume", "x"]);
    assert!(said.contains("several traces"), "{said}");
}

#[test]
fn a_change_is_made_in_the_traces_that_have_what_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a", "1", "hackbench.parquet");
    put(folder.path(), "b", "1", "hackbench.parquet");
    put(folder.path(), "c", "1", "boot.parquet");
    let fleet = folder.path().to_str().unwrap();
    let site = "alloc_fdtable+0xd0=fdtable_bits";
    let many = ask(&["whatif", fleet, "--dedicate", site]);
    let single = ask(&["whatif", "traces/hackbench.parquet", "-a", "slub", "--dedicate", site]);
    let boot = ask(&["replay", "traces/boot.parquet", "-a", "slub"]);
    let boot = boot["allocators"][0]["held_bytes"]["peak"].as_u64().unwrap();
    let held = |answer: &Value, side: usize| {
        let all = answer["differences"].as_array().unwrap();
        let peak = all.iter().find(|d| d["metric"] == "held_bytes_peak").unwrap();
        peak[["before", "after"][side]].as_u64().unwrap()
    };
    let has_it = many["traces_unchanged"] == 0;
    assert_eq!(many["traces_changed"][0], if has_it { 3 } else { 2 });
    if !has_it {
        assert_eq!(held(&many, 0), 2 * held(&single, 0) + boot);
        assert_eq!(held(&many, 1), 2 * held(&single, 1) + boot);
        let saved = held(&single, 0) as i64 - held(&single, 1) as i64;
        let over = &many["saved_bytes_at_peak_over_hosts"][0];
        assert_eq!((over["sum"].as_i64(), over["median"].as_i64()), (Some(2 * saved), Some(saved)));
    }
    let said = refusal(&["whatif", fleet, "--dedicate", "no_such_function"]);
    assert!(said.contains("and the 2 others likewise: no call site matches"), "{said}");
    let said = refusal(&["whatif", fleet, "--undedicate", "no_such_cache"]);
    assert!(said.contains("likewise: the trace has no cache"), "{said}");
}

#[test]
fn the_numbers_of_perf_add_up() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a", "1", "build.parquet");
    put(folder.path(), "b", "1", "build.parquet");
    let fleet = folder.path().to_str().unwrap();
    let many = ask(&["stat", fleet, "--sort", "bytes"]);
    let single = ask(&["stat", "traces/build.parquet", "--sort", "bytes"]);
    assert_eq!(
        (&many["schema"], &many["hosts"]),
        (&single["schema"], &serde_json::json!(["a", "b"]))
    );
    assert_eq!(many["totals"], times(&single["totals"], 2));
    assert_eq!(many["frag_percent"], single["frag_percent"]);
    let sites = |answer: &Value| {
        let of = |s: &Value| (s["callsite"].to_string(), s["hit"].as_u64(), s["pingpong"].as_u64());
        let mut all: Vec<_> = answer["sites"].as_array().unwrap().iter().map(of).collect();
        all.sort_unstable();
        all
    };
    let twice = |n: Option<u64>| n.map(|n| 2 * n);
    let doubled: Vec<_> =
        sites(&single).into_iter().map(|(site, hit, pp)| (site, twice(hit), twice(pp))).collect();
    assert_eq!(sites(&many), doubled);
    let text = stdout(&["stat", fleet, "-n", "3"]);
    assert!(text.contains("From 2 traces of 2 hosts, 1 kernel: "), "{text}");
    assert!(refusal(&["stat", fleet, "--raw-ip"]).contains("--raw-ip goes with one trace"));
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
    assert!(said.contains("takes a part of one trace"), "{said}");
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
    for command in [&["advise"][..], &["replay"], &["whatif", "--per-site"], &["stat"], &["info"]] {
        let said = refusal(&[command, &[name]].concat());
        assert!(said.contains("other.parquet") && said.contains("version"), "{said}");
    }
    fs::remove_file(other).unwrap();
    assert!(
        refusal(&["advise", own.to_str().unwrap(), "--resume", "x"]).contains("several traces")
    );
}

/// A table for a spreadsheet has no place for remarks, and the same recording used to count twice
/// without a message.
#[test]
fn the_same_recording_is_named_beside_a_table_for_a_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a", "1", "build.parquet");
    put(folder.path(), "b", "1", "build.parquet");
    let name = folder.path().to_str().unwrap();
    for command in [&["advise"][..], &["replay", "-a", "slub"], &["stat"], &["info"]] {
        let output = run(&[command, &[name, "--format", "csv"]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("are the same recording"), "{said}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("same recording"));
    }
}

/// The file used to be named twice in a row.
#[test]
fn a_trace_with_damaged_rows_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a", "1", "build.parquet");
    let path = put(folder.path(), "b", "1", "boot.parquet");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xff);
    fs::write(&path, bytes).unwrap();
    for command in [&["advise"][..], &["replay", "-a", "slub"]] {
        let said = refusal(&[command, &[folder.path().to_str().unwrap()]].concat());
        assert_eq!(said.matches("boot.parquet").count(), 1, "{said}");
    }
}

/// Objects of a cache used to have the size that they have on the host where they are largest: 104.9 %
/// were in use.
#[test]
fn what_is_used_of_a_cache_of_several_sizes_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    for (host, sample) in
        [("a", "boot.parquet"), ("b", "build.parquet"), ("c", "hackbench.parquet")]
    {
        put(folder.path(), host, "1", sample);
    }
    let fleet = folder.path().to_str().unwrap();
    let text = stdout(&["replay", fleet, "-a", "slub", "--show", "caches"]);
    let row = text.lines().find(|line| line.starts_with("slub ") && line.contains(" task_struct "));
    assert!(row.is_some_and(|row| row.trim_end().ends_with('-')), "{text}");
}

#[test]
fn all_damaged_traces_are_named_and_the_others_answer() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = folder.path().join("fleet");
    let sound = put(&fleet, "a", "1", "boot.parquet");
    let [cut, changed] = ["b", "c"].map(|host| {
        let path = put(&fleet, host, "1", "boot.parquet");
        // With checksums, which the sample has not.
        let words = ["import", sound.to_str().unwrap(), "-o", path.to_str().unwrap()];
        assert!(run(&words).status.success());
        path
    });
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let mut bytes = fs::read(&changed).unwrap();
    bytes[1000] ^= 1;
    fs::write(&changed, bytes).unwrap();
    let fleet = fleet.to_str().unwrap();
    let tables = folder.path().join("tables");
    let tables = tables.to_str().unwrap();
    for words in [
        &["info", fleet][..],
        &["stat", fleet],
        &["replay", fleet],
        &["advise", fleet],
        &["export", fleet, "--tables", tables],
    ] {
        let output = run(words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}: {said}");
        assert!(said.contains("2 of 3 traces cannot be read; --skip-damaged"), "{said}");
        assert!(said.contains("host=b/") && said.contains("host=c/"), "{said}");
        for format in ["table", "json", "csv"] {
            let words = [words, &["--skip-damaged", "--format", format]].concat();
            let output = run(&words);
            let [out, log] =
                [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            assert!(output.status.success(), "{words:?}: {log}");
            let said = if format == "csv" { &log } else { &out };
            for part in ["2 damaged traces are left out", "host=b/", "host=c/"] {
                assert!(said.contains(part), "{words:?}: no {part} in {said}");
            }
        }
    }
    let all = run(&["info", cut.to_str().unwrap(), changed.to_str().unwrap(), "--skip-damaged"]);
    assert_eq!(all.status.code(), Some(2), "nothing is left");
    assert!(refusal(&["stat", sound.to_str().unwrap(), "--skip-damaged"]).contains("this is one"));
}

/// A full recording and a sample of 1 in 16 blocks used to be added up without a message.
#[test]
fn samples_and_full_recordings_do_not_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let whole = put(folder.path(), "a", "1", "build.parquet");
    let reader = TraceReader::open(&whole).unwrap();
    let sampled = whole.with_file_name("sampled.parquet");
    let portion = Some(Recorded { one_in: 16, ..Recorded::default() });
    let mut writer = TraceWriter::create(&sampled).unwrap();
    reader.meta().sites.iter().for_each(|site| _ = writer.site(&site.name, site.address));
    let rows = reader.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>());
    rows.filter(|event| event.cache == NONE).for_each(|event| writer.push(&event).unwrap());
    let (sites, caches) = (Vec::new(), Vec::new());
    writer.finish(Meta { sites, caches, portion, ..reader.meta().clone() }).unwrap();
    for command in [&["replay", "-a", "slub"][..], &["whatif", "--per-site"], &["stat"]] {
        let said = refusal(&[command, &[folder.path().to_str().unwrap()]].concat());
        assert!(said.contains("has the objects of 1 in 16 blocks"), "{said}");
        assert!(said.contains("do not add up"), "{said}");
    }
}

/// The answer used to be another kind of value, with other tables.
#[test]
fn a_folder_of_one_trace_is_that_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "a", "1", "boot.parquet");
    let (path, folder) = (path.to_str().unwrap(), folder.path().to_str().unwrap());
    for command in [&["replay", "-a", "slub"][..], &["whatif", "--page-size", "16K"], &["stat"]] {
        let of = |place: &str| {
            let mut answer = ask(&[command, &[place]].concat());
            answer["file"] = Value::Null;
            answer
        };
        assert_eq!(of(folder), of(path));
    }
}

/// The book promises what grew between two recordings; where nothing tells it, nothing was said of it.
#[test]
fn why_it_is_not_known_what_grew_between_recordings_is_said() {
    let info = |traces: &[&str]| {
        let said = stdout(&[&["info"], traces].concat());
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let hosts = info(&["traces/boot.parquet", "traces/hackbench.parquet"]);
    assert!(
        hosts.contains("What grew between them is not told, as they are of 2 hosts"),
        "{hosts}"
    );
    let folder = tempfile::tempdir().unwrap();
    let paths = ["1.parquet", "2.parquet"].map(|name| folder.path().join(name));
    for (at, path) in (1..).zip(&paths) {
        let words = ["import", "traces/boot.parquet", "--cpu", "0", "--time"];
        let time = format!("0%,{at}0%");
        let output = run(&[&words[..], &[&time, "-o", path.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{output:?}");
    }
    let said = info(&paths.each_ref().map(|path| path.to_str().unwrap()));
    assert!(said.contains("none of the 2 has the machine's slabinfo"), "{said}");
}
