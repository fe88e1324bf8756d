//! Subjects of commits: at most 72 characters, so that `git log --oneline` fits a terminal.

use std::process::Command;

use slablab_tests::root;

const SUBJECT_CHARS_MAX: usize = 72;
/// Commits that are looked at. Those after [`BEFORE`] only: history is not rewritten.
const COMMITS: &str = "200";
/// The last commit before this was a rule.
const BEFORE: &str = "1b497b1";

/// Returns the lines of `git log --format='%h %s'` with a subject that is too long.
fn long(log: &str) -> Vec<String> {
    let is_long = |line: &&str| {
        line.split_once(' ').is_some_and(|(_, subject)| subject.chars().count() > SUBJECT_CHARS_MAX)
    };
    log.lines().filter(is_long).map(str::to_owned).collect()
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn subjects_of_commits_fit_a_line() {
    // A tarball has no git, and a shallow clone not all commits.
    let Some(known) = git(&["rev-parse", "--verify", "--quiet", &format!("{BEFORE}^{{commit}}")])
    else {
        return eprintln!("commits.rs: not checked: there is no git history here");
    };
    let range = format!("{}..HEAD", known.trim());
    let log = git(&["log", "--format=%h %s", "-n", COMMITS, &range]).expect("git knows the range");
    super::none(&long(&log), "subjects of at most 72 characters");
}

#[test]
fn a_subject_of_73_characters_is_found() {
    let log = format!("abc {}\ndef {}", "x".repeat(72), "y".repeat(73));
    assert_eq!(long(&log), [format!("def {}", "y".repeat(73))]);
}
