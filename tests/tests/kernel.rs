//! `slablab kernel` and bad input: one clear line, status 2, nothing installed, nothing left behind.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use slablab_tests::{root, slablab_path};

/// Runs `slablab kernel`, or the words themselves where they begin with another command, in `dir` with a cache of its own.
fn kernel(dir: &Path, arguments: &[&str]) -> Output {
    let family = if ["lab", "doctor"].contains(&arguments[0]) { None } else { Some("kernel") };
    Command::new(slablab_path())
        .args(family)
        .args(arguments)
        .current_dir(dir)
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .env("LC_ALL", "C")
        .output()
        .expect("the command starts")
}

/// Asserts that a call fails with one line on standard error that has all of `parts`.
fn fails(dir: &Path, arguments: &[&str], parts: &[&str]) {
    let out = kernel(dir, arguments);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{arguments:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{arguments:?}: no `{part}` in: {said}");
    }
    assert!(out.stdout.is_empty());
}

#[test]
fn unknown_names_are_answered_with_those_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let known = ["slabb: no such kernel", "slab, slmb, slob, slub, slub_dense, slub_tiny, debian:"];
    fails(dir.path(), &["build", "--allocators", "slub,slabb"], &known);
    fails(dir.path(), &["boot", "slabb"], &known);
    fails(dir.path(), &["lab", "run", "hackbench", "--kernels", "slabb"], &known);
    fails(dir.path(), &["lab", "run", "audit-cache", "--kernels", "slabb"], &known);
    fails(dir.path(), &["lab", "run", "fidelity", "--kernels", "slabb"], &known);
    fails(dir.path(), &["boot", "slub", "--module", "nothing"], &["no module nothing", "memmax"]);
    fails(dir.path(), &["build", "--flavour", "mint"], &["mint: no such flavour", "debug"]);
    fails(dir.path(), &["boot", "debian:6.12/vax"], &["vax: no such machine", "riscv64"]);
    fails(dir.path(), &["boot", "build:6.12/slob"], &["slob: Linux 6.12 has no such allocator"]);
    fails(dir.path(), &["boot", "debian:6.12", "--flavour", "debug"], &["it is not built"]);
    let unpatched = ["lab", "run", "kprobes", "--engine", "kernel", "--kernels", "debian:6.12"];
    fails(
        dir.path(),
        &unpatched,
        &["needs a kernel with slablab's patches, such as slub or build:6.1"],
    );
}

#[test]
fn an_archive_that_cannot_be_read_is_one_sentence_and_leaves_no_image() {
    if Command::new("apt-get").arg("--version").output().is_err() {
        return; // not a machine of Debian's
    }
    let dir = tempfile::tempdir().unwrap();
    let mirror = dir.path().join("mirror/debian");
    let at = format!("file:{}", mirror.display());
    let images = dir.path().join("cache/slablab/images");
    let boot = ["boot", "debian:6.12", "--mirror", &at];
    // Nothing there, and a list that Debian did not sign.
    fails(dir.path(), &boot, &["debian:6.12: ", "Release", "in the cache: nothing"]);
    for suite in ["bookworm", "trixie", "sid"] {
        let folder = mirror.join("dists").join(suite);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("InRelease"), "Origin: Debian\nSuite: x\n").unwrap();
    }
    fails(dir.path(), &boot, &["debian:6.12: ", "in the cache: nothing"]);
    assert!(!images.exists());
    // What is in the cache serves.
    let kept = images.join(format!("{:032x}", 7));
    fs::create_dir_all(&kept).unwrap();
    let known = r#"{"release":"6.12.9+deb13-cloud-amd64","compiler":"x","build_seconds":0,"make_lines":0,
        "arch":"amd64","image":"vmlinuz"}"#;
    fs::write(kept.join("kernel.json"), known).unwrap();
    let out = kernel(dir.path(), &["build", "debian:6.12", "--mirror", &at]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(said.contains("debian:6.12 is 6.12.9+deb13-cloud-amd64 of the cache: "), "{said}");
    fails(dir.path(), &["build", "debian:6.18", "--mirror", &at], &["6.12.9+deb13-cloud-amd64"]);
}

