//! `slablab kernel` with real guests: stopped in every way, compared with user space, and with the models.
//!
//! Ignored unless asked for (`make test-boot`): they build kernels with SLUB and SLOB when those are not in the cache.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use slablab_tests::{root, slablab_path};

fn kernel(arguments: &[&str]) -> Command {
    let mut command = Command::new(slablab_path());
    command.arg("kernel").args(arguments).stdin(Stdio::null());
    command
}

/// Makes sure that a failed test leaves nothing behind.
struct KilledWhenDropped(Child);

impl Drop for KilledWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until `is_so`, for as long as a busy machine may take.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns whether a process has `folder` on its command line, as each QEMU has its own.
fn anybody_works_in(folder: &Path) -> bool {
    let commands = fs::read_dir("/proc").unwrap().flatten();
    let mut commands = commands.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let name = folder.to_string_lossy();
    commands.any(|command| String::from_utf8_lossy(&command).contains(&*name))
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn whatever_stops_us_no_guest_is_left() {
    // The build is not part of it.
    assert!(kernel(&["build", "--allocators", "slub"]).status().unwrap().success());
    for signal in ["INT", "TERM", "HUP", "KILL"] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("guest");
        let folder = place.to_str().unwrap();
        let mut command =
            kernel(&["boot", "slub", "--accel", "tcg", "-o", folder, "--", "sleep", "1000"]);
        let said = dir.path().join("said");
        command.stderr(fs::File::create(&said).unwrap()).stdout(Stdio::null());
        let mut child = KilledWhenDropped(command.spawn().unwrap());
        let booted = || fs::read_to_string(place.join("rows.jsonl")).is_ok_and(|s| !s.is_empty());
        wait_until("the guest boots", booted);
        let pid = child.0.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let status = child.0.wait().unwrap();
        if signal != "KILL" {
            let said = fs::read_to_string(&said).unwrap();
            assert_eq!(status.code(), Some(2), "{signal}: {said}");
            assert!(said.contains("interrupted"), "{signal}: {said}");
        }
        wait_until("QEMU ends", || !anybody_works_in(&place));
    }
}

/// What is run in both lanes, and with which parameters.
const RUNS: [(&str, &str); 7] = [
    ("memmax", "mode=0"),
    ("memmax", "mode=1"),
    ("memtim", "size=1000"),
    ("locality", "objects=200"),
    ("locality", "objects=200 churn=20000"),
    ("lifo", "objects=8 size=64"),
    ("xademo", "index=7,1000,0 value=70,99,1"),
];

/// Returns the facts of a module in a log: what stands behind `MODULE: ` and begins with `key=`, without what is measured,
/// and how far apart pages lie. The kernel says things of a module in the same form, but not with a `=`.
fn facts(log: &str, module: &str) -> Vec<String> {
    const MEASURED: [&str; 4] = ["cycles_", "walk_ns_", "overhead", "span"];
    let sign = format!("] {module}: ");
    let is_fact = |fact: &&str| fact.split(' ').next().is_some_and(|word| word.contains('='));
    let is_kept = |word: &&str| !MEASURED.iter().any(|key| word.starts_with(key));
    let said = log.lines().filter_map(|line| Some(line.split_once(&sign)?.1));
    let kept = |fact: &str| fact.split_whitespace().filter(is_kept).collect::<Vec<_>>().join(" ");
    said.filter(is_fact).map(kept).collect()
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn modules_say_the_same_in_a_guest_and_in_user_space() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script.sh");
    // Some modules refuse to stay: they are done when init is.
    let run = |(i, (module, params)): (usize, (&str, &str))| {
        format!(
            "echo 'RUN {i} ' > /dev/kmsg\ninsmod /lib/modules/{module}.ko {params} || true\n\
             rmmod {module} 2> /dev/null || true\n"
        )
    };
    let job: String = RUNS.into_iter().enumerate().map(run).collect();
    fs::write(&script, format!("{job}dmesg > /tmp/dmesg\nsend dmesg.txt /tmp/dmesg\n")).unwrap();
    let folder = dir.path().join("guest");
    let mut command = kernel(&["boot", "slub", "--cpus", "2", "--append", "slab_nomerge"]);
    for module in ["memmax", "memtim", "locality", "lifo", "xademo"] {
        command.args(["--module", module]);
    }
    let out = command.arg("--script").arg(&script).arg("-o").arg(&folder).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let log = fs::read_to_string(folder.join("files/dmesg.txt")).unwrap();
    for (i, (module, params)) in RUNS.into_iter().enumerate() {
        let rest = log.split_once(&format!("RUN {i} ")).expect("it was run").1;
        let of_guest = facts(rest.split("RUN ").next().unwrap(), module);
        let source = root().join("kernel/modules").join(module);
        let mut insmod = Command::new(slablab_path());
        insmod.arg("insmod").arg(source).args(params.split(' '));
        let out =
            insmod.args(["--allocator", "slub", "--cpus", "2", "--memory", "1G"]).output().unwrap();
        let of_user = facts(&String::from_utf8_lossy(&out.stdout), module);
        assert!(!of_guest.is_empty(), "{module} {params} said nothing in the guest");
        // Where slabs lie and what else lies in them is the guest's own affair.
        if module != "locality" {
            assert_eq!(of_guest, of_user, "{module} {params}");
        }
    }
}

