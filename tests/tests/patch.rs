//! `slablab patch` with a source at hand: the letter is taken by `git am`, and what cannot be patched is told with the reason.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use slablab_tests::{refusal, root, run, slablab, stdout};
use slablab_trace::{Event, Kind, Meta, TraceWriter};

/// A source of our own, in the kernel's manner.
const FILES: [(&str, &str); 9] = [
    ("Makefile", "# SPDX-License-Identifier: MIT\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n"),
    ("mm/slab_common.c", "int slab_state;\n"),
    (
        "include/linux/slab.h",
        "#define __init\n#define __ro_after_init\n#define GFP_KERNEL 1\n#define SLAB_PANIC 2\n#define NULL ((void *)0)\n\
         #define core_initcall(fn) int (*fn##_call)(void) = fn\nstruct kmem_cache;\n\
         struct kmem_cache *make(const char *, unsigned long);\n\
         #define KMEM_CACHE(s, flags) make(#s, sizeof(struct s))\nvoid *kzalloc(unsigned long, int);\n\
         void *kmalloc(unsigned long, int);\nvoid *kmem_cache_zalloc(struct kmem_cache *, int);\nvoid kfree(const void *);\n\
         void kmem_cache_free(struct kmem_cache *, void *);\n",
    ),
    ("fs/Makefile", "obj-y := note.o data.o early.o\nobj-$(CONFIG_TAG) += tag.o\n"),
    ("fs/Kconfig", "config TAG\n\ttristate \"tags\"\n"),
    (
        "fs/note.c",
        "// Notes.\n#include <linux/slab.h>\n#include \"note.h\"\n\nstruct note {\n\tint count;\n\tchar text[36];\n};\n\n\
         struct note *note_open(int count)\n{\n\tstruct note *note;\n\n\tnote = kzalloc(sizeof(*note), GFP_KERNEL);\n\
         \tif (!note)\n\t\treturn NULL;\n\tnote->count = count;\n\treturn note;\n}\n\n\
         void note_put(struct note *note)\n{\n\tif (--note->count)\n\t\treturn;\n\tkfree(note);\n}\n\n\
         void note_drop(struct note *note, int all)\n{\n\tif (all)\n\t\tnote->count = 0;\n\tkfree(note);\n}\n",
    ),
    (
        "fs/data.c",
        "#include <linux/slab.h>\n\nvoid *data_open(int size)\n{\n\treturn kmalloc(size, GFP_KERNEL);\n}\n",
    ),
    (
        "fs/tag.c",
        "#include <linux/slab.h>\n\nstruct tag { int id; };\n\n\
         void *tag_open(void)\n{\n\treturn kzalloc(sizeof(struct tag), GFP_KERNEL);\n}\n",
    ),
    (
        "fs/early.c",
        "#include <linux/slab.h>\n\nstruct early { int id; };\n\n\
         void *early_open(void)\n{\n\treturn kzalloc(sizeof(struct early), GFP_KERNEL);\n}\n\n\
         void __init early_start(void)\n{\n\tearly_open();\n}\n",
    ),
];

