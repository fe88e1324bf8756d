//! `slablab whatif --no-memcg`, `--allocinfo`: what accounting costs on a trace, and what cannot be asked of one.

use serde_json::Value;
use slablab_tests::{refusal, stdout};

const TRACE: &str = "traces/hackbench.parquet";

fn answer(words: &[&str]) -> Value {
    let words = [&["whatif", TRACE], words, &["--format", "json"]].concat();
    serde_json::from_str(&stdout(&words)).unwrap()
}

/// Returns the bytes of vectors at the peak, before a change and after it.
fn vectors(answer: &Value) -> (u64, u64) {
    let of = |side: &str| {
        answer[side]["allocators"][0]["vectors"]["bytes"]["peak"].as_u64().expect("vectors")
    };
    (of("before"), of("after"))
}

#[test]
fn without_charging_there_are_no_vectors_and_no_caches_of_what_is_charged() {
    let answer = answer(&["--no-memcg"]);
    let (before, after) = vectors(&answer);
    assert!(before > 0 && after == 0, "{before} {after}");
    let charged = |side: &str| {
        let caches = answer[side]["allocators"][0]["caches"].as_array().unwrap();
        caches.iter().any(|cache| cache["cache"].as_str().unwrap().starts_with("kmalloc-cg-"))
    };
    assert!(charged("before") && !charged("after"));
    assert!(answer["structures_bytes"].as_i64().unwrap() < 0);
    assert!(answer["untold"].as_str().unwrap().contains("which older objects are vectors"));
}

#[test]
fn profiling_gives_vectors_to_caches_that_had_none() {
    let (before, after) = vectors(&answer(&["--allocinfo"]));
    assert!(after > 4 * before, "{before} {after}");
}

#[test]
fn a_replay_of_such_a_trace_is_as_it_was() {
    // It does not begin with the boot, so its recorded vectors stay objects of the trace.
    let text = stdout(&["replay", TRACE, "--allocators", "slub-hybrid", "--format", "json"]);
    let replay: Value = serde_json::from_str(&text).unwrap();
    assert!(replay["allocators"][0].get("vectors").is_none());
}

#[test]
fn what_changes_nothing_or_cannot_be_known_is_refused() {
    let why = |trace, word| refusal(&["whatif", trace, word]);
    assert!(why("traces/boot.parquet", "--no-memcg").contains("does not say which release"));
    assert!(why(TRACE, "--allocinfo=off").contains("changes nothing"));
}
