//! `slablab tune`, `fit` and `classes`: what is printed can be typed, and the script undoes what it does.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;
use slablab_tests::{refusal, run, stdout};

const BUILD: &str = "traces/build.parquet";
const HACKBENCH: &str = "traces/hackbench.parquet";

#[test]
fn a_build_is_told_what_to_type_and_hackbench_gets_the_front() {
    let text = stdout(&["tune", BUILD]);
    assert!(text.contains("on the kernel's command line:  slab_max_order=0"), "{text}");
    let json: Value = serde_json::from_str(&stdout(&["tune", BUILD, "--format", "json"])).unwrap();
    assert_eq!(json["schema"], "slablab.tune/1");
    let recorded = &json["recorded"];
    let answers = json["answers"].as_array().unwrap();
    let within = answers.iter().find(|answer| answer["kind"] == "within_locks").unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let (now, then) = (&within["outcome"], recorded);
    let held = number(&now["held_bytes"]["peak"]) / number(&then["held_bytes"]["peak"]);
    let locks = number(&now["locks"]) / number(&then["locks"]);
    assert!(held <= 0.8 && locks <= 1.1, "{held} of the bytes for {locks} of the locks");
    // It used to count the locks of a smaller machine's page allocator, and so other ones than `replay` of the same
    // trace.
    let replay = stdout(&["replay", BUILD, "--cold", "--format", "json"]);
    let replay: Value = serde_json::from_str(&replay).unwrap();
    let of = |allocator: &&Value| allocator["allocator"] == recorded["allocator"];
    let replayed = replay["allocators"].as_array().unwrap().iter().find(of).unwrap();
    let locks = replayed["locks"].as_object().unwrap().values();
    assert_eq!(recorded["locks"], locks.map(|count| count.as_u64().unwrap()).sum::<u64>());
    let front = stdout(&["tune", HACKBENCH]);
    assert!(
        front.contains("Nothing saves enough to be worth it") && front.contains("as recorded"),
        "{front}"
    );
}

/// What is advised stands before the table, and what to type for it right behind; where nothing is, the locks are named that
/// would have to be allowed.
#[test]
fn the_answer_comes_first_and_is_found_with_the_locks_that_it_names() {
    let text = stdout(&["tune", BUILD]);
    let parts = ["With max_order=0 and 5 caches set one by one", "as recorded", "To type for"];
    let places = parts.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
    assert!(places.is_sorted() && places[0] == 0, "{text}");
    // Lines end anywhere.
    let asked = |locks| stdout(&["tune", BUILD, "--max-locks", locks]);
    let words = |locks| asked(locks).split_whitespace().collect::<Vec<_>>().join(" ");
    let none = words("+0%");
    let (_, named) = none.split_once(": --max-locks ").expect("what to allow");
    assert!(none.contains("leave them as they are"), "{none}");
    let allowed = words(named.split(' ').next().unwrap_or_default());
    assert!(allowed.starts_with("With "), "{allowed}");
}