/// A folder with the source, and a trace of a kernel made of it.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in FILES.iter().chain(&[("fs/note.h", "")]) {
            let path = folder.path().join("linux").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let scene = Self { folder };
        scene.record();
        scene
    }

    /// Four functions keep 400 objects of 40 bytes each, and free them at the end.
    fn record(&self) {
        let mut writer = TraceWriter::create(self.trace()).unwrap();
        let names = [
            "note_open+0x40/0x80",
            "data_open+0x10",
            "tag_open+0x10",
            "early_open+0x10",
            "gone_open+0x10",
        ];
        let sites: Vec<_> =
            (0u64..).zip(names).map(|(at, name)| writer.site(name, at + 1)).collect();
        let mut time_ns = 0;
        let mut push = |kind, object, site, bytes_req, bytes_alloc| {
            time_ns += 1_000_000;
            let event = Event {
                time_ns,
                pid: 1,
                kind,
                object,
                site,
                bytes_req,
                bytes_alloc,
                ..Event::EMPTY
            };
            writer.push(&event).unwrap();
        };
        for i in 0..400 {
            for (site, first) in sites.iter().zip((0u32..).step_by(1000)) {
                push(Kind::Kmalloc, first + i, *site, 40, 64);
            }
        }
        for i in 0..400 {
            for (site, first) in sites.iter().zip((0u32..).step_by(1000)) {
                push(Kind::Kfree, first + i, *site, 0, 0);
            }
        }
        let meta =
            Meta { cpus: 1, nodes: 1, kernel_release: "6.12.1-own".into(), ..Meta::default() };
        writer.finish(meta).unwrap();
    }

    fn trace(&self) -> PathBuf {
        self.folder.path().join("t.parquet")
    }

    fn source(&self) -> PathBuf {
        self.folder.path().join("linux")
    }

    fn words<'a>(&self, site: &'a str, more: &[&'a str]) -> Vec<String> {
        let (trace, source) = (self.trace(), self.source());
        let words = ["patch", trace.to_str().unwrap(), site, "--source", source.to_str().unwrap()];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    fn patch(&self, site: &str, more: &[&str]) -> String {
        let words = self.words(site, more);
        stdout(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

fn git(folder: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@example.org", "-C"]).arg(folder).args(words);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn git_am_takes_the_letter_and_the_code_compiles() {
    let scene = Scene::new();
    let source = scene.source();
    for words in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "all"]] {
        git(&source, words);
    }
    let letter = scene.folder.path().join("note.patch");
    assert_eq!(scene.patch("note_open", &["-o", letter.to_str().unwrap()]), "");
    git(&source, &["am", "-q", letter.to_str().unwrap()]);
    let subject = git(&source, &["log", "-1", "--format=%s"]);
    assert_eq!(subject, "fs/note: give struct note a cache of its own\n");
    let message = git(&source, &["log", "-1", "--format=%b"]);
    assert!(message.lines().all(|line| line.chars().count() <= 72), "{message}");
    for part in [
        "predicted",
        "fs/note.c:25 note_put(): kfree(note)",
        "fs/note.c:32 note_drop(): kfree(note)",
    ] {
        assert!(message.contains(part), "{part} in {message}");
    }
    let text = fs::read_to_string(source.join("fs/note.c")).unwrap();
    for part in [
        "#include \"note.h\"\n\nstatic struct kmem_cache *note_cachep __ro_after_init;\n\nstruct note {",
        "\tnote = kmem_cache_zalloc(note_cachep, GFP_KERNEL);\n",
        "\t\treturn;\n\tkmem_cache_free(note_cachep, note);\n",
        "\t\tnote->count = 0;\n\tkfree(note);\n",
        "\tnote_cachep = KMEM_CACHE(note, SLAB_PANIC);\n\treturn 0;\n}\ncore_initcall(note_cache_init);\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let mut gcc = Command::new("gcc");
    gcc.args(["-Wall", "-Werror", "-fsyntax-only", "-Iinclude", "fs/note.c"]).current_dir(&source);
    let output = gcc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn programs_read_what_is_converted() {
    let scene = Scene::new();
    let answer: Value =
        serde_json::from_str(&scene.patch("note_open", &["--format", "json"])).unwrap();
    assert_eq!((&answer["applies"], &answer["structure"]), (&true.into(), &"note".into()));
    let frees = answer["frees"].as_array().unwrap();
    let converted: Vec<_> = frees.iter().map(|free| free["converted"].as_bool().unwrap()).collect();
    assert_eq!(converted, [true, false]);
    assert!(answer["patch"].as_str().unwrap().starts_with("From 0000"));
}

#[test]
fn where_none_is_made_the_reason_comes_before_one_to_adapt() {
    let scene = Scene::new();
    for (site, why) in [
        ("tag_open", "fs/tag.c: the file can be a part of a module (CONFIG_TAG)"),
        ("early_open", "fs/early.c:7: fs/early.c:10 may allocate one during the boot"),
        ("gone_open", "gone_open(): no file of the source defines it"),
    ] {
        let text = scene.patch(site, &[]);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = "No patch that applies is made, and this is one to adapt.";
        assert!(words.contains(&format!("{first} {why}")), "{why} in {text}");
        assert!(text.contains("+++ b/FILE.c") && !text.contains("From 0000"), "{text}");
    }
}

#[test]
fn sizes_from_outside_are_refused_with_file_and_line() {
    let scene = Scene::new();
    let words = scene.words("data_open", &[]);
    let why = refusal(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(why.contains("fs/data.c:5: kmalloc(size, ...) allocates here"), "{why}");
}

#[test]
fn a_tarball_is_as_good_as_a_folder_and_none_is_no_source() {
    let scene = Scene::new();
    let mut tar = Command::new("tar");
    tar.args(["-cJf", "linux.tar.xz", "linux"]).current_dir(&scene.folder);
    assert!(tar.status().unwrap().success());
    let run = |source: &str| {
        let mut command = slablab();
        command.current_dir(&scene.folder).env("XDG_CACHE_HOME", scene.folder.path().join("cache"));
        let output =
            command.args(["patch", "t.parquet", "note_open", "--source", source]).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (status, text, said) = run("linux.tar.xz");
    assert!(status == Some(0) && text.contains("\n+++ b/fs/note.c\n"), "{text}{said}");
    assert!(run("none").1.contains("+++ b/FILE.c"));
    let (status, text, said) = run("linux/fs");
    assert!(
        status == Some(2)
            && text.is_empty()
            && said.contains("not the top folder of Linux's source"),
        "{said}"
    );
}

/// What cannot be measured is refused before a kernel is built, and leaves nothing.
#[test]
fn a_patch_that_cannot_be_measured_is_refused_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let (place, script) = (folder.path().join("result"), folder.path().join("load.sh"));
    fs::write(&script, "true\n").unwrap();
    let said = |rest: &[&str]| {
        let first = ["lab", "run", "patch", "-o", place.to_str().unwrap(), "--kernels", "slub"];
        refusal(&[&first[..], rest].concat())
    };
    let input = ["--input", script.to_str().unwrap()];
    assert!(said(&input).contains("--set site=FUNCTION"));
    assert!(said(&["--set", "site=f"]).contains("a guest runs one load"));
    let with = |rest: &[&str]| said(&[&input[..], &["--set", "site=f"], rest].concat());
    assert!(with(&["--cpus", "1,2"]).contains("one number of CPUs"));
    assert!(with(&["--set", "trace=t", "--set", "recorded=slab"]).contains("is recorded, or"));
    assert!(with(&["--baseline", "slub"]).contains("compared with the kernel without it"));
    assert!(!place.exists(), "a refusal leaves no folder");
    let list = stdout(&["lab", "list", "patch"]);
    assert!(list.contains("--set site=TEXT") && list.contains("--set recorded=TEXT"), "{list}");
}

/// From a load to a patch that was measured, in one command: a guest records, the kernel is built with the patch, and both
/// kernels hold what was predicted.
#[test]
#[ignore = "builds and boots kernels of 6.12, whose cache is not merged; make test-bisect"]
fn a_cache_of_its_own_does_in_a_guest_what_the_recording_predicts() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (hold, script, place) = (at("hold"), at("load.sh"), at("result"));
    let source = root().join("bench/guest/hold.c");
    let cc = Command::new("cc").args(["-O2", "-static", "-o", &hold]).arg(source).output().unwrap();
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    fs::write(&script, "hold eventfd 8000\n").unwrap();
    let with = format!("with={hold}");
    let kernel = "build:6.12/slub";
    let first = ["lab", "run", "patch", "--kernels", kernel, "--input", &script, "--set", &with];
    let rest = ["--rounds", "2", "-o", &place, "--format", "json", "--set"];
    let all = [&first[..], &rest, &["site=do_eventfd"]].concat();
    let output = run(&all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["structure"], &answer["holds"]), (&"eventfd_ctx".into(), &true.into()));
    assert_eq!(answer["warnings"].as_array().map(Vec::len), Some(0), "{answer}");
    assert!(answer["predicted_bytes"].as_i64().unwrap() < -64 * 1024, "{answer}");
    let mail = stdout(&["report", &format!("{place}/eventfd_ctx"), "--mail"]);
    assert!(mail.contains("The prediction holds"), "{mail}");
    // What is there is neither recorded, built nor booted again.
    let again = run(&all);
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(
        again.status.success() && !said.contains("building") && !said.contains("recording"),
        "{said}"
    );
    assert_eq!(again.stdout, output.stdout);
}