#[test]
fn a_configuration_that_contradicts_itself_is_named_with_both_lines() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own.config");
    fs::write(&own, "# mine\n# CONFIG_SMP is not set\n").unwrap();
    let arguments = ["build", "--allocators", "slub", "--config", "own.config"];
    fails(
        dir.path(),
        &arguments,
        &["own.config:2: CONFIG_SMP=n contradicts CONFIG_SMP=y at", "base"],
    );
    fs::write(&own, "SMP=n\n").unwrap();
    fails(dir.path(), &arguments, &["own.config:1: `SMP=n` is not a setting"]);
    fs::remove_file(&own).unwrap();
    fails(dir.path(), &arguments, &["own.config: cannot read"]);
}

#[test]
fn a_source_that_is_none_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fails(dir.path(), &["build", "--source", "nowhere"], &["nowhere: no such source"]);
    fails(dir.path(), &["build", "--source", "."], &["not Linux's source", "--source"]);
    let kprobes = ["lab", "run", "kprobes", "--engine", "kernel", "--set", "source=."];
    fails(dir.path(), &kprobes, &["not Linux's source"]);
}

#[test]
fn a_plan_that_cannot_be_is_refused_before_anything_is_built() {
    let dir = tempfile::tempdir().unwrap();
    let twice = ["lab", "run", "hackbench", "--kernels", "slub,slub"];
    fails(dir.path(), &twice, &["slub is named twice"]);
    let twice = ["lab", "run", "hackbench", "--kernels", "slub", "--cpus", "2,2"];
    fails(dir.path(), &twice, &["2 is named twice"]);
    let baseline = ["lab", "run", "hackbench", "--kernels", "slub", "--baseline", "slob"];
    fails(dir.path(), &baseline, &["--baseline slob: no such variant; there are: slub"]);
    let cpus = ["lab", "run", "hackbench", "--cpus", "0"];
    fails(dir.path(), &cpus, &["cpus=0: numbers from 1 to 16 are needed"]);
    fails(dir.path(), &["lab", "run", "hackbench", "--rounds", "0"], &["nothing to run"]);
    let both = ["lab", "run", "load", "--set", "load=boot", "--input", "script.sh"];
    fails(dir.path(), &both, &["a guest runs one of the loads, or the script"]);
    let unknown = ["lab", "run", "load", "--set", "speed=9"];
    fails(
        dir.path(),
        &unknown,
        &["load in the engine kernel has no parameter 'speed'; it has: kernels"],
    );
    assert!(!dir.path().join("slablab-results").exists());
}

#[test]
fn missing_programs_are_named_with_their_packages() {
    let dir = tempfile::tempdir().unwrap();
    // With nothing on the PATH there is no apt-get either.
    let out = Command::new(slablab_path())
        .args(["kernel", "build", "--allocators", "slub"])
        .env("PATH", dir.path())
        .env("XDG_CACHE_HOME", dir.path())
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    for part in ["gcc", "not found", "apt-get install", "flex"] {
        assert!(said.contains(part), "{part} in {said}");
    }
}

