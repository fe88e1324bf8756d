//! `slablab lab`: verdicts on given tables, runs that are killed and go on, and every refusal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use slablab_tests::{refusal, root, run, slablab, stdout};
use slablab_trace::synth::{SynthOptions, synth};

const CLASSIC: &str = "tests/data/hackbench-31-pairs.csv";

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&stdout(words)).expect("--format json prints JSON")
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A run of `replay` on a small trace: 4 allocators, so 4 cells a round.
fn run_words<'a>(trace: &'a str, folder: &'a str, rounds: &'a str) -> [&'a str; 11] {
    ["lab", "run", "replay", "--input", trace, "--rounds", rounds, "-o", folder, "--format", "json"]
}

fn small_trace(folder: &Path) -> String {
    let path = folder.join("small.parquet");
    synth(&path, &SynthOptions { events: 3_000, cpus: 2, seed: 3, live: None }, &mut |_| ())
        .unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_classic_table_of_31_pairs_is_answered() {
    let answer = json(&["lab", "compare", "--csv", CLASSIC, "--format", "json"]);
    assert_eq!(answer["schema"], "slablab.lab.compare/2");
    let row = &answer["comparisons"][0]["rows"][0];
    let comparison = &row["comparison"];
    let mean = |side: &str| comparison[side]["mean"].as_f64().unwrap();
    assert!(
        (mean("baseline") - 0.1332).abs() < 1e-12 && (mean("candidate") - 0.1359).abs() < 1e-12
    );
    assert_eq!(
        (&comparison["baseline"]["n"], &comparison["candidate"]["n"]),
        (&31.into(), &31.into())
    );
    let (ratio, interval) = (&comparison["ratio"]["value"], &comparison["ratio"]["interval"]);
    assert!(
        interval["low"].as_f64() < ratio.as_f64() && ratio.as_f64() < interval["high"].as_f64()
    );
    assert!(comparison["p"].as_f64().is_some_and(|p| p > 0.0 && p < 1.0));
    assert_eq!(row["answer"], "slower", "2 % under 3 % noise, 31 times: {row}");
    let text = stdout(&["lab", "compare", "--csv", CLASSIC]).replace('\n', " ");
    assert!(text.contains("kmem_cache is slower than kmalloc: +"), "{text}");
    assert!(text.contains("95 % interval") && text.contains("p = 0.0"), "{text}");
}

#[test]
fn every_layout_and_format_has_the_verdict() {
    for words in [&["--all"][..], &["--format", "markdown"], &["--format", "csv"], &["--paired"]] {
        let text = stdout(&[&["lab", "compare", "--csv", CLASSIC], words].concat());
        assert!(text.contains("slower"), "{words:?}: {text}");
    }
    let mmtests = stdout(&["lab", "compare", "--csv", CLASSIC, "--show", "mmtests"]);
    assert!(
        mmtests.contains("Amean             0.1332 (    0.00%)       0.1359 *   -2.03%*"),
        "{mmtests}"
    );
}

#[test]
fn a_regression_is_exit_status_1_and_too_few_runs_are_2_only_when_asked_for() {
    let words = ["lab", "compare", "--csv", CLASSIC];
    assert_eq!(run(&words).status.code(), Some(0));
    let gate = [&words[..], &["--fail-on-regression"]].concat();
    assert_eq!(run(&gate).status.code(), Some(1));
    // Too few runs must not pass a gate, nor be taken for a regression.
    let folder = tempfile::tempdir().unwrap();
    let few = file(folder.path(), "few.csv", "old,new\n1,2\n1.1,2.1\n");
    let undecided = run(&["lab", "compare", "--csv", &few, "--fail-on-regression"]);
    assert_eq!(undecided.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&undecided.stdout).contains("2 runs cannot decide, 4 can"));
    let gain = [&gate[..], &["--columns", "kmem_cache (s),kmalloc (s)"]].concat();
    assert_eq!(run(&gain).status.code(), Some(0));
}

