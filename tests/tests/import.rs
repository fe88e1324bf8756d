//! `slablab import` as its users meet it: from pipes, in bounded memory, without addresses, out of DuckDB.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use slablab_tests::{python_with_duckdb, refusal, root, run, slablab, slablab_path, stdout};
use slablab_trace::{Kind, TraceReader};

const SAMPLE: &str = "traces/hackbench.parquet";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command with `write` at the other end of its standard input.
fn piped(command: &mut Command, write: impl FnOnce(&mut dyn Write)) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = BufWriter::new(child.stdin.take().unwrap());
    write(&mut stdin);
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// Writes allocations as kernels before 6.8 print them, that is without the name of the cache; every other object
/// is freed, the first of all never.
fn write_6_1(to: &mut dyn Write, allocs: u64) {
    let mut line = String::new();
    for number in 0..allocs {
        let (seconds, us) = (1 + number / 1_000_000, number % 1_000_000);
        let ptr = 0xffff_8881_0000_0000 + number % 4096 / 2 * 64;
        let head = format!("      perf-7       [00{}] ..... {seconds:6}.{us:06}:", number % 2);
        line.clear();
        if number % 2 == 0 {
            let _ = writeln!(
                line,
                "{head} kmem_cache_alloc: call_site=f+0x{:x}/0x9000 ptr={:#x} bytes_req=184 bytes_alloc=192 \
                 gfp_flags=GFP_KERNEL node=-1 accounted=false",
                number % 512,
                if number == 0 { 0xffff_8880_0000_0000 } else { ptr }
            );
        } else {
            let _ = writeln!(
                line,
                "{head} kmem_cache_free: call_site=g+0x1/0x9 ptr={ptr:#x} name=filp"
            );
        }
        if to.write_all(line.as_bytes()).is_err() {
            return; // whoever reads has ended, and says why
        }
    }
}

/// Without -o the trace has the name of the recording. A trace of that name in this folder used to be replaced by a part of
/// itself.
#[test]
fn a_recording_is_not_replaced_by_what_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("t.parquet");
    fs::copy(root().join(SAMPLE), &own).unwrap();
    let before = fs::read(&own).unwrap();
    for words in
        [&["import", "t.parquet", "--cpu", "0"][..], &["import", "t.parquet", "-o", "./t.parquet"]]
    {
        let output = slablab().current_dir(&folder).args(words).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("would replace the recording"), "{told}");
        assert!(fs::read(&own).unwrap() == before, "{words:?}");
    }
}

/// The command used to make a file called `-`.
#[test]
fn a_trace_does_not_go_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let sample = root().join(SAMPLE);
    let words = ["import", text(&sample), "-o", "-"];
    let output = slablab().current_dir(&folder).args(words).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("cannot go to standard output"), "{told}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// Sites and caches that only other events have used to be counted and listed.
#[test]
fn a_part_knows_only_the_names_of_its_own_events() {
    let info = |words: &[&str]| -> serde_json::Value {
        let json = stdout(&[&["info", SAMPLE, "--format", "json"], words].concat());
        serde_json::from_str(&json).unwrap()
    };
    let (whole, part) = (info(&[]), info(&["--cache", "skbuff_head_cache"]));
    assert_eq!(part["caches"].as_array().unwrap().len(), 1, "{part}");
    assert!(part["sites"].as_u64().unwrap() * 4 < whole["sites"].as_u64().unwrap(), "{part}");
}

#[test]
fn a_byte_order_mark_is_no_damage_and_more_asked_for_than_given_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    let line = |ptr: &str, bytes_req: u64| {
        format!(
            "x-1 [000] ..... 1.5: kmalloc: call_site=f+0x1/0x9 ptr={ptr} bytes_req={bytes_req} bytes_alloc=64 \
             gfp_flags=GFP_KERNEL node=-1 accounted=false\n"
        )
    };
    let lines = ["\u{feff}", &line("0xffff888100000000", 50), &line("0xffff888100001000", 80)];
    fs::write(&path, lines.concat()).unwrap();
    let json = stdout(&["info", text(&path), "--format", "json"]);
    let info: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(info["events"], 1, "{info}");
    let skipped = info["quality"]["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1, "{info}");
    assert_eq!(skipped[0]["reason"], "more bytes requested than allocated");
}

