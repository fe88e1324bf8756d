//! `slablab report --mail`: what it prints survives a mailer, and says how to repeat it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use slablab_tests::{refusal, root, slablab_path, stdout};
use slablab_trace::synth::{SynthOptions, synth};

/// A mail fits two levels of quoting, and its last lines are the command that makes the same run again.
#[test]
fn a_mail_of_a_result_says_how_to_repeat_it_and_that_repeats_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let trace = at("small.parquet");
    let options = SynthOptions { events: 3_000, cpus: 2, seed: 3, live: None };
    synth(Path::new(&trace), &options, &mut |_| ()).unwrap();
    let (bench, replay) = (at("it's bench"), at("replay"));
    let commands = ["bench", "--rounds", "6", "-o", &bench, "--name", "a b", "--", "sh", "-c"];
    let _ = stdout(&[&commands[..], &["exit 0", "--", "true"]].concat());
    let _ = stdout(&["lab", "run", "replay", "--input", &trace, "--rounds", "2", "-o", &replay]);
    for first in [bench, replay] {
        let mail = stdout(&["report", &first, "--mail"]);
        assert_eq!(mail, stdout(&["report", &first, "--format", "mail"]));
        assert!(refusal(&["report", &first, "--format", "csv"]).contains("the result itself has"));
        assert!(mail.lines().all(|line| line.chars().count() <= 68 && line == line.trim_end()));
        let (_, repeat) = mail.split_once("To repeat it:\n").expect(&mail);
        let second = format!("{first} again");
        let script = repeat.replacen("slablab", slablab_path().to_str().unwrap(), 1);
        let script = script.replacen(" --rounds", &format!(" -o \"{second}\" --rounds"), 1);
        let status = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(status.status.success(), "{script}: {status:?}");
        let plan = |folder: &str| -> Value {
            serde_json::from_slice(&fs::read(Path::new(folder).join("plan.json")).unwrap()).unwrap()
        };
        assert_eq!(plan(&first), plan(&second));
        let markdown = stdout(&["report", &first, "--markdown"]);
        assert!(markdown.contains("\nTo repeat it:\n\n```"), "{markdown}");
    }
}

/// A bisection keeps its answer, so that a mail of it can be made when the kernels are gone; one without an answer goes on.
#[test]
fn a_bisection_that_is_over_is_reported_and_another_is_refused() {
    let kept = root().join("bench/results/2026-11-27-sheaves");
    let mail = stdout(&["report", kept.to_str().unwrap(), "--mail"]);
    assert!(mail.lines().all(|line| line.chars().count() <= 68 && line == line.trim_end()));
    let first: String = mail.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(first.starts_with("Memory in slabs after the load is 60.66 % less with"), "{first}");
    for fact in
        ["kernel of build:7.3/slub", "guests ran under", "\n\nTo repeat it:\nslablab lab bisect"]
    {
        assert!(mail.contains(fact), "no {fact} in:\n{mail}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::copy(kept.join("bisect.json"), folder.path().join("bisect.json")).unwrap();
    let refused = refusal(&["report", folder.path().to_str().unwrap(), "--mail"]);
    assert!(refused.contains("is a bisection without an answer"), "{refused}");
    fs::write(folder.path().join("answer.json"), r#"{"schema":"slablab.lab.bisect/1"}"#).unwrap();
    let damaged = refusal(&["report", folder.path().to_str().unwrap(), "--mail"]);
    assert!(damaged.contains("answer.json") && damaged.contains("is damaged"), "{damaged}");
}