#[test]
fn any_two_columns_will_do_and_nonsense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| file(folder.path(), name, text);
    let csv = |path: &str| refusal(&["lab", "compare", "--csv", path]);
    let three = file("three.csv", "host,old,new\nx,5,9\nx,6,9.5\ny,5.5,\n");
    let answer = json(&["lab", "compare", "--csv", &three, "--format", "json"]);
    let comparison = &answer["comparisons"][0]["rows"][0]["comparison"];
    assert_eq!(
        (&comparison["baseline"]["n"], &comparison["candidate"]["n"]),
        (&3.into(), &2.into())
    );
    let row = &answer["comparisons"][0]["rows"][0];
    assert_eq!(row["answer"], "undecided", "{row}");
    assert!(row["sentence"].as_str().unwrap().contains("2 runs cannot decide, 4 can"), "{row}");

    assert!(csv(&file("empty.csv", "")).contains("is empty"));
    assert!(csv(&file("head.csv", "a,b\n")).contains("column 'a' has no numbers"));
    assert!(csv(&file("one.csv", "a,b\n1,2\n")).contains("1 value(s), but this needs at least 2"));
    let text = csv(&file("text.csv", "a,b\n1,2\n3,fast\n"));
    assert!(
        text.contains("text.csv: line 3: column 'b' has 'fast', which is not a number"),
        "{text}"
    );
    assert!(csv(&file("nan.csv", "a,b\n1,2\n3,NaN\n")).contains("'NaN', which is not a number"));
    assert!(
        csv(&file("gap.csv", "a,b\n1,2\n,3\n4,5\n"))
            .contains("line 3: column 'a' has an empty cell")
    );
    assert!(csv(&file("bare.csv", "1,2\n3,4\n")).contains("line 1 should name the columns"));
    assert!(csv(&file("names.csv", "a,b,c\nx,y,1\n")).contains("needs two columns of numbers"));
    assert!(csv("nowhere.csv").contains("nowhere.csv: cannot read the columns"));
    let pairs = file("pairs.csv", "a,b\n1,2\n3,4\n5,\n");
    let text = refusal(&["lab", "compare", "--csv", &pairs, "--paired"]);
    assert!(text.contains("pairs need as many on both sides"), "{text}");
}

/// A decimal comma used to make two cells of a number, and the first of them was compared without a
/// message.
#[test]
fn what_a_spreadsheet_writes_otherwise_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let csv = |name: &str, text: &str| {
        refusal(&["lab", "compare", "--csv", &file(folder.path(), name, text)])
    };
    let commas = csv("commas.csv", "a,b\n1,0,2,0\n1,1,2,1\n");
    assert!(commas.contains("line 2 has 4 cells, but the first row names 2 columns"), "{commas}");
    let semicolons = csv("semicolons.csv", "a;b\n1,0;2,0\n1,1;2,1\n");
    assert!(semicolons.contains("has its columns between semicolons; save it with commas"));
    assert!(csv("tabs.csv", "a\tb\n1\t2\n").contains("has its columns between tabs"));
    // An empty cell that spreadsheets leave behind the last column does not count.
    let trailing = file(folder.path(), "trailing.csv", "a,b\n1,2,,\n2,3,,\n");
    let _ = json(&["lab", "compare", "--csv", &trailing, "--format", "json"]);
}

/// `-` used to be a missing file, though it is standard input wherever else a file is read.
#[test]
fn columns_come_from_a_pipe() {
    let csv = fs::File::open(root().join(CLASSIC)).unwrap();
    let words = ["lab", "compare", "--csv", "-"];
    let output = slablab().args(words).stdin(csv).output().unwrap();
    let piped = String::from_utf8(output.stdout).unwrap();
    assert_eq!(piped, stdout(&["lab", "compare", "--csv", CLASSIC]));
}

