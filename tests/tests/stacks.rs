//! Call stacks from recordings to sums, tables and profiles: nothing is lost on the way, and all sums are one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use slablab_tests::{refusal, root, shown, slablab, stdout};
use slablab_trace::{Kind, TraceReader};

/// What `slablab stat` says, as JSON.
fn stat(trace: &Path, words: &[&str]) -> Value {
    let file = trace.to_str().unwrap();
    let text = stdout(&[&["stat", file, "--format", "json"], words].concat());
    serde_json::from_str(&text).unwrap()
}

/// A text of tracefs with three callers of one `kstrdup`, an interrupt within an allocation, and a cut end.
fn made_up(folder: &Path) -> std::path::PathBuf {
    let mut text =
        String::from("# tracer: nop\n#\n# entries-in-buffer/entries-written: 12/12   #P:2\n");
    let mut line = |flags: &str, us: u64, what: &str| {
        text.push_str(&format!("            task-7     [000] {flags} 1000.{us:06}: {what}\n"));
    };
    let kmalloc = |site: &str, ptr: u64, req: usize, alloc: u64| {
        format!(
            "kmalloc: call_site={site} ptr={ptr:016x} bytes_req={req} bytes_alloc={alloc} gfp_flags=GFP_KERNEL \
             node=-1 accounted=false"
        )
    };
    for (number, caller) in ["open_a", "open_b", "open_c", "open_a"].iter().enumerate() {
        let (us, ptr) = (10 * number as u64, 0xffff_8880_0100_0000 + 64 * number as u64);
        line(".....", us, &kmalloc("kstrdup+0x38/0x70", ptr, 40 + number, 64));
        if number == 1 {
            // Of a timer that interrupted it before its stack was written.
            let tick = kmalloc("tick+0x1/0x2", 0xffff_8880_0200_0000, 32, 32);
            let tick =
                tick.replace("kmalloc:", "kmem_cache_alloc:").replace("GFP_KERNEL", "GFP_ATOMIC");
            line("..s1.", us + 1, &tick.replace("bytes_req", "name=ticks bytes_req"));
            let frames =
                "=> kmem_cache_alloc_noprof+0x1/0x2\n => tick+0x1/0x2\n => run_timers+0x9/0x20";
            line("..s1.", us + 2, &format!("<stack trace>\n {frames}"));
        }
        let frames = format!(
            "=> __kmalloc_noprof+0x10/0x20\n => kstrdup+0x38/0x70\n => {caller}+0x5/0x90 [session]\n => \
             do_syscall_64+0x5d/0x90"
        );
        line(".....", us + 3, &format!("<stack trace>\n {frames}"));
    }
    line(".....", 50, &kmalloc("bare+0x4/0x70", 0xffff_8880_0300_0000, 100, 128));
    line(".....", 60, "kfree: call_site=close+0x4/0x70 ptr=ffff888001000000");
    let file = folder.join("trace.txt");
    fs::write(&file, text).unwrap();
    file
}

/// Returns the live bytes at the end by the names of groups.
fn live(answer: &Value, place: usize) -> BTreeMap<String, u64> {
    let groups = answer["groups"].as_array().unwrap().iter();
    let named = groups.map(|group| {
        let bytes = group["live"][place]["bytes"].as_u64().unwrap();
        (group["names"][0].as_str().unwrap().to_owned(), bytes)
    });
    named.collect()
}

#[test]
fn callers_of_one_helper_stand_apart() {
    let folder = tempfile::tempdir().unwrap();
    let trace = made_up(folder.path());
    let owners = live(&stat(&trace, &["--by", "owner", "--at", "end"]), 0);
    let expected = [
        ("open_a [session]", 64),
        ("open_b [session]", 64),
        ("open_c [session]", 64),
        ("bare", 128),
        ("tick", 32),
    ];
    assert_eq!(owners, expected.map(|(name, bytes)| (name.to_owned(), bytes)).into());
    let stacks = stat(&trace, &["--by", "stack", "--at", "end"]);
    let names = live(&stacks, 0);
    assert_eq!(names["tick+0x1 < run_timers+0x9"], 32, "{names:?}");
    assert_eq!(names["kstrdup+0x38 < open_b+0x5 [session] < do_syscall_64+0x5d"], 64);
    assert_eq!(stacks["allocs_without_stack"], 1);
    let modules = live(&stat(&trace, &["--by", "module", "--at", "end"]), 0);
    assert_eq!(modules, [("session".to_owned(), 192), ("vmlinux".to_owned(), 160)].into());
    let told = live(&stat(&trace, &["--by", "owner", "--at", "end", "--helper", "open_a"]), 0);
    assert_eq!(told["do_syscall_64"], 64, "{told:?}");
}

