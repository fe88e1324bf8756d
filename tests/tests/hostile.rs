//! Recorded names must never run: names of caches, call sites, programs, hosts and files that a shell, a browser, a
//! spreadsheet, Markdown or a terminal would obey.
//!
//! # How it works
//! A sample is written anew with such names. A program that obeys one of them makes a file called `owned`,
//! or shows a mark that a test looks for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use slablab_tests::{refusal, root, slablab};
use slablab_trace::{Event, Kind, Meta, NONE, TraceReader, TraceWriter};
use tempfile::TempDir;

/// What the shell, the spreadsheet, the browser, Markdown and the terminal obey, in turn.
const HOSTILE: [&str; 8] = [
    "'\\n5 owned; touch owned; '",
    "$(touch owned)`touch owned`",
    "=cmd|' /C touch owned'!A0",
    "<script>document.title='owned'</script><img src=x onerror=owned>",
    "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\r",
    "\nslablab: owned\n+++ b/owned\n#!/bin/sh\ntouch owned\n",
    "[x](javascript:owned) | owned | `",
    "\u{202e}denwo\u{2066}",
];

/// A folder to be attacked, with a trace in it.
struct Scene {
    folder: TempDir,
    trace: PathBuf,
}

impl Scene {
    /// Writes the first `events` of `sample` anew, with names that `cache` and `site` make of those there.
    fn new(
        sample: &str,
        events: usize,
        cache: impl Fn(usize, &str) -> String,
        site: impl Fn(usize, &str) -> String,
    ) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join(format!("-{}.parquet", HOSTILE[0]));
        let reader = TraceReader::open(root().join("traces").join(sample)).unwrap();
        let meta = reader.meta();
        let mut writer = TraceWriter::create(&trace).unwrap();
        for (at, known) in meta.sites.iter().enumerate() {
            writer.site(&site(at, &known.name), known.address);
        }
        for (at, known) in meta.caches.iter().enumerate() {
            let id = writer.cache(&cache(at, known.recorded_name()));
            assert_eq!(id as usize, at, "names stay apart");
        }
        let batches =
            reader.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>());
        batches.take(events).for_each(|event| writer.push(&event).unwrap());
        let meta = Meta {
            hostname: HOSTILE.concat(),
            arch: HOSTILE[4].into(),
            cpu: HOSTILE[3].into(),
            recorder: HOSTILE[5].into(),
            source: HOSTILE[2].into(),
            command: HOSTILE.map(str::to_owned).to_vec(),
            comms: meta
                .comms
                .keys()
                .map(|pid| (*pid, HOSTILE[*pid as usize % 8].to_owned()))
                .collect(),
            slabs_start: None,
            slabs_end: None,
            samples: Default::default(),
            ..meta.clone()
        };
        writer.finish(meta).unwrap();
        Scene { folder, trace }
    }

    /// Returns the sample with hostile names that a cache can have.
    fn of_hostile_names(events: usize) -> Scene {
        Scene::new(
            "build.parquet",
            events,
            |at, name| {
                if name.starts_with("kmalloc") {
                    name.into()
                } else {
                    format!("{}{at}", HOSTILE[at % 2])
                }
            },
            |at, name| format!("{}{name}", HOSTILE[at % 8]),
        )
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn name(&self) -> &str {
        self.trace.file_name().unwrap().to_str().unwrap()
    }

    fn run(&self, words: &[&str]) -> Output {
        slablab().current_dir(self.path()).args(words).output().unwrap()
    }

    /// Runs `words`, whose output no terminal obeys, and returns it.
    fn output(&self, words: &[&str]) -> String {
        let output = self.run(words);
        for (place, bytes) in [("output", &output.stdout), ("log", &output.stderr)] {
            let text = std::str::from_utf8(bytes).unwrap();
            let obeyed = |c: char| slablab_host::is_obeyed(c) && !"\n\t".contains(c);
            assert!(!text.contains(obeyed), "{place} of {words:?}: {text:?}");
            let forged = |line: &str| line.starts_with("slablab: owned");
            assert!(!text.lines().any(forged), "{place} of {words:?}: {text}");
        }
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a script in the folder, where `slablab` only says that it was called.
    fn sh(&self, shell: &str, script: &str) -> Output {
        let programs = self.path().join("programs");
        fs::create_dir_all(&programs).unwrap();
        for name in ["slablab", "sbatch"] {
            let program = programs.join(name);
            fs::write(&program, "#!/bin/sh\nprintf '<%s>' \"$@\"\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell);
        command.args(["-c", script]).env("PATH", path).current_dir(self.path());
        command.output().unwrap()
    }

    #[track_caller]
    fn check_nothing_ran(&self) {
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                assert_ne!(entry.file_name(), "owned", "{}", entry.path().display());
                folders.extend(entry.path().is_dir().then(|| entry.path()));
            }
        }
    }
}

#[test]
fn a_cache_that_none_can_be_called_is_refused_by_its_name() {
    let cache = "../../../tmp/x'; touch /tmp/owned; '";
    let first = |at, name: &str| if at == 0 { format!("{cache}\u{1b}[2J") } else { name.into() };
    let scene = Scene::new("build.parquet", 5_000, first, |_, name| name.into());
    let script = scene.path().join("tune.sh");
    let trace = scene.trace.to_str().unwrap();
    let sentence = refusal(&["tune", trace, "--apply-script", script.to_str().unwrap()]);
    let shown = r#""../../../tmp/x'; touch /tmp/owned; '\u{1b}[2J""#;
    assert!(sentence.contains(shown) && sentence.contains("/sys/kernel/slab"), "{sentence}");
    assert!(!script.exists());
}

#[test]
fn a_script_of_settings_and_its_undoing_run_nothing_of_a_name() {
    let scene = Scene::of_hostile_names(usize::MAX);
    let trace = format!("./{}", scene.name());
    let text = scene.output(&["tune", &trace, "--apply-script", "tune.sh"]);
    let script = fs::read_to_string(scene.path().join("tune.sh")).unwrap();
    let set: Vec<&str> = script.lines().filter(|line| line.contains("set_file ")).collect();
    assert!(
        set.iter().any(|line| line.contains("touch owned")),
        "no hostile name is set: {script}"
    );
    // The settings of the page, the script and its undoing, with a folder for that of sysfs.
    let slab = scene.path().join("slab");
    let reader = TraceReader::open(&scene.trace).unwrap();
    for cache in &reader.meta().caches {
        fs::create_dir_all(slab.join(&cache.name)).unwrap();
        fs::write(slab.join(&cache.name).join("cpu_partial"), "120\n").unwrap();
        fs::write(slab.join(&cache.name).join("min_partial"), "5\n").unwrap();
    }
    let here = |text: &str| text.replace("/sys/kernel/slab", slab.to_str().unwrap());
    fs::write(scene.path().join("tune.sh"), here(&script)).unwrap();
    let numbers = || {
        let read = |cache: &str, file| {
            fs::read_to_string(slab.join(cache).join(file)).unwrap().trim().to_owned()
        };
        let of = |cache: &slablab_trace::RecordedCache| {
            ["cpu_partial", "min_partial"].map(|file| read(&cache.name, file))
        };
        reader.meta().caches.iter().map(of).collect::<Vec<_>>()
    };
    let before = numbers();
    for run in [
        "sh -n tune.sh",
        "UNDO=undo sh tune.sh",
        "UNDO=undo sh tune.sh undo",
        "UNDO=undo bash tune.sh && UNDO=undo bash tune.sh undo",
    ] {
        let output = scene.sh("sh", run);
        assert!(output.status.success(), "{run}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(numbers() == before, run != "UNDO=undo sh tune.sh", "{run}");
        scene.check_nothing_ran();
    }
    let typed: Vec<&str> = text.lines().filter(|line| line.contains("echo ")).collect();
    assert!(!typed.is_empty());
    let output = scene.sh("sh", &here(&typed.join("\n")));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    scene.check_nothing_ran();
}

#[test]
fn lines_to_be_typed_are_single_commands_in_any_shell() {
    let scene = Scene::of_hostile_names(60_000);
    let trace = format!("./{}", scene.name());
    let (advice, mut typed) = (scene.output(&["advise", &trace, "--format", "json"]), Vec::new());
    let advice: serde_json::Value = serde_json::from_str(&advice).unwrap();
    let subjects = advice["advice"].as_array().unwrap().iter();
    let subjects =
        subjects.filter_map(|one| one["subject"].as_str()).filter(|name| name.contains('+'));
    for subject in subjects.take(4) {
        let pattern =
            format!("*{}*", subject.rsplit(['\'', ' ', ';', '`', '>', '\n']).next().unwrap());
        let output = scene.run(&["patch", &trace, &pattern]);
        let patch = String::from_utf8(output.stdout).unwrap();
        assert!(!patch.lines().any(|line| line.starts_with("+++ b/owned")), "{patch}");
        typed.extend(
            patch.lines().filter_map(|line| line.strip_prefix("Try it: ")).map(str::to_owned),
        );
    }
    let classes = scene.output(&["classes", &trace, "--further", "1"]);
    typed
        .extend(classes.lines().filter(|line| line.contains("slablab whatif ")).map(str::to_owned));
    assert!(typed.len() >= 2, "{typed:?}");
    for line in &typed {
        for shell in ["sh", "bash"] {
            let output = scene.sh(shell, line);
            let said = String::from_utf8(output.stdout).unwrap();
            assert!(said.starts_with("<whatif>"), "{shell}: {line}: {said}");
            assert!(said.contains("touch owned; '.parquet>"), "{shell}: {line}: {said}");
            scene.check_nothing_ran();
        }
    }
}

#[test]
fn no_output_of_a_hostile_trace_is_obeyed() {
    let scene = Scene::of_hostile_names(20_000);
    let trace = format!("./{}", scene.name());
    for command in [
        &["info"][..],
        &["stat"],
        &["replay", "--allocators", "slub"],
        &["replay", "--allocators", "slub", "--show", "sites"],
        &["whatif", "--per-site", "--allocators", "slub"],
        &["advise"],
    ] {
        let words = [&command[..1], &[trace.as_str()], &command[1..]].concat();
        for format in ["table", "json", "csv"] {
            let text = scene.output(&[&words[..], &["--format", format]].concat());
            match format {
                "json" => _ = serde_json::from_str::<serde_json::Value>(&text).unwrap(),
                "csv" => check_cells(&text),
                _ => {}
            }
        }
    }
    for command in [&["replay", "--allocators", "slub"][..], &["advise"], &["whatif", "--per-site"]]
    {
        let words = [&command[..1], &[trace.as_str()], &command[1..], &["--report", "page.html"]];
        let _ = scene.output(&words.concat());
        let page = fs::read_to_string(scene.path().join("page.html")).unwrap();
        assert!(
            page.contains("&#60;script") || page.contains("&lt;script"),
            "no hostile name is shown"
        );
        assert!(!page.contains("<script>document") && !page.contains("<img"), "{command:?}");
        assert!(!page.contains(|c: char| c.is_control() && !"\n\t".contains(c)), "{command:?}");
    }
    scene.check_nothing_ran();
}

/// Checks that a spreadsheet takes no cell for a formula.
fn check_cells(csv: &str) {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(csv.as_bytes());
    for row in reader.records() {
        for cell in &row.unwrap() {
            let begins = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert!(!begins || cell.parse::<f64>().is_ok(), "{cell:?}");
        }
    }
}

#[test]
fn plots_of_hostile_names_have_plain_file_names_and_are_drawn() {
    let scene = Scene::of_hostile_names(20_000);
    let trace = format!("./{}", scene.name());
    let _ = scene.output(&[
        "replay",
        &trace,
        "--allocators",
        "slub",
        "--format",
        "json",
        "-o",
        "r.json",
    ]);
    let _ = scene.output(&["report", "r.json", "--svg", "plots", "-o", "page.html"]);
    let names = fs::read_dir(scene.path().join("plots")).unwrap().flatten();
    let names: Vec<String> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let is_plain =
        |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
    assert!(names.len() > 2 && names.iter().all(is_plain), "{names:?}");
}

#[test]
fn hosts_and_days_of_folders_are_text() {
    let scene = Scene::new("boot.parquet", 5_000, |_, name| name.into(), |_, name| name.into());
    let mut folders = Vec::new();
    for name in ["=1+1\u{1b}[2J", "'; touch owned; '", "\nslablab: owned", "<script>owned"] {
        let folder =
            scene.path().join("fleet").join(format!("host={name}")).join(format!("date={name}"));
        fs::create_dir_all(&folder).unwrap();
        fs::copy(&scene.trace, folder.join("t.parquet")).unwrap();
        folders.push(folder);
    }
    for command in ["info", "stat", "replay", "advise"] {
        for format in ["table", "json", "csv"] {
            let text = scene.output(&[command, "fleet", "--format", format]);
            if format == "csv" {
                check_cells(&text);
            }
        }
    }
    let _ = scene.output(&["export", "fleet", "--tables", "tables"]);
    scene.check_nothing_ran();
}

#[test]
fn a_job_of_a_cluster_runs_the_plan_of_its_folder_and_nothing_else() {
    let scene = Scene::new("boot.parquet", 5_000, |_, name| name.into(), |_, name| name.into());
    for (folder, is_taken) in [("it's a; plan", true), ("$(touch owned)", false), ("a\nb", false)] {
        let _ = scene.output(&["lab", "plan", "lifo", "-o", folder]);
        let output = scene.run(&["lab", "sbatch", folder]);
        assert_eq!(output.status.success(), is_taken, "{folder}");
        if is_taken {
            let script =
                format!("cd {} && bash -n sweep.sbatch", slablab_host::shell::word(folder));
            assert!(scene.sh("bash", &script).status.success());
            let said = String::from_utf8(output.stderr).unwrap();
            let (_, typed) = said.trim().split_once("submit them by: ").unwrap();
            let output = scene.sh("sh", typed);
            assert_eq!(output.stdout, format!("<{folder}/sweep.sbatch>").into_bytes());
        }
    }
    scene.check_nothing_ran();
}

#[test]
fn a_snapshot_and_a_text_of_hostile_names_are_text() {
    let scene = Scene::new("boot.parquet", 5_000, |_, name| name.into(), |_, name| name.into());
    let slabinfo = "slabinfo - version: 2.1\n# name\n\
        =cmd|'!A0 5 42 192 21 1 : tunables 0 0 0 : slabdata 2 2 0\n\
        $(touch\u{1b}[2J 9 42 192 21 1 : tunables 0 0 0 : slabdata 2 2 0\n";
    fs::write(scene.path().join("s"), slabinfo).unwrap();
    for format in ["table", "json", "csv"] {
        let text = scene.output(&["info", "s", "--format", format]);
        if format == "csv" {
            check_cells(&text);
        }
    }
    let refused = scene.run(&["info", "no\u{1b}[2J\nslablab: owned"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!said.contains('\u{1b}') && !said.contains("\nslablab: owned"), "{said:?}");
    let events = [Kind::Kmalloc, Kind::Kfree];
    let mut writer = TraceWriter::create(scene.path().join("t.parquet")).unwrap();
    let site = writer.site(HOSTILE[5], 0);
    for (time_ns, kind) in events.into_iter().enumerate() {
        let bytes = if kind.is_alloc() { 64 } else { 0 };
        let event = Event {
            time_ns: time_ns as u64,
            cpu: 0,
            pid: 1,
            kind,
            object: 0,
            site,
            cache: NONE,
            bytes_req: bytes,
            bytes_alloc: bytes,
            gfp: 0,
            node: -1,
            stack: NONE,
        };
        writer.push(&event).unwrap();
    }
    writer.finish(Meta::default()).unwrap();
    let _ = scene.output(&["stat", "t.parquet"]);
    scene.check_nothing_ran();
}
