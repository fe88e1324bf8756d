//! `slablab insmod --explain`: the page of what a module did with memory, and the sentences on the terminal.

use std::fs;
use std::path::Path;

use serde_json::Value;
use slablab_tests::module::{lines, source, told};
use slablab_tests::run;

/// Runs a module with a page; returns what was printed to standard output, and the page.
fn explain(module: &str, words: &[&str]) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let first = ["insmod", module, "--explain", page.to_str().unwrap()];
    let output = run(&[&first[..], words].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("the report is in"), "{}", told(&output));
    (lines(&output), fs::read_to_string(&page).expect("the page is written"))
}

/// The sentences behind the log, in one text.
fn sentences(lines: &[String]) -> String {
    let at = lines.iter().position(|line| line.contains(" made ")).expect("the first sentence");
    lines[at..].join(" ")
}

fn numbers(module: &str, words: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let first = ["insmod", module, "--format", "json", "--explain", page.to_str().unwrap()];
    let output = run(&[&first[..], words].concat());
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    all["memory"].clone()
}

fn cache<'a>(memory: &'a Value, name: &str) -> &'a Value {
    let caches = memory["caches"].as_array().expect("caches");
    caches.iter().find(|cache| cache["cache"] == name).unwrap_or_else(|| panic!("{memory}"))
}

#[test]
fn forty_bytes_take_64_by_kmalloc_and_40_in_a_cache_of_their_own() {
    let (lines, page) = explain(&source("forty_bytes"), &[]);
    let log = ["kmalloc(40)", "kmalloc(32)", "cache of 40"].iter().zip([64, 32, 40]);
    let log: Vec<_> = log
        .map(|(what, bytes)| format!("{what}: the second lies {bytes} bytes behind the first"))
        .collect();
    assert_eq!(lines[..3], log);
    let said = sentences(&lines);
    for part in [
        "forty_bytes made 72 allocations: 24 from kmalloc-64, 24 from kmalloc-32, 24 from its cache item.",
        "after 72 operations, it had asked for 2.625 KiB; its objects took 3.188 KiB",
        "kmalloc(40) takes 64 B: kmalloc's next smaller objects have 32 B; its cache item takes 40 B for the same.",
        "Nothing is left at the end.",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for part in
        ["kmalloc-64, 64 B an object", "item, 40 B an object", "forty_init, forty_bytes.c:36"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_object_freed_last_comes_first() {
    let (lines, page) = explain(&source("last_freed"), &[]);
    assert_eq!(lines[0], "12 of 12 came in the opposite order");
    let said = sentences(&lines);
    let reuse = "12 of 12 allocations got the one that was freed last (LIFO).";
    assert!(said.contains(reuse), "{said}");
    assert!(page.contains("token, 128 B an object") && page.contains("Where each allocation lies"));
    let memory = numbers(&source("last_freed"), &["--allocator", "slob"]);
    let token = cache(&memory, "token");
    assert_eq!((&token["kind"], &token["after_free"]), (&"other".into(), &12.into()));
    assert!(token["got_last_freed"].as_u64() < Some(12), "{token}");
}

#[test]
fn what_is_left_is_named_with_its_call() {
    let memory = numbers(&source("last_freed"), &["keep=2"]);
    assert_eq!((&memory["left_objects"], &memory["left_bytes"]), (&2.into(), &256.into()));
    let sites = memory["sites"].as_array().unwrap();
    let left = sites.iter().find(|site| site["left"] == 2).expect("a site");
    assert!(left["site"].as_str().unwrap().contains("(last_freed.c:23)"), "{left}");
    assert!(left["freed_by"].as_str().unwrap().contains("(last_freed.c:35)"), "{left}");
}

/// Modules that were not written for it: pages and areas, a cache with a shrinker, a device that grows.
#[test]
fn numbers_of_modules_add_up() {
    let steps =
        ["--module", "sculld", "--do", "mknod /dev/a sculld 0", "--do", "write /dev/a hello"];
    let cases: [(&str, &[&str]); 4] = [
        ("crates/kapi/tests/books/slab_wastage.c", &[]),
        ("crates/kapi/tests/books/lkp_custom_cache.c", &[]),
        (
            "crates/kapi/tests/books/scullc_cache.c",
            &["--do", "mknod /dev/a scullc 0", "--do", "write /dev/a hello"],
        ),
        ("crates/kapi/tests/books/sculld_model", &steps),
    ];
    for (module, words) in cases {
        let memory = numbers(module, words);
        let of =
            |value: &Value, key: &str| value[key].as_u64().unwrap_or_else(|| panic!("{value}"));
        let caches = memory["caches"].as_array().unwrap();
        assert!(!caches.is_empty(), "{module}");
        let (mut operations, mut left) = (0, 0);
        for cache in caches {
            let (allocations, frees) = (of(cache, "allocations"), of(cache, "frees"));
            assert_eq!(allocations - frees, of(cache, "left"), "{module}: {cache}");
            assert!(of(cache, "held_bytes_max") >= of(cache, "asked_bytes_max"), "{cache}");
            assert!(of(cache, "got_last_freed") <= of(cache, "after_free"), "{cache}");
            (operations, left) = (operations + allocations + frees, left + of(cache, "left"));
        }
        assert!(operations >= of(&memory, "operations"), "{module}: {memory}");
        assert_eq!(left, of(&memory, "left_objects"), "{module}");
        let sites = memory["sites"].as_array().unwrap();
        let held: u64 = sites.iter().map(|site| of(site, "left")).sum();
        assert_eq!(held, left, "{module}");
        assert!(of(&memory["peak"], "pages_bytes") >= of(&memory["peak"], "held_bytes"));
    }
}

#[test]
fn a_module_without_memory_has_a_page_too() {
    let (lines, page) = explain("crates/kapi/tests/books/hello_params.c", &[]);
    assert_eq!(lines.last().unwrap(), "hello_params allocated no memory.");
    assert!(page.contains("allocated no memory"));
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let module = source("last_freed");
    let output = run(&["insmod", &module, "--explain", "/nonexistent/page.html"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    let why = "/nonexistent/page.html: --explain cannot be written: /nonexistent is not a folder";
    assert!(told(&output).contains(why), "{}", told(&output));
    assert!(!Path::new("/nonexistent").exists());
    // It is refused before the module runs.
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_page_never_replaces_the_source_of_its_module() {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("last_freed.c");
    let text = "/* all that somebody has written */\n";
    std::fs::write(&module, text).unwrap();
    let module = module.to_str().unwrap();
    let output = run(&["insmod", module, "--explain", module]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("--explain would replace the module's source"));
    assert_eq!(std::fs::read_to_string(module).unwrap(), text);
}

/// Told operations change no answer of the module.
#[test]
fn the_log_is_that_of_a_run_without_a_page() {
    for words in [&[][..], &["--check", "2"]] {
        let plain = run(&[&["insmod", &*source("answers")], words].concat());
        let plain = lines(&plain);
        let (with, _) = explain(&source("answers"), words);
        assert_eq!(with[..plain.len()], plain[..]);
    }
}