/// Two replays of one trace used to have "no variant with two runs each in common".
#[test]
fn results_without_anything_that_varies_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    let names = ["first", "second"].map(|name| folder.path().join(name).display().to_string());
    names.iter().for_each(|name| _ = json(&run_words(&trace, name, "2")));
    let said = refusal(&["lab", "compare", &names[0], &names[1]]);
    assert!(said.contains("only count what is the same in every run"), "{said}");
}

#[test]
fn a_run_that_is_killed_again_and_again_has_each_row_once() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    let result = folder.path().join("result");
    let words = run_words(&trace, result.to_str().unwrap(), "30");
    let rows = || fs::read_to_string(result.join("raw.jsonl")).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(240);
    let mut kills = 0;
    for wait_ms in (20..).step_by(35) {
        assert!(Instant::now() < deadline, "{kills} kills, {} rows", rows().lines().count());
        let mut child =
            slablab().args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(wait_ms));
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        // A torn write is what a power cut leaves; the next run must cut it off.
        if kills == 3 && !rows().is_empty() {
            fs::write(result.join("raw.jsonl"), rows() + "{\"schema\":\"slablab.lab.row/1\",\"ce")
                .unwrap();
        }
    }
    assert!(kills > 0, "the run was never killed");
    let mut cells: Vec<u64> = rows()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["cell"].as_u64().unwrap())
        .collect();
    cells.sort_unstable();
    assert_eq!(cells, (0..120).collect::<Vec<u64>>());
    // Once more: nothing is left to do, and the answer is there.
    let before = rows();
    let answer = json(&words);
    assert_eq!(rows(), before);
    assert!(answer["counts"].as_array().is_some_and(|counts| counts.len() >= 20), "{answer}");
}

#[test]
fn a_run_without_a_folder_goes_on_with_its_own_and_leaves_finished_ones_alone() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    let run = |rounds: &str| {
        let words = ["lab", "run", "replay", "--input", &trace, "--rounds", rounds];
        let out = slablab().current_dir(&folder).args(words).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.success(), "{said}");
        said.rsplit_once("rows are in slablab-results/").unwrap().1.trim().to_owned()
    };
    assert_eq!(run("2"), "replay-user");
    assert_eq!(run("2"), "replay-user-2", "what is finished is measured anew");
    let raw = folder.path().join("slablab-results/replay-user/raw.jsonl");
    let rows = fs::read_to_string(&raw).unwrap();
    fs::write(&raw, rows.split_inclusive('\n').take(3).collect::<String>()).unwrap();
    assert_eq!(run("3"), "replay-user-3", "other work gets a folder of its own");
    assert_eq!(run("2"), "replay-user", "what was interrupted goes on");
    assert_eq!(fs::read_to_string(&raw).unwrap().lines().count(), rows.lines().count());
}

#[test]
fn results_that_cannot_be_used_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    let result = folder.path().join("result");
    let name = result.to_str().unwrap();
    let run_words = |rounds| run_words(&trace, name, rounds);
    let _ = json(&run_words("2"));
    // Another plan in the same folder.
    assert!(refusal(&run_words("3")).contains("has another plan"));
    // Another version of a row, a row twice, an edited row.
    let raw = result.join("raw.jsonl");
    let rows = fs::read_to_string(&raw).unwrap();
    let compare = || refusal(&["lab", "compare", name]);
    fs::write(&raw, rows.replace("lab.row/1", "lab.row/9")).unwrap();
    assert!(compare().contains("line 1: its schema is slablab.lab.row/9"));
    fs::write(&raw, rows.clone() + &rows).unwrap();
    assert!(compare().contains("is here twice"));
    fs::write(&raw, "").unwrap();
    assert!(compare().contains("has no rows yet"));
    fs::write(&raw, &rows).unwrap();
    // Another version of the plan.
    let plan = result.join("plan.json");
    let text = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, text.replace("lab.plan/1", "lab.plan/7")).unwrap();
    assert!(compare().contains("its schema is slablab.lab.plan/7"));
    fs::write(&plan, &text).unwrap();
    // No result at all.
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(
        refusal(&["lab", "compare", empty.to_str().unwrap()])
            .contains("is not a result of the lab")
    );
    assert!(refusal(&["lab", "run", "nonsense"]).contains("there is no experiment 'nonsense'"));
    assert!(refusal(&["lab", "run", "replay"]).contains("--input TRACE"));
    let set = ["lab", "run", "replay", "--input", &trace, "-o", name, "--set", "speed=9"];
    assert!(refusal(&set).contains("has no parameter 'speed'; it has: allocators"));
}