#[test]
fn the_list_has_every_allocator() {
    let dir = tempfile::tempdir().unwrap();
    let out = kernel(dir.path(), &["list", "--format", "json"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let listing: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(listing["schema"], "slablab.kernel-list/3");
    assert_eq!(listing["kernels"].as_array().unwrap().len(), 10);
    assert!(listing["kernels"].as_array().unwrap().iter().all(|kernel| kernel["cached"] == false));
    assert_eq!(listing["built"].as_array().unwrap().len(), 0);
}

/// The graph used to be written after a boot of minutes, into a folder that did not exist.
#[test]
fn a_flame_graph_that_cannot_be_written_is_refused_before_the_boot() {
    let dir = tempfile::tempdir().unwrap();
    let boot = ["boot", "slub", "--flame", "nowhere/flame.svg", "--", "true"];
    fails(dir.path(), &boot, &["nowhere/flame.svg: --flame cannot be written"]);
}

#[test]
fn what_was_a_command_says_what_to_type_now() {
    let dir = tempfile::tempdir().unwrap();
    let run = ["run", "script", "load.sh", "--kernels", "slub"];
    fails(dir.path(), &run, &["kernel run script is now: slablab lab run load --input SCRIPT"]);
    fails(dir.path(), &["check"], &["kernel check is now: slablab doctor"]);
    fails(dir.path(), &["profile", "slub"], &["--flame FILE"]);
    fails(dir.path(), &["lab", "run", "script"], &["script is now: slablab lab run load"]);
}

/// Makes sure that a failed test leaves nothing behind.
struct KilledWhenDropped(Child);

impl Drop for KilledWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A source that passes for Linux's and is built in no time, or never: its Makefile runs `$BUILD`.
struct LittleLinux {
    dir: tempfile::TempDir,
}

/// Seconds that a build sleeps when it shall never end; no other process of this machine sleeps as long.
fn endless() -> String {
    format!("1000.{}", std::process::id())
}

impl LittleLinux {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "linux/Makefile",
            "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 7\n\
             allnoconfig:\n\tcp $(O)/merged.config $(O)/.config\n\
             bzImage:\n\tsh -c \"$$BUILD\"\n\tmkdir -p $(O)/include/config\n\
             \techo 6.1.7 > $(O)/include/config/kernel.release\n\
             modules:\n\t@true\n",
        );

        write("linux/mm/slab_common.c", "one\ntwo\nthree\n");
        write("kernel/config/base.config", "");
        write("kernel/config/allocator-slub.config", "CONFIG_SLUB=y\n");
        write("kernel/patches/6.1/series", "");
        Self { dir }
    }

    fn build(&self, script: &str, further: &[&str]) -> Command {
        let mut command = Command::new(slablab_path());
        command
            .args(["kernel", "build", "--allocators", "slub", "--source", "linux"])
            .args(further)
            .current_dir(self.dir.path())
            .env("XDG_CACHE_HOME", self.dir.path().join("cache"))
            .env("SLABLAB_KERNEL_DATA", self.dir.path().join("kernel"))
            .env("BUILD", script);
        command
    }

    /// Returns the names of what lies in the cache and passes for whole.
    fn whole(&self, kind: &str) -> Vec<String> {
        let folder = self.dir.path().join("cache/slablab").join(kind);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| !name.ends_with(".partial")).collect()
    }

    /// Asserts that no process works on this source, for as long as a dying one may take.
    fn assert_no_process(&self) {
        let name = self.dir.path().file_name().unwrap().to_string_lossy().into_owned();
        let nap = format!("sleep\0{}", endless());
        let left = || {
            let processes = fs::read_dir("/proc").unwrap().flatten();
            let command = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).ok();
            let mut commands = processes.filter_map(command);
            commands.find(|command| {
                let command = String::from_utf8_lossy(command);
                command.contains(&name) || command.contains(&nap)
            })
        };
        let patience = Instant::now() + Duration::from_secs(20);
        while let Some(command) = left() {
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            assert!(Instant::now() < patience, "still there: {command}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_build_that_is_stopped_leaves_no_process_and_nothing_that_passes_for_whole() {
    let linux = LittleLinux::new();
    for signal in ["INT", "TERM", "HUP", "KILL"] {
        let mut command = linux.build(&format!("sleep {}", endless()), &["--yes"]);
        let said = linux.dir.path().join("said");
        command.stderr(fs::File::create(&said).unwrap()).stdout(Stdio::null());
        let mut child = KilledWhenDropped(command.spawn().expect("the command starts"));
        // Where packages are missing it installs them first, as `--yes` says.
        let patience = Instant::now() + Duration::from_secs(600);
        let napping = linux.dir.path().join("cache/slablab/kernels");
        let log = |folder: &Path| -> String {
            let logs = fs::read_dir(folder).into_iter().flatten().flatten();
            let text = |entry: fs::DirEntry| fs::read_to_string(entry.path()).ok();
            logs.filter_map(text).collect()
        };
        while !log(&napping).contains("$BUILD") {
            let words = || fs::read_to_string(&said).unwrap_or_default();
            assert_eq!(child.0.try_wait().unwrap(), None, "no build began: {}", words());
            assert!(Instant::now() < patience, "no build began: {}", words());
            thread::sleep(Duration::from_millis(20));
        }
        let pid = child.0.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let status = child.0.wait().unwrap();
        let said = fs::read_to_string(said).unwrap();
        if signal != "KILL" {
            assert_eq!(status.code(), Some(2), "{signal}: {said}");
            assert!(said.contains("interrupted"), "{signal}: {said}");
        }
        linux.assert_no_process();
        assert!(linux.whole("kernels").is_empty(), "{signal}");
        // The next signal finds a new log.
        fs::remove_dir_all(&napping).unwrap();
    }
    assert!(linux.build("true", &[]).output().unwrap().status.success());
    assert_eq!((linux.whole("kernels").len(), linux.whole("trees").len()), (1, 1));
}

/// Commands that only read used to have to make their folder first.
#[test]
fn kernels_are_listed_without_a_cache_that_can_be_written() {
    let dir = tempfile::tempdir().unwrap();
    // In place of a folder that may not be written, which root may.
    fs::write(dir.path().join("cache"), "").unwrap();
    let out = kernel(dir.path(), &["list", "--all"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("slub_dense"), "{said}");
    let out = kernel(dir.path(), &["doctor"]);
    assert!(matches!(out.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&out.stderr));
    fails(dir.path(), &["clean"], &["set XDG_CACHE_HOME to a folder that this user can write to"]);
}

#[test]
fn cleaning_removes_what_other_versions_unpacked() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache/slablab");
    let names =
        [format!("kernel-{:032x}", 1), format!("kapi-{:032x}", 2), "kernel-mine".to_owned()];
    for name in &names {
        fs::create_dir_all(cache.join(name).join("kernel")).unwrap();
    }
    let out = kernel(dir.path(), &["clean", "--all"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let there = names.each_ref().map(|name| cache.join(name).exists());
    assert_eq!(there, [false, false, true], "{}", String::from_utf8_lossy(&out.stdout));
    // What this version unpacked is kept.
    let kept = fs::read_dir(&cache).unwrap().flatten();
    let kept = kept.filter(|entry| entry.path().join("kernel/config").is_dir());
    assert_eq!(kept.count(), 1);
}

#[test]
fn a_patch_that_does_not_apply_is_named_and_leaves_nothing() {
    let linux = LittleLinux::new();
    let patch =
        "--- a/mm/slab_common.c\n+++ b/mm/slab_common.c\n@@ -1,3 +1,3 @@\n one\n-TWO\n+2\n three\n";
    fs::write(linux.dir.path().join("mine.patch"), patch).unwrap();
    let out = linux.build("true", &["--patch", "mine.patch"]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    for part in ["mine.patch: does not apply", "mm/slab_common.c: Hunk #1 FAILED at 1"] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    // The tree without it is whole, and stays for the next build.
    assert_eq!((linux.whole("trees").len(), linux.whole("kernels").len()), (1, 0));
    let out = linux.build("true", &["--patch", "nothing.patch"]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
}

/// What a patch leaves alone is not compiled again; a copy that was stopped in the middle is made anew.
#[test]
fn a_patched_kernel_begins_with_the_build_of_the_one_without() {
    let linux = LittleLinux::new();
    let patch =
        "--- a/mm/slab_common.c\n+++ b/mm/slab_common.c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    fs::write(linux.dir.path().join("mine.patch"), patch).unwrap();
    let compile = "test -e $O/object || echo whole > $O/object";
    let built = |script: &str, further: &[&str]| {
        let out = linux.build(script, further).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    };
    built(compile, &[]);
    let kernels = linux.dir.path().join("cache/slablab/kernels");
    let failed = linux.build("exit 1", &["--patch", "mine.patch"]).output().unwrap();
    assert_eq!(failed.status.code(), Some(2));
    let partial = fs::read_dir(&kernels).unwrap().flatten().map(|entry| entry.path());
    let partial =
        partial.filter(|path| path.to_string_lossy().ends_with(".partial")).last().unwrap();
    assert_eq!(fs::read_to_string(partial.join("object")).unwrap(), "whole\n");
    // As a kill leaves it.
    fs::write(partial.join("object"), "who").unwrap();
    fs::write(partial.join("copying"), "").unwrap();
    built("test \"$(cat $O/object)\" = whole", &["--patch", "mine.patch"]);
    assert_eq!(linux.whole("kernels").len(), 2);
    for kernel in linux.whole("kernels") {
        assert!(!kernels.join(kernel).join("copying").exists());
    }
}

#[test]
fn a_build_that_fails_is_told_with_its_own_words_and_is_not_taken_for_whole() {
    let linux = LittleLinux::new();
    let out = linux.build("echo cannot find -lelf; exit 1", &[]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    let words = "make: cannot find -lelf. The whole log: ";
    assert!(said.contains(words), "{said}");
    assert!(linux.whole("kernels").is_empty());
}

/// Returns whether this process is root's.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().expect("id is everywhere").stdout == b"0\n"
}

#[test]
fn a_build_that_root_starts_runs_as_another_user() {
    let linux = LittleLinux::new();
    let out = linux.build("id -u; exit 1", &["--yes"]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    let log = said.split("The whole log: ").nth(1).expect("the error names its log").trim();
    let log = fs::read_to_string(log).unwrap();
    let by_root = log.lines().any(|line| line == "0");
    // Many containers do not let root mount anything: then it says so.
    assert_eq!(by_root, said.contains("building as root"), "{said}{log}");
    if by_root {
        assert!(is_root());
        let mount = Command::new("unshare").args(["--mount", "true"]).output().unwrap();
        assert!(!mount.status.success(), "{said}");
    }
}

#[test]
fn a_package_is_installed_only_when_asked_for() {
    let linux = LittleLinux::new();
    // An apt-get that records its calls, and no compiler.
    let bin = linux.dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let called = linux.dir.path().join("called");
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\n", called.display());
    fs::write(bin.join("apt-get"), script).unwrap();
    let executable = Command::new("chmod").arg("+x").arg(bin.join("apt-get")).status().unwrap();
    assert!(executable.success());
    for program in ["sh", "setpriv"] {
        let found =
            Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        std::os::unix::fs::symlink(found.trim(), bin.join(program)).unwrap();
    }
    let build = |further: &[&str]| linux.build("true", further).env("PATH", &bin).output().unwrap();
    let out = build(&[]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("flex") && said.contains("apt-get install"), "{said}");
    assert!(said.trim_end().ends_with("; or give --yes, as root"), "{said}");
    assert!(!called.exists(), "{said}");
    if is_root() {
        let out = build(&["--yes"]);
        let said = String::from_utf8_lossy(&out.stderr);
        let first = said.lines().next().unwrap_or_default();
        assert!(first.starts_with("slablab: installing bc, binutils, bison"), "{said}");
        assert!(fs::read_to_string(&called).unwrap().contains("install"), "{said}");
    }
}

#[test]
fn a_copied_program_works_without_its_sources() {
    let linux = LittleLinux::new();
    let here = linux.dir.path();
    fs::remove_dir_all(here.join("kernel")).unwrap();
    // No series of patches is for this one.
    let makefile = fs::read_to_string(here.join("linux/Makefile")).unwrap();
    fs::write(here.join("linux/Makefile"), makefile.replace("PATCHLEVEL = 1", "PATCHLEVEL = 0"))
        .unwrap();
    fs::copy(slablab_path(), here.join("slablab")).unwrap();
    let sources = root();
    let is_hidden =
        Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|s| s.success());
    let run = |arguments: &[&str]| -> Output {
        let mut command = match is_hidden {
            true => {
                let mut command = Command::new("unshare");
                let script = r#"for dir in crates kernel include; do mount -t tmpfs none "$1/$dir" || exit 3; done
                    shift; exec ./slablab kernel "$@""#;
                command.args(["-rm", "sh", "-c", script, "sh"]).arg(&sources);
                command
            }
            false => {
                let mut command = Command::new("./slablab");
                command.arg("kernel");
                command
            }
        };
        command.args(arguments).current_dir(here).env("XDG_CACHE_HOME", here.join("cache"));
        command.env_remove("SLABLAB_KERNEL_DATA").env("BUILD", "true").output().unwrap()
    };
    let listed = run(&["list", "--all"]);
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("slmb") && listed.contains("memmax"), "{listed}");
    // Configured by our fragments, which lie in the cache now.
    let built = run(&["build", "--allocators", "slub", "--source", "linux"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let refused = run(&["boot", "slub", "--module", "nothing"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("cache/slablab/kernel-") && said.contains("memmax"), "{said}");
}
