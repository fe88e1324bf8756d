//! `slablab bench`: commands beside each other, settings that are put back, and every refusal.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use slablab_tests::{refusal, slablab};

/// Runs `slablab`, which has to end with status 2; returns all that it says.
fn refusal_among_notes(words: &[&str]) -> String {
    let output = slablab().args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs `slablab bench` with rows in a folder of its own; returns its answer as JSON.
fn bench(words: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    let mut command = slablab();
    command.args(["bench", "--format", "json", "-o"]).arg(&rows).args(words);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--format json prints JSON")
}

#[test]
fn the_faster_of_two_commands_is_named() {
    let answer = bench(&["--rounds", "6", "--", "sleep", "0.2", "--", "true"]);
    let metrics = answer["comparisons"].as_array().unwrap();
    assert_eq!(metrics.len(), 3, "time, slab memory at the peak and at the end: {answer}");
    assert_eq!(metrics[0]["rows"][0]["answer"], "faster", "{answer}");
}

#[test]
fn a_start_that_failed_does_not_keep_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    let words = |first| {
        let rows = rows.to_str().unwrap();
        ["bench", "--rounds", "2", "-o", rows, "--", first, "--", "true"]
    };
    assert!(refusal_among_notes(&words("/no/such")).contains("cannot run /no/such"));
    let output = slablab().args(words("true")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_setting_holds_for_its_command_only_and_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let (setting, seen) = (folder.path().join("setting"), folder.path().join("seen"));
    fs::write(&setting, "30\n").unwrap();
    let look = format!("cat {} >> {}", setting.display(), seen.display());
    bench(&[
        "--rounds",
        "2",
        "--set",
        &format!("{}=7;", setting.display()),
        "--",
        "sh",
        "-c",
        &look,
    ]);
    assert_eq!(fs::read_to_string(&setting).unwrap(), "30");
    let seen = fs::read_to_string(&seen).unwrap();
    assert_eq!((seen.matches("7;").count(), seen.matches("30").count()), (3, 3), "{seen}");
}

#[test]
fn a_signal_ends_the_command_and_puts_the_setting_back() {
    let folder = tempfile::tempdir().unwrap();
    let (setting, running) = (folder.path().join("setting"), folder.path().join("running"));
    fs::write(&setting, "30").unwrap();
    let script = format!("echo $$ > {}; exec sleep 300", running.display());
    let mut child = slablab()
        .args(["bench", "--rounds", "1", "--set", &format!("{}=7", setting.display()), "-o"])
        .arg(folder.path().join("rows"))
        .args(["--", "sh", "-c", &script])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = loop {
        match fs::read_to_string(&running) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
        assert!(child.try_wait().unwrap().is_none(), "it ended before its command ran");
    };
    let signal = |what: &str, pid: &str| {
        Command::new("kill").args([what, pid]).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(signal("-INT", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(fs::read_to_string(&setting).unwrap(), "30");
    assert!(!signal("-0", &pid), "the command goes on after its bench was ended");
}

#[test]
fn a_setting_that_a_killed_bench_left_is_no_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let (setting, seen) = (folder.path().join("setting"), folder.path().join("seen"));
    fs::write(&setting, "30\n").unwrap();
    // The command ends its bench while the setting is changed, once.
    let script = format!(
        "v=$(cat {0}); if [ \"$v\" = 7 ] && ! [ -e {1}.killed ]; then touch {1}.killed; kill -9 $PPID; fi; echo $v >> {1}",
        setting.display(),
        seen.display()
    );
    let run = || {
        let mut command = slablab();
        command.args(["bench", "--rounds", "2", "--seed", "3", "-o"]);
        command.arg(folder.path().join("rows"));
        command.args(["--set", &format!("{}=7", setting.display()), "--", "sh", "-c", &script]);
        command.output().unwrap()
    };
    assert!(!run().status.success());
    assert_eq!(fs::read_to_string(&setting).unwrap(), "7");
    let again = run();
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{said}");
    assert!(said.contains("was 7, and this run began with 30, which is put back"), "{said}");
    assert_eq!(fs::read_to_string(&setting).unwrap(), "30");
    let seen = fs::read_to_string(&seen).unwrap();
    // The command that ended its bench went on, and its cell ran once more.
    assert_eq!((seen.matches("30").count(), seen.matches('7').count()), (3, 4), "{seen}");
}

#[test]
fn a_refused_bench_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = slablab();
    command.args(["bench", "--", "/no/such", "--", "true"]).current_dir(folder.path());
    assert_eq!(command.output().unwrap().status.code(), Some(2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let one = refusal(&["bench", "--", "true"]);
    assert!(one.contains("add -- and another, or --set FILE=VALUE"), "{one}");
    let missing = refusal(&["bench", "--", "true", "--"]);
    assert!(missing.contains("a command is missing"), "{missing}");
    let both = refusal(&["bench", "--set", "/x=1", "--", "true", "--", "false"]);
    assert!(both.contains("--set compares one command with itself"), "{both}");
    let folder = tempfile::tempdir().unwrap();
    let rows = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let bench = |name: &str, words: &[&str]| {
        let output = slablab().args(["bench", "-o", &rows(name)]).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let fails = bench("a", &["--", "false", "--", "true"]);
    assert!(fails.contains("failed with exit status 1"), "{fails}");
    let nothing = bench("b", &["--set", "/no/such=1", "--", "true"]);
    assert!(nothing.contains("--set /no/such: there is no such file"), "{nothing}");
    let sysctl = bench("c", &["--set", "no.such=1", "--", "true"]);
    assert!(sysctl.contains("is neither a path from / nor a sysctl"), "{sysctl}");
}
