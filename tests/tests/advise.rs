//! `slablab advise` and its siblings: what is found stands first and fits a screen, and no cache is advised for a leak.

use std::path::Path;

use serde_json::Value;
use slablab_tests::{refusal, stdout};
use slablab_trace::{Event, Kind, Meta, TraceWriter};

/// Lines and columns of a screen.
const SCREEN: (usize, usize) = (40, 80);

#[test]
fn the_first_screen_begins_with_a_sentence_and_fits() {
    for trace in ["boot", "build", "hackbench"].map(|name| format!("traces/{name}.parquet")) {
        for words in ["advise", "tune", "fit --memory 24M", "classes", "classes --further 16"] {
            let words: Vec<_> = words.split(' ').chain([trace.as_str()]).collect();
            let text = stdout(&words);
            let lines: Vec<_> = text.lines().collect();
            let wide = lines.iter().filter(|line| line.chars().count() > SCREEN.1);
            // Text to be pasted is not cut.
            let wide: Vec<_> = wide.filter(|line| !line.starts_with("slablab whatif")).collect();
            assert!(
                wide.is_empty() && lines.len() <= SCREEN.0,
                "{words:?}: {}\n{text}",
                lines.len()
            );
            let (first, _) = text.split_once("\n\n").expect("sentences, and what proves them");
            assert!(first.ends_with('.') && !first.starts_with(char::is_lowercase), "{text}");
        }
    }
}

/// Writes a trace of one site that frees none of its objects and one that frees each; `span` is the share of the recording
/// in which the first allocates.
fn leaking(path: &Path, span: f64) {
    let mut writer = TraceWriter::create(path).unwrap();
    let (leak, other) = (writer.site("leak+0x10", 1), writer.site("other+0x20", 2));
    let event = |time_ns, kind, object, site, bytes_req, bytes_alloc| Event {
        time_ns,
        pid: 1,
        kind,
        object,
        site,
        bytes_req,
        bytes_alloc,
        ..Event::EMPTY
    };
    const OBJECTS: u32 = 4_000;
    for i in 0..OBJECTS {
        let at = |part: u64| u64::from(i) * 1_000 + part;
        if f64::from(i) < f64::from(OBJECTS) * span {
            writer.push(&event(at(0), Kind::Kmalloc, 1 + i, leak, 1_100, 2_048)).unwrap();
        }
        writer.push(&event(at(1), Kind::Kmalloc, 0, other, 60, 64)).unwrap();
        writer.push(&event(at(2), Kind::Kfree, 0, other, 0, 0)).unwrap();
    }
    writer.finish(Meta { cpus: 1, nodes: 1, ..Meta::default() }).unwrap();
}

