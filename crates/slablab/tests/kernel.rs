//! `slablab kernel` and bad input: one clear line, status 2, nothing installed, nothing left behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `slablab kernel` in `dir`, with a cache of its own.
fn kernel(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_slablab"))
        .arg("kernel")
        .args(arguments)
        .current_dir(dir)
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .env("LC_ALL", "C")
        .output()
        .expect("the command starts")
}

/// Asserts that a call fails with one line on standard error that has all of `parts`.
fn fails(dir: &Path, arguments: &[&str], parts: &[&str]) {
    let out = kernel(dir, arguments);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{arguments:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{arguments:?}: no `{part}` in: {said}");
    }
    assert!(out.stdout.is_empty());
}

#[test]
fn unknown_names_are_answered_with_those_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let known = ["slabb: no such allocator", "slab, slmb, slob, slub"];
    fails(dir.path(), &["build", "--allocators", "slub,slabb"], &known);
    fails(dir.path(), &["boot", "slabb"], &known);
    fails(dir.path(), &["run", "hackbench", "--allocators", "slabb"], &known);
    fails(dir.path(), &["run", "audit-cache", "--allocator", "slabb"], &known);
    fails(dir.path(), &["boot", "slub", "--module", "nothing"], &["no module nothing", "memmax"]);
    fails(dir.path(), &["build", "--flavour", "mint"], &["mint: no such flavour", "debug"]);
}

#[test]
fn a_configuration_that_contradicts_itself_is_named_with_both_lines() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own.config");
    fs::write(&own, "# mine\n# CONFIG_SMP is not set\n").unwrap();
    let arguments = ["build", "--allocators", "slub", "--config", "own.config"];
    fails(
        dir.path(),
        &arguments,
        &["own.config:2: CONFIG_SMP=n contradicts CONFIG_SMP=y at", "base"],
    );
    fs::write(&own, "SMP=n\n").unwrap();
    fails(dir.path(), &arguments, &["own.config:1: `SMP=n` is no setting"]);
    fs::remove_file(&own).unwrap();
    fails(dir.path(), &arguments, &["own.config: cannot read"]);
}

#[test]
fn a_source_that_is_none_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fails(dir.path(), &["build", "--source", "nowhere"], &["nowhere: no such source"]);
    fails(dir.path(), &["build", "--source", "."], &["not Linux's source", "--source"]);
    fails(dir.path(), &["run", "kprobes", "--source", "."], &["not Linux's source"]);
}

#[test]
fn a_plan_that_cannot_be_is_refused_before_anything_is_built() {
    let dir = tempfile::tempdir().unwrap();
    let twice = ["run", "hackbench", "--allocators", "slub,slub"];
    fails(dir.path(), &twice, &["slub is named twice"]);
    let twice = ["run", "hackbench", "--allocators", "slub", "--cpus", "2,2"];
    fails(dir.path(), &twice, &["2 is named twice"]);
    let baseline = ["run", "hackbench", "--allocators", "slub", "--baseline", "slob"];
    fails(dir.path(), &baseline, &["--baseline slob: no such variant; there are: slub"]);
    assert_eq!(kernel(dir.path(), &["run", "hackbench", "--cpus", "0"]).status.code(), Some(2));
    assert_eq!(kernel(dir.path(), &["run", "hackbench", "--rounds", "0"]).status.code(), Some(2));
    assert!(!dir.path().join("slablab-results").exists());
}

#[test]
fn missing_programs_are_named_with_their_packages() {
    let dir = tempfile::tempdir().unwrap();
    // With nothing on the PATH there is no apt-get either.
    let out = Command::new(env!("CARGO_BIN_EXE_slablab"))
        .args(["kernel", "build", "--allocators", "slub"])
        .env("PATH", dir.path())
        .env("XDG_CACHE_HOME", dir.path())
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    for part in ["gcc", "not found", "apt-get install", "flex"] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn the_list_has_every_allocator_and_experiment() {
    let dir = tempfile::tempdir().unwrap();
    let out = kernel(dir.path(), &["list", "--format", "json"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let listing: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(listing["schema"], "slablab.kernel-list/1");
    assert_eq!(listing["kernels"].as_array().unwrap().len(), 4);
    assert!(listing["kernels"].as_array().unwrap().iter().all(|kernel| kernel["built"] == false));
    let names = |key: &str, field: &str| -> Vec<String> {
        let rows = listing[key].as_array().unwrap().iter();
        rows.map(|row| row[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("experiments", "name"), ["hackbench", "audit-cache", "kprobes"]);
}
