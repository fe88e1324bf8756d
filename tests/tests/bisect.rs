//! `slablab lab bisect`: what cannot be is refused before anything is built; a real one in guests is ignored unless asked for.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use slablab_tests::{refusal, run, slablab_path};

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
    let few = ["--runs", "8", "--alpha", "0.05"];
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

/// What a commit of [`commits_of`] does to `mm/shmem.c`, which all others leave alone.
const SHMEM: &str = "mm/shmem.c";
const SIZE: &str = "sizeof(struct shmem_inode_info),";
/// Where the twelfth commit panics.
const INIT: &str = "init_pipe_fs(void)\n{";

/// Makes a git tree of Linux 6.12 at `tree`, and 16 commits. The eighth does not compile, the twelfth panics, and the one of
/// this `number` makes inodes of tmpfs larger by 64 bytes, or takes these off again. The others have no effect.
fn commits_of(tree: &Path, archive: &Path, number: usize, is_added: bool) {
    let run = |words: &[&str]| {
        let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
    };
    let place = tree.to_str().unwrap();
    fs::create_dir_all(tree).unwrap();
    run(&["tar", "-xf", archive.to_str().unwrap(), "--strip-components=1", "-C", place]);
    let git = |words: &[&str]| {
        let own =
            ["git", "-C", place, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"];
        run(&[&own[..], words].concat());
    };
    let edit = |file: &str, from: &str, to: &str| {
        let path = tree.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    let larger = SIZE.replace(',', " + 64,");
    let (before, after) = if is_added { (SIZE, &*larger) } else { (&*larger, SIZE) };
    if !is_added {
        edit(SHMEM, after, before);
    }
    git(&["init", "-q"]);
    git(&["add", "-A", "-f"]);
    git(&["commit", "-q", "-m", "Linux 6.12"]);
    for at in 1..=16 {
        match at {
            8 => edit("fs/pipe.c", "\n#include", "\n#error eighth\n#include"),
            9 => edit("fs/pipe.c", "#error eighth\n", ""),
            12 => edit("fs/pipe.c", INIT, &format!("{INIT}\n\tpanic(\"twelfth\");")),
            13 => edit("fs/pipe.c", "\n\tpanic(\"twelfth\");", ""),
            _ if at == number => edit(SHMEM, before, after),
            _ => edit("lib/sort.c", "\n#include", &format!("\n/* {at} */\n#include")),
        }
        git(&["commit", "-q", "-a", "-m", &format!("commit {at}")]);
    }
}

/// Bisects the sixteen commits of `tree`, killed once after some seconds and begun again; returns the answer.
fn bisected(tree: &Path, folder: &Path, killed_after: Duration) -> Value {
    let place = folder.join("result");
    let commits = ["HEAD~16", "HEAD", "--source", tree.to_str().unwrap(), "--load", "files"];
    let all = words(&place, &[&commits[..], &["--format", "json", "--yes"]].concat());
    let start = || {
        let mut command = Command::new(slablab_path());
        command.args(&all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut first = start();
    thread::sleep(killed_after);
    if first.try_wait().unwrap().is_none() {
        first.kill().unwrap();
    }
    first.wait().unwrap();
    let begun = Instant::now();
    let output = start().wait_with_output().unwrap();
    println!("bisected in {:.0} s after the kill", begun.elapsed().as_secs_f64());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A commit that adds 3 % to what slabs hold after a load is found among sixteen, with at most six of them booted; the one
/// that does not compile and the one that panics are left out where they are tried. In a second tree the commit takes as
/// much away.
#[test]
#[ignore = "builds two kernels anew: an hour; make test-bisect"]
fn the_commit_that_moves_slab_memory_is_found_among_sixteen() {
    let archive = Path::new("/usr/src/linux-source-6.12.tar.xz");
    assert!(archive.is_file(), "linux-source-6.12 is not installed");
    let folder = tempfile::tempdir().unwrap();
    for (number, sign) in [(11, 1.0), (5, -1.0)] {
        let tree = folder.path().join(format!("linux-{number}"));
        commits_of(&tree, archive, number, sign > 0.0);
        let result = folder.path().join(format!("result-{number}"));
        fs::create_dir(&result).unwrap();
        let answer = bisected(&tree, &result, Duration::from_secs(90));
        println!("{}", serde_json::to_string_pretty(&answer["steps"][0]["ratio"]).unwrap());
        let versions = answer["versions"].as_array().unwrap();
        let booted = versions.iter().filter(|of| !of["values"].as_array().unwrap().is_empty());
        let booted: Vec<_> = booted.map(|of| of["name"].as_str().unwrap()).collect();
        println!("booted: {booted:?}");
        let steps = answer["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 1, "{steps:?}");
        let name = versions[steps[0]["to"].as_u64().unwrap() as usize]["name"].as_str().unwrap();
        assert!(name.ends_with(&format!(" commit {number}")), "{name}");
        let change = steps[0]["ratio"]["value"].as_f64().unwrap() - 1.0;
        assert!((0.01..0.08).contains(&(sign * change)), "{change}");
        assert!(booted.len() <= 2 + 6, "six commits besides the good and the bad one: {booted:?}");
        assert_eq!(steps[0]["caches"][0]["name"], "shmem_inode_cache");
        let unusable = |number: usize| versions[number]["unusable"].as_str();
        if let Some(why) = unusable(8) {
            assert!(why.contains("eighth"), "{why}");
        }
        if let Some(why) = unusable(12) {
            assert!(why.contains("twelfth"), "{why}");
        }
        let is_any = unusable(8).is_some() || unusable(12).is_some();
        assert!(is_any, "neither of the broken commits was tried");
    }
}
