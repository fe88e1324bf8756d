//! Every console block of the README and of the book is run, and has to print what it shows (`slablab_tests::shown`).
//!
//! Blocks marked `console kernel` build and boot kernels; `make test-boot` runs them. The Rust blocks are tests of this
//! package's library.

use slablab_tests::shown::{commands, run};

#[test]
fn every_block_prints_what_it_shows() {
    let shown = commands("README.md", "```console");
    assert!(shown.len() >= 8, "the README shows how to use the command: {shown:#?}");
    run(shown);
}

#[test]
#[ignore = "builds and boots kernels; make test-boot"]
fn every_block_with_a_kernel_prints_what_it_shows() {
    let shown = commands("README.md", "```console kernel");
    assert!(!shown.is_empty());
    run(shown);
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