/// The sum by stack is that by site, by cache and by anything else, to the byte, and that of `stat` without groups.
fn sums_are_equal(trace: &Path) {
    let plain = stat(trace, &[]);
    let one_in = plain["one_in"].as_u64().unwrap_or(1);
    let sites = plain["sites"].as_array().unwrap();
    let sum = |key: &str| sites.iter().map(|site| site[key].as_u64().unwrap()).sum::<u64>();
    let mut first: Option<(Value, u64)> = None;
    for by in ["stack", "site", "cache", "owner", "module", "program", "cache,owner"] {
        let answer = stat(trace, &["--by", by]);
        let groups = answer["groups"].as_array().unwrap();
        let of = |read: &dyn Fn(&Value) -> u64| groups.iter().map(read).sum::<u64>();
        let total = &answer["total"];
        for place in [0, 1] {
            let bytes = |group: &Value| group["live"][place]["bytes"].as_u64().unwrap();
            assert_eq!(of(&bytes), bytes(total), "{by}");
        }
        assert_eq!(
            of(&|group| group["bytes_alloc"].as_u64().unwrap()),
            total["bytes_alloc"],
            "{by}"
        );
        assert_eq!(total["bytes_alloc"], sum("bytes_alloc"), "{by}");
        assert_eq!(total["allocs"], sum("hit"), "{by}");
        assert_eq!(total["live"][0]["bytes"], sum("live_bytes_end"), "{by}");
        assert_eq!(answer["one_in"].as_u64().unwrap_or(1), one_in);
        let (known, _) = first.get_or_insert_with(|| (total.clone(), 0));
        for key in ["allocs", "bytes_alloc", "bytes_req", "live", "freed"] {
            assert_eq!(known[key], total[key], "{by}: {key}");
        }
    }
    let by_site = stat(trace, &["--by", "site", "--at", "end"]);
    let by_site = live(&by_site, 0);
    for site in sites {
        let name = site["callsite"].as_str().unwrap();
        assert_eq!(by_site.get(name).copied(), site["live_bytes_end"].as_u64(), "{name}");
    }
}

#[test]
fn sums_by_stack_are_those_by_site_and_by_cache() {
    let folder = tempfile::tempdir().unwrap();
    sums_are_equal(&made_up(folder.path()));
    for trace in ["hackbench", "boot", "build"] {
        sums_are_equal(&root().join(format!("traces/{trace}.parquet")));
    }
}

#[test]
fn a_trace_keeps_its_stacks_and_gives_their_addresses_away_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let text = made_up(folder.path());
    let [first, again, public] =
        ["a", "b", "c"].map(|name| folder.path().join(format!("{name}.parquet")));
    let import = |from: &Path, to: &Path, more: &[&str]| {
        let words = ["import", from.to_str().unwrap(), "-o", to.to_str().unwrap()];
        let _ = stdout(&[&words, more].concat());
    };
    import(&text, &first, &[]);
    import(&first, &again, &[]);
    import(&first, &public, &["--strip-addresses"]);
    let stacks = |path: &Path| {
        let trace = TraceReader::open(path).unwrap();
        let stacks = trace.meta().stacks.clone();
        let of = |stack: u32| stacks.frames(stack).map(|f| f.name.clone()).collect::<Vec<_>>();
        let rows = trace.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>());
        rows.map(|row| (row.kind, of(row.stack))).collect::<Vec<_>>()
    };
    let whole = stacks(&first);
    assert_eq!(whole.iter().filter(|(_, frames)| !frames.is_empty()).count(), 5);
    assert_eq!(whole[0].1[..2], ["__kmalloc_noprof+0x10", "kstrdup+0x38"]);
    assert_eq!((&stacks(&again), &stacks(&public)), (&whole, &whole));
    let part = folder.path().join("part.parquet");
    import(&first, &part, &["--site", "tick*"]);
    assert_eq!(stacks(&part).len(), 1);
    let tables = folder.path().join("tables");
    let _ = stdout(&["export", first.to_str().unwrap(), "--tables", tables.to_str().unwrap()]);
    assert!(tables.join("stacks.parquet").is_file());
}