/// A kernel without the patch ignores its parameter, and used to be measured under the name of a feature that
/// it lacks.
#[test]
#[ignore = "boots a kernel; make test-boot"]
fn a_parameter_that_the_kernel_did_not_take_ends_the_guest() {
    let boot = |parameter| {
        let arguments = ["boot", "slub", "--accel", "tcg", "--append", parameter, "--", "true"];
        let out = kernel(&arguments).output().unwrap();
        (out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    for taken in ["kprobe_table=xarray_cache", "audit_cache=1"] {
        let (well, said) = boot(taken);
        assert!(well, "{taken}: {said}");
    }
    let (well, said) = boot("kprobe_table=treap");
    let why = "this kernel did not take kprobe_table=treap (it has 'hash64')";
    assert!(!well && said.contains(why), "{said}");
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn models_hold_what_real_kernels_hold_after_the_same_events() {
    for trace in ["boot", "build"] {
        let traces = root().join("traces");
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("result");
        let mut command = Command::new(slablab_path());
        command.args(["lab", "run", "fidelity", "--kernels", "slub,slob", "--format", "json"]);
        command.arg("--input").arg(traces.join(format!("{trace}.parquet"))).arg("-o").arg(&folder);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{trace}: {}", String::from_utf8_lossy(&out.stderr));
        let rows = fs::read_to_string(folder.join("raw.jsonl")).unwrap();
        let rows: Vec<serde_json::Value> =
            rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
        assert_eq!(rows.len(), 2);
        for row in rows {
            let pair = &row["detail"]["fidelity"]["pair"];
            assert_eq!(pair["moments"].as_array().unwrap().len(), 32, "{trace}");
            assert!(pair["moments"][31]["kernel_bytes"].as_u64().unwrap() > 500_000, "{pair}");
        }
    }
}

/// Upstream gave event fields and files caches of their own in Linux 3.10 (commit d1a291437f75): a field has 56 bytes, a file
/// 88, 8 less than their kmalloc classes each. A kernel with that undone records its boot and a load that makes 3,630
/// fields and 3,800 files, and both caches are among the five changes of advice that save most at the peak.
#[test]
#[ignore = "builds and boots a kernel; make test-boot"]
fn advice_finds_the_caches_that_upstream_found() {
    let patches = root().join("kernel/patches/6.1/optional/ftrace-event-kmalloc");
    let dir = tempfile::tempdir().unwrap();
    let (script, trace) = (dir.path().join("load.sh"), dir.path().join("t.parquet"));
    let job = r#"
        for name in a b c d; do mkdir /sys/kernel/tracing/instances/$name; done
        args=
        for i in $(seq 120); do args="$args a$i=%di"; done
        for i in $(seq 30); do echo "p:lab/p$i vfs_read$args" >> /sys/kernel/tracing/kprobe_events; done
    "#;
    fs::write(&script, job).unwrap();
    let mut command = kernel(&["boot", "slub", "--cpus", "1", "--append", "slab_nomerge"]);
    command
        .args(["--flavour", "events,dwarf", "--record"])
        .arg(&trace)
        .arg("--script")
        .arg(&script);
    for patch in ["kmem-events-first", "trace-event-file-size", "ftrace-event-kmalloc"] {
        command.arg("--patch").arg(patches.join(format!("{patch}.patch")));
    }
    let out = command.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut advise = Command::new(slablab_path());
    let out = advise.arg("advise").arg(&trace).args(["--format", "json"]).output().unwrap();
    let advice: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut lines = advice["advice"].as_array().unwrap().clone();
    lines.sort_by_key(|line| std::cmp::Reverse(line["saved_bytes_at_peak"].as_i64()));
    for function in ["__trace_define_field", "trace_create_new_event"] {
        let is_it = |line: &serde_json::Value| {
            line["subject"]
                .as_str()
                .is_some_and(|subject| subject.split('+').next() == Some(function))
        };
        let rank = lines.iter().position(is_it).expect(function);
        assert!(rank < 5, "{function} is line {}", rank + 1);
    }
}

/// Twelve files that are not traces, and a module that is unloaded while it replays, on one CPU after the other and
/// on both.
#[test]
#[ignore = "boots a kernel; make test-boot"]
fn slabreplay_refuses_what_is_no_trace_and_gives_all_back_whenever_it_goes() {
    let modules = root().join("kernel/modules");
    let script = modules.join("slabreplay/torture.sh");
    let mut command = kernel(&["boot", "slub", "--cpus", "2", "--module", "slabreplay"]);
    let out = command.arg("--script").arg(script).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    for wrong in ["missing", "folder", "cut", "magic", "twice"] {
        assert!(said.contains(&format!("{wrong}: /")), "{wrong}: {said}");
    }
}

#[test]
#[ignore = "downloads and boots a kernel; make test-boot"]
fn a_foreign_guest_records_itself_and_is_replayed_with_its_own_pages() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("t.parquet");
    let mut command = kernel(&["boot", "debian:6.12/arm64-16k", "--record"]);
    let out =
        command.arg(&trace).args(["--", "hackbench", "-g", "1", "-l", "20"]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let reader = slablab_trace::TraceReader::open(&trace).unwrap();
    let meta = reader.meta();
    assert_eq!((meta.arch.as_str(), meta.page_bytes), ("aarch64", 16384));
    assert!(meta.events > 100_000 && meta.unplaced_share() < 0.05, "{} events", meta.events);
    let mut replay = Command::new(slablab_path());
    let out = replay.arg("replay").arg(&trace).args(["--format", "json"]).output().unwrap();
    let replay: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    // The generation that the kernel has comes first.
    let slub = &replay["allocators"][0];
    assert_eq!(slub["allocator"], "slub");
    let caches = slub["caches"].as_array().unwrap();
    let geometry = caches.iter().filter_map(|cache| {
        let recorded = meta.slabs_start.as_ref()?.cache(cache["cache"].as_str()?)?;
        let of = |name: &str, key: &str| Some(recorded.number(name)? == cache[key].as_u64()?);
        Some(of("order", "order")? && of("objs_per_slab", "objects_per_slab")?)
    });
    let geometry: Vec<_> = geometry.collect();
    let same = geometry.iter().filter(|same| **same).count();
    assert!(same >= 40 && same * 100 >= geometry.len() * 98, "{same} of {}", geometry.len());
}

/// Makes pipes of 1 to 256 MiB, whose rings are blocks of 16 KiB to 4 MiB.
const LARGE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 3; i++) {
		int ends[2];

		if (pipe(ends))
			return 1;
		for (int bytes = 1 << 20; bytes <= 1 << 28; bytes *= 2)
			if (fcntl(ends[1], F_SETPIPE_SZ, bytes) < 0)
				return 1;
		close(ends[0]);
		close(ends[1]);
	}
	return 0;
}
"#;

/// From 6.12 on a block from the page allocator makes two events: a pipe of 1 MiB used to have a call site inside the
/// allocator, and an implicit free.
#[test]
#[ignore = "downloads and boots kernels; make test-boot"]
fn no_call_site_of_a_large_block_is_inside_the_allocator() {
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("large.c"), dir.path().join("large"));
    fs::write(&source, LARGE).unwrap();
    let cc = Command::new("cc").args(["-O1", "-static", "-o"]).arg(&program).arg(&source).status();
    assert!(cc.unwrap().success());
    // Debian's image of 6.1 has no console for what comes back: `slub` is 6.1 as we build it.
    for release in ["slub", "debian:6.12", "debian:6.18", "debian:7.3"] {
        let trace = dir.path().join("t.parquet");
        let mut command = kernel(&["boot", release, "--record"]);
        let command = command.arg(&trace).arg("--with").arg(&program).args(["--", "large"]);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{release}: {}", String::from_utf8_lossy(&out.stderr));
        let reader = slablab_trace::TraceReader::open(&trace).unwrap();
        let sites = &reader.meta().sites;
        let (mut rings, mut phantoms) = (0, Vec::new());
        for batch in reader.batches() {
            let batch = batch.unwrap();
            let large = batch.events().filter(|event| event.bytes_alloc >= 16 << 10);
            for event in large.filter(|event| event.kind == slablab_trace::Kind::Kmalloc) {
                let name = sites[event.site as usize].name.as_str();
                rings += u64::from(name.starts_with("pipe_resize_ring"));
                // Up to 6.12 kvmalloc() calls kmalloc(), as any other function does.
                let is_inside = release == "debian:7.3" && name.starts_with("__kvmalloc");
                let inside = ["__kmalloc", "__do_kmalloc", "kmalloc_large"];
                if is_inside || inside.iter().any(|function| name.starts_with(function)) {
                    phantoms.push(name.to_owned());
                }
            }
        }
        assert_eq!((rings, phantoms), (27, Vec::new()), "{release}");
    }
}

