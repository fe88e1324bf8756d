//! `slablab record --pages`, `stat --pages` and `replay --pages`: what the page allocator does beside giving pages.

use std::process::Command;

use slablab_tests::{refusal, root, shown, stdout};

/// Where everything can be compacted at once.
const COMPACT: &str = "/proc/sys/vm/compact_memory";

/// Wants root and tracefs; says so elsewhere.
#[test]
fn a_program_that_compacts_memory_is_named_with_how_long_it_took() {
    if !shown::is_root() || !std::path::Path::new(COMPACT).exists() {
        return println!("SKIPPED: this wants root, and a kernel that compacts");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (trace, again) = (file("t.parquet"), file("again.parquet"));
    let program = format!("echo 1 > {COMPACT}");
    _ = stdout(&["record", "--pages", "-o", &trace, "--", "sh", "-c", &program]);
    _ = stdout(&["import", &trace, "-o", &again]);
    for trace in [&trace, &again] {
        let text = stdout(&["stat", "--pages", "--format", "json", trace]);
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        let waits = answer["waits"].as_array().unwrap();
        let wait = waits.iter().find(|it| it["kind"] == "compaction" && it["program"] == "sh");
        let wait = wait.unwrap_or_else(|| panic!("{waits:?}"));
        // A machine has a zone at least.
        assert!(wait["waits"].as_u64().unwrap() > 0 && wait["total_ns"].as_u64().unwrap() > 0);
        assert_eq!((&wait["order"], &wait["unended"]), (&serde_json::Value::Null, &0.into()));
        let told = stdout(&["stat", "--pages", trace]);
        assert!(told.contains("Threads made room for pages: "), "{told}");
    }
    let perf = folder.path().join("perf.data");
    let recorded = Command::new("perf")
        .args(["record", "-q", "-a", "-e", "compaction:mm_compaction_begin"])
        .args(["-e", "compaction:mm_compaction_end", "-e", "kmem:mm_page_free", "-o"])
        .arg(&perf)
        .args(["--", "sh", "-c", &program])
        .output();
    if !recorded.is_ok_and(|output| output.status.success()) {
        return println!("not run to its end: perf does not record here");
    }
    // Columns of perf script are padded.
    let script = Command::new("perf").args(["script", "-i"]).arg(&perf).output().unwrap();
    let text = folder.path().join("script.txt");
    std::fs::write(&text, script.stdout).unwrap();
    for source in [&perf, &text] {
        let imported = file("perf.parquet");
        _ = stdout(&["import", source.to_str().unwrap(), "-o", &imported]);
        let told = stdout(&["stat", "--pages", "--show", "waits", &imported]);
        assert!(told.contains("compaction  sh"), "{told}");
        std::fs::remove_file(&imported).unwrap();
    }
}

#[test]
fn a_recording_of_reclaim_alone_is_told_without_pages() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (text, trace) = (file("script.txt"), file("t.parquet"));
    let head = "             tar 7 [000]";
    let lines = [
        "1.500000: vmscan:mm_vmscan_direct_reclaim_begin: order=3 gfp_flags=GFP_KERNEL|__GFP_COMP",
        "1.700000: vmscan:mm_vmscan_direct_reclaim_end: nr_reclaimed=64",
        "1.800000: vmscan:mm_vmscan_kswapd_wake: nid=0 order=3",
    ];
    let lines: String = lines.iter().map(|line| format!("{head} {line}\n")).collect();
    std::fs::write(&text, lines).unwrap();
    _ = stdout(&["import", &text, "-o", &trace]);
    let told = stdout(&["stat", "--pages", "--show", "waits", &trace]);
    let told: Vec<&str> = told.split_whitespace().collect();
    let told = told.join(" ");
    assert!(
        told.starts_with("The recording has neither allocations nor frees of pages."),
        "{told}"
    );
    assert!(
        told.contains(
            "200.0 ms in 1 direct reclaim; most of it direct reclaim in tar for order 3."
        )
    );
    assert!(told.contains("direct reclaim tar 3 1 200.0 ms 200.0 ms 0"), "{told}");
    assert!(!told.contains("0 B") && !told.contains("are taken"), "{told}");
}