#[test]
fn hosts_are_compared_only_as_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (
        timed_result(folder.path(), "a", "alpha", 1.0),
        timed_result(folder.path(), "b", "beta", 3.0),
    );
    let text = refusal(&["lab", "compare", &a, &b]);
    assert!(
        text.contains("different hosts cannot be compared") && text.contains("--by-host"),
        "{text}"
    );
    let answer = json(&["lab", "compare", &a, &b, "--by-host", "--format", "json"]);
    let row = &answer["comparisons"][0]["rows"][0];
    assert_eq!(
        (row["answer"].as_str(), row["comparison"]["design"].as_str()),
        (Some("faster"), Some("paired"))
    );
    // The same host twice is one comparison of two runs.
    let c = timed_result(folder.path(), "c", "alpha", 1.5);
    let answer = json(&["lab", "compare", &a, &c, "--format", "json"]);
    assert_eq!(answer["comparisons"][0]["rows"][0]["answer"], "slower");
    assert!(answer["remarks"].to_string().contains("not interleaved"), "{answer}");
}

#[test]
fn by_host_does_not_call_faster_what_is_slower_on_three_hosts_of_four() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = [("a", 1.0, 1.5), ("b", 1.2, 1.5), ("c", 0.8, 1.5), ("slow", 110.0, 0.97)];
    let results = hosts.map(|(host, seconds, ratio)| {
        let result = timed_result(folder.path(), host, host, seconds);
        let raw = folder.path().join(host).join("raw.jsonl");
        let scaled = |line: &str| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            if row["variant"] == "new" {
                // timed_result makes it a tenth faster.
                row["values"]["seconds"] =
                    (row["values"]["seconds"].as_f64().unwrap() / 0.9 * ratio).into();
            }
            format!("{row}\n")
        };
        let rows: String = fs::read_to_string(&raw).unwrap().lines().map(scaled).collect();
        fs::write(raw, rows).unwrap();
        result
    });
    let page = folder.path().join("hosts.html");
    let page = page.to_str().unwrap();
    let words: Vec<&str> = ["lab", "compare", "--by-host", "--format", "json", "--report", page]
        .into_iter()
        .chain(results.iter().map(String::as_str))
        .collect();
    let answer = json(&words);
    let row = &answer["comparisons"][0]["rows"][0];
    assert_eq!(row["answer"], "slower", "{answer}");
    let ratio = &row["comparison"]["ratio"];
    assert!(ratio["value"].as_f64().unwrap() > 1.4, "{ratio}");
    assert!(ratio["interval"]["low"].as_f64().unwrap() > 1.0, "{ratio}");
    assert!(
        answer["remarks"].to_string().contains("slow -3.0 %"),
        "the slow host is named: {answer}"
    );
    let page = fs::read_to_string(page).unwrap();
    for part in ["4 hosts: a, b, c, slow", "Change on each host: ", "The hosts disagree on "] {
        assert!(page.contains(part), "the page lacks {part}");
    }
}

