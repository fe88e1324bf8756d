//! `slablab replay`: the same bytes each time, the books balanced all the time, and the formats that it promises.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use slablab_replay::{Allocator, ReplayPlan, replay, replay_timed};
use slablab_tests::{refusal, root, stdout};
use slablab_trace::synth::{SynthOptions, synth};
use slablab_trace::{Meta, TraceReader, TraceWriter};

/// Returns the sample traces of the repository.
fn samples() -> Vec<PathBuf> {
    let mut samples: Vec<_> = fs::read_dir(root().join("traces"))
        .expect("the sample traces are in the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "parquet"))
        .collect();
    samples.sort();
    assert!(!samples.is_empty());
    samples
}

fn synthetic(folder: &Path, events: u64, seed: u64) -> PathBuf {
    let path = folder.join(format!("synthetic-{seed}.parquet"));
    let options = SynthOptions { events, cpus: 4, seed, live: None };
    synth(&path, &options, &mut |_| ()).expect("a trace can be made");
    path
}

#[test]
fn twice_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 200_000, 7);
    let words = ["replay", path.to_str().unwrap(), "--format", "json"];
    assert_eq!(stdout(&words), stdout(&words));
}

/// Conservation: bytes held = live + free + slack + metadata, at every 10,000th event of every sample.
#[test]
fn books_balance_during_the_samples() {
    for path in samples() {
        let reader = TraceReader::open(&path).unwrap();
        let plan = ReplayPlan { validate_every: Some(10_000), ..ReplayPlan::default() };
        let result = replay(&reader, &plan, &mut |_| ()).unwrap();
        for allocator in &result.allocators {
            assert_eq!(allocator.failed, 0, "{}: {}", path.display(), allocator.allocator);
            assert!(allocator.operations > 10_000, "{}", path.display());
        }
    }
}

/// What every user of Linux's allocators expects to see of them.
#[test]
fn the_allocators_are_what_they_are_known_for() {
    for path in samples() {
        let reader = TraceReader::open(&path).unwrap();
        let result = replay(&reader, &ReplayPlan::default(), &mut |_| ()).unwrap();
        let [slab, slub, slob, slmb] = result.allocators.as_slice() else { panic!("four") };
        let locks = |allocator: &Allocator| {
            let taken = allocator.locks.iter().filter(|(kind, _)| kind.ends_with("_lock"));
            taken.map(|(_, count)| count).sum::<u64>() as f64 / allocator.operations as f64
        };
        // A lock for each operation, against one for several dozen.
        let carvers = locks(slob).min(locks(slmb));
        assert!(
            carvers >= 1.0 && carvers > 5.0 * locks(slab).max(locks(slub)),
            "{}",
            path.display()
        );
        // On a small machine; a busy one may have more holes than SLUB's slabs have free objects.
        if path.ends_with("boot.parquet") {
            let slabs = |allocator: &Allocator| allocator.slab_bytes.peak as f64;
            assert!(slabs(slob).max(slabs(slmb)) < 0.8 * slabs(slab).min(slabs(slub)));
        }
    }
}

#[test]
fn books_balance_during_synthetic_traces() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..=3 {
        let reader = TraceReader::open(synthetic(folder.path(), 100_000, seed)).unwrap();
        let plan = ReplayPlan { validate_every: Some(5_000), ..ReplayPlan::default() };
        replay(&reader, &plan, &mut |_| ()).unwrap();
    }
}

#[test]
fn what_was_asked_for_does_not_depend_on_the_allocator() {
    let folder = tempfile::tempdir().unwrap();
    let reader = TraceReader::open(synthetic(folder.path(), 100_000, 5)).unwrap();
    let result = replay(&reader, &ReplayPlan::default(), &mut |_| ()).unwrap();
    let first = &result.allocators[0];
    for allocator in &result.allocators {
        assert_eq!(allocator.requested_bytes, first.requested_bytes);
        assert_eq!(allocator.operations, first.operations);
        assert!(allocator.held_bytes.peak >= allocator.at_peak.allocated_bytes);
        assert!(allocator.at_peak.allocated_bytes >= allocator.at_peak.requested_bytes);
    }
}

/// Real threads get through every sample without a stall, and do exactly what the deterministic replay does.
#[test]
fn timed_replay_counts_what_the_deterministic_one_counts() {
    for path in samples() {
        let reader = TraceReader::open(&path).unwrap();
        let counted = replay(&reader, &ReplayPlan::default(), &mut |_| ()).unwrap();
        for threads in 1..=4 {
            let timed = replay_timed(&reader, &ReplayPlan::default(), threads).unwrap();
            for (timed, counted) in timed.iter().zip(&counted.allocators) {
                assert_eq!(timed.allocator, counted.allocator);
                assert_eq!(timed.allocs + timed.frees, counted.operations, "{}", timed.allocator);
                assert_eq!(timed.failed, counted.failed);
            }
        }
    }
}

