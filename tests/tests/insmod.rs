//! `slablab insmod`: modules of any age run unmodified, and what they do wrong is caught and named.
//!
//! The modules in `crates/kapi/tests/modules/` are written in the style of course work and books for
//! Linux 2.6 and 3.x; what each of them has to print stands here.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use slablab_tests::module::{insmod, lines, prints, source, told};
use slablab_tests::{refusal, run, slablab, stdout};

#[test]
fn lists_are_walked_with_the_macros_of_their_day() {
    let old = [
        "hlist_old: walked 200 items, sum 19900, took time",
        "hlist_old: 0 items left",
        "hlist_old: done",
    ];
    prints("hlist_old", &[], &old);
    prints("hlist_old", &["--kernel-version", "2.6.32"], &old);
    let new = ["hlist_new: 11100, time passed, empty 1", "hlist_new: gone"];
    prints("hlist_new", &[], &new);
    let demo = ["ada: 01.08.1970", "brian: 02.08.1971", "grace: 03.08.1972"];
    let exit = ["removing ada", "removing grace"];
    prints("list_demo", &[], &[&demo[..], &exit[..]].concat());
    prints("list_demo", &["--rmmod=no"], &demo);
}

#[test]
fn numbers_are_given_and_taken_back() {
    let printed = [
        "numbers: clients 10 11 12",
        "numbers: the lowest is taken again: 11 again",
        "numbers: minors 0 1, then 0, then -28",
        "numbers: again -17, found 2, c and 0000000000000000",
        "numbers: freed 3",
    ];
    prints("numbers", &["--check", "2"], &printed);
    prints("numbers", &["--kernel-version", "2.6.32"], &printed);
}

#[test]
fn rings_chains_and_sorted_lists_work() {
    let printed = [
        "toolbox: ring of 8 took 8, sum 15, left 3",
        "toolbox: last 8, empty 1",
        "toolbox: notified 3 at priority 9",
        "toolbox: notified 3 at priority 5",
        "toolbox: 7 at 2",
        "toolbox: tried until 9",
        "toolbox: sorted and stable 1, 100 waited, empty 1",
        "toolbox: 100 freed",
    ];
    prints("toolbox", &["--check", "2"], &printed);
}

#[test]
fn attributes_are_shown_and_stored() {
    let folder = "/sys/kernel/kobject_demo";
    let write = |name: &str, text: &str| format!("{folder}/{name}={text}");
    let words = [
        ["--write", &write("blocks", "add")],
        ["--write", &write("size", "7")],
        ["--write", &write("blocks", "add")],
        ["--cat", &format!("{folder}/blocks")],
        ["--cat", &format!("{folder}/size")],
        ["--check", "2"],
    ];
    prints("kobject_demo", words.as_flattened(), &["100 7 ", "7"]);
    let refused = insmod("kobject_demo", &["--write", &write("blocks", "no")]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains("blocks: Invalid argument"), "{stderr}");
}

#[test]
fn an_area_is_its_pages_and_ends_in_a_guard() {
    let printed = ["vmalloc_demo: same 128 of 128, is vmalloc 1 0", "vmalloc_demo: zero 1"];
    prints("vmalloc_demo", &["--check", "2"], &printed);
    for allocator in ["slab", "slob", "slmb"] {
        prints("vmalloc_demo", &["--allocator", allocator], &printed);
    }
    let overrun = insmod("vmalloc_demo", &["overrun=1"]);
    assert_eq!(lines(&overrun), printed);
    let stderr = String::from_utf8_lossy(&overrun.stderr);
    assert!(stderr.contains("SIGSEGV") && stderr.contains("vmalloc_demo_init"), "{stderr}");
    assert_eq!(overrun.status.code(), Some(1));
}

#[test]
fn address_sanitizer_stops_at_the_access() {
    for (what, line) in
        [("overflow", "bad.c:47"), ("useafterfree", "bad.c:79"), ("farbehind", "bad.c:110")]
    {
        let output = insmod("bad", &["--asan", &format!("what={what}")]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("AddressSanitizer: use-after-poison"), "{what}: {stderr}");
        assert!(stderr.contains(line), "{what}: {stderr}");
        assert_eq!(output.status.code(), Some(1));
    }
    let printed = ["vmalloc_demo: same 128 of 128, is vmalloc 1 0", "vmalloc_demo: zero 1"];
    prints("vmalloc_demo", &["--asan"], &printed);
}

