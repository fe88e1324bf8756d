//! `slablab insmod` on modules written as books on drivers and on the kernel write them: each is used as a reader would
//! use it, for three kernels, and nothing may be found.

use slablab_tests::module::{lines, told};
use slablab_tests::run;

const RELEASES: [&str; 3] = ["6.1", "6.12", "7.3"];

/// Runs a module of `crates/kapi/tests/books/` with steps; it has to print these lines.
#[track_caller]
fn prints(module: &str, steps: &[&str], expected: &[&str]) {
    let path = format!("crates/kapi/tests/books/{module}.c");
    for release in RELEASES {
        let mut words = vec!["insmod", &*path, "--check", "2", "--kernel-version", release];
        words.extend(steps.iter().flat_map(|step| ["--do", step]));
        let output = run(&words);
        assert_eq!(lines(&output), expected, "{module} for {release}: {}", told(&output));
        assert_eq!(output.status.code(), Some(0), "{module} for {release}: {}", told(&output));
    }
}

#[test]
fn a_bus_brings_its_drivers_and_devices_together() {
    prints(
        "own_bus",
        &[
            "cat /sys/bus/line/version",
            "cat /sys/bus/line/drivers/unit/version",
            "cat /sys/devices/line/unit0/number",
        ],
        &[
            "line: probed unit0",
            "line: 2 devices, bound 1 0",
            "do: cat /sys/bus/line/version = 9: bus line",
            "do: cat /sys/bus/line/drivers/unit/version = 11: driver 2.1",
            "do: cat /sys/devices/line/unit0/number = 6: 240:0",
            "line: removed unit0",
            "line: the bus device goes",
        ],
    );
}

#[test]
fn sizes_pages_areas_and_a_cache_are_as_the_book_has_them() {
    let at = |function: &str, text: &str| format!("slab_wastage:{function}(): {text}");
    let mut expected: Vec<String> = [(100, 128, 21), (2300, 4096, 43), (4500, 8192, 45)]
        .iter()
        .map(|(size, room, share)| {
            at("wastage_init", &format!("kmalloc({size}): {room}, wastage {share}%"))
        })
        .collect();
    expected.push(at("wastage_init", "kmalloc(6700): 8192, wastage 18%"));
    expected.push(at("wastage_init", "kmalloc(8900): 16384, wastage 45%"));
    expected.push(at("use_pages", "pages: valid 1, frame 1, same 1"));
    let dump = "one: 00000000: 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78 78  xxxxxxxxxxxxxxxx";
    expected.extend([dump.to_owned(), dump.to_owned()]);
    expected.push(at("use_areas", "areas: is vmalloc 1 1"));
    expected.push(at("use_cache", "cache: 328 bytes, constructed 1, config 1"));
    expected.push(at("wastage_exit", "bye"));
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    prints("slab_wastage", &[], &expected);
}

#[test]
fn a_file_for_one_opener_lets_the_others_wait() {
    prints(
        "one_opener",
        &[
            "write /proc/one hello",
            "open a /proc/one r",
            "! open b /proc/one r nonblock",
            "read a",
            "close a",
            "cat /proc/one",
        ],
        &[
            "one: the key is on",
            "one: no terminal",
            "do: write /proc/one hello = 5",
            "do: open a /proc/one r = 0",
            "do: ! open b /proc/one r nonblock = -11 (Resource temporarily unavailable)",
            "do: read a = 5: hello",
            "do: close a = 0",
            "do: cat /proc/one = 5: hello",
        ],
    );
}
