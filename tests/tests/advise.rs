//! `slablab advise` and its siblings: what is found stands first and fits a screen, and no cache is advised for a leak.

use std::path::Path;

use serde_json::Value;
use slablab_tests::stdout;
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
    assert!(text.contains("leak+0x10 allocated in every part of the recording"), "{text}");
    assert!(!text.contains("a cache of its own for leak+0x10"), "{text}");
    let patch = stdout(&["patch", path, "leak"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(patch.contains("look for a leak first"), "{patch}");
    // Objects that are allocated in the first half and stay are a population.
    leaking(Path::new(path), 0.5);
    assert_eq!(worth(), "saves");
    let text = advice(&[]);
    assert!(!text.contains("look for a leak"), "{text}");
}