/// The line used to say nothing of them, or named a number that a gap made too low.
#[test]
fn what_is_written_says_that_events_were_lost_and_that_a_gap_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    let trace = folder.path().join("t.parquet");
    let line = "x-1 [000] ..... 1.5: kmalloc: call_site=f+0x1/0x9 ptr=0xffff888100000000 bytes_req=50 \
                bytes_alloc=64 gfp_flags=GFP_KERNEL node=-1 accounted=false\n";
    for (gaps, said) in [
        ("", None),
        ("CPU:0 [LOST 3 EVENTS]\n", Some(", 3 LOST (75.0 %)")),
        ("CPU:0 [LOST 3 EVENTS]\nCPU:0 [LOST EVENTS]\n", Some(", at least 4 LOST (80.0 %)")),
    ] {
        fs::write(&path, format!("{line}{gaps}")).unwrap();
        let told = run(&["import", text(&path), "-o", text(&trace)]).stderr;
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains("1 event, "), "{told}");
        assert_eq!(said.is_none(), !told.contains("LOST"), "{told}");
        assert!(said.is_none_or(|said| told.contains(said)), "{told}");
    }
}

/// Names used to turn the terminal red, to move its cursor, and to begin lines of their own.
#[test]
fn escape_sequences_of_a_trace_reach_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.txt");
    let line = "x-1 [000] ..... 1.5: kmalloc: call_site=f\u{1b}[31mred+0x1/0x9 ptr=0xffff888100000000 bytes_req=50 \
                bytes_alloc=64 gfp_flags=GFP_KERNEL node=-1 accounted=false\n";
    fs::write(&path, line).unwrap();
    for words in [&["stat"][..], &["replay", "-a", "slub"], &["info"]] {
        let told = stdout(&[words, &[text(&path)]].concat());
        assert!(!told.contains('\u{1b}'), "{words:?}: {told}");
    }
    assert!(stdout(&["stat", text(&path)]).contains("f?[31mred"));
}

#[test]
fn the_directory_of_a_threaded_perf_record_is_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("perf.data");
    fs::create_dir(&recording).unwrap();
    fs::write(recording.join("data"), "PERFILE2").unwrap();
    for command in ["info", "stat", "replay", "import"] {
        let told = refusal(&[command, text(&recording)]);
        assert!(told.contains("--threads") && told.contains("--kcore"), "{command}: {told}");
    }
}

/// The import used to keep all rows that wait for a name, and all events of a text: 150 bytes for
/// each event and more.
#[test]
fn a_long_text_of_an_old_kernel_is_imported_in_little_memory() {
    const EVENTS: u64 = 500_000;
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    let mut command = Command::new("prlimit");
    // Of the data only: what the threads' stacks and the program itself reserve does not count.
    command.args(["--data=60000000", "--"]).arg(slablab_path());
    command.args(["import", "-", "--format", "json", "-o"]).arg(&output);
    let output = piped(&mut command, |to| write_6_1(to, EVENTS));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(written["schema"], "slablab.import/1");
    assert_eq!(written["events"], EVENTS + written["quality"]["implicit_frees"].as_u64().unwrap());
    assert_eq!(written["quality"]["caches_unknown"], 0);
}