#[test]
fn results_of_other_work_or_of_another_environment_are_refused_until_the_factor_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (hackbench, boot) = (
        timed_result(folder.path(), "hackbench", "alpha", 1.0),
        timed_result(folder.path(), "boot", "alpha", 2.0),
    );
    let plan = |result: &str, edit: &dyn Fn(&mut Value)| {
        let path = Path::new(result).join("plan.json");
        let mut plan: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        edit(&mut plan);
        fs::write(path, plan.to_string()).unwrap();
    };
    plan(&hackbench, &|plan| plan["input"] = "traces/hackbench.parquet".into());
    plan(&boot, &|plan| plan["input"] = "traces/boot.parquet".into());
    let both = ["lab", "compare", &hackbench, &boot];
    let text = refusal(&both);
    assert!(text.contains("differ in input (hackbench.parquet and boot.parquet)"), "{text}");
    let named = [&both[..], &["--factor", "input", "--format", "json"]].concat();
    let answer = json(&named);
    assert!(
        answer["remarks"][1].as_str().unwrap().starts_with("The results differ in input ("),
        "{answer}"
    );
    // The file has the same name and another content.
    plan(&boot, &|plan| plan["input"] = "other/hackbench.parquet".into());
    assert!(run(&both).status.success());
    for (result, key) in [(&hackbench, "11"), (&boot, "22")] {
        plan(result, &|plan| plan["input_key"] = key.into());
    }
    assert!(
        refusal(&both).contains("differ in input (hackbench.parquet 11 and hackbench.parquet 22)")
    );
    plan(&boot, &|plan| plan["input_key"] = "11".into());
    // A parameter, and another kernel within one folder.
    plan(&boot, &|plan| plan["params"] = serde_json::json!({"patch": "a.patch", "jobs": "3"}));
    assert!(refusal(&both).contains("differ in patch (none and a.patch)"));
    plan(&boot, &|plan| plan["environment"]["kernel"] = "6.2".into());
    let text = refusal(&["lab", "compare", &boot]);
    assert!(text.contains("the plan is of the kernel '6.2', but cell 2 of '6.1'"), "{text}");
}

#[test]
fn every_row_has_the_identity_of_its_work_and_of_its_environment() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    let row = |name: &str, trace: &str| -> Value {
        let result = folder.path().join(name);
        let _ = json(&run_words(trace, result.to_str().unwrap(), "1"));
        let rows = fs::read_to_string(result.join("raw.jsonl")).unwrap();
        serde_json::from_str(rows.lines().next().unwrap()).unwrap()
    };
    let first = row("first", &trace);
    assert_eq!(first["work_key"].as_str().map(str::len), Some(32), "{first}");
    // A copy of the trace is the same work, another trace is not.
    let copy = folder.path().join("copy.parquet");
    fs::copy(&trace, &copy).unwrap();
    let second = row("second", copy.to_str().unwrap());
    assert_eq!(first["work_key"], second["work_key"]);
    assert_eq!(first["environment_key"], second["environment_key"]);
    synth(&copy, &SynthOptions { events: 2_000, cpus: 2, seed: 4, live: None }, &mut |_| ())
        .unwrap();
    let third = row("third", copy.to_str().unwrap());
    assert_ne!(first["work_key"], third["work_key"]);
}

#[test]
fn a_run_is_full_unless_a_smoke_run_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    for (name, further, scale) in [("a", &[][..], "full"), ("b", &["--smoke"], "smoke")] {
        let result = folder.path().join(name);
        let words = run_words(&trace, result.to_str().unwrap(), "1");
        let _ = json(&[&words, further].concat());
        let plan = fs::read_to_string(result.join("plan.json")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&plan).unwrap()["scale"], scale);
    }
}

/// A plan of this size used to end the process for want of memory.
#[test]
fn more_rounds_than_can_be_kept_are_refused() {
    let text = refusal(&["lab", "run", "lifo", "--rounds", "99999999999"]);
    assert!(text.contains("99999999999 rounds of"), "{text}");
}

/// `2>&1 | head` closes it; a message there used to end the command before it ran anything.
#[test]
fn a_run_goes_on_when_nobody_reads_its_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    let result = folder.path().join("result");
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    let words = run_words(&trace, result.to_str().unwrap(), "2");
    let mut command = slablab();
    let status = command.args(words).stdout(Stdio::null()).stderr(closed).status().unwrap();
    assert!(status.success(), "{status}");
    let rows = fs::read_to_string(result.join("raw.jsonl")).unwrap();
    assert_eq!(rows.lines().count(), 8);
}

