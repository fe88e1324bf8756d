//! `slablab insmod`: the maple tree against a map of ranges, under threads, as a driver uses it, and Linux's own tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use slablab_tests::module::{insmod, lines, prints, sources, told};
use slablab_tests::{root, run};

/// `MT_FLAGS_ALLOC_RANGE`.
const ALLOC_RANGE: u32 = 1;
const KEYS: u64 = 3000;
const NONE: i64 = -1;

/// What a maple tree is: ranges by their last index, each with its first one and its value.
#[derive(Default)]
struct Model {
    ranges: BTreeMap<u64, (u64, i64)>,
}

impl Model {
    /// The range in which an index lies, with an entry or without.
    fn at(&self, index: u64) -> (i64, u64, u64) {
        let below = self.ranges.range(..index).next_back().map_or(0, |(last, _)| last + 1);
        match self.ranges.range(index..).next() {
            Some((&last, &(first, value))) if first <= index => (value, first, last),
            Some((_, &(first, _))) => (NONE, below, first - 1),
            None => (NONE, below, u64::MAX),
        }
    }

    fn store(&mut self, first: u64, last: u64, value: i64) {
        for index in [Some(first), last.checked_add(1)].into_iter().flatten() {
            let (value, start, end) = self.at(index);
            if value != NONE && start < index {
                self.ranges.insert(index - 1, (start, value));
                self.ranges.insert(end, (index, value));
            }
        }
        self.ranges.retain(|&end, &mut (start, _)| end < first || start > last);
        if value != NONE {
            self.ranges.insert(last, (first, value));
        }
    }

    fn next(&self, index: u64) -> Option<(i64, u64, u64)> {
        let (&last, &(first, value)) = self.ranges.range(index..).next()?;
        Some((value, first, last))
    }

    fn prev(&self, index: u64) -> Option<(i64, u64, u64)> {
        let (&last, &(first, value)) = self.ranges.range(..index).next_back()?;
        Some((value, first, last))
    }

    /// The lowest or the highest place in a window for `size` indices.
    fn gap(&self, low: u64, high: u64, size: u64, is_high: bool) -> Result<u64, i64> {
        if low > high || high - low < size - 1 {
            return Err(-22);
        }
        let mut gaps = Vec::new();
        let mut index = low;
        while index <= high {
            let (value, first, last) = self.at(index);
            let (first, end) = (first.max(low), last.min(high));
            if value == NONE && end - first >= size - 1 {
                gaps.push(if is_high { end + 1 - size } else { first });
            }
            if last >= high {
                break;
            }
            index = last + 1;
        }
        let found = if is_high { gaps.last() } else { gaps.first() };
        found.copied().ok_or(-16)
    }
}

/// The same draws, changes and lookups as the module's, and the lines that it is to print.
struct Run {
    seed: u64,
    model: Model,
    text: String,
}