/// Wants root and tracefs; says so elsewhere.
#[test]
fn a_recording_of_pages_is_replayed_from_what_the_kernel_had_free() {
    if !shown::is_root() {
        return println!("SKIPPED: this wants root");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (trace, part) = (file("t.parquet"), file("part.parquet"));
    _ = stdout(&["record", "--pages", "-o", &trace, "--", "ls", "-R", "/usr/share/doc"]);
    let answer = |trace: &str| {
        let text = stdout(&["replay", "--pages", "--format", "json", trace]);
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let whole = answer(&trace);
    assert_eq!(whole["is_start_recorded"], true);
    let fit = &whole["fit"];
    assert!(fit["moments"].as_u64().unwrap() > 0, "{fit}");
    // What else the machine does meanwhile, such as compaction, is not all in the events.
    assert!(fit["off_share_median"].as_f64().unwrap() < 0.2, "{fit}");
    let told = stdout(&["replay", "--pages", &trace]);
    assert!(told.contains("of /proc/buddyinfo the orders differ by"), "{told}");
    // The slabs of a replay come in place of those recorded, unless the release does not tell SLAB from SLUB.
    let words: Vec<&str> = told.split_whitespace().collect();
    let is_said = words.join(" ").contains("The replay's slabs have");
    assert_eq!(is_said, whole.get("with_slabs").is_some(), "{told}");
    // A change says what it leaves the rest.
    let told = stdout(&["whatif", &trace, "--max-order", "0"]);
    assert!(told.contains("The rest of the machine: at the end"), "{told}");
    // Nothing was read when a part of it begins.
    _ = stdout(&["import", &trace, "--time", "50%,90%", "-o", &part]);
    assert_eq!(answer(&part)["is_start_recorded"], false);
    let told = stdout(&["replay", "--pages", &part]);
    assert!(told.starts_with("The recording does not say what was free"), "{told}");
}

/// A machine of 128 MiB that has 6,000 free pages, each alone, as /proc/zoneinfo and /proc/pagetypeinfo say it.
const AGED: [&str; 14] = [
    "Node 0, zone    DMA32",
    "  pages free     6000",
    "        min      100",
    "        low      125",
    "        high     150",
    "        spanned  32768",
    "        managed  32768",
    "        protection: (0, 0, 0, 0)",
    "  start_pfn:           4096",
    "Page block order: 9",
    "Node    0, zone    DMA32, type    Unmovable   4000      0      0      0      0      0      0      0      0      0      0",
    "Node    0, zone    DMA32, type      Movable   2000      0      0      0      0      0      0      0      0      0      0",
    "Number of blocks type     Unmovable      Movable  Reclaimable   HighAtomic      Isolate",
    "Node 0, zone    DMA32           20           40            4            0            0",
];

#[test]
fn on_an_aged_machine_slabs_of_a_lower_order_find_their_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (zones, bad) = (file("zones.txt"), file("bad.txt"));
    std::fs::write(&zones, AGED.join("\n")).unwrap();
    std::fs::write(&bad, "Node 0, zone    DMA32\n").unwrap();
    let trace = root().join("traces/hackbench.parquet");
    let words = ["whatif", trace.to_str().unwrap(), "--max-order", "0", "--aged"];
    let text = stdout(&[&words[..], &[&zones, "--format", "json"]].concat());
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rest = &answer["rest"];
    // As recorded, caches have slabs of several pages, and no two pages are free side by side.
    let small = rest["before"]["slab_fallbacks"].as_array().unwrap();
    assert!(small.iter().all(|one| one["order"].as_u64() > one["order_min"].as_u64()), "{small:?}");
    assert!(!small.is_empty() && rest["after"].get("slab_fallbacks").is_none(), "{rest}");
    assert!(rest.get("recorded").is_none() && rest.get("apart").is_none(), "{rest}");
    let told = stdout(&[&words[..], &[&zones]].concat());
    assert!(told.contains("finds no free block after"), "{told}");
    let refused = refusal(&[&words[..], &[&bad]].concat());
    assert!(refused.contains("cat /proc/zoneinfo /proc/pagetypeinfo > FILE"), "{refused}");
}
