//! Every table and every plot as a file: a change of appearance is a change of these files, and has to
//! be looked at.
//!
//! `SLABLAB_BLESS=1 cargo test -p slablab-report` writes them anew.

mod common;

use std::fs;
use std::path::Path;

use slablab_report::{
    Document, Item, Map, Maps, Palette, Plot, Section, Shown, Style, Terminal, Width, csv,
    markdown, terminal,
};

fn golden(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("SLABLAB_BLESS").is_some() {
        fs::write(&path, got).expect("the source tree can be written");
        return;
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    let differs = got.lines().zip(want.lines()).position(|(g, w)| g != w);
    assert!(
        got == want,
        "{} differs from line {} on; look at it, then SLABLAB_BLESS=1",
        path.display(),
        differs.map_or(got.lines().count().min(want.lines().count()), |line| line) + 1
    );
}

fn both_widths(name: &str, plot: &Plot) {
    for (suffix, width) in [("wide", Width::Wide), ("narrow", Width::Narrow)] {
        let svg = plot.svg(width, &mut Palette::default()).unwrap();
        golden(&format!("{name}-{suffix}.svg"), &svg);
    }
}

#[test]
fn tables() {
    let table = common::comparisons();
    let items = vec![Item::Comparisons(vec![table.clone()])];
    let sections = vec![Section::first("comparisons", "", items)];
    let document = Document { sections, ..Document::default() };
    let view = Terminal { columns: None, style: Style::Plain, shown: Shown::First, rows: None };
    golden("comparisons.txt", &terminal(&document, &view).unwrap());
    golden("comparisons.md", &markdown(&document, &Shown::First, None).unwrap());
    golden("comparisons.csv", &csv(&document, &Shown::First).unwrap());
    golden("comparisons-mmtests.txt", &table.mmtests());
    golden("sentences.txt", &(table.sentences().join("\n") + "\n"));
}

#[test]
fn plots() {
    both_widths("strip", &common::strip(common::groups()));
    both_widths("memory", &common::memory());
    both_widths("scaling", &common::scaling());
    both_widths("fragmentation", &common::fragmentation());
    both_widths("addresses", &common::addresses());
    both_widths("lifetimes", &common::lifetimes());
    both_widths("slabs", &common::slabs());
    both_widths("maps", &maps());
    both_widths("waterfall", &common::waterfall());
    both_widths("effects", &common::comparisons().effects().unwrap());
}

#[test]
fn flame_graph() {
    let flame = common::flame();
    golden("flame.svg", &flame.svg());
    golden("flame.folded", &flame.folded());
}

#[test]
fn a_page_is_small_and_asks_nobody() {
    let page = slablab_report::html(&common::document(3_000)).unwrap();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    // Namespaces are names, not addresses.
    let links = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!links.contains(word), "the page has {word}");
    }
    assert!(
        page.contains("SLOB &#38; SLMB") || page.contains("SLOB &amp; SLMB"),
        "names are escaped"
    );
    assert!(
        page.contains("layer&lt;3&gt;") || page.contains("layer&#60;3&#62;"),
        "frames are escaped"
    );
    if let Some(file) = std::env::var_os("SLABLAB_SAMPLE") {
        fs::write(file, page).expect("the sample can be written");
    }
}

#[test]
fn a_plot_without_values_says_so() {
    let error = common::strip(Vec::new()).svg(Width::Wide, &mut Palette::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the plot 'hackbench, 4 groups: time of every run' has nothing to show"
    );
}

/// Page blocks of a small machine, free at first and then taken from below.
fn maps() -> Plot {
    let map = |name: &str, taken: usize| Map {
        name: name.into(),
        cells: (0..150)
            .map(|i| match i {
                i if i >= taken => ("free".to_owned(), 1.0),
                i if i % 7 == 0 => ("slabs".to_owned(), 0.4),
                _ => ("movable".to_owned(), 0.7),
            })
            .collect(),
    };
    let maps = vec![map("0 s", 20), map("5 s", 101)];
    let maps = Maps { label: "moment".into(), cell_bytes: 2 << 20, maps };
    Plot::new("Page blocks", "Made up.", maps)
}
