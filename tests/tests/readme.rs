//! Every console block of the README and of the book is run, and has to print what it shows (`slablab_tests::shown`).
//!
//! Blocks marked `console kernel` build and boot kernels; `make test-boot` runs them. The Rust blocks of the book are tests of
//! this package's library.

use slablab_tests::shown::{commands, run};

#[test]
fn every_block_prints_what_it_shows() {
    let shown = commands("README.md", "```console");
    assert!(shown.len() >= 3, "the README shows how to use the command: {shown:#?}");
    run(shown);
}

#[test]
fn the_readme_is_short_and_its_first_screen_shows_results() {
    let text = read("README.md");
    assert!(text.lines().count() <= 120, "{} lines", text.lines().count());
    let dots = text.lines().take(40).position(|line| line.trim() == "...");
    assert_eq!(dots, None, "a result is left out on the first screen");
    assert!(text.lines().take(40).any(|line| line.starts_with("$ slablab")));
}

/// Figures in the table of how true it is stand in the result that the row links.
#[test]
fn figures_of_the_readme_stand_in_the_results_that_it_links() {
    let text = read("README.md");
    let rows =
        text.lines().filter(|line| line.starts_with("| ") && line.contains("](bench/results/"));
    let mut figures = 0;
    for row in rows {
        let link = row.split("](").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
        let result = read(&format!("{link}README.md")).replace(',', "");
        let words = row.split("](").next().unwrap();
        for word in words.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')) {
            let figure = word.trim_matches(['.', ',']).replace(',', "");
            if figure.is_empty() {
                continue;
            }
            assert!(result.contains(&figure), "{link}: {figure} is not in it");
            figures += 1;
        }
    }
    assert!(figures >= 12, "{figures}");
}

fn read(file: &str) -> String {
    std::fs::read_to_string(slablab_tests::root().join(file)).unwrap()
}

/// The chapters of the book that show commands.
const CHAPTERS: [&str; 9] = [
    "book/advise.md",
    "book/holding.md",
    "book/insmod.md",
    "book/lab.md",
    "book/leaks.md",
    "book/other-tools.md",
    "book/pages.md",
    "book/record.md",
    "book/replay.md",
];

#[test]
fn every_chapter_of_the_book_prints_what_it_shows() {
    for chapter in CHAPTERS {
        let shown = commands(chapter, "```console");
        assert!(!shown.is_empty(), "{chapter}");
        run(shown);
    }
}

/// The walks of the book, each to its end.
const WALKS: [&str; 3] = ["book/driver.md", "book/board.md", "book/upgrade.md"];

#[test]
fn every_walk_of_the_book_prints_what_it_shows() {
    for walk in WALKS {
        let shown = commands(walk, "```console");
        assert!(shown.len() >= 3, "{walk} is a walk of several steps: {shown:#?}");
        run(shown);
    }
}

#[test]
#[ignore = "builds and boots kernels; make test-boot"]
fn every_walk_with_a_kernel_prints_what_it_shows() {
    for walk in WALKS {
        let shown = commands(walk, "```console kernel");
        assert!(!shown.is_empty(), "{walk} ends in a real kernel");
        run(shown);
    }
}