/// A site that only allocates used to be "worth making, saves memory", although the cache of a leak saves memory
/// only until it runs out.
#[test]
fn a_leak_is_named_and_gets_no_cache() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leak.parquet");
    let path = path.to_str().unwrap();
    let advice = |words: &[&str]| stdout(&[&["advise", path], words].concat());
    let worth = || -> Value {
        let answer: Value = serde_json::from_str(&advice(&["--format", "json"])).unwrap();
        let all = answer["advice"].as_array().unwrap().iter();
        let mut own = all.filter(|advice| advice["subject"] == "leak+0x10");
        own.next().expect("it is tried")["worth"].clone()
    };
    leaking(Path::new(path), 1.0);
    assert_eq!(worth(), "leak");
    let text = advice(&[]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("The objects of leak+0x10 grew in number to the end"), "{text}");
    assert!(!text.contains("a cache of its own for leak+0x10"), "{text}");
    let patch = refusal(&["patch", path, "leak"]);
    assert!(patch.contains("a cache does not help a leak"), "{patch}");
    let what_if = stdout(&["whatif", path, "--dedicate", "leak"]);
    let what_if = what_if.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(what_if.contains("Hardly an object of leak+0x10 was freed"), "{what_if}");
    // What was allocated in the first half and is there at the end may be a population, which the reason says.
    leaking(Path::new(path), 0.5);
    assert_eq!(worth(), "saves");
    let reasons = advice(&["--show", "reasons"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        reasons.contains("may be a population, which a cache helps, or a leak, which it does not"),
        "{reasons}"
    );
    let patch = stdout(&["patch", path, "leak"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        patch.contains("may be a population, which a cache helps, or a leak, which it does not"),
        "{patch}"
    );
}

/// What a boot allocates once and keeps is a population, and keeps its advice.
#[test]
fn what_a_boot_keeps_is_no_leak() {
    let text = stdout(&["advise", "traces/boot.parquet", "--format", "json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    let all = answer["advice"].as_array().unwrap();
    assert!(all.iter().all(|advice| advice["worth"] != "leak"), "{text}");
    let kept = all.iter().find(|advice| advice["subject"] == "acpi_add_single_object+0x33");
    assert_eq!(kept.expect("it is tried")["worth"], "saves");
    let text = stdout(&["advise", "traces/boot.parquet"]);
    assert!(text.contains("Most call sites keep what they allocate, as in a boot"), "{text}");
}

/// Writes a text of tracefs: of 800 objects that a helper allocates half are one caller's, and half the other's; `stack` is
/// what the text has of call chains.
fn of_a_helper(path: &Path, stack: impl Fn(&str) -> String) {
    let mut text = String::from("# tracer: nop\n");
    for at in 0..800 {
        let (caller, bytes) = [("session_open+0x5", 600), ("name_set+0x9", 700)][at % 2];
        let ptr = 0xffff_8880_0000_0000u64 + at as u64 * 1024;
        text += &format!(
            "  task-7 [000] ..... 1.{at:06}: kmalloc: call_site=kmemdup_noprof+0x41/0x90 ptr={ptr:016x} bytes_req={bytes} \
             bytes_alloc=1024 gfp_flags=GFP_KERNEL node=-1\n"
        );
        text += &stack(caller);
    }
    for at in 0..800u64 {
        let ptr = 0xffff_8880_0000_0000u64 + at * 1024;
        let us = 1_000 + at;
        text +=
            &format!("  task-7 [000] ..... 1.{us:06}: kfree: call_site=f+0x1/0x2 ptr={ptr:016x}\n");
    }
    std::fs::write(path, text).unwrap();
}

/// `kmemdup` was to have a cache of its own, of whatever size its callers had asked for.
#[test]
fn a_cache_is_for_the_owner_and_not_for_the_helper() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.txt");
    let name = path.to_str().unwrap();
    of_a_helper(&path, |_| String::new());
    let bare = stdout(&["advise", name]);
    assert!(!bare.contains("kmemdup") && bare.contains("1 of helpers"), "{bare}");
    let refused = refusal(&["patch", name, "kmemdup_noprof"]);
    assert!(refused.contains("allocates for whoever calls it"), "{refused}");

    of_a_helper(&path, |caller| {
        format!(
            "  task-7 [000] ..... 1.000000: <stack trace>\n => __kmalloc_noprof+0x1/0x2\n => kmemdup_noprof+0x41/0x90\n => \
             {caller}/0x90\n => do_syscall_64+0x5d/0x90\n"
        )
    });
    let answer: Value =
        serde_json::from_str(&stdout(&["advise", name, "--format", "json"])).unwrap();
    let advice = answer["advice"].as_array().unwrap().iter();
    let mut own: Vec<_> = advice
        .filter(|advice| !advice["subject"].as_str().unwrap().starts_with("kmalloc"))
        .map(|advice| (advice["subject"].as_str().unwrap(), advice["object_bytes"].as_u64()))
        .collect();
    own.sort_unstable();
    assert_eq!(own, [("name_set+0x9", Some(700)), ("session_open+0x5", Some(600))]);
    let what_if = stdout(&["whatif", name, "--dedicate", "session_open"]);
    assert!(what_if.contains("cache session_open of 600 B for 1 call site"), "{what_if}");
}
