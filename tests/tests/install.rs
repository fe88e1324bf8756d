//! What `make install` puts beside the command, what `make uninstall` takes away, and that hosted CI runs what `make test` runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use slablab_tests::{root, stdout};

/// Returns the files below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns a folder like `/usr/local` with what is generated.
fn prefix() -> tempfile::TempDir {
    let prefix = tempfile::tempdir().unwrap();
    let _ = stdout(&["generate", prefix.path().join("share").to_str().unwrap()]);
    prefix
}

#[test]
fn every_command_has_a_man_page_with_all_its_options() {
    let prefix = prefix();
    let page = |name: &str| {
        let path = prefix.path().join(format!("share/man/man1/{name}.1"));
        fs::read_to_string(&path)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
            .replace('\\', "")
    };
    assert!(page("slablab").contains("slablab-replay(1)") && !page("slablab").contains("generate"));
    for words in [
        &["record"][..],
        &["replay"],
        &["whatif"],
        &["partition"],
        &["lab", "compare"],
        &["kernel", "boot"],
        &["insmod"],
    ] {
        let help = stdout(&[words, &["--help"]].concat());
        let page = page(&format!("slablab-{}", words.join("-")));
        let options =
            help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 3);
        for option in
            options.map(|word| word.split(['=', '[', ',', ':', ';', '.', '\'']).next().unwrap())
        {
            assert!(page.contains(option), "slablab-{}.1 lacks {option}", words.join("-"));
        }
    }
}

#[test]
fn tab_completes_commands_and_options_in_bash() {
    let prefix = prefix();
    let script = prefix.path().join("share/bash-completion/completions/slablab.bash");
    let complete = |words: &str, at: usize| {
        let text = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={at}; _slablab slablab \"${{COMP_WORDS[{at}]}}\" \
             \"${{COMP_WORDS[{at}-1]}}\"; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let output = Command::new("bash").args(["--norc", "-c", &text]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    assert_eq!(complete("slablab re", 1), "record replay report");
    assert_eq!(complete("slablab lab compare --fail", 3), "--fail-on-regression");
}

#[test]
fn uninstalling_leaves_no_file() {
    let prefix = prefix();
    assert!(files(prefix.path()).len() > 20);
    let prefix_is = format!("PREFIX={}", prefix.path().display());
    let status =
        Command::new("make").args(["-s", "uninstall", &prefix_is]).current_dir(root()).status();
    assert!(status.unwrap().success());
    assert_eq!(files(prefix.path()), Vec::<PathBuf>::new());
}

#[test]
fn hosted_ci_runs_make_test_and_nothing_else() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let workflow = read(".github/workflows/test.yml");
    let last = workflow.lines().rfind(|line| line.trim_start().starts_with("run:"));
    assert_eq!(last.map(str::trim), Some("run: .ci/run"));
    assert_eq!(read(".ci/run").lines().next_back(), Some("exec make test"));
    assert!(!workflow.contains("cargo "), "what is tested is in the Makefile only");
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = slablab_tests::slablab().arg("--help").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("cannot write to standard output"), "{stderr}");
}