/// These figures used to be the last line of a table whose other lines were then not comparable, and no
/// column said so.
#[test]
fn allocations_that_failed_come_first_and_mark_the_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 100_000, 5);
    let page = folder.path().join("page.html");
    let words = ["replay", path.to_str().unwrap(), "--memory", "2M", "--report"];
    let text = stdout(&[&words[..], &[page.to_str().unwrap()]].concat());
    let lines: Vec<_> = text.lines().collect();
    let memory = lines.iter().position(|line| line.starts_with("allocator ")).unwrap();
    let said = lines[..memory].join(" ");
    assert!(said.contains("slub failed") && said.contains("cannot be compared"), "{text}");
    assert!(lines[memory].contains(" failed "), "{text}");
    assert!(lines[memory..].iter().any(|line| line.starts_with("slub* ")), "{text}");
    let html = fs::read_to_string(page).unwrap();
    let answer = html.split("In short").nth(1).unwrap();
    assert!(answer.find("slub failed").unwrap() < answer.find("</ul>").unwrap());
    assert!(html.contains(">slub*<") && !answer.contains("held least memory"));
}

/// Takes rows out of a trace, as a query on the file does: what is left has frees without allocations and allocations
/// into slots whose free is missing.
fn filtered(from: &Path, to: &Path, keep: impl Fn(usize) -> bool) {
    let reader = TraceReader::open(from).unwrap();
    let mut writer = TraceWriter::create(to).unwrap();
    let meta = reader.meta();
    meta.sites.iter().for_each(|site| _ = writer.site(&site.name, site.address));
    meta.caches.iter().for_each(|cache| _ = writer.cache(&cache.name));
    writer.caches_mut().iter_mut().zip(&meta.caches).for_each(|(to, from)| to.clone_from(from));
    let rows = reader.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>());
    for (_, event) in rows.enumerate().filter(|(row, _)| keep(*row)) {
        writer.push(&event).unwrap();
    }
    writer.finish(Meta { sites: Vec::new(), caches: Vec::new(), ..meta.clone() }).unwrap();
}

/// An allocation into a slot whose free was filtered out used to leak the previous object: the engine's check
/// failed.
#[test]
fn any_rows_of_a_trace_are_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, part) = (synthetic(folder.path(), 60_000, 4), folder.path().join("part.parquet"));
    let every: [fn(usize) -> bool; 3] =
        [|row| row % 3 != 0, |row| row > 40_000, |row| row % 7 == 0];
    for keep in every {
        filtered(&whole, &part, keep);
        let reader = TraceReader::open(&part).unwrap();
        let plan = ReplayPlan { validate_every: Some(1_000), ..ReplayPlan::default() };
        let result = replay(&reader, &plan, &mut |_| ()).unwrap();
        assert!(result.trace.older_frees > 1_000 && result.trace.unplaced_share <= 1.0);
        let timed = replay_timed(&reader, &ReplayPlan::default(), 2).unwrap();
        for (timed, counted) in timed.iter().zip(&result.allocators) {
            assert_eq!(timed.allocs + timed.frees, counted.operations, "{}", timed.allocator);
        }
        let part = part.to_str().unwrap();
        let _ = stdout(&["advise", part])
            + &stdout(&["whatif", part, "--per-site"])
            + &stdout(&["stat", part]);
    }
}

#[test]
fn json_has_a_schema_and_csv_a_line_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 50_000, 9);
    let path = path.to_str().unwrap();
    let json: Value =
        serde_json::from_str(&stdout(&["replay", path, "--format", "json"])).expect("valid JSON");
    assert_eq!(json["schema"], "slablab.replay/1");
    assert!(json["allocators"][0]["held_bytes"]["peak"].as_u64().unwrap() > 0);
    for sheet in ["totals", "sites", "caches", "series"] {
        let csv = stdout(&["replay", path, "--format", "csv", "--show", sheet]);
        let mut lines = csv.lines();
        let columns = lines.next().expect("a line of names").split(',').count();
        assert!(columns >= 3 && lines.next().is_some(), "{sheet}: {csv}");
    }
}

