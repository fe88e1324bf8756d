//! The headers of `include/` against what stands behind them: what is declared is there, what is there
//! is declared, and `slablab insmod --list-symbols` prints just that. Every macro and every inline function is
//! used by a module in `crates/kapi/tests/modules/every/`, which compiles without a warning and runs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use slablab_tests::{root, run, stdout};

/// Headers as they are included, those of the tree and those that the table makes.
fn headers() -> Vec<String> {
    let include = slablab_kapi::toolchain::include_folder().expect("the headers can be unpacked");
    let mut names = Vec::new();
    for folder in ["asm", "crypto", "kunit", "linux", "linux/device", "linux/sched", "net"] {
        for entry in fs::read_dir(include.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            names.extend(name.ends_with(".h").then(|| format!("{folder}/{name}")));
        }
    }
    assert!(names.len() > 200, "{}", names.len());
    names.sort();
    names
}

/// The compiler as it is called for a module, without its warnings and its level of optimisation.
fn cc() -> Command {
    let own = Command::new("cc").arg("-print-file-name=include").output().expect("there is a cc");
    let mut command = Command::new("cc");
    command
        .args(["-nostdinc", "-isystem", String::from_utf8_lossy(&own.stdout).trim(), "-I"])
        .arg(slablab_kapi::toolchain::include_folder().expect("the headers can be unpacked"))
        .args(["-include", "linux/kconfig.h", "-std=gnu11", "-fgnu89-inline", "-fPIC"])
        .args(["-fno-builtin-sprintf", "-fno-builtin-snprintf", "-Wno-format"])
        .args(["-D__KERNEL__", "-DMODULE"]);
    command
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
    let output = cc()
        .args(["-O1", "-fsyntax-only", "-w", "-aux-info"])
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
            let code = if version == "2.6.9" { 0x2_0609 } else { 0x6_0c00 };
            let output = cc()
                .args(["-O1", "-fsyntax-only", "-Wall", "-Werror"])
                .arg(format!("-DLINUX_VERSION_CODE={code}"))
                .arg(&path)
                .output()
                .unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{header} as of {version}: {message}");
        }
    }
}

/// The files of the C runtime call each other in one direction.
#[test]
fn the_runtime_has_no_circle_of_files() {
    let folder = tempfile::tempdir().unwrap();
    // Each file's name, and the names that it defines and asks for.
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates/kapi/runtime")).unwrap() {
        let source = entry.unwrap().path();
        let stem = source.file_stem().unwrap().to_str().unwrap().to_string();
        let object = folder.path().join(format!("{stem}.o"));
        if source.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let mut command = cc();
        command.args(["-O1", "-ffreestanding", "-w", "-DKBUILD_MODNAME=\"kapi\"", "-c", "-o"]);
        assert!(command.arg(&object).arg(&source).status().unwrap().success(), "{stem}");
        let output = Command::new("nm").arg("-g").arg(object).output().expect("binutils has nm");
        let text = String::from_utf8(output.stdout).unwrap();
        let names = |wanted: bool| -> BTreeSet<String> {
            let words = text.lines().map(|line| line.split_whitespace().rev().collect::<Vec<_>>());
            let wanted = words.filter(|words| (words[1] == "U") == wanted);
            wanted.map(|words| words[0].to_string()).collect()
        };
        files.push((stem, names(false), names(true)));
    }
    assert!(files.len() > 10, "{}", files.len());
    // Takes off whatever asks nothing of those that are left: a circle stays.
    while let Some(lowest) = files.iter().position(|(stem, _, wanted)| {
        files.iter().all(|(other, defined, _)| other == stem || wanted.is_disjoint(defined))
    }) {
        files.swap_remove(lowest);
    }
    let circle: Vec<_> = files.iter().map(|(stem, ..)| stem).collect();
    assert!(circle.is_empty(), "files in or above a circle: {circle:?}");
}

/// The modules that use every macro.
const EVERY: &str = "crates/kapi/tests/modules/every";
/// Each makes a module's init of a function, so each takes a module of its own.
const INIT_CALLS: [&str; 11] = [
    "__initcall",
    "arch_initcall",
    "core_initcall",
    "device_initcall",
    "early_initcall",
    "fs_initcall",
    "late_initcall",
    "late_initcall_sync",
    "postcore_initcall",
    "rootfs_initcall",
    "subsys_initcall",
];
/// A build error on purpose.
const NOT_USED: [&str; 1] = ["BUILD_BUG"];