#[test]
fn suites_of_kunit_run() {
    let good = ["KTAP version 1", "1..1", "    # Subtest: demo", "    1..3", "    ok 1 sizes"];
    let rest = ["    ok 2 expectation", "    ok 3 assertion", "ok 1 demo"];
    prints("kunit_demo", &["--check", "2"], &[&good[..], &rest[..]].concat());
    let bad = insmod("kunit_demo", &["bad=1", "--check", "2"]);
    let expected = [
        "    # expectation: EXPECTATION FAILED at kunit_demo.c:19",
        "    # expectation: expected bad == 0",
        "    # expectation: found 1 and 0",
        "    # expectation: bad is 1",
        "    not ok 2 expectation",
        "    # assertion: ASSERTION FAILED at kunit_demo.c:28",
        "    # assertion: expected !(*counter)",
        "    not ok 3 assertion",
        "not ok 1 demo",
    ];
    assert_eq!(lines(&bad), [&good[..], &expected[..]].concat());
    assert_eq!(bad.status.code(), Some(1));
}

#[test]
fn caches_and_lists_work_under_every_allocator() {
    for allocator in ["slab", "slub", "slob", "slmb"] {
        let first = [
            "things: size 48 name things",
            "things: magic 4711 4711, constructed enough",
            "things: aligned 1",
        ];
        let output = insmod("cache_demo", &["--allocator", allocator, "--check", "2"]);
        assert_eq!(output.status.code(), Some(0), "{allocator}");
        assert_eq!(&lines(&output)[..3], first, "{allocator}");
        assert_eq!(lines(&output).last().map(String::as_str), Some("things: destroyed"));
        let output = insmod("hlist_old", &["--allocator", allocator]);
        assert_eq!(output.status.code(), Some(0), "{allocator}");
    }
}

