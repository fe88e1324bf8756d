//! `slablab insmod`: how runs end that do not end by themselves, and what checks and AddressSanitizer see.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use slablab_tests::module::{insmod, lines, prints, source};
use slablab_tests::{run, slablab};

#[test]
fn an_endless_init_is_stopped() {
    let output = insmod("bad", &["what=endless", "--timeout", "0.5"]);
    assert_eq!(lines(&output), ["bad: endless", "bad: before the loop"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("no end after 0.5 s in init"), "{stderr}");
    assert!(stderr.contains("(bad.c:"), "the line is named: {stderr}");
}

#[test]
fn a_module_that_waits_for_ever_is_found_where_it_waits() {
    for flag in ["--check=2", "--asan"] {
        let output = insmod("bad", &["what=waits", "--timeout", "0.5", flag]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        let line = stderr
            .lines()
            .find(|line| line.contains("(bad.c:"))
            .unwrap_or_else(|| panic!("{stderr}"));
        assert!(line.contains("bad_init+"), "{stderr}");
    }
}

#[test]
fn the_line_of_a_leak_is_the_modules_also_where_a_helper_allocates() {
    for (what, line) in [
        ("kcalloc", 24),
        ("kstrdup", 26),
        ("kasprintf", 28),
        ("kmemdup", 30),
        ("mempool", 32),
        ("bitmap", 34),
    ] {
        let output = insmod("helpers", &[&format!("what={what}"), "--check", "2"]);
        assert_eq!(output.status.code(), Some(1), "{what}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("leak: "), "{what}: {text}");
        let sites = text.lines().filter(|line| line.contains("allocated by"));
        let place = "allocated by helpers_init+";
        for site in sites {
            assert!(
                site.contains(place) && site.ends_with(&format!("(helpers.c:{line})")),
                "{what}: {text}"
            );
        }
    }
}

#[test]
fn what_is_locked_or_unlocked_once_too_often_is_named() {
    for (what, finding, line) in [
        ("mutex", "init returned with a mutex held", 36),
        ("irq", "init returned with interrupts disabled", 38),
        ("rcu", "init returned in an RCU read-side section", 40),
        ("unlock", "nobody holds the lock", 42),
        ("spin_unlock", "no spinlock is held, and preemption is not disabled", 44),
        ("rcu_unlock", "the thread is in no RCU read-side section", 46),
    ] {
        let output = insmod("helpers", &[&format!("what={what}"), "--check", "2"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{what}: {text}");
        assert!(
            text.contains(finding) && text.contains(&format!("(helpers.c:{line})")),
            "{what}: {text}"
        );
    }
}

/// The guard behind a block used to make a size near the largest one near 0.
#[test]
fn what_is_larger_than_any_memory_is_refused_also_with_checks() {
    for check in ["0", "1", "2"] {
        prints("helpers", &["what=huge", "--check", check], &["helpers: 1 1 1"]);
    }
}

#[test]
fn address_sanitizer_leaves_in_peace_what_is_no_fault() {
    for what in ["constructed", "typesafe", "pages"] {
        for allocator in ["slub", "slub-tiny", "dense"] {
            let output =
                insmod("poison", &[&format!("what={what}"), "--asan", "--allocator", allocator]);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{what} on {allocator}: {stderr}");
        }
    }
}

#[test]
fn address_sanitizer_sees_what_copies_touch_and_what_threads_do() {
    for what in ["memcpy", "memset", "strlen", "stack", "thread"] {
        let output = insmod("poison", &[&format!("what={what}"), "--asan"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{what}: {stderr}");
        assert!(stderr.contains("ERROR: AddressSanitizer"), "{what}: {stderr}");
        assert!(stderr.contains("poison.c:") && stderr.contains("ABORTING"), "{what}: {stderr}");
    }
}

/// With AddressSanitizer the C library lies beneath a module: its `init_module` is the system call.
#[test]
fn a_module_without_init_calls_no_other_init() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("only.c");
    let source = "#include <linux/module.h>\nint answer(void) { return 42; }\nEXPORT_SYMBOL(answer);\nMODULE_LICENSE(\"GPL\");\n";
    fs::write(&path, source).unwrap();
    for flag in ["--asan", "--check=2"] {
        let output = run(&["insmod", path.to_str().unwrap(), flag]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_timeout_of_0_is_none() {
    let output = insmod("bad", &["what=nothing", "--timeout", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_signal_leaves_no_temporary_folder() {
    let folder = tempfile::tempdir().unwrap();
    let module = source("bad");
    for signal in ["INT", "TERM", "HUP"] {
        let mut command = slablab();
        command
            .args(["insmod", &module, "what=endless", "--timeout", "600"])
            .env("TMPDIR", folder.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // The module's first line: it runs.
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("bad: endless"), "{line}");
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert!(status.signal().is_some(), "{signal}: {status}");
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
        assert!(left.is_empty(), "{signal}: {left:?}");
    }
}

#[test]
fn a_module_does_not_outlive_a_command_that_is_killed() {
    let module = source("bad");
    let mut command = slablab();
    command.args(["insmod", &module, "what=endless", "--timeout", "600"]);
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let runs = || {
        let list = fs::read_to_string(&children).unwrap_or_default();
        let mut pids = list.split_whitespace().map(str::to_owned);
        // The compiler is a child too, and comes first.
        pids.find(|pid| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|c| c.ends_with(b"job.json\0"))
        })
    };
    let patience = Instant::now() + Duration::from_secs(120);
    let child = loop {
        assert!(Instant::now() < patience, "the module never ran");
        match runs() {
            Some(pid) => break pid,
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    parent.kill().unwrap();
    parent.wait().unwrap();
    let state = || fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    while !state().is_empty() && !state().contains(") Z ") {
        assert!(Instant::now() < patience, "{}", state());
        thread::sleep(Duration::from_millis(20));
    }
}