#[test]
fn standard_input_is_a_trace_for_every_question() {
    let trace = fs::read(root().join(SAMPLE)).unwrap();
    for words in [&["info"][..], &["replay", "--allocators", "slub"], &["stat"]] {
        let of_file = stdout(&[words, &[SAMPLE, "--format", "json"]].concat());
        let mut command = slablab();
        command.args(words).args(["-", "--format", "json"]);
        let output = piped(&mut command, |to| to.write_all(&trace).unwrap());
        let of_pipe = String::from_utf8(output.stdout).unwrap();
        let named = |text: &str| {
            text.replace("standard input", SAMPLE).replace("\"-\"", &format!("\"{SAMPLE}\""))
        };
        assert_eq!(
            named(&of_pipe),
            of_file,
            "{words:?} {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_trace_without_addresses_answers_alike_and_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, stripped) = (folder.path().join("kept.parquet"), folder.path().join("t.parquet"));
    let _ = stdout(&["import", SAMPLE, "-o", text(&kept)]);
    let _ = stdout(&["import", SAMPLE, "--strip-addresses", "-o", text(&stripped)]);
    for trace in [&kept, &stripped] {
        assert_eq!(fs::metadata(trace).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let answer = |trace: &Path| {
        let json =
            stdout(&["replay", text(trace), "--allocators", "slub,slob", "--format", "json"]);
        json.replace(text(trace), "TRACE")
    };
    assert_eq!(answer(&stripped), answer(Path::new(SAMPLE)));
    assert_eq!(answer(&kept), answer(Path::new(SAMPLE)));
    let reader = TraceReader::open(&stripped).unwrap();
    let sample = TraceReader::open(root().join(SAMPLE)).unwrap();
    assert!(sample.meta().sites.iter().any(|site| site.address != 0));
    assert!(
        reader.meta().sites.iter().all(|site| site.address == 0 && !site.name.contains("0xffff"))
    );
    let json = serde_json::to_string(reader.meta()).unwrap();
    assert!(!json.contains("ffffffff8"), "an address is left");
    assert!(stdout(&["info", text(&stripped), "--all"]).contains("addresses: stripped"));
    assert!(
        stdout(&["info", SAMPLE, "--all"]).contains("addresses: of call sites are in the trace")
    );
}

#[test]
fn an_output_that_links_to_a_pipe_or_device_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    for target in ["/dev/null", "fifo"] {
        let _ = Command::new("mkfifo").arg(folder.path().join("fifo")).status();
        std::os::unix::fs::symlink(target, &link).unwrap();
        let said = refusal(&["import", SAMPLE, "-o", text(&link)]);
        assert!(said.contains("symbolic link to"), "{said}");
        fs::remove_file(&link).unwrap();
    }
}

/// A DuckDB that runs the statement of its last argument; none where it cannot be had.
fn duckdb() -> Option<Command> {
    let Some(mut python) = python_with_duckdb() else {
        eprintln!("not run: DuckDB cannot be installed from PyPI");
        return None;
    };
    python.args(["-c", "import duckdb, sys; duckdb.sql(sys.argv[1])"]);
    Some(python)
}

/// DuckDB writes other row groups, plain strings, columns that may be null, and no metadata.
#[test]
fn a_trace_that_duckdb_filtered_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut duckdb) = duckdb() else { return };
    let filtered = folder.path().join("filtered.parquet");
    let query = format!(
        "COPY (SELECT * FROM '{}' WHERE cpu = 0 AND kind <> 'kmalloc') TO '{}' (FORMAT parquet)",
        root().join(SAMPLE).display(),
        filtered.display()
    );
    assert!(duckdb.arg(query).status().unwrap().success());
    let sample = TraceReader::open(root().join(SAMPLE)).unwrap();
    let rows = sample.batches().map(|batch| {
        let batch = batch.unwrap();
        batch.events().filter(|row| row.cpu == 0 && row.kind != Kind::Kmalloc).count() as u64
    });
    let rows: u64 = rows.sum();
    let json = |words: &[&str]| -> serde_json::Value {
        serde_json::from_str(&stdout(&[words, &[text(&filtered), "--format", "json"]].concat()))
            .unwrap()
    };
    let info = json(&["info"]);
    let count = |name: &str| info["quality"][name].as_u64().unwrap();
    assert!(count("older_frees") > 0, "frees of other CPUs' allocations");
    let own_implicit = info["events"].as_u64().unwrap() - rows;
    assert!(own_implicit <= count("implicit_frees"));
    let replay = json(&["replay", "--allocators", "slub,slab,slob,slmb"]);
    assert_eq!(replay["allocators"].as_array().map_or(0, Vec::len), 4, "{replay}");
}

/// The sample's events that are left by these options.
fn kept(options: &[&str]) -> (slablab_trace::Meta, Vec<slablab_trace::Event>) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("kept.parquet");
    let _ = stdout(&[&["import", SAMPLE, "-o", text(&output)], options].concat());
    let trace = TraceReader::open(&output).unwrap();
    let rows = trace.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>());
    (trace.meta().clone(), rows.collect())
}