#[test]
fn the_script_sets_every_file_and_sets_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let (slab, undo) = (folder.path().join("slab"), folder.path().join("undo.sh"));
    let script = folder.path().join("tune.sh");
    let _ = stdout(&["tune", BUILD, "--apply-script", script.to_str().unwrap()]);
    let text = fs::read_to_string(&script).unwrap();
    let text = text.replace("/sys/kernel/slab", slab.to_str().unwrap());
    fs::write(&script, text).unwrap();
    let others = ["ext4_inode_cache", "mm_struct", "sighand_cache", "task_struct"];
    let others = others.map(|cache| (cache, "52\n", "5\n"));
    for (cache, cpu_partial, min_partial) in
        others.into_iter().chain([(":0000064", "120 slabs\n", "5\n")])
    {
        fs::create_dir_all(slab.join(cache)).unwrap();
        fs::write(slab.join(cache).join("cpu_partial"), cpu_partial).unwrap();
        fs::write(slab.join(cache).join("min_partial"), min_partial).unwrap();
    }
    // A name of several caches that are one.
    symlink(":0000064", slab.join("kmalloc-64")).unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new("sh");
        command.arg(&script).args(words).env("UNDO", &undo);
        command.status().unwrap().success()
    };
    let numbers = || {
        let read = |file: &str| fs::read_to_string(slab.join(file)).unwrap().trim().to_owned();
        let files = ["cpu_partial", "min_partial"];
        [":0000064", "task_struct"].map(|cache| files.map(|file| read(&format!("{cache}/{file}"))))
    };
    assert!(run(&[]));
    assert_eq!(numbers(), [["0", "0"], ["0", "0"]]);
    assert!(!run(&[]), "twice without undoing");
    assert!(run(&["undo"]) && !undo.exists());
    assert_eq!(numbers(), [["120", "5"], ["52", "5"]]);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let sentence = refusal(&["tune", BUILD, "--allocator", "slab"]);
    assert!(sentence.contains("no settings"), "{sentence}");
    let output = run(&["tune", BUILD, "--max-locks", "ten"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn classes_and_partitions_are_answered_in_bytes() {
    let json = |words: &[&str]| -> Value {
        serde_json::from_str(&stdout(&[words, &["--format", "json"]].concat())).unwrap()
    };
    let classes = json(&["classes", HACKBENCH, "--further", "2"]);
    assert_eq!(classes["schema"], "slablab.classes/1");
    let mean = |fit: &Value| fit["allocated_bytes_mean"].as_u64().unwrap();
    let proposals = classes["proposals"].as_array().unwrap();
    assert!(mean(&proposals[0]) < mean(&classes["recorded"]), "{classes}");
    assert!(mean(&proposals[1]) < mean(&proposals[0]), "{classes}");
    let random = json(&["partition", BUILD, "--by", "random:4"]);
    assert_eq!(random["schema"], "slablab.partition/1");
    assert_eq!(random["partitioned"].as_array().unwrap().len(), 20);
    let peak = |of: &Value| of["held_bytes"]["peak"].as_u64().unwrap();
    let all = random["partitioned"].as_array().unwrap();
    assert!(all.iter().all(|one| peak(one) >= peak(&random["recorded"])), "{random}");
    let sites = json(&["partition", BUILD, "--by", "site"]);
    assert!(sites["partitioned"][0]["caches_added"].as_u64().unwrap() > 10, "{sites}");
    let output = slablab_tests::run(&["partition", BUILD, "--by", "type"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("--by site"), "{said}");
}

#[test]
fn a_traces_name_is_no_line_of_the_script() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("bad\ntouch injected # .parquet");
    std::fs::copy(slablab_tests::root().join(BUILD), &trace).unwrap();
    let script = folder.path().join("tune.sh");
    let words = ["tune", trace.to_str().unwrap(), "--apply-script", script.to_str().unwrap()];
    assert!(slablab_tests::run(&words).status.success());
    let text = std::fs::read_to_string(script).unwrap();
    assert!(text.contains("touch injected") && !text.contains("\ntouch injected"), "{text}");
}

#[test]
fn a_result_is_not_written_over_another_file_or_into_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.parquet");
    std::fs::copy(slablab_tests::root().join(BUILD), &trace).unwrap();
    let before = std::fs::read(&trace).unwrap();
    let (trace, page) = (trace.to_str().unwrap(), folder.path().join("page.html"));
    let page = page.to_str().unwrap();
    let parent = folder.path().to_str().unwrap();
    let dot = format!("{parent}/./t.parquet");
    for (words, part) in [
        (&["replay", trace, "-o", &dot][..], "--output would replace the trace"),
        (&["advise", trace, "--report", trace], "--report would replace the trace"),
        (&["tune", trace, "--apply-script", trace], "--apply-script would replace the trace"),
        (
            &["replay", trace, "-o", page, "--report", page],
            "--output and --report would write the same file",
        ),
        // Before the search, not after it.
        (
            &["tune", trace, "--apply-script", "/no/such/script"],
            "--apply-script cannot be written: /no/such is not a folder",
        ),
        (
            &["stat", trace, "-o", "/no/such/table"],
            "--output cannot be written: /no/such is not a folder",
        ),
        (
            &["info", trace, "-o", "/no/such/table"],
            "--output cannot be written: /no/such is not a folder",
        ),
        (&["info", trace, "-o", &dot], "--output would replace the trace"),
        // One of several traces, in a folder.
        (&["replay", BUILD, trace, "-o", &dot], "--output would replace the trace"),
        (&["whatif", parent, "--merge", "-o", trace], "--output would replace the trace"),
    ] {
        let said = slablab_tests::refusal(words);
        assert!(said.contains(part), "{words:?}: {said}");
    }
    assert_eq!(std::fs::read(trace).unwrap(), before);
}

#[test]
fn what_would_be_without_effect_is_refused() {
    for (words, part) in [
        (&["fit", BUILD, "--memory", "1M"][..], "smallest machine that can be simulated"),
        (&["advise", BUILD, "--tune"], "advise --tune is now: slablab tune TRACE"),
        (&["advise", BUILD, "--memory=8M"], "is now: slablab fit TRACE --memory SIZE"),
        (&["advise", BUILD, "--classes", "2"], "is now: slablab classes TRACE --further K"),
        (&["advise", BUILD, "--patch", "kstrdup"], "is now: slablab patch TRACE SITE"),
    ] {
        let output = slablab_tests::run(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(part), "{words:?}: {said}");
    }
}

#[test]
fn a_load_that_does_not_fit_is_a_no() {
    let fits = run(&["fit", BUILD, "--memory", "64M"]);
    let said = String::from_utf8_lossy(&fits.stdout);
    assert!(fits.status.success(), "{said}");
    assert!(said.starts_with("The load fits into 64.0 MiB under slub-hybrid"), "{said}");
    let tight = run(&["fit", HACKBENCH, "--memory", "19M"]);
    let said = String::from_utf8_lossy(&tight.stdout);
    assert_eq!(tight.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("The load fits into 19.0 MiB under none of these")
            && said.contains("the first failure"),
        "{said}"
    );
}

/// The status was 2, and the message had another figure for the live objects than the answer.
#[test]
fn a_load_whose_live_objects_are_more_than_the_memory_is_a_no() {
    let said = |memory: &str| {
        let output = run(&["fit", "traces/boot.parquet", "--memory", memory]);
        let words = String::from_utf8_lossy(&output.stdout);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        (output.status.code(), words)
    };
    let (status, none) = said("4M");
    assert_eq!(status, Some(1), "{none}");
    assert!(none.starts_with("The load fits into 4.00 MiB under none of these"), "{none}");
    let (_, roomy) = said("64M");
    let figure = |said: &str, behind: &str| {
        let (_, rest) = said.split_once(behind).unwrap_or_else(|| panic!("{said}"));
        rest.split(' ').take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        figure(&none, "Its live objects alone ask for "),
        figure(&roomy, "Its live objects ask for ")
    );
}

#[test]
fn the_least_memory_does_not_depend_on_the_memory_asked_about() {
    let least = |memory| {
        let json = stdout(&["fit", "traces/boot.parquet", "--memory", memory, "--format", "json"]);
        let answer: Value = serde_json::from_str(&json).unwrap();
        answer["contenders"][0]["memory_bytes_min"].as_f64().unwrap()
    };
    let [close, far] = ["6M", "1G"].map(least);
    // Both are found to a 64th.
    assert!((close / far - 1.0).abs() < 2.0 / 64.0, "{close} and {far} bytes");
}

#[test]
fn other_questions_have_pages_too() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, page) = ("traces/boot.parquet", folder.path().join("page.html"));
    let cases: [(&[&str], [&str; 3]); 3] = [
        (&["fit", "--memory", "8M"], ["The load of", "What the load needs", "SLUB_TINY"]),
        (
            &["classes", "--further", "2"],
            ["Size classes for", "What each set takes", "as recorded"],
        ),
        (
            &["partition", "--by", "site"],
            ["kept apart", "structures of added caches", "caches used"],
        ),
    ];
    for (words, said) in cases {
        let words = [words, &[trace, "--report", page.to_str().unwrap()]].concat();
        let output = run(&words);
        assert!(output.status.code().is_some_and(|code| code < 2), "{words:?}: {output:?}");
        let html = fs::read_to_string(&page).unwrap();
        assert!(html.contains("<svg"), "{words:?}");
        said.iter().for_each(|text| assert!(html.contains(text), "{words:?}: {text}"));
        fs::remove_file(&page).unwrap();
    }
}