impl Run {
    fn draw(&mut self, below: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 11) % below
    }

    fn tell(&mut self, what: &str, result: i64, index: u64, last: u64) {
        writeln!(self.text, "{what} {result} {index} {last}").unwrap();
    }

    fn tell_found(&mut self, what: &str, found: Option<(i64, u64, u64)>) {
        let (value, first, last) = found.unwrap_or((NONE, 0, 0));
        self.tell(what, value, first, last);
    }

    fn walk_all(&mut self) {
        let sum = |sum: u64, (&last, &(first, value)): (&u64, &(u64, i64))| {
            let add = first.wrapping_mul(7).wrapping_add(last.wrapping_mul(3));
            sum.wrapping_mul(31).wrapping_add(add.wrapping_add(value as u64))
        };
        let count = self.model.ranges.len() as i64;
        let up = self.model.ranges.iter().fold(0, sum);
        let down = self.model.ranges.iter().rev().fold(0, sum);
        self.tell("up", count, up, 0);
        self.tell("down", count, down, 0);
    }

    fn alloc(&mut self, what: &str, window: (u64, u64), size: u64, value: i64) {
        match self.model.gap(window.0, window.1, size, what == "high") {
            Ok(at) => {
                self.model.store(at, at + size - 1, value);
                self.tell(what, 0, at, 0);
            }
            Err(error) => self.tell(what, error, 0, 0),
        }
    }

    fn change(&mut self, what: u64, (first, last): (u64, u64), value: i64, flags: u32, keys: u64) {
        let allocates = flags & ALLOC_RANGE != 0;
        match what {
            0..=4 => {
                self.model.store(first, last, value);
                self.tell("store", 0, first, last);
            }
            5 => {
                self.model.store(first, last, NONE);
                self.tell("clear", 0, first, last);
            }
            6 => {
                let (there, _, end) = self.model.at(first);
                let is_free = there == NONE && end >= last;
                if is_free {
                    self.model.store(first, last, value);
                }
                self.tell("insert", if is_free { 0 } else { -17 }, first, last);
            }
            7 => {
                let (value, start, end) = self.model.at(first);
                if value != NONE {
                    self.model.store(start, end, NONE);
                }
                self.tell("erase", value, first, 0);
            }
            8 if allocates => self.alloc("low", (first / 2, keys), last - first + 1, value),
            9 if allocates => self.alloc("high", (first / 2, keys), last - first + 1, value),
            _ => {}
        }
    }

    fn look(&mut self, what: u64, first: u64, last: u64) {
        let (value, start, end) = self.model.at(first);
        match what {
            0 => self.tell("load", value, first, 0),
            1 => match self.model.next(first).filter(|found| found.1 <= last) {
                Some((value, _, end)) => self.tell("find", value, end + 1, last),
                None => self.tell("find", NONE, first, last),
            },
            2 => {
                self.tell("walk", value, start, end);
                let (next, from, to) = match end {
                    u64::MAX => (NONE, start, end),
                    _ => self.model.at(end + 1),
                };
                self.tell("next", next, from, to);
            }
            3 => {
                let found = self.model.prev(start);
                self.tell_found("prev", found);
                // From there up again; where nothing was below, what the state stands at is the first that comes.
                let back = match found {
                    Some((_, _, last)) => self.model.next(last + 1),
                    None => self.model.next(0),
                };
                self.tell_found("back", back);
            }
            4 => {
                let found = self.model.gap(first, last + 500, 20, false);
                self.tell("gap", found.err().unwrap_or(0), 0, 0);
            }
            _ => match self.model.gap(first, last + 500, 20, true) {
                Ok(at) => self.tell("gap_rev", 0, at, at + 19),
                Err(_) => self.tell("gap_rev", 0, 0, 0),
            },
        }
    }
}

/// Returns what the module is to print.
fn expected(seed: u64, steps: u64, flags: u32, spread: u64) -> String {
    let mut run = Run { seed, model: Model::default(), text: String::new() };
    for i in 0..steps {
        let (first, what) = (run.draw(KEYS) * spread, run.draw(20));
        let below = if run.draw(8) == 0 { 900 } else { 12 };
        let (last, value) = (first + run.draw(below) * spread, i as i64);
        if what < 10 {
            run.change(what, (first, last), value, flags, KEYS * spread);
        } else if what == 10 {
            let value = if run.draw(3) == 0 { NONE } else { value };
            run.model.store(first, last, value);
            run.tell("prepare", 0, first, last);
            let behind = last.checked_add(1).and_then(|index| run.model.next(index));
            run.tell_found("behind", behind);
        } else {
            run.look(what % 6, first, last);
        }
        if i % 50 == 0 {
            run.walk_all();
        }
        if i % 700 == 699 {
            run.model.ranges.clear();
            run.tell("empty", 0, 1, 0);
        }
    }
    run.walk_all();
    run.text
}

/// Changes and lookups at random give what a map of ranges gives, in all kinds of trees, and the tree stays whole.
#[test]
fn a_maple_tree_is_a_map_of_ranges() {
    let steps = std::env::var("SLABLAB_MAPLE_STEPS").map_or(4000, |text| text.parse().unwrap());
    for (seed, flags, spread, version) in [
        (1, 0, 1, "6.1"),
        (20_201_127, 1, 1, "6.12"),
        (3, 2, 1, "7.3"),
        (4, 3, 1 << 40, "6.12"),
        (5, 1, 1 << 50, "7.3"),
        (6, 3, 3, "6.1"),
    ] {
        let words = [
            format!("seed={seed}"),
            format!("steps={steps}"),
            format!("flags={flags}"),
            format!("spread={spread}"),
        ];
        let mut all = vec!["--kernel-version", version];
        all.extend(words.iter().map(String::as_str));
        let output = insmod("maple_model", &all);
        let printed = lines(&output);
        let expected = expected(seed, steps, flags, spread);
        let differs = printed.iter().zip(expected.lines()).position(|(a, b)| a != b);
        assert_eq!(differs.map(|i| (i, &printed[i], expected.lines().nth(i))), None, "{words:?}");
        assert_eq!(printed.len(), expected.lines().count(), "{words:?}: {}", told(&output));
        assert_eq!(output.status.code(), Some(0), "{words:?}");
    }
}

