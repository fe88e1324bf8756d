//! `bench/results`: a folder a topic, each in the index, each with a README that names every file beside it.

use std::collections::BTreeMap;
use std::fs;

use slablab_tests::{root, tracked_files};

const FOLDER: &str = "bench/results";
/// As many folders as one can look through.
const FOLDERS_MAX: usize = 20;
/// What a README tells in its table.
const TOLD: [&str; 3] = ["Command", "Machine", "Commit"];

/// The files of a results folder below it, by name, with the text of READMEs and nothing of others.
type Folder = BTreeMap<String, String>;

/// Returns what is wrong with the folders, given the index.
fn findings(index: &str, folders: &BTreeMap<String, Folder>) -> Vec<String> {
    let mut found = Vec::new();
    if folders.len() > FOLDERS_MAX {
        found.push(format!("{} folders, of at most {FOLDERS_MAX}", folders.len()));
    }
    let mut topics: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, files) in folders {
        let Some(topic) = topic(name) else {
            found.push(format!("{name}: is not named <date>-<topic>"));
            continue;
        };
        if let Some(other) = topics.insert(topic, name) {
            found.push(format!("{other}, {name}: one topic twice; keep the newest"));
        }
        if !index.contains(&format!("({name}/)")) {
            found.push(format!("{name}: the index does not link it"));
        }
        let Some(readme) = files.get("README.md") else {
            found.push(format!("{name}: has no README.md"));
            continue;
        };
        for word in TOLD.iter().filter(|word| !readme.contains(&format!("| {word}"))) {
            found.push(format!("{name}/README.md: does not tell: {word}"));
        }
        for file in files.keys().filter(|file| *file != "README.md" && !names(readme, file)) {
            found.push(format!("{name}/{file}: its README does not name it"));
        }
    }
    found
}

/// The folder that grows with each release, and has its dates inside.
const GROWING: &str = "history";

/// Returns the topic of `<year>-<month>-<day>-<topic>`.
fn topic(name: &str) -> Option<&str> {
    if name == GROWING {
        return Some(name);
    }
    let (date, topic) = name.split_at_checked("2026-11-21".len())?;
    let is_date = date.split('-').map(str::len).eq([4, 2, 2])
        && date.chars().all(|c| c.is_ascii_digit() || c == '-');
    topic.strip_prefix('-').filter(|topic| is_date && !topic.is_empty())
}

/// Returns whether a text names a file: by its path, as `*.txt` or `one-*.csv`, or by its folder with a slash.
fn names(text: &str, file: &str) -> bool {
    let is_in_name = |c: char| c.is_alphanumeric() || "-_.*/".contains(c);
    text.split(|c| !is_in_name(c)).map(|word| word.trim_end_matches('.')).any(|word| {
        let fits = |(head, tail): (&str, &str)| {
            (head, tail) != ("", "")
                && file.len() >= head.len() + tail.len()
                && file.starts_with(head)
                && file.ends_with(tail)
        };
        let is_folder = word.ends_with('/') && file.starts_with(word);
        word == file || is_folder || word.split_once('*').is_some_and(fits)
    })
}

/// Returns the folders of results that a text names and `folders` does not have.
fn dangling(text: &str, folders: &BTreeMap<String, Folder>) -> Vec<String> {
    let after = text.split("bench/results/").skip(1);
    let names = after
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next());
    let names = names.filter(|name| topic(name).is_some() && !folders.contains_key(*name));
    names.map(str::to_owned).collect()
}

fn read() -> (String, BTreeMap<String, Folder>) {
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    for path in tracked_files() {
        let Some(inside) = path.strip_prefix(FOLDER).ok().and_then(|path| path.to_str()) else {
            continue;
        };
        let Some((folder, file)) = inside.split_once('/') else { continue };
        let is_readme = file == "README.md";
        let text = if is_readme {
            fs::read_to_string(root().join(&path)).expect("UTF-8")
        } else {
            String::new()
        };
        folders.entry(folder.to_owned()).or_default().insert(file.to_owned(), text);
    }
    let index = root().join(FOLDER).join("README.md");
    (fs::read_to_string(index).expect("the results have an index"), folders)
}

#[test]
fn results_can_be_found() {
    let (index, folders) = read();
    super::none(&findings(&index, &folders), "a folder of results for each topic, in the index");
}

#[test]
fn links_to_results_lead_to_one() {
    let (_, folders) = read();
    let mut found = Vec::new();
    for (path, text) in super::sources(&["md", "rs", "py", "sh", "c", "config"]) {
        // This file has planted ones.
        if !path.ends_with("tidy/results.rs") {
            let names = dangling(&text, &folders).into_iter();
            found.extend(names.map(|name| format!("{}: {FOLDER}/{name}", path.display())));
        }
    }
    super::none(&found, "a link to results that are not there");
}

#[test]
fn a_file_of_results_that_nothing_links_is_found() {
    let readme =
        "| Command | `x` |\n| Machine | y |\n| Commit | z |\n`raw.jsonl`, `run-*.csv`, `more/`.";
    let folder = |files: &[&str]| -> Folder {
        let files = files.iter().map(|file| ((*file).to_owned(), String::new()));
        files.chain([("README.md".to_owned(), readme.to_owned())]).collect()
    };
    let good = folder(&["raw.jsonl", "run-1.csv", "more/rows.txt"]);
    let mut folders = BTreeMap::from([("2026-01-02-speed".to_owned(), good.clone())]);
    let index = "[speed](2026-01-02-speed/)";
    assert_eq!(findings(index, &folders), Vec::<String>::new());
    assert_eq!(
        dangling("see bench/results/2026-01-02-speed/, bench/results/2026-01-01-speed.", &folders),
        ["2026-01-01-speed"]
    );

    folders.insert("2026-01-02-speed".to_owned(), folder(&["raw.jsonl", "left-over.txt"]));
    assert_eq!(
        findings(index, &folders),
        ["2026-01-02-speed/left-over.txt: its README does not name it"]
    );
    let mut other = good;
    other.insert(
        "README.md".to_owned(),
        "| Command | `x` |\n`raw.jsonl` `run-1.csv` `more/`".to_owned(),
    );
    let folders = BTreeMap::from([("2026-01-02-size".to_owned(), other)]);
    let found = findings(index, &folders).join("\n");
    assert!(
        found.contains("the index does not link it") && found.contains("does not tell: Machine"),
        "{found}"
    );
    let twice = BTreeMap::from(
        ["2026-01-01-speed", "2026-01-02-speed"].map(|name| (name.to_owned(), folder(&[]))),
    );
    assert!(findings(index, &twice).join("\n").contains("one topic twice"));
    let bad = BTreeMap::from([("speed".to_owned(), folder(&[]))]);
    assert_eq!(findings(index, &bad), ["speed: is not named <date>-<topic>"]);
}
