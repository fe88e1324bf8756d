//! The experiments that run in a process: each answers its question, in seconds, with the numbers that Linux is known for.

use std::fs;

use serde_json::Value;
use slablab_tests::stdout;

/// Runs an experiment as a smoke run and returns its answer and its page.
fn smoke(name: &str, words: &[&str]) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (result, page) = (at("result"), at("page.html"));
    let common =
        ["lab", "run", name, "--smoke", "-o", &result, "--report", &page, "--format", "json"];
    let answer = stdout(&[&common[..], words].concat());
    (serde_json::from_str(&answer).unwrap(), fs::read_to_string(page).unwrap())
}

/// Returns the count of `metric` for a variant at a point.
fn count(answer: &Value, metric: &str, variant: &str, point: &str) -> f64 {
    let counts = answer["counts"].as_array().unwrap();
    let found = counts
        .iter()
        .find(|c| c["metric"] == metric && c["variant"] == variant && c["point"] == point);
    found.unwrap_or_else(|| panic!("no {metric} of {variant} at '{point}': {answer}"))["value"]
        .as_f64()
        .unwrap()
}

#[test]
fn memmax_finds_4_mib_for_kmalloc_and_pages_and_more_for_vmalloc() {
    let (answer, _) = smoke("memmax", &[]);
    let largest = |interface: &str| count(&answer, "largest block", interface, "");
    assert_eq!((largest("kmalloc"), largest("__get_free_pages")), (4_194_304.0, 4_194_304.0));
    assert!(largest("vmalloc") > 100e6);
}

#[test]
fn lifo_tells_slub_from_slob() {
    let (answer, _) = smoke("lifo", &["--set", "sizes=64", "--set", "allocators=slub,slob"]);
    let lifo = |allocator: &str| {
        count(&answer, "last freed, first reused (1: yes, 0: no)", allocator, "64")
    };
    assert_eq!((lifo("slub"), lifo("slob")), (1.0, 0.0));
}

#[test]
fn locality_shows_the_scatter_and_draws_it() {
    let (answer, page) = smoke("locality", &["--rounds", "2"]);
    let pages = |source: &str| count(&answer, "pages touched", source, "");
    assert!(pages("kmalloc 40") > pages("own cache 40"), "{answer}");
    assert!(count(&answer, "objects right behind the one before", "own cache 40", "") > 190.0);
    assert!(page.contains("Where 200 objects lie") && page.contains("offset ("), "no address map");
}

#[test]
fn memtim_times_three_interfaces_and_leaves_out_what_is_not_given() {
    let (answer, page) = smoke("memtim", &["--rounds", "4", "--set", "sizes=64,16777216"]);
    let rows = answer["comparisons"][0]["rows"].as_array().unwrap();
    let at = |point: &str| rows.iter().filter(|row| row["point"] == point).count();
    assert_eq!((at("64"), at("16777216")), (2, 0), "16 MiB has no baseline: kmalloc refuses it");
    assert!(page.contains("by bytes"));
}

#[test]
fn kprobes_shows_that_64_buckets_are_too_few() {
    let (answer, page) = smoke("kprobes", &["--set", "probes=1000,8000"]);
    let rows = answer["comparisons"][0]["rows"].as_array().unwrap();
    let row =
        rows.iter().find(|row| row["point"] == "8000" && row["candidate"] == "hash, 512 buckets");
    let ratio = row.expect("it was compared")["comparison"]["ratio"]["value"].as_f64().unwrap();
    // An eighth in theory; half is beyond any noise.
    assert!(ratio < 0.5, "{ratio}");
    assert!(page.contains("Time per lookup by probes"));
}
