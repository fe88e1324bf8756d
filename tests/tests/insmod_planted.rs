//! `slablab insmod` on modules with one fault each, and on modules without any.
//!
//! # How it works
//! A module in `crates/kapi/tests/planted/` begins with comments: what has to be said of it, with `asan: ` in front what
//! AddressSanitizer has to say, with `timeout: ` the seconds of one that never ends, and with `do: ` a step that leads to the
//! fault. A comment at the end of a line is the word under which that line has to be named: `in`, `allocated by`, `freed
//! before by`; a kernel stands behind it where only some have the line. No other line may be named, and the modules in
//! `crates/kapi/tests/sound/` may have no finding.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use slablab_kapi::Version;
use slablab_tests::module::lines;
use slablab_tests::{root, run};

const RELEASES: [&str; 3] = ["6.1", "6.12", "7.3"];

/// The words under which a line is named.
const PLACES: [&str; 3] = ["in", "allocated by", "freed before by"];

/// What a module's comments say.
#[derive(Debug, Default)]
struct Expected {
    words: String,
    is_asan: bool,
    steps: Vec<String>,
    /// Seconds after which it is stopped, where it never ends.
    timeout: Option<String>,
    /// Whether its init fails, as it has to.
    fails: bool,
    /// Lines, and the words under which they are named.
    lines: Vec<(usize, String)>,
}

fn read(path: &Path, release: Version) -> Expected {
    let text = fs::read_to_string(path).unwrap();
    let mut expected = Expected::default();
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        if let Some(step) = line.strip_prefix("do: ") {
            expected.steps.push(step.into());
        } else if let Some(words) = line.strip_prefix("asan: ") {
            (expected.words, expected.is_asan) = (words.into(), true);
        } else if let Some(seconds) = line.strip_prefix("timeout: ") {
            expected.timeout = Some(seconds.into());
        } else if line == "fails" {
            expected.fails = true;
        } else {
            expected.words = line.into();
        }
    }
    for (index, line) in text.lines().enumerate() {
        let Some((code, comment)) = line.rsplit_once("// ").filter(|(code, _)| !code.is_empty())
        else {
            continue;
        };
        let (place, kernel) = comment.split_once(": ").unwrap_or((comment, ""));
        assert!(PLACES.contains(&place), "{}: {code}: {place}", path.display());
        let bound = |word| kernel.strip_prefix(word).map(|v| v.trim().parse::<Version>().unwrap());
        if bound("since").is_none_or(|bound| release >= bound)
            && bound("before").is_none_or(|bound| release < bound)
        {
            expected.lines.push((index + 1, place.into()));
        }
    }
    expected
}

/// The modules of a folder.
fn modules(folder: &str) -> Vec<PathBuf> {
    let folder = root().join("crates/kapi/tests").join(folder);
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut modules: Vec<_> = entries.collect();
    modules.sort();
    modules
}

/// Runs modules for each release, some at once; returns what is wrong with them.
fn wrong(
    modules: &[PathBuf],
    check: impl Fn(&Path, Version, &Expected) -> Vec<String> + Sync,
) -> Vec<String> {
    let runs: Vec<_> = modules
        .iter()
        .flat_map(|module| RELEASES.map(|release| (module, release.parse().unwrap())))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(&(module, release)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(check(module, release, &read(module, release)));
        }
        wrong
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

/// Runs a module; returns its status and what it printed.
fn insmod(module: &Path, release: Version, expected: &Expected) -> (Option<i32>, String) {
    let (module, release) = (module.display().to_string(), release.to_string());
    let timeout = expected.timeout.as_deref().unwrap_or("20");
    let mut words = vec!["insmod", &*module, "--kernel-version", &*release, "--timeout", timeout];
    words.extend(if expected.is_asan { &["--asan"][..] } else { &["--check", "2"] });
    words.extend(expected.steps.iter().flat_map(|step| ["--do", step]));
    let output = run(&words);
    // What goes to standard error begins a line.
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), lines(&output).join("\n") + "\n" + &errors)
}

/// Returns the places that are named: the word, the file and the line.
fn named(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let line = line.strip_prefix("    ")?;
        let place = PLACES.into_iter().find(|place| line.starts_with(&format!("{place} ")))?;
        Some((place, line.rsplit_once('(')?.1.strip_suffix(')')?))
    })
}

fn faults(module: &Path, release: Version, expected: &Expected) -> Vec<String> {
    let (status, text) = insmod(module, release, expected);
    let file = module.file_name().unwrap().to_string_lossy().into_owned();
    let mut wrong = Vec::new();
    if status != Some(1) {
        wrong.push(format!("status {status:?}"));
    }
    if !text.contains(&expected.words) {
        wrong.push(format!("no {:?}", expected.words));
    }
    let places: Vec<_> = named(&text).collect();
    for (line, place) in &expected.lines {
        let at = format!("{file}:{line}");
        let is_named = match expected.is_asan {
            true => text.contains(&at),
            false => places.contains(&(place, &at)),
        };
        if !is_named {
            wrong.push(format!("{place} {at} is not named"));
        }
    }
    let is_expected = |place: &str, at: &str| {
        expected.lines.iter().any(|(line, word)| word == place && at == format!("{file}:{line}"))
    };
    let others = places.iter().filter(|(place, at)| !expected.is_asan && !is_expected(place, at));
    wrong.extend(others.map(|(place, at)| format!("{place} {at} is named")));
    wrong.iter().map(|what| format!("{file} for {release}: {what}:\n{text}")).collect()
}

#[test]
fn every_planted_fault_is_found_with_its_line() {
    let modules = modules("planted");
    assert!(modules.len() >= 180, "{} modules", modules.len());
    let wrong = wrong(&modules, faults);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_found_in_modules_that_are_right() {
    let modules = modules("sound");
    assert!(modules.len() >= 60, "{} modules", modules.len());
    let check = |module: &Path, release: Version, expected: &Expected| {
        let (status, text) = insmod(module, release, expected);
        let good = status == Some(i32::from(expected.fails))
            && named(&text).next().is_none()
            && !text.contains("WARNING: ");
        if good { Vec::new() } else { vec![format!("{} for {release}:\n{text}", module.display())] }
    };
    let wrong = wrong(&modules, check);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