#[test]
fn the_stored_results_of_older_versions_can_still_be_read() {
    let mut read = 0;
    for path in slablab_tests::tracked_files() {
        if path.ends_with("plan.json") && path.starts_with("bench/results") {
            let folder = root().join(path.parent().unwrap());
            let answer = json(&["lab", "compare", folder.to_str().unwrap(), "--format", "json"]);
            let plan = fs::read_to_string(root().join(&path)).unwrap();
            let plan: Value = serde_json::from_str(&plan).unwrap();
            // A history has a kernel in each folder, which is compared with those of other folders.
            let is_alone = plan["design"]["variants"].as_array().unwrap().len() == 1;
            let is_compared = answer["comparisons"].as_array().is_some_and(|c| !c.is_empty());
            // What is the same in each run is counted, and not compared.
            let is_counted = answer["counts"].as_array().is_some_and(|c| !c.is_empty());
            assert!(is_alone || is_compared || is_counted, "{answer}");
            read += 1;
        }
    }
    assert!(read >= 5, "{read} results");
}

#[test]
fn a_column_is_found_by_the_name_that_answers_print() {
    let words = ["lab", "compare", "--csv", CLASSIC, "--columns", "kmem_cache,kmalloc"];
    let text = stdout(&words);
    assert!(text.contains("kmalloc is faster than kmem_cache"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let both = file(folder.path(), "both.csv", "a (s),a (ms),b (s)\n1,2,3\n1,2,3\n");
    let text = refusal(&["lab", "compare", "--csv", &both, "--columns", "a,b"]);
    assert!(text.contains("several columns 'a'"), "{text}");
}

#[test]
fn too_few_rounds_are_said_before_anything_runs_and_are_a_verdict_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    let name = result.to_str().unwrap();
    let words = ["lab", "run", "locality", "--rounds", "4", "-o", name];
    let out = slablab().args(words).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    let plan = said.lines().next().unwrap();
    assert!(
        plan.contains("4 rounds cannot decide 3 comparisons of a metric, 7 can: --rounds 7"),
        "{said}"
    );
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("Undecided in 3 of 3 comparisons of time per node"), "{text}");
    assert!(!text.contains("No difference"), "{text}");
}

#[test]
fn what_a_guest_holds_that_booted_for_its_run_is_compared_without_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let result = timed_result(folder.path(), "four", "alpha", 1.0);
    let [plan, rows] = ["plan.json", "raw.jsonl"].map(|name| Path::new(&result).join(name));
    let text = fs::read_to_string(&plan).unwrap().replace("\"rounds\":8", "\"rounds\":4");
    let four: String =
        fs::read_to_string(&rows).unwrap().lines().take(10).flat_map(|row| [row, "\n"]).collect();
    fs::write(&rows, four).unwrap();
    let page = folder.path().join("page.html");
    let report = ["report", &result, "-o", page.to_str().unwrap()];
    for (nature, verdict) in [("sampled", "4 runs cannot decide, 6 can"), ("independent", "faster")]
    {
        fs::write(&plan, text.replace("\"sampled\"", &format!("\"{nature}\""))).unwrap();
        assert!(slablab().args(report).status().unwrap().success());
        let page = fs::read_to_string(&page).unwrap();
        assert!(page.contains(verdict), "{nature}: {verdict}");
    }
}

