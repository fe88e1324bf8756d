//! `slablab insmod`: modules that need others, what may be used of them, and when one may go.

use std::fs;
use std::process::Output;

use slablab_tests::module::{lines, told};
use slablab_tests::run;
use tempfile::TempDir;

/// A module that exports `NAME()` and has an init that returns `result`.
fn exporter(name: &str, export: &str, result: &str) -> String {
    format!(
        "#include <linux/module.h>\nint {name}(void);\nint {name}(void)\n{{\n\treturn 7;\n}}\n{export}\n\
         static int __init {name}_begin(void)\n{{\n\treturn {result};\n}}\nmodule_init({name}_begin);\n\
         static void __exit {name}_end(void)\n{{\n}}\nmodule_exit({name}_end);\nMODULE_LICENSE(\"GPL\");\n"
    )
}

/// A module that calls it.
fn user(name: &str, license: &str, more: &str) -> String {
    format!(
        "#include <linux/module.h>\nint {name}(void);\nstatic int __init begin(void)\n{{\n\
         \tpr_info(\"got %d\\n\", {name}());\n\treturn 0;\n}}\nmodule_init(begin);\n\
         static void __exit end(void)\n{{\n}}\nmodule_exit(end);\nMODULE_LICENSE(\"{license}\");\n{more}"
    )
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn insmod(folder: &TempDir, file: &str, words: &[&str]) -> Output {
    let path = folder.path().join(file).display().to_string();
    run(&[&["insmod", &*path], words].concat())
}

/// The module that needs it was named instead.
#[test]
fn a_needed_modules_init_that_fails_is_named() {
    let core = exporter("core_answer", "EXPORT_SYMBOL(core_answer);", "-ENODEV");
    let dir = folder(&[("core.c", &core), ("top.c", &user("core_answer", "GPL", ""))]);
    // The second time both are taken from the cache.
    for _ in 0..2 {
        let output = insmod(&dir, "top.c", &[]);
        let said = told(&output);
        let expected = "could not insert module core.ko, which top needs: No such device";
        assert!(said.contains(expected), "{said}");
        assert_eq!(output.status.code(), Some(1), "{said}");
    }
}

/// They were loaded in some order.
#[test]
fn modules_that_need_each_other_are_refused() {
    let one = exporter("one_answer", "EXPORT_SYMBOL(one_answer);", "two_answer()");
    let one = one.replace("int one_answer(void);", "int two_answer(void);\nint one_answer(void);");
    let two = exporter("two_answer", "EXPORT_SYMBOL(two_answer);", "one_answer()");
    let two = two.replace("int two_answer(void);", "int one_answer(void);\nint two_answer(void);");
    let dir = folder(&[("one.c", &one), ("two.c", &two)]);
    let output = insmod(&dir, "one.c", &[]);
    let said = told(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("one needs two needs one: none of them can be loaded first"), "{said}");
}

#[test]
fn a_module_that_is_not_gpl_may_not_use_what_is_for_gpl_modules() {
    let core = exporter("core_answer", "EXPORT_SYMBOL_GPL(core_answer);", "0");
    let kernels = "#include <linux/rcupdate.h>\n#include <linux/module.h>\nstatic int __init begin(void)\n{\n\
                   \tsynchronize_rcu();\n\treturn 0;\n}\nmodule_init(begin);\nMODULE_LICENSE(\"Proprietary\");\n";
    let dir = folder(&[
        ("core.c", &core),
        ("top.c", &user("core_answer", "Proprietary", "")),
        ("gpl.c", &user("core_answer", "Dual MIT/GPL", "")),
        ("grace.c", kernels),
    ]);
    for (file, name) in
        [("top.c", "core_answer (top.c:2)"), ("grace.c", "synchronize_rcu (grace.c:5)")]
    {
        let output = insmod(&dir, file, &[]);
        let said = told(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("its license `Proprietary` is not that of a GPL module"), "{said}");
        assert!(said.contains(name), "{said}");
    }
    let output = insmod(&dir, "gpl.c", &[]);
    assert_eq!(lines(&output), ["got 7"], "{}", told(&output));
}

#[test]
fn names_of_a_namespace_are_for_those_who_import_it() {
    for (version, written) in [("6.12", "LAB"), ("7.3", "\"LAB\"")] {
        let export = format!("EXPORT_SYMBOL_NS_GPL(core_answer, {written});");
        let imports = format!("MODULE_IMPORT_NS({written});\n");
        let dir = folder(&[
            ("core.c", &exporter("core_answer", &export, "0")),
            ("top.c", &user("core_answer", "GPL", "")),
            ("importer.c", &user("core_answer", "GPL", &imports)),
        ]);
        let words = ["--kernel-version", version];
        let output = insmod(&dir, "top.c", &words);
        let said = told(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("core_answer (top.c:2) of LAB"), "{said}");
        let output = insmod(&dir, "importer.c", &words);
        assert_eq!(lines(&output), ["got 7"], "{version}: {}", told(&output));
        // No kernel before 5.4 had them.
        let old = insmod(&dir, "top.c", &["--kernel-version", "4.19"]);
        assert_eq!(lines(&old), ["got 7"], "{}", told(&old));
    }
}

/// Exit was run, which no kernel does.
#[test]
fn a_module_that_is_in_use_stays() {
    const MODULE: &str = "#include <linux/module.h>\nstatic int __init begin(void)\n{\n\t__module_get(THIS_MODULE);\n\
                          \treturn 0;\n}\nmodule_init(begin);\nstatic void __exit end(void)\n{\n\tpr_info(\"exit\\n\");\n}\n\
                          module_exit(end);\nMODULE_LICENSE(\"GPL\");\n";
    let dir = folder(&[("used.c", MODULE)]);
    for check in ["0", "1", "2"] {
        let output = insmod(&dir, "used.c", &["--check", check]);
        let said = told(&output);
        assert!(said.contains("rmmod: ERROR: Module used is in use"), "{said}");
        assert!(!lines(&output).iter().any(|line| line == "exit"), "{said}");
        assert_eq!(output.status.code(), Some(1), "{said}");
    }
    let output = insmod(&dir, "used.c", &["--rmmod=no"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}
