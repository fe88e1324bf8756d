//! The headers of `include/` against what stands behind them: what is declared is there, what is there
//! is declared, and `slablab insmod --list-symbols` prints just that.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

use serde_json::Value;
use slablab_tests::{root, run, stdout, tracked_files};

/// Headers as they are included, all but the host's own.
fn headers() -> Vec<String> {
    let files = tracked_files();
    let names = files.iter().filter_map(|path| path.strip_prefix("include").ok()?.to_str());
    names.filter(|name| !name.starts_with("kapi/")).map(ToString::to_string).collect()
}

fn include_all() -> String {
    headers().iter().map(|header| format!("#include <{header}>\n")).collect()
}

/// The functions that the compiler sees declared in the headers, not defined there.
fn declared_functions() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("all.c");
    let prototypes = folder.path().join("prototypes");
    std::fs::write(&source, include_all()).unwrap();
    let own = Command::new("cc").arg("-print-file-name=include").output().expect("there is a cc");
    let output = Command::new("cc")
        .args(["-nostdinc", "-isystem", String::from_utf8_lossy(&own.stdout).trim(), "-I"])
        .arg(root().join("include"))
        .args(["-include", "linux/kconfig.h", "-std=gnu11", "-fgnu89-inline", "-O1"])
        .args(["-D__KERNEL__", "-DMODULE", "-fsyntax-only", "-w", "-aux-info"])
        .arg(&prototypes)
        .arg(&source)
        .output()
        .expect("there is a cc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // `/* include/linux/slab.h:98:NC */ extern void *kmalloc (size_t, gfp_t);`
    let text = std::fs::read_to_string(prototypes).unwrap();
    let mut names = BTreeSet::new();
    for line in text.lines().filter(|line| line.contains("/include/") && line.contains("extern ")) {
        let declaration = line.split("extern ").nth(1).expect("it was looked for");
        let before = declaration.split(" (").next().unwrap_or_default();
        let name = before.rsplit([' ', '*']).next().unwrap_or_default();
        if !name.starts_with("__builtin") {
            names.insert(name.to_string());
        }
    }
    names
}

fn listed(kind: &str) -> BTreeSet<String> {
    let text = stdout(&["insmod", "--list-symbols", "--format", "json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let symbols = json["symbols"].as_array().unwrap();
    let of_kind = symbols.iter().filter(|symbol| symbol["kind"] == kind);
    of_kind.map(|symbol| symbol["name"].as_str().unwrap().to_string()).collect()
}

/// Names that a module defines, or that only the compiler's error gives a meaning.
const MODULES_OWN: [&str; 3] = ["init_module", "cleanup_module", "__kapi_build_bug"];

fn without_modules_own(mut names: BTreeSet<String>) -> BTreeSet<String> {
    names.retain(|name| !MODULES_OWN.contains(&name.as_str()));
    names
}

#[test]
fn the_list_of_symbols_is_what_the_headers_declare() {
    let declared = without_modules_own(declared_functions());
    let listed = without_modules_own(listed("function"));
    assert!(declared.len() > 350, "{}", declared.len());
    let missing: Vec<_> = declared.difference(&listed).collect();
    let invented: Vec<_> = listed.difference(&declared).collect();
    assert!(
        missing.is_empty() && invented.is_empty(),
        "not listed: {missing:?}; not declared: {invented:?}"
    );
}

#[test]
fn every_function_of_the_host_is_declared() {
    let declared = declared_functions();
    let host = slablab_kapi::symbols::SYMBOLS.iter().map(|symbol| symbol.name);
    let runtime_only = |name: &str| name.starts_with("kapi_") || name.starts_with("slablab_");
    let hidden: Vec<_> =
        host.filter(|name| !declared.contains(*name) && !runtime_only(name)).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

/// Links a module that takes the address of everything that is listed, and loads it.
#[test]
fn everything_that_is_listed_is_there() {
    let mut source = include_all();
    source.push_str("static const void *all[] = {\n");
    for name in without_modules_own(listed("function")) {
        writeln!(source, "\t(const void *){name},").unwrap();
    }
    for name in listed("variable") {
        writeln!(source, "\t(const void *)&{name},").unwrap();
    }
    source.push_str(
        "};\n#undef printk\nint init_module(void)\n{\n\tint i, n = 0;\n\
                     \tfor (i = 0; i < ARRAY_SIZE(all); i++)\n\t\tn += all[i] != NULL;\n\
                     \tprintk(\"%d of %d\\n\", n, (int)ARRAY_SIZE(all));\n\treturn 0;\n}\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("everything.c");
    std::fs::write(&path, source).unwrap();
    let output = run(&["insmod", path.to_str().unwrap()]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let text = String::from_utf8_lossy(&output.stdout);
    let counts = text.trim().rsplit("] ").next().unwrap_or_default();
    let (found, of) = counts.split_once(" of ").expect("the module prints two numbers");
    assert_eq!(found, of);
}

/// Each header can be included alone, under the oldest and the newest version.
#[test]
fn each_header_stands_alone() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["2.6.9", "6.12"] {
        for (i, header) in headers().iter().enumerate() {
            let path = folder.path().join(format!("h{i}.c"));
            std::fs::write(&path, format!("#include <{header}>\n")).unwrap();
            let own = Command::new("cc").arg("-print-file-name=include").output().unwrap();
            let code = if version == "2.6.9" { 0x2_0609 } else { 0x6_0c00 };
            let output = Command::new("cc")
                .args(["-nostdinc", "-isystem", String::from_utf8_lossy(&own.stdout).trim(), "-I"])
                .arg(root().join("include"))
                .args(["-include", "linux/kconfig.h", "-std=gnu11", "-fgnu89-inline", "-O1"])
                .args(["-D__KERNEL__", "-DMODULE", "-fsyntax-only", "-Wall", "-Werror"])
                .arg(format!("-DLINUX_VERSION_CODE={code}"))
                .arg(&path)
                .output()
                .unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{header} as of {version}: {message}");
        }
    }
}