/// Writes a result of two variants, `new` a tenth faster than `old`, as a host would leave it.
fn timed_result(folder: &Path, name: &str, host: &str, seconds: f64) -> String {
    let result = folder.join(name);
    fs::create_dir(&result).unwrap();
    let environment = serde_json::json!({
        "host": host, "cpu": "test", "cpus": 2, "kernel": "6.1", "governor": "", "commit": "", "slablab": "0",
    });
    let plan = serde_json::json!({
        "schema": "slablab.lab.plan/1", "experiment": "replay", "question": "?", "engine": "user",
        "scale": "smoke", "params": {}, "input": null, "seed": 1,
        "design": {"variants": ["old", "new"], "point_name": "", "points": [""], "rounds": 8, "warmups": 1},
        "metrics": [{"key": "seconds", "name": "time", "unit": "s", "direction": "less_is_better", "nature": "sampled"}],
        "environment": environment,
    });
    fs::write(result.join("plan.json"), plan.to_string()).unwrap();
    let mut rows = String::new();
    for cell in 0..18u32 {
        let (round, variant) = (cell / 2, ["old", "new"][cell as usize % 2]);
        let factor = if variant == "new" { 0.9 } else { 1.0 };
        // The warm-up is wild, and must not count.
        let seconds = if round == 0 {
            1e6
        } else {
            seconds * factor * (1.0 + 0.001 * f64::from(cell * 7 % 5))
        };
        let mut row = serde_json::json!({
            "schema": "slablab.lab.row/1", "experiment": "replay", "engine": "user", "cell": cell,
            "round": round.saturating_sub(1), "warmup": round == 0, "variant": variant, "point": "",
            "values": {"seconds": seconds}, "started_unix_ms": 0, "took_ms": 1, "load": 0.5,
        });
        row.as_object_mut().unwrap().extend(environment.as_object().unwrap().clone());
        rows += &format!("{row}\n");
    }
    fs::write(result.join("raw.jsonl"), rows).unwrap();
    result.to_str().unwrap().to_owned()
}

#[test]
fn a_full_disk_and_a_folder_that_cannot_be_written_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let trace = small_trace(folder.path());
    let result = folder.path().join("full");
    fs::create_dir(&result).unwrap();
    std::os::unix::fs::symlink("/dev/full", result.join("raw.jsonl")).unwrap();
    let text = refusal(&run_words(&trace, result.to_str().unwrap(), "1"));
    assert!(
        text.contains("make room and run the same command again") && text.contains("No space left"),
        "{text}"
    );
    let blocked = file(folder.path(), "a-file", "");
    let text = refusal(&run_words(&trace, &format!("{blocked}/result"), "1"));
    assert!(text.contains("cannot make the result folder"), "{text}");
    let page = format!("{blocked}/page.html");
    let text = refusal(&["lab", "compare", "--csv", CLASSIC, "--report", &page]);
    assert!(text.contains("cannot write the result"), "{text}");
}

#[test]
fn reports_are_made_of_every_kind_of_result() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let words = |path: &Path| path.to_str().unwrap().to_owned();
    let timed = timed_result(folder.path(), "timed", "alpha", 1.0);
    let replayed = words(&at("replay.json"));
    let sample = words(&root().join("traces/hackbench.parquet"));
    let _ = stdout(&["replay", &sample, "--format", "json", "-o", &replayed]);
    let folded = file(folder.path(), "profile.folded", "main;read 12\nmain;write 30\n");
    let page = words(&at("report.html"));
    let plots = words(&at("plots"));
    let _ = stdout(&["report", &timed, &replayed, &folded, "-o", &page, "--svg", &plots]);
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    for word in ["new is faster than old", "Memory held over time", "slob", "Call sites", "write"] {
        assert!(html.contains(word), "no '{word}' in the page");
    }
    let names: Vec<String> = fs::read_dir(at("plots"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    for ending in [".svg", ".folded"] {
        assert!(names.iter().any(|name| name.ends_with(ending)), "no {ending} in {names:?}");
    }
    let report = |place: &str| refusal(&["report", place, "-o", &page]);
    assert!(report("nowhere.json").contains("cannot read the result"));
    assert!(report(&file(folder.path(), "e.json", "")).contains("is empty"));
    assert!(
        report(&file(folder.path(), "s.json", "{\"schema\":\"slablab.replay/9\"}"))
            .contains("slablab.replay/9")
    );
    assert!(report(&file(folder.path(), "n.json", "{}")).contains("has no schema"));
    assert!(report(CLASSIC).contains("not JSON"));
}
