//! `slablab insmod`: what came with later kernels, from per-CPU references to packets' buffers, and threads that
//! share it.

use slablab_tests::module::{insmod, lines, prints};

/// Allocators whose `kfree` takes objects of caches, too; those of SLOB and SLMB have no header.
const ALLOCATORS: [&str; 4] = ["slab", "slub", "dense", "slub-sheaves"];

/// Caches by `struct kmem_cache_args`, buckets, sheaves and resizing, in each of their forms.
#[test]
fn caches_of_later_kernels_work() {
    let printed = [
        "args: constructed 1, first 7, aligned 1, size 56",
        "kmem_cache_create(bad): an offset of the free pointer without need",
        "args: a free pointer that is not needed there 1",
        "bulk: 1",
        "buckets: 8 of 8, none 1",
        "sheaf: 7 left, zero 0",
        "sheaf: 40",
        "resized: 123456789, 4096 bytes and more",
        "resized: 123456789, an area 1",
        "freed with the scope: 1",
    ];
    let check = |words: &[&str]| {
        let output = insmod("caches_7", words);
        let mut lines = lines(&output);
        lines.retain(|line| !line.starts_with("WARNING: "));
        assert_eq!(lines, printed, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{words:?}");
    };
    for version in ["6.1", "6.12", "7.3"] {
        check(&["--kernel-version", version]);
        check(&["--kernel-version", version, "--check", "2"]);
    }
    ALLOCATORS.iter().for_each(|allocator| check(&["--allocator", allocator]));
    check(&["--allocator", "slub-sheaves", "--kernel-version", "7.3"]);
}

#[test]
fn references_by_cpu_come_to_their_end() {
    let released = |n| format!("percpu_ref: released {n}, held 0, dying 1, zero 1, live 0");
    let mut printed = vec!["percpu_ref: dying 0, zero 0".to_string()];
    printed.extend((1..=4).map(released));
    printed.push("percpu_ref: some were refused 1".into());
    let printed: Vec<_> = printed.iter().map(String::as_str).collect();
    prints("percpu_ref", &[], &printed);
    prints("percpu_ref", &["--check", "2", "--kernel-version", "7.3"], &printed);
}

#[test]
fn a_table_grows_and_shrinks_under_threads() {
    let printed = [
        "rhash: twice -17",
        "rhash: wrong 0, missing 0, 100 left, shrunk 1, walked 1",
        "rhash: dropped 100",
    ];
    prints("rhash_threads", &[], &printed);
    prints("rhash_threads", &["--check", "2", "--kernel-version", "6.12"], &printed);
}

#[test]
fn preempt_count_tells_the_context_as_linux_does() {
    prints("preempt_count", &[], &["preempt_count: 0 1 201 1, timer 100 1, tasklet 100"]);
}

#[test]
fn small_locks_and_counters_keep_threads_apart() {
    let printed = [
        "small_locks: sum 30000, packets 30000, wrong 0",
        "small_locks: key 1",
        "small_locks: 2 entries",
    ];
    let guards =
        ["small_locks: guarded 1", "small_locks: off 1", "small_locks: held", "small_locks: on 1"];
    prints("small_locks", &[], &printed);
    let words = ["--check", "2", "--kernel-version", "6.12"];
    prints("small_locks", &words, &[&printed[..], &guards[..]].concat());
}

#[test]
fn packets_have_room_clones_and_queues() {
    let printed = [
        "skb: len 12, headroom 28, tailroom 1, head payload",
        "skb: beyond 1, bits 0 load",
        "skb: cloned 1 1, same data 1, copied 1 payload",
        "skb: own data 1, cloned 0",
        "skb: expanded 0",
        "skb: room 160 before, 1 behind, payload",
        "skb: shared 0, gone 0, trimmed to 3",
        "skb: pair 1, another 1",
        "skbs: sum 17994000, left 0",
        "skbs: queued 4",
        "skbs: empty 1",
    ];
    for words in
        [&["--check", "2"][..], &["--kernel-version", "6.12"], &["--kernel-version", "7.3"]]
    {
        prints("skbs", words, &printed);
    }
}