#[test]
fn what_was_never_recorded_is_said_and_not_guessed() {
    let trace = root().join("traces/hackbench.parquet");
    let trace = trace.to_str().unwrap();
    let text = stdout(&["stat", trace, "--by", "owner"]);
    assert!(text.contains("has no call stacks"), "{text}");
    for (words, told) in [
        (&["stat", trace, "--at", "peak"][..], "add --by owner"),
        (&["stat", trace, "--by", "owner", "--raw-ip"], "does not go with --by"),
        (&["export", trace, trace, "--pprof", "x.pb.gz"], "of one trace"),
        (&["export", trace, "--at", "peak", "--tables", "x"], "add --pprof"),
        (&["export", trace, "--folded", "-"], "name a file, or /dev/stdout"),
    ] {
        let refused = refusal(words);
        assert!(refused.contains(told), "{words:?}: {refused}");
    }
    let soon = ["stat", trace, "--by", "owner", "--at", "soon"];
    let refused = slablab_tests::run(&soon);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a moment is peak"));
    let beyond = slablab_tests::run(&["stat", trace, "--by", "owner", "--at", "200%"]);
    assert_eq!(beyond.status.code(), Some(2), "a moment behind the last event");
}

/// A stack of 3,000 frames, of a module that is gone, of hashed addresses; and a text cut anywhere.
#[test]
fn odd_and_cut_stacks_are_taken_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.txt");
    let event = |us: u64, ptr: u64| {
        format!(
            "  task-7 [000] ..... 1.{us:06}: kmalloc: call_site=f+0x1/0x2 ptr={ptr:016x} bytes_req=8 bytes_alloc=8 \
             gfp_flags=GFP_KERNEL node=-1\n  task-7 [000] ..... 1.{us:06}: <stack trace>\n => f+0x1/0x2\n"
        )
    };
    let mut text = String::from("# tracer: nop\n");
    text += &event(1, 0xffff_8880_0000_1000);
    (0..3_000).for_each(|frame| text.push_str(&format!(" => g{frame}+0x1/0x2\n")));
    text += &event(2, 0xffff_8880_0000_2000);
    text += " => 0xffffffffc0a01234\n => 00000000c0ffee00\n => \u{1b}[31mred\n => \n =>\n";
    fs::write(&file, &text).unwrap();
    let answer = stat(&file, &["--by", "stack", "--at", "end"]);
    assert_eq!(
        (&answer["allocs_with_cut_stack"], &answer["total"]["allocs"]),
        (&1.into(), &2.into())
    );
    let names = live(&answer, 0);
    let odd = names.keys().find(|name| !name.contains("g17+0x1")).unwrap();
    assert!(odd.starts_with("f+0x1 < 0xffffffffc0a01234 < 00000000c0ffee00"), "{odd}");
    let shown = stdout(&["stat", file.to_str().unwrap(), "--by", "stack", "--all"]);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let whole = fs::read_to_string(made_up(folder.path())).unwrap();
    for part in 1..40 {
        fs::write(&file, &whole.as_bytes()[..whole.len() * part / 40]).unwrap();
        let output =
            slablab().args(["stat", file.to_str().unwrap(), "--by", "owner"]).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 2)), "{part}: {output:?}");
    }
}

/// Reads a pprof by the fields that its project publishes, with Google's own library of PyPI.
const READ_PPROF: &str = include_str!("stacks/read_pprof.py");