#[test]
fn a_part_of_a_trace_has_objects_from_allocation_to_free() {
    let whole = TraceReader::open(root().join(SAMPLE)).unwrap();
    let busiest = |names: Vec<(String, u64)>| names.into_iter().max_by_key(|(_, n)| *n).unwrap().0;
    let caches = whole.meta().caches.iter().map(|cache| (cache.name.clone(), cache.frees));
    let cache = busiest(caches.collect());
    let (meta, rows) = kept(&["--cache", &cache]);
    assert_eq!((meta.caches.len(), meta.caches[0].name.as_str()), (1, cache.as_str()));
    let of_whole = whole.meta().caches.iter().find(|of_whole| of_whole.name == cache).unwrap();
    assert_eq!((meta.caches[0].allocs, meta.caches[0].frees), (of_whole.allocs, of_whole.frees));
    assert_eq!(rows.len() as u64, meta.events);

    let site =
        meta.sites[rows.iter().find(|row| row.kind.is_alloc()).unwrap().site as usize].name.clone();
    let (meta, rows) = kept(&["--site", &site]);
    let allocs = rows.iter().filter(|row| row.kind.is_alloc());
    assert!(allocs.clone().all(|row| meta.sites[row.site as usize].name == site));
    assert!(allocs.count() > 0 && meta.quality.older_frees == 0);
    assert!(rows.iter().any(|row| row.kind.is_free()), "frees stand elsewhere and are kept");

    let (_, rows) = kept(&["--cpu", "1"]);
    assert!(rows.iter().filter(|row| row.kind.is_alloc()).all(|row| row.cpu == 1));
    assert!(rows.iter().any(|row| row.kind.is_free() && row.cpu == 0), "freed on another CPU");

    let (meta, rows) = kept(&["--time", "25%,50%"]);
    let length_ns = whole.meta().time_last_ns - whole.meta().time_first_ns;
    assert!(meta.time_first_ns >= whole.meta().time_first_ns + length_ns / 4);
    // An object that is allocated in the span is kept until its free, later on.
    let last_alloc =
        rows.iter().filter(|row| row.kind.is_alloc()).map(|row| row.time_ns).max().unwrap();
    assert!(last_alloc <= whole.meta().time_first_ns + length_ns / 2 + 1);

    let (_, rows) = kept(&["--cache", "kmalloc-*"]);
    assert!(rows.iter().all(|row| matches!(
        row.kind,
        Kind::Kmalloc | Kind::Kfree | Kind::ImplicitFree | Kind::EstimatedFree
    )));

    // Before 5.0 it was called by its number of bytes.
    let named = |name: &str| kept(&["--cache", name]).1.len();
    assert_eq!(named("kmalloc-1024"), named("kmalloc-1k"));
    assert!(named("kmalloc-1k") > 0);

    // Every command gives the same part.
    let json = |words: &[&str]| stdout(&[words, &["--cpu", "1", "--format", "json"]].concat());
    let info: serde_json::Value = serde_json::from_str(&json(&["info", SAMPLE])).unwrap();
    let (meta, _) = kept(&["--cpu", "1"]);
    assert_eq!(info["events"], meta.events);
    for command in ["stat", "replay"] {
        assert!(json(&[command, SAMPLE]) != stdout(&[command, SAMPLE, "--format", "json"]));
    }
}

#[test]
fn a_part_that_cannot_be_is_refused() {
    for (options, says) in [
        (&["--site", "no_such_site"][..], "no_such_site"),
        (&["--cache", "no_such_cache"], "has no cache called"),
        (&["--cache", "no_such_*"], "has no cache whose name is like"),
        (&["--time", "900,"], "no event is left to keep"),
        (&["--comm", "cc1"], "does not say what its threads are called"),
    ] {
        let said = refusal(&[&["info", SAMPLE], options].concat());
        assert!(said.contains(says) && said.contains(SAMPLE), "{said}");
    }
    let text = root().join("crates/trace/tests/text/trace-6.1.txt");
    let said = refusal(&["info", text.to_str().unwrap(), "--comm", "nobody"]);
    assert!(said.contains("no thread is called nobody"), "{said}");
}

/// Without -o, a trace of that name in this folder, which another recording may have made, was replaced.
#[test]
fn what_is_there_and_was_not_named_stays() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root().join(SAMPLE), folder.path().join("t.data")).unwrap();
    for (words, name, kept) in [
        (&["import", "t.data"][..], "t.parquet", &b"my table"[..]),
        (
            &["import", "t.data"],
            "t.parquet",
            &fs::read(root().join("traces/boot.parquet")).unwrap(),
        ),
        (&["import", "-"], "slablab.parquet", b"my table"),
    ] {
        let there = folder.path().join(name);
        fs::write(&there, kept).unwrap();
        let input = fs::File::open(folder.path().join("t.data")).unwrap();
        let output = slablab().current_dir(&folder).args(words).stdin(input).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(&format!("{name} is there already: -o {name}")), "{told}");
        assert!(fs::read(&there).unwrap() == kept, "{words:?}");
    }
    // A trace that is named is replaced, and a name that is free is taken.
    for words in [&["import", "t.data", "-o", "t.parquet"][..], &["import", "t.data"]] {
        let output = slablab().current_dir(&folder).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        fs::remove_file(folder.path().join("t.parquet")).unwrap();
    }
}