/// Forks of a process with many mappings allocate and free maple nodes in bulk, and Linux 7.3 frees them through sheaves:
/// it has events for none of that.
#[test]
#[ignore = "downloads and boots a kernel; make test-boot"]
fn a_kernel_with_kprobes_records_what_is_allocated_and_freed_in_bulk() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("guest");
    let script = dir.path().join("script.sh");
    let job = r#"
        cat > /tmp/load <<'LOAD'
        i=0; while [ $i -lt 60 ]; do bash -c 'ls / | cat > /dev/null'; i=$((i + 1)); done
        hackbench -g 1 -l 50
LOAD
        probes() { grep -c slablab /sys/kernel/tracing/dynamic_events || true; }
        for how in --no-probes --buffer=64M; do
            slablab record $how -o /tmp/t.parquet -- sh /tmp/load > /dev/null
            left=$(probes)
            row "\"kind\":\"recorded\",\"left\":$left"
            send with$how.parquet /tmp/t.parquet
        done
        slablab record -o /tmp/killed.parquet -- sleep 1000 &
        for i in $(seq 100); do [ $(probes) -lt 13 ] || break; sleep 0.1; done
        kill -KILL $!; wait $! || true
        killed=$(probes)
        slablab record --no-probes -o /tmp/t.parquet -- true
        left=$(probes)
        row "\"kind\":\"killed\",\"before\":$killed,\"left\":$left"
    "#;
    fs::write(&script, job).unwrap();
    let mut command = kernel(&["boot", "debian:7.3", "--memory", "1536", "--format", "json"]);
    for program in [slablab_path().to_str().unwrap(), "bash", "hackbench"] {
        command.args(["--with", program]);
    }
    let out = command.arg("--script").arg(&script).arg("-o").arg(&folder).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let booted: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let rows = booted["rows"].as_array().unwrap();
    let of = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).collect::<Vec<_>>();
    assert!(of("recorded").iter().all(|row| row["left"] == 0), "{rows:?}");
    assert_eq!((&of("killed")[0]["before"], &of("killed")[0]["left"]), (&13.into(), &0.into()));
    let nodes = |name: &str| {
        let path = folder.join("files").join(format!("with{name}.parquet"));
        let meta = slablab_trace::TraceReader::open(&path).unwrap().meta().clone();
        let nodes = meta.caches.iter().find(|cache| cache.name == "maple_node").unwrap().clone();
        println!("{name}: {:.4} unplaced, {nodes:?}", meta.unplaced_share());
        (meta, nodes)
    };
    let (without, _) = nodes("--no-probes");
    assert_eq!(without.probes, [""; 0]);
    let (with, nodes) = nodes("--buffer=64M");
    let functions = [
        "kmem_cache_alloc_bulk_noprof",
        "kmem_cache_free_bulk",
        "kvfree_rcu_bulk",
        "__kfree_rcu_sheaf",
    ];
    assert_eq!(with.probes, functions);
    assert!(
        with.unplaced_share() < 0.003,
        "{} of {}",
        with.unplaced_share(),
        without.unplaced_share()
    );
    assert!(nodes.frees * 100 >= nodes.allocs * 98 && nodes.allocs > 1000, "{nodes:?}");
    assert!(nodes.implicit_frees * 1000 <= nodes.allocs, "{nodes:?}");
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn slmb_uses_what_lies_free_before_it_kills_and_keeps_to_zones() {
    let dir = tempfile::tempdir().unwrap();
    for (module, memory_mib, fact) in
        [("stranding", "128", "result=ok"), ("zones", "5120", "dma32_outside=0")]
    {
        let folder = dir.path().join(module);
        let object = format!("/lib/modules/{module}.ko");
        let options = ["boot", "slmb", "--cpus", "2", "--memory", memory_mib, "--module", module];
        let mut command = kernel(&options);
        let out = command.arg("-o").arg(&folder).args(["--", "insmod", &object]).output().unwrap();
        let console = fs::read_to_string(folder.join("console.log")).unwrap();
        assert!(out.status.success(), "{console}");
        let mut said = console.lines().filter(|line| line.contains(&format!("{module}: ")));
        assert!(said.any(|said| said.contains(fact)), "{console}");
        // What an allocator says of gfp flags that it takes for the caller's.
        assert!(!console.contains("Unexpected gfp"), "{console}");
    }
}