#[test]
fn a_pprof_is_read_by_another_reader() {
    let folder = tempfile::tempdir().unwrap();
    let text = made_up(folder.path());
    let [pprof, folded, firefox] =
        ["p.pb.gz", "f.folded", "f.json"].map(|name| folder.path().join(name));
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    let _ = stdout(&[
        "export",
        &name(&text),
        "--pprof",
        &name(&pprof),
        "--folded",
        &name(&folded),
        "--firefox",
        &name(&firefox),
        "--at",
        "end",
    ]);
    let lines = fs::read_to_string(&folded).unwrap();
    let line = "do_syscall_64+0x5d;open_b+0x5 [session];kstrdup+0x38 64\n";
    assert!(lines.contains(line), "{lines}");
    let json: Value = serde_json::from_slice(&fs::read(&firefox).unwrap()).unwrap();
    let weights = json["threads"][0]["samples"]["weight"].as_array().unwrap();
    assert_eq!(weights.iter().map(|w| w.as_u64().unwrap()).sum::<u64>(), 352);
    // Go's own reader, where it is: five values, and the numbers of the frames.
    if let Ok(raw) = Command::new("go").args(["tool", "pprof", "-raw"]).arg(&pprof).output() {
        let raw = String::from_utf8_lossy(&raw.stdout).into_owned();
        let types = "inuse_space/bytes[dflt] inuse_objects/count waste_space/bytes alloc_space/bytes alloc_objects/count";
        assert!(raw.contains(types), "{raw}");
        let samples = raw.split_once(types).unwrap().1.lines().take_while(|l| *l != "Locations");
        let values = samples.filter_map(|line| Some(line.split_once(": ")?.0.split_whitespace()));
        let sums = values.fold([0; 5], |sums, line| {
            let line: Vec<i64> = line.filter_map(|word| word.parse().ok()).collect();
            if line.len() == 5 { [0, 1, 2, 3, 4].map(|at| sums[at] + line[at]) } else { sums }
        });
        assert_eq!(sums[..2], [352, 5], "{raw}");
    }
    let Some(mut python) = slablab_tests::python_with_protobuf() else { return };
    let read = python.args(["-c", READ_PPROF, &name(&pprof)]).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let profile: Value = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!(profile["types"][0], "inuse_space");
    let samples = profile["samples"].as_array().unwrap();
    let of = |function: &str| {
        let has =
            |sample: &&Value| sample["stack"].as_array().unwrap().iter().any(|f| f == function);
        let values = samples.iter().filter(has).map(|s| s["values"].as_array().unwrap().clone());
        values.fold(vec![0; 5], |sum: Vec<i64>, values| {
            sum.iter().zip(&values).map(|(sum, value)| sum + value.as_i64().unwrap()).collect()
        })
    };
    assert_eq!(of("open_a"), [64, 1, 64 - 43, 128, 2]);
    assert_eq!(of("tick"), [32, 1, 0, 32, 1]);
    assert_eq!(samples[0]["stack"][0], "kstrdup");
}

