//! `slablab partition --by typed:N`: Clang's tokens of the types that debug information tells.

use std::path::Path;

use serde_json::Value;
use slablab_tests::{refusal, run, stdout, typed_trace};

fn partition(trace: &Path, words: &[&str]) -> Value {
    let all = [&["partition", trace.to_str().unwrap(), "--format", "json"], words].concat();
    serde_json::from_str(&stdout(&all)).unwrap()
}

#[test]
fn each_type_is_in_the_partition_of_its_token_and_what_has_none_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let trace = typed_trace(folder.path());
    let answer = partition(&trace, &["--by", "typed:16"]);
    assert_eq!(answer["from"], "debug_information");
    assert_eq!(answer["tokens"], 16);
    let tokens = &answer["divided"];
    let types = tokens["types"].as_array().unwrap();
    // By the reference implementation of SipHash-2-4 with Clang's key: hash % 8, and 8 more with a pointer.
    for (name, canonical, has_pointers, partition, objects) in [
        ("struct sock", "sock", true, SOCK, 9),
        ("struct holder", "holder", true, HOLDER, 4),
        ("struct page", "page", false, PAGE, 20),
        ("struct pair", "pair", false, PAIR, 50),
        ("long unsigned int", "unsigned long", false, UNSIGNED_LONG, 6),
    ] {
        let one = types.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(one["canonical"], canonical);
        assert_eq!(one["has_pointers"], has_pointers, "{name}");
        assert_eq!(one["partition"], partition, "{name}");
        assert_eq!(one["objects_end"], objects, "{name}");
    }
    assert_eq!(types.len(), 5);
    // `struct later` is only declared, and `void *` is no type.
    let untyped = &tokens["untyped"];
    assert_eq!((&untyped["sites"], &untyped["allocs"]), (&2.into(), &33.into()));
    assert_eq!(untyped["sites_open"], 1);
    let partitions = tokens["partitions"].as_array().unwrap();
    let sum = |key: &str| partitions.iter().map(|one| one[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        (partitions.len(), sum("allocs"), sum("objects_end"), sum("types")),
        (16, 123, 122, 5)
    );
    assert!(partitions[usize::from(SOCK)]["slabs_peak"].as_u64().unwrap() > 0);
    let ways: Vec<&str> =
        answer["ways"].as_array().unwrap().iter().map(|way| way["way"].as_str().unwrap()).collect();
    assert_eq!(ways, ["none, as recorded", "typed:16", "random:16", "buckets", "site", "type"]);
}

const SOCK: u8 = 10;
const HOLDER: u8 = 10;
const PAGE: u8 = 4;
const PAIR: u8 = 0;
const UNSIGNED_LONG: u8 = 6;

#[test]
fn types_that_share_a_partition_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let trace = typed_trace(folder.path());
    let path = trace.to_str().unwrap();
    // Of two partitions, all types with pointers are in the upper one.
    for name in ["sock", "struct sock"] {
        let said = stdout(&["partition", path, "--by", "typed:2", "--with", name]);
        assert!(
            said.contains("struct sock (with pointers) is in partition 1 with 1 other type"),
            "{said}"
        );
        assert!(said.contains("struct holder") && !said.contains("struct pair"), "{said}");
    }
    let error = refusal(&["partition", path, "--by", "typed:2", "--with", "sokc"]);
    assert!(
        error.contains("no call site is known to allocate") && error.contains("there is sock"),
        "{error}"
    );
    let error = refusal(&["partition", path, "--by", "buckets", "--with", "sock"]);
    assert!(error.contains("--by typed:N"), "{error}");
    let refused = run(&["partition", path, "--by", "typed:5"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("N even, 2 to 64"), "{said}");
}

#[test]
fn a_trace_without_types_is_refused_with_what_is_needed() {
    let error = refusal(&["partition", "traces/boot.parquet", "--by", "typed:16"]);
    assert!(error.contains("--vmlinux FILE") && error.contains("BTF"), "{error}");
}

#[test]
fn where_most_bytes_have_no_type_the_answer_begins_with_that() {
    let trace = slablab_tests::root().join("traces/hackbench.parquet");
    let words = ["partition", trace.to_str().unwrap(), "--by", "typed:16"];
    let output = run(&words);
    // The types are those of the kernel that was recorded, which another machine does not run.
    if String::from_utf8_lossy(&output.stderr).contains("needs the types of") {
        return println!("SKIPPED: the recorded kernel does not run here");
    }
    let said = slablab_tests::stdout(&words);
    let first = said.lines().next().unwrap();
    assert!(first.contains("% of the live bytes) have no known type"), "{said}");
}

/// Of the commands that take a vmlinux some did not look whether it is there, and took another kernel's types or none.
#[test]
fn a_vmlinux_that_is_missing_or_no_kernel_is_refused_by_every_question() {
    let folder = tempfile::tempdir().unwrap();
    let trace = "traces/boot.parquet";
    let missing = folder.path().join("vmlinux");
    let text = folder.path().join("text");
    std::fs::write(&text, "no kernel").unwrap();
    for words in [
        &["fit", trace, "--memory", "64M"][..],
        &["tune", trace],
        &["partition", trace, "--by", "buckets"],
        &["stat", trace, "--by", "owner"],
        &["advise", trace],
        &["whatif", trace, "--no-merge"],
        &["classes", trace, "--further", "1"],
    ] {
        for (file, part) in [(&missing, "cannot open the vmlinux"), (&text, "is not a kernel")] {
            let words = [words, &["--vmlinux", file.to_str().unwrap()]].concat();
            let said = refusal(&words);
            assert!(said.contains(part), "{words:?}: {said}");
        }
    }
}
