//! `slablab insmod`: modules of Linux's own source, as they are: kunit suites and plain modules that test its
//! library, and its samples.

use std::fs;

use slablab_tests::module::sources;
use slablab_tests::run;

/// Runs modules of a source; each has to end well and to print its words.
fn pass(version: &str, cases: &[(&str, &str)]) {
    // One of KUnit's own tests includes a header beside it.
    let is_kunits = |(file, _): &&(&str, &str)| file.ends_with("assert_test.c");
    let header = cases.iter().find(is_kunits).map(|_| "lib/kunit/string-stream.h");
    let files = cases.iter().map(|(file, _)| *file).chain(header);
    let Some(folder) = sources(version, files) else { return };
    for (file, last) in cases {
        let path = folder.path().join(file);
        let output = run(&["insmod", "--kernel-version", version, path.to_str().unwrap()]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{version} {file}: {stderr}{text}");
        assert!(text.contains(last) && !text.contains("not ok"), "{version} {file}: {text}");
    }
}

#[test]
fn tests_and_samples_of_6_1_pass() {
    let cases = [
        ("lib/cmdline_kunit.c", "ok 1 cmdline"),
        ("lib/is_signed_type_kunit.c", "ok 1 is_signed_type"),
        ("lib/list-test.c", "ok 2 hlist"),
        ("lib/math/test_div64.c", "Completed 64bit/32bit division and modulo test"),
        ("lib/test_bitops.c", "Completed bitops test"),
        ("lib/test_bits.c", "ok 1 bits-test"),
        ("lib/test_hash.c", "ok 1 hash"),
        ("lib/test_hexdump.c", "tests passed"),
        ("lib/test_list_sort.c", "ok 1 list_sort"),
        ("lib/test_sort.c", "ok 1 lib_sort"),
        ("lib/test_string.c", "String selftests succeeded"),
        ("samples/kfifo/bytestream-example.c", "test passed"),
        ("samples/kfifo/inttype-example.c", "test passed"),
        ("samples/kfifo/record-example.c", "test passed"),
        ("samples/kobject/kobject-example.c", ""),
        ("samples/kobject/kset-example.c", ""),
    ];
    pass("6.1", &cases);
}

#[test]
fn tests_and_samples_of_6_12_pass() {
    let cases = [
        ("kernel/resource_kunit.c", "ok 1 resource"),
        ("kernel/sysctl-test.c", "ok 1 sysctl_test"),
        ("lib/atomic64_test.c", "passed for x86-64 platform"),
        ("lib/bitfield_kunit.c", "ok 1 bitfields"),
        ("lib/checksum_kunit.c", "ok 1 checksum"),
        ("lib/cpumask_kunit.c", "ok 1 cpumask"),
        ("lib/fortify_kunit.c", "ok 1 fortify"),
        ("lib/globtest.c", "64 self-tests passed, 0 failed"),
        ("lib/is_signed_type_kunit.c", "ok 1 is_signed_type"),
        ("lib/kunit/assert_test.c", "ok 1 kunit-assert"),
        ("lib/kunit/kunit-example-test.c", "ok 2 example"),
        ("lib/kunit/platform-test.c", "ok 2 kunit_platform_driver"),
        ("lib/list-test.c", "ok 3 klist"),
        ("lib/longest_symbol_kunit.c", "ok 1 longest-symbol"),
        ("lib/math/rational-test.c", "ok 1 rational"),
        ("lib/math/test_mul_u64_u64_div_u64.c", "Completed mul_u64_u64_div_u64() test"),
        ("lib/overflow_kunit.c", "ok 1 overflow"),
        ("lib/siphash_kunit.c", "ok 1 siphash"),
        ("lib/stackinit_kunit.c", "ok 1 stackinit"),
        ("lib/string_helpers_kunit.c", "ok 1 string_helpers"),
        ("lib/string_kunit.c", "ok 1 string"),
        ("lib/test_bitops.c", "Completed bitops test"),
        ("lib/test_dynamic_debug.c", ""),
        ("lib/test_firmware.c", "test_firmware: interface ready"),
        ("lib/test_fprobe.c", "ok 1 fprobe_test"),
        ("lib/test_kmod.c", "test_kmod0: interface ready"),
        ("lib/test_kprobes.c", "ok 1 kprobes_test"),
        ("lib/test_linear_ranges.c", "ok 1 linear-ranges-test"),
        ("lib/test_memcat_p.c", "test passed"),
        ("lib/test_min_heap.c", "test passed"),
        ("lib/test_objagg.c", ""),
        ("lib/test_parman.c", "Priority array check successful"),
        ("lib/test_static_key_base.c", ""),
        ("lib/test_sysctl.c", ""),
        ("lib/test_uuid.c", "all 18 tests passed"),
        ("lib/ts_fsm.c", ""),
        ("lib/ts_kmp.c", ""),
        ("lib/usercopy_kunit.c", "ok 1 usercopy"),
        ("samples/kfifo/dma-example.c", "test passed"),
        ("samples/kprobes/kprobe_example.c", "kprobe_init: Planted kprobe at"),
        ("samples/kprobes/kretprobe_example.c", "Planted return probe at kernel_clone"),
        ("samples/livepatch/livepatch-callbacks-demo.c", "pre_patch_callback: vmlinux"),
        ("samples/livepatch/livepatch-shadow-fix1.c", "'livepatch_shadow_fix1': patching complete"),
        ("samples/livepatch/livepatch-shadow-fix2.c", "'livepatch_shadow_fix2': patching complete"),
        ("samples/livepatch/livepatch-shadow-mod.c", ""),
        ("samples/trace_printk/trace-printk.c", "(irq) This is a static string"),
    ];
    pass("6.12", &cases);
}

#[test]
fn tests_and_samples_of_7_3_pass() {
    let cases = [
        ("kernel/resource_kunit.c", "ok 1 resource"),
        ("kernel/sysctl-test.c", "ok 1 sysctl_test"),
        ("lib/dim/dim_kunit.c", "ok 1 dim"),
        ("lib/kunit/backtrace-suppression-test.c", "ok 1 backtrace-suppression-test"),
        ("lib/kunit/kunit-example-test.c", "ok 3 example"),
        ("lib/math/tests/int_log_kunit.c", "ok 1 math-int_log"),
        ("lib/math/tests/polynomial_kunit.c", "ok 1 math-polynomial"),
        ("lib/packing_test.c", "ok 1 packing"),
        ("lib/test_dynamic_debug.c", ""),
        ("lib/test_firmware.c", "test_firmware: interface ready"),
        ("lib/test_objagg.c", ""),
        ("lib/test_sysctl.c", ""),
        ("lib/tests/base64_kunit.c", "ok 1 base64"),
        ("lib/tests/bitops_kunit.c", "ok 1 bitops"),
        ("lib/tests/cmdline_kunit.c", "ok 1 cmdline"),
        ("lib/tests/ffs_kunit.c", "ok 1 ffs"),
        ("lib/tests/kfifo_kunit.c", "ok 1 kfifo"),
        ("lib/tests/list-private-test.c", "ok 1 list-private-kunit-test"),
        ("lib/tests/list-test.c", "ok 3 klist"),
        ("lib/tests/min_heap_kunit.c", "ok 1 min_heap"),
        ("lib/tests/random32_kunit.c", "ok 1 prandom"),
        ("lib/tests/scanf_kunit.c", "ok 1 scanf"),
        ("lib/tests/seq_buf_kunit.c", "ok 1 seq_buf"),
        ("lib/tests/shdi3_kunit.c", "ok 1 shdi3"),
        ("lib/tests/siphash_kunit.c", "ok 1 siphash"),
        ("lib/tests/string_helpers_kunit.c", "ok 1 string_helpers"),
        ("lib/tests/string_kunit.c", "ok 1 string"),
        ("lib/tests/test_bits.c", "ok 1 bits-test"),
        ("lib/tests/test_fprobe.c", "ok 1 fprobe_test"),
        ("lib/tests/test_kprobes.c", "ok 1 kprobes_test"),
        ("lib/tests/util_macros_kunit.c", "ok 1 util_macros.h"),
        ("samples/hung_task/hung_task_tests.c", ""),
        ("samples/kobject/kset-example.c", ""),
    ];
    pass("7.3", &cases);
}

/// What a module of a source prints, with words for it; and how its run ends.
fn printed(version: &str, file: &str, words: &[&str]) -> Option<(String, Option<i32>)> {
    let folder = sources(version, std::iter::once(file))?;
    let path = folder.path().join(file);
    let first = ["insmod", "--kernel-version", version, path.to_str().unwrap()];
    let output = run(&[&first[..], words].concat());
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code()))
}

