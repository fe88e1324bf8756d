//! What a process is not given: address space, or a place for its result.

use std::process::Command;

use slablab_tests::{root, slablab_path};

/// Runs the command in a shell after `before`.
fn sh(before: &str, words: &str) -> (Option<i32>, String) {
    let slablab = slablab_path().display();
    let mut command = Command::new("sh");
    let output = command.args(["-c", &format!("{before}\n{slablab} {words}")]).current_dir(root());
    let output = output.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_result_without_standard_output_is_an_error() {
    for words in
        ["info traces/build.parquet", "info traces/build.parquet --format json", "lab list"]
    {
        let (status, said) = sh("", &format!("{words} >&-"));
        assert!(status == Some(2) && said.contains("standard output is closed"), "{words}: {said}");
    }
    let (status, said) = sh("", "info traces/build.parquet > /dev/null");
    assert_eq!((status, said.as_str()), (Some(0), ""));
}

#[test]
fn too_little_address_space_is_refused_in_a_sentence() {
    let (status, said) = sh("ulimit -v 100000", "info traces/build.parquet");
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.starts_with("slablab: the address space of this process is limited to 97 MiB"),
        "{said}"
    );
}