/// Returns the modules, and what they include.
fn every_source() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(EVERY)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn every_module() -> Vec<PathBuf> {
    let is_module = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "c");
    every_source().into_iter().filter(is_module).collect()
}

#[test]
fn every_macro_is_used_by_a_module() {
    let texts = every_source().into_iter().map(|path| fs::read_to_string(path).unwrap());
    let text = texts.collect::<String>();
    let words: BTreeSet<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let internal = |name: &str| name.starts_with("__KUNIT_") || name.starts_with("__XA_");
    let mut unused = listed("macro");
    assert!(unused.len() > 1000, "{}", unused.len());
    unused.retain(|name| !words.contains(name.as_str()) && !internal(name));
    let expected = INIT_CALLS.iter().chain(&NOT_USED).map(ToString::to_string).collect();
    assert_eq!(unused, expected);
}

/// `abs()` used to name a variable `__signed`, a keyword of GCC, and never compiled.
#[test]
fn every_macro_compiles_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mut sources = every_module();
    let mut generate = |name: &str, text: String| {
        let path = folder.path().join(format!("{name}.c"));
        fs::write(&path, text).unwrap();
        sources.push(path);
    };
    for call in INIT_CALLS {
        let start = "static int __init start(void) { return 0; }";
        generate(call, format!("#include <linux/module.h>\n{start}\n{call}(start);\n"));
    }
    let object = folder.path().join("object.o");
    for level in ["-O0", "-O2"] {
        for source in &sources {
            let mut command = cc();
            command.args([level, "-Wall", "-Werror", "-DKBUILD_MODNAME=\"every\"", "-c", "-o"]);
            let output = command.arg(&object).arg(source).output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{} with {level}: {message}", source.display());
        }
    }
}

/// The first kernel of those that headers are of, and one of the last: some functions are not in both.
const RELEASES: [&str; 2] = ["KERNEL_VERSION(6, 1, 0)", "KERNEL_VERSION(7, 3, 0)"];

#[test]
fn every_inline_function_is_in_the_headers_of_some_release() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let all = listed("inline");
    let absent = RELEASES.map(|release| {
        // The macro that the version is written with comes from the header itself.
        let version = format!("-DLINUX_VERSION_CODE={release}");
        let compile = |names: &BTreeSet<String>, level: &str| {
            let mut text = format!("{}const void *all[] = {{\n", include_all());
            names.iter().for_each(|name| writeln!(text, "\t(const void *){name},").unwrap());
            fs::write(path("inlines.c"), text + "};\n").unwrap();
            let mut command = cc();
            command.args([
                level,
                "-Wall",
                "-Werror",
                "-fmax-errors=0",
                "-DKBUILD_MODNAME=\"every\"",
            ]);
            command.args([&version, "-c", "-o"]).arg(path("object.o")).arg(path("inlines.c"));
            let output = command.env("LC_ALL", "C").output().unwrap();
            (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (_, message) = compile(&all, "-O0");
        let undeclared = message.lines().filter_map(|line| {
            let (_, error) = line.split_once("error: '")?;
            error.split_once("' undeclared").map(|(name, _)| name.to_owned())
        });
        let undeclared: BTreeSet<String> = undeclared.collect();
        let declared = all.difference(&undeclared).cloned().collect();
        for level in ["-O0", "-O2"] {
            let (is_whole, message) = compile(&declared, level);
            assert!(is_whole, "{release} with {level}: {message}");
        }
        undeclared
    });
    let nowhere: Vec<_> = absent[0].intersection(&absent[1]).collect();
    assert!(nowhere.is_empty(), "{nowhere:?}");
    assert!(absent.iter().all(|names| names.len() < all.len() / 10), "{absent:?}");
}

#[test]
fn every_macro_does_what_it_has_to() {
    for module in every_module() {
        let output = run(&["insmod", module.to_str().unwrap(), "--timeout", "60"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {stderr}", module.display());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("not ok") && !text.contains(" wrong") || text.contains(" 0 wrong"));
    }
}
