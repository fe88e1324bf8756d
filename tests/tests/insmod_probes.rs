//! `slablab insmod`: probes of functions, and weak names that nothing defines.

use std::fs;

use slablab_tests::module::prints;
use slablab_tests::run;

#[test]
fn probes_see_where_functions_begin_and_end() {
    let expected = [
        "probes: refused -2, -22",
        "probes: again -22",
        "probes: 400 frees, 4 ends, sum 701, result 126",
    ];
    for version in ["6.1", "6.12", "7.3"] {
        prints("probes", &["--check", "2", "--kernel-version", version], &expected);
    }
}

/// Runs a module of this text; returns its exit status, its output and what the command says.
fn run_text(text: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weak.c");
    fs::write(&path, format!("#include <linux/module.h>\n{text}\nMODULE_LICENSE(\"GPL\");\n"))
        .unwrap();
    let output = run(&["insmod", path.to_str().unwrap()]);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// It was a jump to address 0.
#[test]
fn a_weak_function_that_is_only_called_is_refused_with_its_line() {
    let (status, _, said) = run_text(
        "extern int frobnicate(int) __attribute__((weak));\n\
         int init_module(void)\n{\n\tpr_info(\"begins\\n\");\n\treturn frobnicate(1);\n}",
    );
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("weak, not provided here") && said.contains("frobnicate ("), "{said}");
    assert!(said.contains("weak.c:6)"), "{said}");
}

#[test]
fn a_weak_function_that_is_looked_at_first_is_said_and_not_called() {
    let (status, text, said) = run_text(
        "extern int frobnicate(int) __attribute__((weak));\n\
         int init_module(void)\n{\n\tpr_info(\"it is %s\\n\", frobnicate ? \"there\" : \"not there\");\n\
         \treturn frobnicate ? frobnicate(1) : 0;\n}",
    );
    assert_eq!(status, Some(0), "{said}");
    assert!(text.contains("it is not there"), "{text}");
    assert!(said.contains("weak and not provided here, so NULL: frobnicate ("), "{said}");
}

#[test]
fn a_missing_function_is_named_with_its_line() {
    let (status, _, said) = run_text(
        "extern int frobnicate(int);\nint init_module(void)\n{\n\treturn frobnicate(1);\n}",
    );
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("not provided here:\n  frobnicate (") && said.contains("weak.c:5)"),
        "{said}"
    );
}