/// Two modules that go and come to the same place again, each with a probe that outlives it. The cache of `xarray_cache`
/// takes no memory before the first probe, and knows most of what registering asks for in vain.
#[test]
#[ignore = "boots a kernel; make test-boot"]
fn probes_outlive_their_modules_and_are_hit_once_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("script.sh");
    let job = r#"
        tracing=/sys/kernel/tracing
        value() { sed -n "s/^$1 //p" /sys/kernel/debug/kprobes/table; }
        before=$(value cache_bytes)
        for module in lifo xademo; do
            echo "p:gone/$module $module:${module}_exit" >> $tracing/kprobe_events
            echo 1 > $tracing/events/gone/$module/enable
        done
        echo 'p:gone/both vfs_write' >> $tracing/kprobe_events
        for round in 1 2 3 4 5 6; do
            for module in lifo xademo; do
                insmod /lib/modules/$module.ko
                grep "t ${module}_exit" /proc/kallsyms | cut -d' ' -f1 >> /tmp/addresses
                rmmod $module
            done
        done
        hits=$(awk '{ printf "%s=%s ", $1, $2 }' $tracing/kprobe_profile)
        row "\"kind\":\"table\",\"hits\":\"$hits\",\"before\":$before,\"bytes\":$(value cache_bytes)\
,\"absent\":$(value cache_absent),\"misses\":$(value cache_misses),\"places\":$(sort -u /tmp/addresses | wc -l)"
    "#;
    fs::write(&script, job).unwrap();
    for table in ["hash64", "hash512", "xarray", "xarray_cache"] {
        let parameter = format!("kprobe_table={table}");
        let mut command = kernel(&["boot", "slub", "--cpus", "2", "--format", "json", "--append"]);
        command.arg(&parameter).args(["--module", "lifo", "--module", "xademo", "--script"]);
        let out = command.arg(&script).output().unwrap();
        assert!(out.status.success(), "{table}: {}", String::from_utf8_lossy(&out.stderr));
        let booted: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        let rows = booted["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["kind"] == "table").unwrap();
        assert_eq!(row["hits"], "lifo=6 xademo=6 both=0 ", "{table}: {row}");
        assert!(row["places"].as_u64().unwrap() < 12, "{table}: {row}");
        let number = |key: &str| row[key].as_u64().unwrap();
        assert_eq!(number("before"), 0, "{table}: {row}");
        match table {
            "xarray_cache" => {
                assert!(number("bytes") > 0, "{row}");
                assert!(number("absent") > number("misses"), "{row}");
            }
            _ => assert_eq!(number("bytes") + number("absent") + number("misses"), 0, "{row}"),
        }
    }
}
