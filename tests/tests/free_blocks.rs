//! What `slablab info` says of free lists of pages as people paste them.

use std::fs;
use std::path::Path;

use slablab_tests::{refusal, run, stdout};

/// Writes a text and returns what `info` says of it, in words and as data.
fn info(folder: &Path, text: &str) -> (String, serde_json::Value) {
    let path = folder.join("paste");
    fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();
    let said: Vec<String> =
        stdout(&["info", file, "--all"]).split_whitespace().map(str::to_owned).collect();
    let data = stdout(&["info", file, "--format", "json"]);
    (said.join(" "), serde_json::from_str(&data).unwrap())
}

/// What the kernel logs when it finds no block of order 4.
fn failure() -> String {
    let none = |orders: std::ops::Range<u32>| -> String {
        orders.map(|order| format!("0*{}kB ", 4 << order)).collect()
    };
    [
        "page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null)"
            .to_owned(),
        "Node 0 DMA free:15360kB boost:0kB min:28kB low:40kB high:52kB".to_owned(),
        format!("Node 0 DMA: {}1*1024kB (U) 1*2048kB (M) 3*4096kB (M) = 15360kB", none(0..8)),
        format!(
            "Node 0 Normal: 9120*4kB (UMEH) 3500*8kB (UME) 12*16kB (UM) {}= 64672kB",
            none(3..11)
        ),
    ]
    .iter()
    .map(|line| format!("[12345.678] {line}\n"))
    .collect()
}

#[test]
fn a_failed_allocation_in_a_log_is_told_as_fragmentation_where_memory_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let (said, data) = info(folder.path(), &failure());
    assert!(said.contains("78.16 MiB are free; the largest block has 4 MiB (order 10)"), "{said}");
    assert!(said.contains("No block of 32 KiB (order 3) is free in Normal of node 0;"), "{said}");
    assert!(said.contains("63.16 MiB in smaller ones"), "{said}");
    assert!(!said.contains("are taken"), "{said}");
    assert_eq!(data["schema"], "slablab.free-blocks/1");
    assert_eq!(data["free_bytes"], (15_360 + 64_672) * 1024);
    assert_eq!(data["lists"][1]["largest_bytes"], 16 << 10);
}

#[test]
fn the_running_machines_lists_add_up_to_what_it_says_is_free() {
    let text = fs::read_to_string("/proc/buddyinfo").unwrap_or_default();
    if text.is_empty() {
        return println!("SKIPPED: no /proc/buddyinfo");
    }
    let rows = text.lines().map(|line| {
        let counts = line.split_whitespace().skip(4).map(|word| word.parse::<u64>().unwrap());
        counts.enumerate().map(|(order, count)| count << order).sum::<u64>()
    });
    let pages: u64 = rows.sum();
    let folder = tempfile::tempdir().unwrap();
    for dress in [text.clone(), text.lines().map(|line| format!("> {line}\n")).collect()] {
        let (said, data) = info(folder.path(), &dress);
        assert_eq!(data["free_bytes"], pages * data["page_bytes"].as_u64().unwrap());
        assert_eq!(data["lists"].as_array().unwrap().len(), text.lines().count());
        assert!(said.contains("The text does not tell how large a page is"), "{said}");
    }
}

#[test]
fn a_list_of_caches_beside_free_lists_keeps_its_answer_and_has_them_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let caches = "[12345.690] Unreclaimable slab info:\n[12345.691] Name                      Used          Total\n\
        [12345.692] session_ctx         782000KB     790000KB\n[12345.693] kmalloc-64            1200KB       1400KB\n";
    let (said, data) = info(folder.path(), &format!("{}{caches}", failure()));
    assert_eq!(data["schema"], "slablab.holding/1");
    assert_eq!(data["free"]["lists"].as_array().unwrap().len(), 2);
    assert!(said.starts_with("session_ctx"), "{said}");
    assert!(said.contains("No block of 32 KiB (order 3)"), "{said}");
    assert!(said.contains("Free blocks by order"), "{said}");
}

/// A machine of 1 GiB that has run for long.
const AGED: &str = include_str!("../data/aged.txt");

/// A text whose lists have more than the zone was replayed as if it were a machine's, and a refusal did not name the file.
#[test]
fn a_question_about_an_aged_machine_wants_the_texts_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aged");
    let file = path.to_str().unwrap();
    let words = ["whatif", "traces/boot.parquet", "--max-order", "0", "--aged", file];
    fs::write(&path, AGED).unwrap();
    assert!(stdout(&words).contains("are free in blocks of order 9 or more"));
    let forged = [
        (" 9000 ", " 9000000000000000000 ", "has 9000000000000"),
        ("managed  262144", "managed  2621", "and 2621 in all"),
    ];
    for (from, to, expected) in forged {
        fs::write(&path, AGED.replace(from, to)).unwrap();
        let said = refusal(&words);
        assert!(said.contains(file) && said.contains(expected), "{said}");
    }
}

/// Whether a driver's buffer can be had on a machine that has run for long, and what to call. kvmalloc was advised for 2 GiB,
/// which it refuses, and at moments without the pages for it.
#[test]
fn fit_says_whether_a_block_of_an_order_can_be_had_and_what_to_call() {
    let ask = |order: &str| {
        run(&["fit", "traces/boot.parquet", "--order", order, "--aged", "tests/data/aged.txt"])
    };
    let said = |order: &str, status: i32| {
        let output = ask(order);
        assert_eq!(output.status.code(), Some(status), "order {order}");
        String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let has = said("8", 0);
    for words in [
        "A block of 1.00 MiB (order 8) could be had at once at each of 32 moments.",
        "Call kmalloc if the memory has to be contiguous",
        "begins with the free lists of tests/data/aged.txt",
    ] {
        assert!(has.contains(words), "{words}: {has}");
    }
    let none = said("10", 1);
    assert!(none.contains("could be had at once at none of 32 moments"), "{none}");
    assert!(none.contains("Call kvmalloc: the pages for it could be had at each moment"), "{none}");
    let beyond = said("11", 1);
    assert!(beyond.contains("No block of 8.00 MiB (order 11) exists on this machine"), "{beyond}");
    // The machine has 1 GiB.
    for order in ["18", "19", "20"] {
        let none = said(order, 1);
        assert!(none.contains("Nothing that the kernel has can be called for it"), "{none}");
        assert!(!none.contains("Call kvmalloc") && !none.contains("Call vmalloc"), "{none}");
    }
    let words = ["fit", "traces/boot.parquet", "--order", "8"];
    assert!(refusal(&words).contains("record with --pages, or name the free lists"));
    let part = [&words[..], &["--cache", "dentry"]].concat();
    assert!(refusal(&part).contains("leave out what chooses a part of the trace"));
}
