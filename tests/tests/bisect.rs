//! `slablab lab bisect`: what cannot be is refused before anything is built; a real one in guests is ignored unless asked for.

use std::fs;
use std::path::Path;

use serde_json::Value;
use slablab_tests::{refusal, run};

fn words<'a>(folder: &'a Path, rest: &[&'a str]) -> Vec<&'a str> {
    let first = ["lab", "bisect", "-o", folder.to_str().unwrap()];
    first.into_iter().chain(rest.iter().copied()).collect()
}

#[test]
fn what_cannot_be_bisected_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("result");
    let said = |rest: &[&str]| refusal(&words(&place, rest));
    assert!(said(&["slub"]).contains("name two kernels or more"));
    assert!(said(&["slub", "slab", "slub"]).contains("slub is named twice"));
    assert!(said(&["slub", "slab", "--settings", "quiet"]).contains("about one kernel"));
    assert!(said(&["nothing", "slub"]).contains("nothing: no such kernel"));
    let metric = said(&["slub", "slab", "--metric", "a b"]);
    assert!(metric.contains("metrics=a b"), "{metric}");
    assert!(said(&["slub", "slab", "--alpha", "1.5"]).contains("--alpha 1.5"));
    let few = said(&["slub", "slab", "--runs", "3"]);
    assert!(
        few.contains("--runs 3") && few.contains("boots of each version at least are needed"),
        "{few}"
    );
    assert!(said(&["slub", "--settings", " ; "]).contains("name boot parameters"));
    assert!(said(&["debian:6.12..soon"]).contains("debian:6.12..7.3"));
    assert!(said(&["slub", "slab", "--metric", "cache:"]).contains("no metric 'cache:'"));
    assert!(said(&["slub", "--series", "/nowhere"]).contains("/nowhere: cannot read the series"));
    let source = folder.path().to_str().unwrap();
    assert!(said(&["v1", "v2", "--source", source]).contains("git rev-parse"));
    let points = said(&["slub", "slab", "--set", "cpus=1,2"]);
    assert!(points.contains("one point"), "{points}");
    assert!(!place.exists(), "a refusal leaves no folder");
}

/// The settings between which slab memory moves are found; killed and begun again, the answer is the same.
#[test]
#[ignore = "boots kernels; make test-boot"]
fn the_setting_that_moves_slab_memory_is_found_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("result");
    let settings = "quiet;loglevel=3;slub_debug=U;slub_debug=U quiet";
    let few = ["--runs", "8", "--alpha", "0.2"];
    let rest = ["slub", "--settings", settings, "--load", "boot", "--format", "json"];
    let rest = [&rest[..], &few].concat();
    let all = words(&place, &rest);
    let output = run(&all);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = answer["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[0]["from"], &steps[0]["to"]), (1, &2.into(), &3.into()));
    // What is lost with a kill is made again, and what is there is kept.
    let rows = place.join("003/raw.jsonl");
    let text = fs::read_to_string(&rows).unwrap();
    let kept: Vec<&str> = text.lines().take(2).collect();
    fs::write(&rows, kept.join("\n") + "\n").unwrap();
    let again: Value = serde_json::from_slice(&run(&all).stdout).unwrap();
    assert_eq!(again["steps"][0]["to"], 3);
    assert!(fs::read_to_string(&rows).unwrap().starts_with(kept[0]));
    let other = refusal(&words(&place, &["slub", "slab", "--load", "boot"]));
    assert!(other.contains("has another bisection"), "{other}");
}