/// A load that the smallest machine has room for used to need "4.04 MiB", as halving only came near
/// it.
#[test]
fn what_fits_the_smallest_machine_needs_no_more_than_it() {
    let words = ["fit", BUILD, "--memory", "8M", "--format", "json"];
    let answer: Value = serde_json::from_str(&stdout(&words)).unwrap();
    let contenders = answer["contenders"].as_array().unwrap();
    assert!(contenders.len() > 5, "{answer}");
    for contender in contenders {
        assert_eq!(contender["memory_bytes_min"], 4 << 20, "{contender}");
    }
}

/// Capacities and barns are constants of the source: they are searched apart, and nothing is typed for them.
#[test]
fn sheaves_are_searched_and_the_answer_is_a_change_of_the_source() {
    let json = stdout(&["tune", HACKBENCH, "--sheaves", "--least", "end", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["allocator"], "slub-sheaves");
    assert!(json["tried"].as_array().unwrap().len() >= 35);
    let end = |outcome: &Value| outcome["held_bytes"]["end"].as_f64().unwrap();
    let answers = json["answers"].as_array().unwrap();
    let extreme = answers.iter().find(|answer| answer["kind"] == "extreme").unwrap();
    // Patched kernels held 4.25 MiB without sheaves, and 8.00 MiB with Linux's.
    assert!(end(&extreme["outcome"]) < 0.6 * end(&json["recorded"]), "{extreme}");
    for answer in answers {
        let typed = &answer["typed"];
        assert!(!typed["source"].as_array().unwrap().is_empty(), "{answer}");
        assert_eq!(
            (&typed["shell"], &typed["command_line"]),
            (&Value::Array([].into()), &Value::Array([].into()))
        );
    }
    // The trace is of a kernel that has no sheaves for all caches.
    let text = stdout(&["tune", HACKBENCH, "--sheaves", "--all"]);
    assert!(text.contains("Linux's own") && !text.contains("as recorded"), "{text}");
    let refused = refusal(&["tune", HACKBENCH, "--sheaves", "--allocator", "slub"]);
    assert!(refused.contains("slub has no sheaves for all caches"), "{refused}");
    let refused = refusal(&["tune", HACKBENCH, "--sheaves", "--apply-script", "/dev/null"]);
    assert!(refused.contains("no script sets constants"), "{refused}");
}