/// Records with perf and reads what it prints, chain by chain.
#[test]
fn chains_of_perf_are_those_that_perf_prints() {
    if !shown::is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("perf.data");
    let events = "kmem:kmalloc,kmem:kmem_cache_alloc,kmem:kfree,kmem:kmem_cache_free";
    let recorded = Command::new("perf")
        .args(["record", "-q", "-g", "-c", "1", "-a", "-m", "2M", "-e", events, "-o"])
        .arg(&data)
        .args(["--", "ls", "-R", "/usr/share/doc/apt"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !recorded.is_ok_and(|status| status.success()) {
        return;
    }
    let script = Command::new("perf")
        .args(["script", "--no-inline", "-F", "cpu,time,event,ip,sym,dso", "-i"])
        .arg(&data)
        .output()
        .unwrap();
    let theirs = printed_chains(&String::from_utf8_lossy(&script.stdout));
    let trace = folder.path().join("t.parquet");
    let _ = stdout(&["import", data.to_str().unwrap(), "-o", trace.to_str().unwrap()]);
    let trace = TraceReader::open(&trace).unwrap();
    let stacks = trace.meta().stacks.clone();
    let mut ours = Vec::new();
    for event in trace.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>()) {
        if matches!(event.kind, Kind::ImplicitFree | Kind::EstimatedFree) {
            continue;
        }
        // Entries of system calls have two names at one address, and each reader shows one of them.
        let function = |name: &str| {
            name.split(['+', ' ']).next().unwrap().replace("__ia32_sys_", "__x64_sys_")
        };
        let chain: Vec<_> = stacks.frames(event.stack).map(|f| function(&f.name)).collect();
        ours.push((event.cpu, event.time_ns / 1000, event.kind.name().to_owned(), chain));
    }
    let mut theirs: Vec<_> = theirs;
    for (.., chain) in &mut theirs {
        // perf asks the kernel for the names of BPF programs that run meanwhile.
        chain.retain(|name| !name.starts_with("bpf_prog_"));
        chain.iter_mut().for_each(|name| *name = name.replace("__ia32_sys_", "__x64_sys_"));
    }
    ours.sort();
    theirs.sort();
    assert!(ours.len() > 100 && ours.iter().filter(|of| of.3.len() > 3).count() > 100);
    assert_eq!(ours.len(), theirs.len());
    let other = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
    assert_eq!(other, None);
}

/// CPU, microsecond, event and kernel functions of each event of `perf script`.
fn printed_chains(text: &str) -> Vec<(u16, u64, String, Vec<String>)> {
    let mut all = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') || line.trim_start().starts_with('[') {
            let mut words = line.split_whitespace();
            let cpu = words.next().unwrap().trim_matches(['[', ']']).parse().unwrap();
            let time = words.next().unwrap().trim_end_matches(':');
            let us = time.replace('.', "").parse().unwrap();
            let event = words.next().unwrap().trim_end_matches(':').trim_start_matches("kmem:");
            all.push((cpu, us, event.to_owned(), Vec::new()));
        } else if line.starts_with('\t')
            && (line.contains("([") && !line.contains("([unknown") && !line.contains("([vdso")
                || line.contains(".ko"))
        {
            let function = line.split_whitespace().nth(1).unwrap();
            let (address, name) = (line.split_whitespace().next().unwrap(), function);
            let name = if name == "[unknown]" { format!("0x{address}") } else { name.to_owned() };
            all.last_mut().unwrap().3.push(name);
        }
    }
    all
}

#[test]
fn a_recording_with_stacks_names_owner_and_program() {
    if !shown::is_root() || !Path::new("/sys/kernel/tracing/events/kmem").is_dir() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.parquet");
    let script = "for i in 1 2 3 4 5 6 7 8; do ls /proc/self/fd >/dev/null; done";
    let recorded = slablab()
        .args(["record", "--stacks=all", "-o"])
        .arg(&trace)
        .args(["--", "sh", "-c", script])
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let meta = TraceReader::open(&trace).unwrap().meta().clone();
    assert!(!meta.stacks.is_empty());
    sums_are_equal(&trace);
    // Processes that lived for a few milliseconds have their name.
    let programs = live(&stat(&trace, &["--by", "program"]), 1);
    assert!(programs.contains_key("ls"), "{programs:?}");
    let of_ls = stat(&trace, &["--by", "owner", "--comm", "ls"]);
    let owners = of_ls["groups"].as_array().unwrap();
    let has = |name: &str| owners.iter().any(|group| group["names"][0] == name);
    assert!(has("copy_process") || has("dup_mmap") || has("mas_alloc_nodes") || owners.len() > 10);
    // Nearly every allocation has its stack, and it leads out to where the kernel was entered.
    let (without, allocs) = (
        of_ls["allocs_without_stack"].as_u64().unwrap(),
        of_ls["total"]["allocs"].as_u64().unwrap(),
    );
    assert!(without * 100 <= allocs, "{without} of {allocs}");
    let entered = owners.iter().filter(|group| {
        let stack = group["stack"].as_array().unwrap();
        stack
            .last()
            .is_some_and(|frame| frame.as_str().unwrap().contains("entry") || stack.len() > 2)
    });
    assert!(entered.count() * 2 > owners.len());
}