#[test]
fn files_of_the_module_are_read_and_written() {
    let words = ["--cat", "memold", "--write", "message=hello", "--cat", "message"];
    let expected = ["total 262144 pages of 262144", "current insmod", "hello"];
    prints("proc_old", &words, &expected);
    let squares: Vec<_> = (0..500).map(|i| format!("record {}", i * i)).collect();
    let squares: Vec<_> = squares.iter().map(String::as_str).collect();
    prints("seq_demo", &["--cat", "/proc/demo/squares"], &squares);
    prints("seq_demo", &["--cat", "once", "--kernel-version", "3.10"], &["only once"]);
    let box_words = ["--write", "/dev/box=abc", "--cat", "/dev/box"];
    prints("scull_like", &box_words, &["box: open 240:0", "box: open 240:0", "abc"]);
    let output = insmod("seq_demo", &["--cat", "nothing"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("nothing: No such file or directory"), "{stderr}");
}

#[test]
fn files_in_debugfs_are_apart_from_those_of_proc() {
    for version in ["3.10", "6.1", "7.3"] {
        let words = ["--kernel-version", version, "--check", "2"];
        let writes =
            ["--write", "demo/size=9", "--write", "demo/enabled=n", "--write", "demo/users=-5"];
        let more = ["--write", "/sys/kernel/debug/demo/last=41"];
        let names = ["demo", "size", "mask", "enabled", "users", "state", "last", "next", "shown"];
        let paths = names.map(|name| match name {
            "demo" => "demo".to_string(),
            "last" => "/sys/kernel/debug/demo/last".to_string(),
            name => format!("demo/{name}"),
        });
        let reads = paths.iter().flat_map(|path| ["--cat", path.as_str()]);
        let words: Vec<_> = words.into_iter().chain(writes).chain(more).chain(reads).collect();
        let expected = [
            "debugfs: 'demo' already exists in 'debug'",
            "twice -17",
            "below an error -17",
            "of /proc",
            "9",
            "0x0000000000000abc",
            "N",
            "-5",
            "idle",
            "42",
            "next 42",
            "of /proc",
        ];
        prints("debugfs_demo", &words, &expected);
    }
    let refused = insmod("debugfs_demo", &["--write", "demo/last=101"]);
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    let read_only = told(&insmod("debugfs_demo", &["--write", "demo/next=1"]));
    assert!(read_only.contains("Permission denied"), "{read_only}");
}

#[test]
fn what_a_kernel_warns_of_is_said() {
    let positive = told(&insmod("bad", &["what=positive"]));
    assert!(positive.contains("init suspiciously returned 5"), "{positive}");
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("nolicense.c");
    let text =
        "#include <linux/module.h>\nstatic int __init i(void) { return 0; }\nmodule_init(i);\n";
    fs::write(&source, text).expect("the source");
    let output = run(&["insmod", source.to_str().expect("a name")]);
    let told = told(&output);
    assert!(told.contains("MODULE_LICENSE() is missing"), "{told}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn threads_timers_and_works_run() {
    let expected = [
        "threads: ticks 7, shared 110",
        "threads: worker/0 is alive, time passed",
        "threads: worker returned 0",
    ];
    prints("threads", &[], &expected);
}

#[test]
fn pages_have_numbers_and_addresses() {
    let expected = [
        "page: round trip 1, phys 1",
        "page: count 1, valid 1",
        "page: 4096 zero bytes",
        "page: dma low",
        "page: 512 MiB",
    ];
    prints("page_demo", &["--memory", "512M"], &expected);
    prints("page_demo", &["--memory", "512M", "--check", "2"], &expected);
}

#[test]
fn cycles_are_counted_around_each_interface() {
    let output = insmod("timing_rdtscl", &["size=100"]);
    let lines = lines(&output);
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (line, name) in lines.iter().zip(["kmalloc: ", "pages: ", "vmalloc: "]) {
        let cycles = line.strip_prefix(name).and_then(|l| l.strip_suffix(" cycles"));
        assert!(cycles.is_some_and(|c| c.parse::<u64>().is_ok_and(|c| c > 0)), "{line}");
    }
}

#[test]
fn sizes_end_where_linux_ends() {
    for (memory, vmalloc_max) in [("256M", 128_u64), ("2G", 1024), ("4G", 2048)] {
        for (mode, limit_mib) in [("mode=0", 4), ("mode=1", 4), ("mode=2", vmalloc_max)] {
            let output = insmod("sizes_kmalloc", &[mode, "--memory", memory]);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            let refused = "insmod: ERROR: could not insert module sizes_kmalloc.ko: \
                           Operation not permitted";
            assert!(stderr.contains(refused), "{stderr}");
            let lines = lines(&output);
            let (last, before) = lines.split_last().expect("it prints a line for each size");
            let (ok, failed) = (limit_mib << 20, (limit_mib << 20) * 2);
            assert_eq!(last, &format!("{failed} bytes: failed"), "{memory} {mode}");
            assert!(before.iter().all(|line| line.contains(" bytes: OK at ")), "{memory} {mode}");
            assert!(before.last().is_some_and(|l| l.starts_with(&format!("{ok} "))), "{before:?}");
        }
    }
}

#[test]
fn parameters_are_set_or_refused_before_init() {
    let words = ["number=0x10", "positive=7", "wide=-3", "flag", "text=a b", "name=xyz"];
    let list = ["list=1,-2,3"];
    prints(
        "params",
        &[&words[..], &list[..]].concat(),
        &["16 7 -3 4 5 1 a b xyz", "list[0] = 1", "list[1] = -2", "list[2] = 3"],
    );
    let params = source("params");
    for (setting, expected) in [
        ("numer=1", "unknown parameter `numer`: the module has flag, list, name"),
        ("number=big", "parameter `number`: `big` is not a number from -2147483648 to 2147483647"),
        ("positive=-1", "parameter `positive`: `-1` is not a number from 0 to 4294967295"),
        ("flag=maybe", "parameter `flag`: `maybe` is not y or n"),
        ("list=1,2,3,4,5", "parameter `list`: `1,2,3,4,5` is not at most 4 values"),
        (
            "name=much-too-long",
            "parameter `name`: `much-too-long` is not shorter than 8 characters",
        ),
    ] {
        let message = refusal(&["insmod", &params, setting]);
        assert!(message.contains(expected), "{message}");
    }
}

/// Mistakes of a module at check level 2, and the words that name them.
#[test]
fn memory_errors_are_named() {
    for (what, expected) in [
        ("leak", "leak: 300 bytes in 3 blocks are live after exit; kmalloc of 100 bytes"),
        ("doublefree", "double free: freed twice; kmalloc of 64 bytes"),
        ("overflow", "out-of-bounds write: byte 24 of a block of 24 bytes was written; kmalloc"),
        (
            "cacheoverflow",
            "out-of-bounds write: byte 40 of a block of 40 bytes was written; bad_cache",
        ),
        ("cachebusy", "cache destroyed with live objects: the cache still has objects"),
        ("sleep", "sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, under a"),
        (
            "interior",
            "invalid free of a pointer into a block: freed at byte 8 of the block; kmalloc of 64",
        ),
        ("wrongfree", "mismatched free: freed by kfree, not by vfree; vmalloc of 100 bytes"),
        ("before", "out-of-bounds write: cache "),
        ("mutex", "sleep in atomic context: mutex_lock() may sleep, under a"),
        ("lockleft", "lock or atomic context left: init returned under a spinlock"),
    ] {
        for allocator in ["slub", "slob"] {
            let setting = format!("what={what}");
            let output = insmod("bad", &[&setting, "--check", "2", "--allocator", allocator]);
            let lines = lines(&output);
            let found = lines.iter().filter(|line| line.starts_with(expected)).count();
            assert_eq!(found, 1, "{what}: {lines:#?}");
            assert_eq!(output.status.code(), Some(1), "{what}");
            assert!(lines.contains(&"bad: exit".to_string()), "{what}: the module goes on");
        }
    }
    for what in ["atomic", "rcu"] {
        let allowed = insmod("bad", &[&format!("what={what}"), "--check", "2"]);
        assert_eq!(lines(&allowed), [&format!("bad: {what}"), "bad: exit"]);
    }
    // The module's own line, not the runtime's.
    let sleeps = told(&insmod("bad", &["what=mutex", "--check", "2"]));
    assert!(sleeps.contains("in bad_init+") && sleeps.contains("(bad.c:114)"), "{sleeps}");
    let leak = lines(&insmod("bad", &["what=leak", "--check", "2"]));
    assert!(leak.iter().any(|l| l.starts_with("    allocated by make+0x")), "{leak:?}");
}

#[test]
fn pages_freed_twice_are_counted_once() {
    for check in ["0", "1", "2"] {
        let output = insmod("bad", &["what=pagestwice", "--check", check]);
        let lines = lines(&output);
        assert!(lines.contains(&"bad: 0 pages lost".to_string()), "{check}: {lines:#?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("still allocated"), "{check}: {stderr}");
    }
}

/// A module that never ends does not outlive the command that loaded it, even if that is killed.
#[test]
fn the_child_ends_with_the_command() {
    let path = source("bad");
    let mut command = slablab();
    command.args(["insmod", &path, "what=endless"]).stdout(Stdio::piped());
    let mut parent = command.spawn().unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("before the loop")));
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let child = fs::read_to_string(children).unwrap();
    let stat = format!("/proc/{}/stat", child.trim());
    assert!(fs::exists(&stat).unwrap());
    parent.kill().unwrap();
    parent.wait().unwrap();
    let state = || fs::read_to_string(&stat).unwrap_or_default();
    let patience = Instant::now() + Duration::from_secs(10);
    while !state().is_empty() && !state().contains(") Z ") {
        assert!(Instant::now() < patience, "{}", state());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_crash_is_named_and_takes_nobody_along() {
    for (what, expected) in [
        ("null", "stopped by SIGSEGV (invalid memory access) at address 0x0 in crash+0x"),
        ("divide", "stopped by SIGFPE (division by zero)"),
        ("memset", "stopped by SIGSEGV (invalid memory access) at address 0x8 in "),
        ("recurse", "stopped by SIGSEGV (invalid memory access)"),
        ("bug", "stopped by BUG() in init"),
    ] {
        let output = insmod("bad", &[&format!("what={what}")]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{what}: {stderr}");
        assert!(stderr.contains(expected), "{what}: {stderr}");
        assert_eq!(lines(&output)[0], format!("bad: {what}"), "the log so far is there");
    }
}

#[test]
fn what_does_not_build_is_refused_with_the_tools_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.c");
    let source = "#include <linux/module.h>\nint init_module(void) { return undeclared(); }\n";
    std::fs::write(&path, source).unwrap();
    let output = run(&["insmod", path.to_str().unwrap()]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("wrong.c: does not compile"), "{stderr}");
    assert!(stderr.contains("wrong.c:2:") && stderr.contains("undeclared"), "{stderr}");
    let output = insmod("missing", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("not provided here:\n  frobnicate_the_kernel ("), "{stderr}");
    assert!(refusal(&["insmod", "/nowhere/x.c"]).contains("/nowhere/x.c: No such file"));
    assert!(refusal(&["insmod", "Cargo.toml"]).contains("is no C source"));
}

#[test]
fn metadata_is_shown_on_request() {
    let text = stdout(&["insmod", &source("params"), "--modinfo"]);
    for line in [
        "version 1.2",
        "description Parameters of each kind",
        "license GPL",
        "parm number:An integer (int)",
        "parm list:Up to four integers (array of int)",
    ] {
        let is_it = |l: &str| l.split_whitespace().collect::<Vec<_>>().join(" ") == line;
        assert!(text.lines().any(is_it), "{line}\n{text}");
    }
}

#[test]
fn json_says_all_of_it() {
    let output = insmod("bad", &["what=doublefree", "--check", "2", "--format", "json"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    assert_eq!(json["schema"], "slablab.insmod/1");
    assert_eq!((&json["init"], &json["exited"]), (&0.into(), &true.into()));
    assert_eq!(json["log"][0]["text"], "bad: doublefree");
    let finding = &json["findings"][0];
    assert_eq!(finding["kind"], "double_free");
    for site in ["call", "allocated_by", "freed_by"] {
        assert!(finding[site].as_str().is_some_and(|s| s.contains("+0x")), "{finding}");
    }
}

#[test]
fn exact_pages_gives_back_the_rest_of_the_power_of_two() {
    let expected = [
        "exact_pages: 1 bytes took 1 pages, left 0",
        "exact_pages: 4096 bytes took 1 pages, left 0",
        "exact_pages: 4097 bytes took 2 pages, left 0",
        "exact_pages: 20480 bytes took 5 pages, left 0",
        "exact_pages: 700000 bytes took 171 pages, left 0",
        "exact_pages: 8 MiB refused",
    ];
    for check in ["1", "2"] {
        prints("exact_pages", &["--check", check], &expected);
    }
}

/// A cache used to be taken off the list by a place in it that another thread had moved.
#[test]
fn threads_destroy_their_caches_at_the_same_time() {
    for (allocator, check) in [("slub", "1"), ("slab", "2"), ("slob", "2"), ("slmb", "2")] {
        let words = ["--allocator", allocator, "--check", check];
        prints("caches_race", &words, &["caches_race: 0 failed"]);
    }
}

#[test]
fn threads_allocate_from_every_interface_at_the_same_time() {
    for allocator in ["slub", "slab", "slob", "slmb"] {
        for check in ["1", "2"] {
            let words = ["--allocator", allocator, "--check", check];
            prints("blocks_race", &words, &["blocks_race: 0 changed, 0 refused"]);
        }
    }
}

/// The module used to wait for itself, until the time was over.
#[test]
fn a_constructor_that_allocates_is_refused() {
    for cpus in ["1", "4"] {
        let output = insmod("ctor_allocates", &["--cpus", cpus]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let log = lines(&output);
        assert!(log[0].starts_with("a constructor of a cache calls the allocator"), "{log:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("stopped by BUG() in init"), "{stderr}");
    }
}

/// Completions on a stack, conditions with side effects, works that queue themselves and timers that
/// restart themselves, each while other threads complete, queue and cancel.
#[test]
fn waiting_waking_and_cancelling_do_not_race() {
    let expected = [
        "waiters: completed twice, waited once, done 1",
        "waiters: waited twice, none is left 1",
        "waiters: 2 of 3 tokens are left",
        "waiters: the stack changed 0 times",
        "waiters: the timer's work ran 1 time",
        "waiters: cancelled 20 times",
        "waiters: queued by two, pending 0",
        "waiters: cancelled inside a callback 0 times",
        "waiters: tasks were seen",
    ];
    prints("waiters", &["--check", "2"], &expected);
}
