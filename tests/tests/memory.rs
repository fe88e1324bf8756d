//! `--ram`: a command ends with a message before the kernel would end it without one.

use std::fs;

use slablab_tests::{refusal, root, stdout};

#[test]
fn a_command_that_needs_more_memory_than_it_may_use_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("answer.json");
    let trace = root().join("traces/hackbench.parquet");
    let trace = trace.to_str().unwrap();
    let words = ["replay", trace, "-o", answer.to_str().unwrap(), "--format", "json", "--ram"];
    let said = refusal(&[&words[..], &["16M"]].concat());
    assert!(said.contains("needs more memory than 16.0 MiB (--ram)"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let _ = stdout(&[&words[..], &["4G"]].concat());
    assert!(answer.exists());
}