/// Windows of a device's memory are given out, found by any address, divided and freed; ids come around.
#[test]
fn a_driver_gives_ranges_out_and_finds_them() {
    let printed = [
        "windows: too large of 524288 bytes: -16",
        "windows: 0x10000 is registers",
        "windows: 0x2fff0 is frames",
        "windows: 0x8ffff is free",
        "windows: three",
        "windows: registers at 0x10000, 4096 bytes",
        "windows: ring at 0x11000, 65536 bytes",
        "windows: frames at 0x21000, 262144 bytes",
        "windows: split 0",
        "windows: erased ring of 28672 bytes",
        "windows: twice -17",
        "windows: four",
        "windows: registers at 0x10000, 4096 bytes",
        "windows: small at 0x11000, 8192 bytes",
        "windows: ring's end at 0x18000, 36864 bytes",
        "windows: frames at 0x21000, 262144 bytes",
        "windows: highest gap 0 at 0x8c000-0x8ffff",
        "windows: behind 0x30000 at 0x61000",
        "windows: before that at 0x21000",
        "ids: 0, 1",
        "ids: 0, 2",
        "ids: 0, 3",
        "ids: 1, 2",
        "ids: 1, 1",
    ];
    for version in ["6.1", "6.12", "7.3"] {
        prints("maple_demo", &["--kernel-version", version], &printed);
        prints("maple_demo", &["--kernel-version", version, "--check", "2"], &printed);
    }
}

/// The tree's nodes are objects of a cache: one that is not destroyed leaves them, from the module's line.
#[test]
fn a_maple_tree_that_is_left_is_a_leak_of_nodes() {
    let output = insmod("maple_demo", &["--check", "2", "forgets=1"]);
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("maple_node of 256 bytes"), "{told}");
    assert!(told.contains("maple_demo.c:"), "{told}");
}

/// Linux's own test of the interface, as it is.
#[test]
fn linuxs_test_of_the_maple_tree_passes() {
    for version in ["6.1", "6.12", "7.3"] {
        let file = "lib/test_maple_tree.c";
        let Some(folder) = sources(version, std::iter::once(file)) else { continue };
        let path = folder.path().join(file);
        let output = run(&["insmod", "--kernel-version", version, path.to_str().unwrap()]);
        let told = told(&output);
        let passed = told.lines().find_map(|line| {
            let (passed, run) = line.strip_prefix("maple_tree: ")?.split_once(" of ")?;
            Some(passed != "0" && run.starts_with(passed))
        });
        assert_eq!((passed, output.status.code()), (Some(true), Some(0)), "{version}: {told}");
    }
}

/// Runs a script of the folder with the tree's tests in a process of its own.
fn script(name: &str, words: &[&str]) -> (String, bool) {
    let script = root().join("crates/kapi/tests/maple").join(name);
    let output = Command::new(script).args(words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (text.into_owned(), output.status.success())
}

/// The cases that Linux runs outside of the kernel, but for those that look into its nodes or race against the clock.
#[test]
fn linuxs_cases_of_the_maple_tree_pass() {
    for version in ["6.12", "7.3"] {
        let files = ["lib/test_maple_tree.c", "tools/testing/radix-tree/maple.c"];
        let Some(folder) = sources(version, files.into_iter()) else { continue };
        let work = tempfile::tempdir().unwrap();
        let words = [folder.path().to_str().unwrap(), version, work.path().to_str().unwrap()];
        let (text, passed) = script("cases.sh", &words);
        let last = text.lines().last();
        assert!(passed && last.is_some_and(|line| line.starts_with("maple cases: ")), "{last:?}");
    }
}

/// Readers without a lock beside writers, under ThreadSanitizer where the compiler has it.
#[test]
fn readers_of_a_maple_tree_meet_no_torn_change() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("races");
    let (words, flag) = (["races", program.to_str().unwrap()], "-fsanitize=thread");
    let (text, is_built) = script("build.sh", &[&words[..], &[flag]].concat());
    if !is_built {
        eprintln!("not run under ThreadSanitizer: {text}");
        assert!(script("build.sh", &words).1);
    }
    for word in [&[][..], &["plain"]] {
        let output = Command::new(&program).args(word).output().unwrap();
        let text = told(&output);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.trim_end(), "maple races: wrong 0, nodes left 0, walked 1");
    }
}