/// Entries, removals, walks and lookups, alone and by threads, while the table grows.
#[test]
fn tables_that_grow_pass_their_test() {
    for version in ["6.12", "7.3"] {
        let words = ["parm_entries=3000", "runs=2", "tcount=4"];
        let Some((text, status)) = printed(version, "lib/test_rhashtable.c", &words) else {
            continue;
        };
        assert_eq!(status, Some(0), "{text}");
        assert!(text.contains("Started 4 threads, 0 failed"), "{text}");
        assert!(text.contains("counted=3000, nelems=3000, entries=3000"), "{text}");
        let text = without_recounts(&text);
        let wrong = ["Test failed", "WARNING", "FAIL", "YES, failed"];
        assert!(wrong.iter().all(|word| !text.contains(word)), "{text}");
    }
}

/// Leaves out counts of walks that met a resize. Such a walk begins again, and the module adds what it sees twice, on Linux too.
fn without_recounts(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let is_recount = line.contains("Total count mismatch")
            && lines.last().is_some_and(|walk| {
                walk.contains("Traversal complete") && !walk.ends_with("table-jumps=0")
            });
        if !is_recount {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Only the counts of walks that met a resize may differ.
#[test]
fn a_walk_that_met_a_resize_counts_twice() {
    let walk = |jumps| {
        format!(
            "Traversal complete: counted=3364, nelems=3000, table-jumps={jumps}\nTest failed: Total count mismatch ^^^"
        )
    };
    assert!(!without_recounts(&walk(1)).contains("Test failed"));
    assert!(without_recounts(&walk(0)).contains("Test failed"));
}

/// These end with `-EAGAIN` when all is well, so that nothing has to be unloaded.
#[test]
fn trees_pass_their_tests() {
    let cases = [
        ("6.12", "lib/rbtree_test.c", "test 2 (latency of nnodes cached insert+delete)"),
        ("7.3", "lib/rbtree_test.c", "test 2 (latency of nnodes cached insert+delete)"),
        ("6.12", "lib/interval_tree_test.c", "(2692 results)"),
    ];
    for (version, file, last) in cases {
        let Some((text, status)) = printed(version, file, &["perf_loops=100"]) else { continue };
        assert_eq!(status, Some(1), "{version} {file}: {text}");
        assert!(text.contains(last) && !text.contains("WARNING"), "{version} {file}: {text}");
    }
}

/// It ends with `-EAGAIN`, too: it waits as long as it is told, and says so.
#[test]
fn a_lockup_of_no_time_ends() {
    for version in ["6.12", "7.3"] {
        let words = ["all_cpus=1", "lock_rcu=1", "time_nsecs=1000"];
        let Some((text, status)) = printed(version, "lib/test_lockup.c", &words) else { continue };
        assert_eq!(status, Some(1), "{version}: {text}");
        assert!(text.contains("START pid=") && text.contains("FINISH in"), "{version}: {text}");
    }
}

/// Modules that include what Linux's own tests share.
#[test]
fn tests_that_share_a_header_pass() {
    const SHARED: &str = "tools/testing/selftests/kselftest_module.h";
    for (file, header, last) in [
        ("lib/test_bitmap.c", SHARED, "tests passed"),
        ("lib/test_scanf.c", SHARED, "tests passed"),
        // One that another one's names are exported to.
        ("lib/test_static_keys.c", "lib/test_static_key_base.c", ""),
        ("lib/crc32test.c", "lib/crc32defs.h", "crc32c_combine: 8373 self tests passed"),
        ("lib/kunit/string-stream-test.c", "lib/kunit/string-stream.h", "ok 1 string-stream-test"),
    ] {
        let Some(folder) = sources("6.12", [file, header].into_iter()) else { return };
        let path = folder.path().join(file);
        let output = run(&["insmod", "--kernel-version", "6.12", path.to_str().unwrap()]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{file}: {text}");
        assert!(text.contains(last), "{file}: {text}");
    }
}

/// Check sums and hashes, in a task and in interrupts, against Linux's own numbers.
#[test]
fn sums_and_hashes_pass_their_suites() {
    let crypto = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
    let file = |hash: &str, kind: &str| format!("lib/crypto/tests/{hash}{kind}");
    let vectors = crypto.map(|hash| file(hash, "-testvecs.h"));
    let shared = ["hash-test-template.h", "test-utils.h"].map(|name| file("", name));
    let mut suites = vec![("lib/crc/tests/crc_kunit.c".to_owned(), "crc")];
    suites.extend(crypto.map(|hash| (file(hash, "_kunit.c"), hash)));
    let files = suites.iter().map(|(suite, _)| suite).chain(&vectors).chain(&shared);
    let Some(folder) = sources("7.3", files.map(String::as_str)) else { return };
    for (suite, name) in &suites {
        let path = folder.path().join(suite);
        let words = ["insmod", "--timeout", "0", "--kernel-version", "7.3", path.to_str().unwrap()];
        let output = run(&words);
        let text = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{suite}: {stderr}{text}");
        assert!(text.contains(&format!("ok 1 {name}")), "{suite}: {text}");
        assert!(!text.contains("not ok"), "{suite}: {text}");
    }
}

/// KUnit's own tests: cases in cases, resources, replaced functions, devices with a driver.
#[test]
fn kunit_passes_its_own_tests() {
    for (version, last) in [("6.12", "ok 7 kunit_fault"), ("7.3", "ok 8 kunit_stub")] {
        let headers = ["lib/kunit/string-stream.h", "lib/kunit/try-catch-impl.h"];
        let files = headers.into_iter().chain(["lib/kunit/kunit-test.c"]);
        let Some(folder) = sources(version, files) else { continue };
        let path = folder.path().join("lib/kunit/kunit-test.c");
        let output = run(&["insmod", "--kernel-version", version, path.to_str().unwrap()]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{version}: {text}");
        assert!(text.contains(last) && !text.contains("not ok"), "{version}: {text}");
    }
}

/// A suite that runs can fail: each gets a number that is not the right one.
#[test]
fn suites_with_a_planted_failure_fail() {
    for (file, right, wrong) in [
        ("lib/kunit/assert_test.c", "is_literal(\"5\", 5)", "is_literal(\"5\", 6)"),
        (
            "lib/kunit/platform-test.c",
            "0, kunit_platform_device_add(test",
            "1, kunit_platform_device_add(test",
        ),
        ("lib/test_fprobe.c", "(rand1 / div_factor) + 1)", "(rand1 / div_factor) + 2)"),
        (
            "lib/test_kprobes.c",
            "EXPECT_EQ(test, 2, kp_missed.nmissed)",
            "EXPECT_EQ(test, 1, kp_missed.nmissed)",
        ),
        ("lib/test_objagg.c", "EXPECT_STATS(1, ROOT(1, 1, 1))", "EXPECT_STATS(1, ROOT(1, 1, 2))"),
        ("lib/longest_symbol_kunit.c", "return RETURN_LONGEST_SYM;", "return 1;"),
        (
            "kernel/resource_kunit.c",
            "KUNIT_EXPECT_EQ(test, REGION_DISJOINT,",
            "KUNIT_EXPECT_EQ(test, REGION_MIXED,",
        ),
    ] {
        let files = [file, "lib/kunit/string-stream.h"];
        let Some(folder) = sources("6.12", files.into_iter()) else { return };
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(right), "{file}");
        fs::write(&path, text.replace(right, wrong)).unwrap();
        let output = run(&["insmod", "--kernel-version", "6.12", path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{file}: {said}");
    }
}

/// What is patched is seen by who reads the file, until the patch is taken off.
#[test]
fn a_live_patch_changes_what_a_file_says() {
    let file = "samples/livepatch/livepatch-sample.c";
    let steps = [
        "--do",
        "read /proc/cmdline 100",
        "--do",
        "write /sys/kernel/livepatch/livepatch_sample/enabled 0",
    ];
    let words = [&steps[..], &["--do", "read /proc/cmdline 100"]].concat();
    for version in ["6.1", "6.12", "7.3"] {
        let Some((text, status)) = printed(version, file, &words) else { continue };
        assert_eq!(status, Some(0), "{version}: {text}");
        let read: Vec<_> = text.lines().filter(|line| line.contains("do: read")).collect();
        assert!(read[0].contains("this has been live patched"), "{version}: {text}");
        assert!(read[1].contains("slablab"), "{version}: {text}");
    }
}

/// Values under /proc/sys, with limits.
#[test]
fn values_under_proc_sys_are_read_and_written() {
    let place = "/proc/sys/debug/test_sysctl";
    let steps = [
        format!("read {place}/int_0001 20"),
        format!("write {place}/int_0001 77"),
        format!("!write {place}/int_0001 101"),
        format!("read {place}/int_0001 20"),
        format!("read {place}/int_0003 20"),
        format!("write {place}/bitmap_0001 1,3-5"),
        format!("read {place}/bitmap_0001 20"),
        format!("read {place}/match_int 20"),
    ];
    let words: Vec<&str> = steps.iter().flat_map(|step| ["--do", step.as_str()]).collect();
    for version in ["6.12", "7.3"] {
        let Some((text, status)) = printed(version, "lib/test_sysctl.c", &words) else { continue };
        assert_eq!(status, Some(0), "{version}: {text}");
        for end in [
            "int_0001 20 = 3: 60",
            "int_0001 20 = 3: 77",
            "bitmap_0001 20 = 6: 1,3-5",
            "match_int 20 = 2: 1",
        ] {
            assert!(text.contains(end), "{version} {end}: {text}");
        }
    }
}

/// The module gives a reference back twice, and leaves two: both are told, with the functions that did it.
#[test]
fn references_are_tracked() {
    let Some((text, status)) = printed("6.12", "lib/test_ref_tracker.c", &[]) else { return };
    assert_eq!(status, Some(0), "{text}");
    let told = ["reference already released", "alloctest_ref_tracker_free+", "has 1/2 users"];
    assert!(told.iter().all(|words| text.contains(words)), "{text}");
    assert!(text.contains("alloctest_ref_tracker_alloc1+"), "{text}");
}

/// A module may bring a function along that is here too: its own is taken.
#[test]
fn a_function_of_the_modules_own_goes_before_ours() {
    const MAIN: &str = "#include <linux/glob.h>\n#include <linux/module.h>\n\
        static int __init start(void)\n{\n\tpr_info(\"matched %d %d\\n\", glob_match(\"l*b\", \"lab\"),\n\
        \t\tglob_match(\"l*c\", \"lab\"));\n\treturn 0;\n}\nmodule_init(start);\nMODULE_LICENSE(\"GPL\");\n";
    for version in ["6.1", "6.12", "7.3"] {
        let Some(folder) = sources(version, std::iter::once("lib/glob.c")) else { continue };
        let module = folder.path().join("lib");
        fs::write(module.join("main.c"), MAIN).unwrap();
        fs::write(module.join("Kbuild"), "obj-m := globs.o\nglobs-objs := main.o glob.o\n")
            .unwrap();
        let output = run(&["insmod", "--kernel-version", version, module.to_str().unwrap()]);
        let text = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && text.contains("matched 1 0"),
            "{version}: {stderr}{text}"
        );
    }
}
