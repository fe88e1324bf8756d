//! The part of SLMB for Linux that works on one page, compiled here, with free blocks whose headers were overwritten.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Parts of `mm/slmb.c` that work on one page: each from its first line up to the first of what follows.
const PARTS: [(&str, &str); 4] = [
    ("/* Lengths and offsets inside a page", "static unsigned int slmb_class("),
    ("static struct slmb_block *slmb_block(", "/*\n * Pages\n"),
    ("/* Makes a page from the page allocator one of", "/* Frees a page that slmb_give()"),
    ("/*\n * Blocks: the caller holds the lock", "static bool slmb_suits("),
];

#[test]
fn a_damaged_header_ends_no_search_late_and_gives_nothing_beyond_the_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel/patches/6.1/slmb");
    let patch = fs::read_to_string(folder.join("mm-slmb.patch")).unwrap();
    let (_, file) = patch.split_once("+++ b/mm/slmb.c\n").unwrap();
    let source: Vec<&str> = file.lines().filter_map(|line| line.strip_prefix('+')).collect();
    let source = source.join("\n");
    let part = |(from, to): (&str, &str)| {
        let start = source.find(from).unwrap_or_else(|| panic!("no {from}"));
        let bytes = source[start..].find(to).unwrap_or_else(|| panic!("no {to}"));
        &source[start..start + bytes]
    };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("slmb_part.h"), PARTS.map(part).concat()).unwrap();
    let program = dir.path().join("header_fuzz");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize=alignment", "-w"]);
    let status = compiler.arg("-I").arg(dir.path()).arg("-o").arg(&program);
    assert!(status.arg(folder.join("header_fuzz.c")).status().unwrap().success());
    let out = Command::new(&program).arg("20000").output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    let number = |name: &str| -> u64 {
        let word = said.split_ascii_whitespace().find_map(|word| word.strip_prefix(name));
        word.unwrap().parse().unwrap()
    };
    // Some damage leaves a header that can be right.
    let (damaged, found) = (number("damaged="), number("found="));
    assert!(damaged > 5_000 && found * 2 > damaged, "{said}");
}