/// BPF chooses a sample where the kernel has it, and the kernel's own filter elsewhere: what was allocated is freed in either.
#[test]
fn a_sample_with_stacks_has_each_object_from_its_allocation_to_its_free() {
    if !shown::is_root() || !Path::new("/sys/kernel/tracing/events/kmem").is_dir() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.parquet");
    let script = "import os\n\
        for again in range(2):\n held = [os.eventfd(0) for _ in range(900)]\n for fd in held: os.close(fd)\n";
    // A program that no other test runs has a name of its own.
    let program = folder.path().join("holds-eventfds");
    std::os::unix::fs::symlink("/usr/bin/python3", &program).unwrap();
    let recorded = slablab()
        .args(["record", "--sample", "2", "--stacks", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(&program)
        .args(["-c", script])
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    sums_are_equal(&trace);
    let answer = stat(&trace, &["--by", "owner", "--comm", "holds-eventfds"]);
    let number = |of: &Value, name: &str| of[name].as_u64().unwrap();
    let mut groups = answer["groups"].as_array().unwrap().iter();
    let of_eventfd = groups.find(|group| group["names"][0] == "do_eventfd").unwrap();
    let allocs = number(of_eventfd, "allocs");
    // Each that was recorded stands for two of 1,800.
    assert!(allocs > 0 && allocs <= 2 * 1800, "{of_eventfd}");
    assert_eq!(number(of_eventfd, "freed"), allocs, "{of_eventfd}");
    assert_eq!((number(&answer, "one_in"), number(&answer, "allocs_without_stack")), (2, 0));
}

/// A group of a sample has an interval, whatever it is made by, at a moment too, and behind a filter.
#[test]
fn groups_of_a_sample_have_intervals_that_a_filter_keeps() {
    if !shown::is_root() || !Path::new("/sys/kernel/tracing/events/kmem").is_dir() {
        return;
    }
    const HELD: u64 = 16_000;
    let folder = tempfile::tempdir().unwrap();
    let (trace, program) = (folder.path().join("t.parquet"), folder.path().join("holds-many"));
    std::os::unix::fs::symlink("/usr/bin/python3", &program).unwrap();
    // A process may not open that many files: twenty have them at one time.
    let script = format!(
        "import os\n\
         ready, tell = os.pipe()\n\
         wait, end = os.pipe()\n\
         for _ in range(20):\n \
          if os.fork() == 0:\n  \
           os.close(end)\n  \
           held = [os.eventfd(0) for _ in range({HELD} // 20)]\n  \
           os.write(tell, b'.')\n  \
           os.read(wait, 1)\n  \
           os._exit(0)\n\
         for _ in range(20): os.read(ready, 1)\n"
    );
    let mut record = slablab();
    record.args(["record", "--sample", "4", "--stacks", "-o"]).arg(&trace).arg("--").arg(&program);
    let recorded = record.args(["-c", &script]).output().unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let of_eventfd = |words: &[&str]| {
        let answer = stat(&trace, &[&["--by", "owner,program", "--at", "peak"], words].concat());
        let mut groups = answer["groups"].as_array().unwrap().iter();
        groups.find(|group| group["names"][0] == "do_eventfd").unwrap().clone()
    };
    let group = of_eventfd(&[]);
    let live = &group["live"][0];
    let ends = |of: &Value| [0, 1].map(|end| of[end].as_u64().unwrap());
    let [low, high] = ends(&live["objects_interval"]);
    let objects = live["objects"].as_u64().unwrap();
    assert!(low < objects && objects < high && high - low < HELD * 2, "{group}");
    // One recording of a hundred is outside of its interval, and none is far from it.
    let width = high - low;
    assert!(low.saturating_sub(width) < HELD && HELD < high + width, "{group}");
    let [low, high] = ends(&live["bytes_interval"]);
    assert!(low < high && ends(&group["bytes_alloc_interval"])[0] > 0, "{group}");
    assert_eq!(of_eventfd(&["--comm", "holds-many"])["live"][0], *live);
    let text = stdout(&["stat", trace.to_str().unwrap(), "--by", "owner"]);
    assert!(text.contains("with 95 % intervals") && text.contains(" low "), "{text}");
    // A copy without addresses keeps them.
    let again = folder.path().join("again.parquet");
    let (from, to) = (trace.to_str().unwrap(), again.to_str().unwrap());
    let copy = slablab().args(["import", from, "--strip-addresses", "-o", to]).status();
    assert!(copy.unwrap().success());
    let copied = stat(&again, &["--by", "owner,program", "--at", "peak"]);
    assert!(copied["groups"].as_array().unwrap().iter().any(|one| one["live"][0] == *live));
}

/// A function of a module that is in no list allocates 96 bytes for two callers: with `--helper` each is advised, asked about
/// and patched by itself.
#[test]
fn a_helper_that_a_user_names_is_looked_behind_by_advise_whatif_and_patch() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.txt");
    let mut text = String::from("# tracer: nop\n#\n");
    for number in 0..2400u64 {
        let (us, ptr) = (100 * number, 0xffff_8880_0100_0000 + 96 * number);
        let caller = ["open_a", "open_b"][usize::from(number % 4 == 0)];
        let task = "            task-7     [000] .....";
        text.push_str(&format!(
            "{task} 1000.{us:06}: kmalloc: call_site=my_alloc+0x38/0x70 [session] ptr={ptr:016x} bytes_req=72 \
             bytes_alloc=96 gfp_flags=GFP_KERNEL node=-1 accounted=false\n{task} 1000.{us:06}: <stack trace>\n \
             => __kmalloc_noprof+0x10/0x20\n => my_alloc+0x38/0x70 [session]\n => {caller}+0x5/0x90 [session]\n"
        ));
        // Of the last two thirds each is freed, so that nothing looks like a leak.
        if number >= 800 {
            text.push_str(&format!(
                "{task} 1000.{:06}: kfree: call_site=close+0x4/0x70 ptr={ptr:016x}\n",
                us + 50
            ));
        }
    }
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let sites = |words: &[&str]| {
        let answer: Value = serde_json::from_str(&stdout(words)).unwrap();
        let advice = answer["advice"].as_array().unwrap();
        let mut sites: Vec<String> =
            advice.iter().map(|line| line["subject"].as_str().unwrap().to_owned()).collect();
        sites.sort();
        sites
    };
    let advise = ["advise", file, "--format", "json"];
    assert_eq!(sites(&advise), ["my_alloc+0x38 [session]"]);
    let behind = sites(&[&advise[..], &["--helper", "my_alloc"]].concat());
    assert_eq!(behind, ["kmalloc-96", "open_a+0x5 [session]", "open_b+0x5 [session]"]);
    let what_if = ["whatif", file, "--dedicate", "open_a"];
    assert!(refusal(&what_if).contains("open_a"));
    assert!(stdout(&[&what_if[..], &["--helper", "my_alloc"]].concat()).contains("open_a"));
    let patch = stdout(&["patch", file, "open_a", "--helper", "my_alloc"]);
    assert!(patch.contains("open_a"), "{patch}");
    let sample = root().join("traces/boot.parquet");
    let refused = refusal(&["advise", sample.to_str().unwrap(), "--helper", "kstrdup"]);
    assert!(refused.contains("record --stacks"), "{refused}");
}

/// A moment behind the end was taken for the end.
#[test]
fn a_moment_behind_the_end_of_a_recording_is_refused_with_its_length() {
    let trace = "traces/boot.parquet";
    for words in [
        &["stat", trace, "--by", "owner", "--at", "999"][..],
        &["stat", trace, "--by", "owner", "--growth", "0,1.5"],
        &["export", trace, "--folded", "/dev/null", "--at", "1"],
    ] {
        let said = refusal(words);
        assert!(said.contains(trace) && said.contains("last event is at 0.96983"), "{said}");
    }
    assert!(!stdout(&["stat", trace, "--by", "owner", "--at", "0.969"]).is_empty());
}