#[test]
fn an_allocator_named_twice_is_replayed_once() {
    let words = ["replay", "traces/boot.parquet", "-a", "slub,slob,slub", "--format", "json"];
    let json: Value = serde_json::from_str(&stdout(&words)).unwrap();
    let names = json["allocators"].as_array().unwrap().iter().map(|a| a["allocator"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["slub", "slob"]);
}

/// Frees that sheaves served used to count as neither fast nor slow: 2 % of the frees were on the fast path, where
/// it is 23 %.
#[test]
fn sheaves_of_a_hybrid_are_a_fast_path() {
    let trace = "traces/hackbench.parquet";
    let text = stdout(&["replay", trace, "-a", "slub-hybrid", "--show", "paths"]);
    let line = text.lines().find(|line| line.starts_with("frees on the fast path")).unwrap();
    let share: f64 = line.split_whitespace().rev().nth(1).unwrap().parse().unwrap();
    assert!((20.0..26.0).contains(&share), "{line}");
}

#[test]
fn a_result_file_is_whole_or_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = synthetic(folder.path(), 50_000, 9);
    let output = folder.path().join("result.json");
    let words = ["replay", path.to_str().unwrap(), "--format", "json", "-o"];
    let printed = stdout(&[&words[..], &[output.to_str().unwrap()]].concat());
    assert!(printed.is_empty());
    serde_json::from_str::<Value>(&fs::read_to_string(&output).unwrap()).expect("valid JSON");

    let nowhere = folder.path().join("no/such/folder/result.json");
    let sentence = refusal(&[&words[..], &[nowhere.to_str().unwrap()]].concat());
    assert!(sentence.contains("no/such/folder"), "{sentence}");
}

#[test]
fn bad_traces_are_refused_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let good = fs::read(synthetic(folder.path(), 20_000, 3)).unwrap();
    let cases: [(&str, Vec<u8>); 5] = [
        ("empty.parquet", Vec::new()),
        ("cut.parquet", good[..good.len() / 2].to_vec()),
        ("tail.parquet", good[good.len() / 2..].to_vec()),
        ("text.parquet", b"this is no trace\n".to_vec()),
        ("magic.parquet", b"PAR1PAR1".to_vec()),
    ];
    for (name, bytes) in cases {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        for command in ["replay", "info", "stat"] {
            let sentence = refusal(&[command, path.to_str().unwrap()]);
            assert!(sentence.contains(name), "{sentence}");
        }
    }
    let sentence = refusal(&["replay", "/no/such/trace"]);
    assert!(sentence.contains("/no/such/trace"), "{sentence}");
}

/// The objects of the recorded kernel from before the first event used to be cut to the memory there is, and the model was
/// shown as if it did not fit the kernel.
#[test]
fn what_was_there_before_and_has_no_room_counts_as_failed() {
    let mut text =
        "# slablab page_bytes 4096\n# slablab cpus 2\n# slablab release 6.12.1\n".to_owned();
    for at in ["0.50", "3.50"] {
        let objects = "2000 2000 1024 16 4 : tunables 0 0 0 : slabdata 125 125 0";
        let _ = writeln!(text, "# slablab sample {at}\n# slablab slabs big {objects}");
    }
    text += "perf 7 [000] 1.0: kmem:kmem_cache_alloc: call_site=f+0x1/0x9 ptr=0xffff888100000000 name=big bytes_req=1024 \
             bytes_alloc=1024 gfp_flags=GFP_KERNEL node=-1 accounted=false\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.txt");
    fs::write(&file, text).unwrap();
    let replayed = |memory| {
        let file = file.to_str().unwrap();
        let text = stdout(&["replay", file, "-a", "slub", "--memory", memory, "--format", "json"]);
        let json: Value = serde_json::from_str(&text).unwrap();
        json["allocators"][0].clone()
    };
    let (whole, cut) = (replayed("64M"), replayed("1M"));
    assert!(whole["failed"] == 0 && whole["fit"].is_object(), "{whole}");
    assert!(cut["failed"].as_u64().unwrap() > 1_000 && cut["fit"].is_null(), "{}", cut["failed"]);
}

#[test]
fn an_old_spelling_says_the_new_one() {
    let trace = "traces/boot.parquet";
    for (words, now) in [
        (&["replay", trace, "--csv", "sites"][..], "slablab replay TRACE --show"),
        (&["replay", trace, "--timed"], "slablab lab run timed"),
        (&["whatif", trace, "--partition", "site"], "slablab partition TRACE --by"),
    ] {
        let said = refusal(words);
        assert!(said.contains(" is now: ") && said.contains(now), "{said}");
    }
}
