//! `slablab insmod`: memory beyond blocks of a slab: shrinkers, mapped pages, pieces of pages, pools and allocators over
//! them, what goes with a device.

use slablab_tests::module::{insmod, lines, prints, told};

/// Versions on both sides of what changed: shrinkers in 6.7, lists by use in 6.8 and 6.13, drivers in 6.11.
const VERSIONS: [&str; 3] = ["6.1", "6.12", "7.3"];

#[test]
fn shrinkers_give_memory_back_when_it_is_out() {
    for version in VERSIONS {
        let printed = [
            "filled 0, shrunk 1, nearly all memory 1",
            "without FS -12, shrunk 0",
            "atomic -12, shrunk 0",
            "left 0",
        ];
        let words = ["--memory", "16M", "--kernel-version", version];
        let words = [&words[..], &["--write", "/proc/sys/vm/drop_caches=6"]].concat();
        prints("shrinker_demo", &words, &printed);
    }
}

#[test]
fn a_shrinker_that_keeps_all_is_out_of_memory() {
    let printed = told(&insmod("shrinker_demo", &["keep=1", "--memory", "16M"]));
    assert!(printed.contains("filled -12, shrunk 0, nearly all memory 1"), "{printed}");
}

#[test]
fn lists_by_use_are_walked_by_their_shrinker() {
    for version in VERSIONS {
        let words = ["--check", "2", "--kernel-version", version];
        // Those used lately are turned over, and go in the next rounds: the last round frees one at most.
        let words = [&words[..], &["--write", "/proc/sys/vm/drop_caches=6"]].concat();
        prints("list_lru_demo", &words, &["count 1000", "at exit 0"]);
    }
    let words = ["--write", "/proc/sys/vm/drop_caches=2"];
    let printed = told(&insmod("list_lru_demo", &words));
    assert!(printed.contains("drop_caches: 2"), "{printed}");
    let printed = told(&insmod("list_lru_demo", &["--write", "/proc/sys/vm/drop_caches=9"]));
    assert!(printed.contains("at exit 1000"), "{printed}");
}

#[test]
fn mapped_pages_are_the_pages() {
    let printed = ["page 0", "page 1", "page 2", "page 3", "1 1", "wrapped|pped"];
    for version in VERSIONS {
        prints("vmap_demo", &["--check", "2", "--kernel-version", version], &printed);
    }
    let leak = told(&insmod("vmap_demo", &["leak=1", "--check", "2"]));
    assert!(leak.contains("vmap of 16384 bytes") && leak.contains("vm_init+"), "{leak}");
    let wrong = told(&insmod("vmap_demo", &["leak=2", "--check", "2"]));
    assert!(wrong.contains("freed by vfree, not by vunmap"), "{wrong}");
}

#[test]
fn what_a_device_has_goes_with_it() {
    for version in VERSIONS {
        let words = ["--check", "2", "--kernel-version", version];
        let write = ["--write", "/sys/devices/platform/unit.3/x=9"];
        let read = ["--cat", "/sys/devices/platform/unit.3/x"];
        let output = insmod("platform_demo", &[&words[..], &write, &read].concat());
        let lines = lines(&output);
        assert_eq!(output.status.code(), Some(0), "{lines:?}");
        assert_eq!(lines[0], "unit unit.3: block 1 1", "{lines:?}");
        assert_eq!(lines[1], "unit unit.3: sram 0 avail 8064 of 8192");
        assert!(lines[2].starts_with("unit unit.3: probed unit-3 0x"), "{lines:?}");
        assert_eq!(lines[3..], ["9", "unit unit.3: removed", "action unit-3"]);
        let failed = told(&insmod("platform_demo", &[&words[..], &["fail=1"]].concat()));
        let text = if version == "6.1" {
            "unit: probe of unit.3 failed with error -5"
        } else {
            "unit unit.3: probe with driver unit failed with error -5"
        };
        assert!(failed.contains(text) && failed.contains("action unit-3"), "{failed}");
        assert!(!failed.contains("live after exit"), "{failed}");
    }
}

#[test]
fn pieces_of_pages_hold_their_block() {
    for version in VERSIONS {
        let words = ["--check", "2", "--kernel-version", version];
        prints("page_frags", &words, &["1 2 16384 1", "count 1", "0"]);
    }
    let leak = told(&insmod("page_frags", &["leak=1", "--check", "2"]));
    assert!(leak.contains("32768 bytes in 1 blocks") && leak.contains("f_init+"), "{leak}");
}

#[test]
fn a_device_by_name_has_sleepable_readers_counters_and_pools() {
    for version in VERSIONS {
        let words = ["--check", "2", "--kernel-version", version];
        let files = ["--write", "/dev/scribble=hello", "--cat", "/dev/scribble"];
        let number = ["--cat", "/sys/class/misc/scribble/dev"];
        let printed = [
            "reader saw 1",
            "misc scribble: ready, hits 105 sum 106 cmp 0",
            "hello",
            "10:126",
            "freed 1",
        ];
        prints("misc_demo", &[&words[..], &files, &number].concat(), &printed);
    }
}

/// A check used to make `ksize()` of a block what was asked for, and its neighbours other ones.
#[test]
fn a_check_changes_no_answer() {
    for version in ["6.1", "6.12", "7.3"] {
        let answers = |check: &str| {
            let output = insmod("answers", &["--check", check, "--kernel-version", version]);
            assert_eq!(output.status.code(), Some(0), "{}", told(&output));
            lines(&output)
        };
        let unchecked = answers("0");
        assert!(unchecked.contains(
            &"kmalloc 100: ksize 128, aligned 1 1, last freed comes first 1 1".to_owned()
        ));
        // It was 40 bytes, which no kernel with SLUB says of an aligned cache.
        let aligned =
            "cache of 40: size 40, ksize 64, aligned 1, 6 of 6 come in the order of a stack";
        assert!(unchecked.contains(&aligned.to_owned()), "{unchecked:?}");
        assert_eq!(unchecked.len(), 29);
        assert_eq!(answers("1"), unchecked, "{version}");
        assert_eq!(answers("2"), unchecked, "{version}");
    }
}
