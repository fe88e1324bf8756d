//! Real guests: one kernel for each allocator with a short run, and guests that misbehave on request.
//!
//! They are ignored by default (`make test-boot` runs them): from nothing, four kernels are built, which
//! takes two cores ten minutes; the cache keeps them for the next time.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use slablab_lab::guest::{STACKS, fold, profiled_job};
use slablab_lab::{Engine, Outcome, Request, Scale, find, plan, run};
use slablab_vm::{Accel, Error, Interrupt, KernelBuilder, Machine, Places, Spec, TroubleKind};

fn builder() -> KernelBuilder {
    KernelBuilder::new(&Places::default(), Interrupt::never()).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns a guest with SLUB that runs `job`.
fn guest(builder: &KernelBuilder, job: &str) -> Machine {
    let kernel = builder.build(&Spec::plain("slub"), &mut |_| ()).unwrap_or_else(|e| panic!("{e}"));
    let mut initramfs = builder.initramfs(&kernel, job, &mut |_| ()).unwrap();
    initramfs.tool("hackbench").unwrap();
    Machine::new(kernel, 2, initramfs)
}

/// Boots under TCG, which works everywhere, and returns the kind of trouble.
fn trouble(machine: &Machine, interrupt: &Interrupt) -> (TroubleKind, String) {
    let (kind, line, _) = trouble_and_last_lines(machine, interrupt);
    (kind, line)
}

/// Does the same, and also returns the last lines of the console.
fn trouble_and_last_lines(
    machine: &Machine,
    interrupt: &Interrupt,
) -> (TroubleKind, String, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    match machine.boot(Accel::Tcg, dir.path(), interrupt) {
        Err(Error::Guest { trouble, console, last, .. }) => {
            assert!(console.is_file(), "the console is kept");
            assert_no_qemu(dir.path());
            (trouble.kind, trouble.line, last)
        }
        other => panic!("{other:?}"),
    }
}

/// Asserts that no process has `folder` on its command line: every guest's files have paths in it.
fn assert_no_qemu(folder: &Path) {
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        assert!(!command.contains(&*folder.to_string_lossy()), "still there: {command}");
    }
}

#[test]
#[ignore = "builds and boots kernels; make test-boot"]
fn every_allocator_boots_and_passes_messages() {
    let experiment = find("load").unwrap();
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let request = Request {
        engine: Engine::Kernel,
        scale: Scale::Smoke,
        params: [set("load", "hackbench"), set("groups", "1")].into(),
        input: None,
        rounds: Some(2),
        seed: 1,
    };
    let plan = plan(experiment, &request).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plan.design.variants.len(), 4, "{:?}", plan.design.variants);
    let dir = tempfile::tempdir().unwrap();
    let rows = run(experiment, &plan, dir.path(), &mut |_| ()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(rows, 4 * 2);
    let outcome = Outcome::read(dir.path()).unwrap();
    for metric in ["seconds", "slab_kb"] {
        for group in outcome.groups(metric, "1, 2") {
            println!("{:5} {metric:8} {:?}", group.name, group.values);
            assert!(group.values.len() == 2 && group.values.iter().all(|value| *value > 0.0));
        }
    }
    assert!(dir.path().join("boots").is_dir(), "the consoles are kept");
    // Running the same plan again has nothing to do.
    assert_eq!(run(experiment, &plan, dir.path(), &mut |_| ()).unwrap(), 0);
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn a_guest_that_panics_is_reported_with_its_words() {
    let builder = builder();
    let machine = guest(&builder, "echo c > /proc/sysrq-trigger\n");
    let (kind, line) = trouble(&machine, &builder.interrupt);
    assert_eq!(
        (kind, line.contains("sysrq triggered crash")),
        (TroubleKind::Panic, true),
        "{line}"
    );
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn a_job_that_fails_is_reported_with_its_message() {
    let builder = builder();
    let machine = guest(&builder, "fail 'no such luck'\n");
    assert_eq!(
        trouble(&machine, &builder.interrupt),
        (TroubleKind::Job, "no such luck".to_owned())
    );
    let machine = guest(&builder, "no-such-program\n");
    let (kind, line, last) = trouble_and_last_lines(&machine, &builder.interrupt);
    assert_eq!((kind, line.as_str()), (TroubleKind::Job, "status 127"));
    assert!(last.iter().any(|line| line.contains("no-such-program: not found")), "{last:?}");
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn a_guest_that_hangs_is_ended() {
    let builder = builder();
    // The guest is alive, but never done.
    let mut machine = guest(&builder, "sleep 1000\n");
    machine.limit = Duration::from_secs(12);
    let (kind, line) = trouble(&machine, &builder.interrupt);
    assert_eq!((kind, line.contains("not done after 12 s")), (TroubleKind::Hang, true), "{line}");
    // The guest is not even alive: everything except init is stopped, and init waits for its child.
    let mut machine = guest(&builder, "kill -STOP -1; kill -STOP $$\n");
    machine.silence = Duration::from_secs(12);
    let (kind, line) = trouble(&machine, &builder.interrupt);
    assert_eq!((kind, line.contains("no sign for 12 s")), (TroubleKind::Hang, true), "{line}");
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn a_guest_that_goes_away_in_silence_is_a_lost_console() {
    let builder = builder();
    let machine = guest(&builder, "reboot -f\n");
    assert_eq!(trouble(&machine, &builder.interrupt).0, TroubleKind::LostConsole);
}

/// QEMU before 8.1 shows a CPU a breakpoint that another has taken back: a guest died from one while it
/// booted.
#[test]
#[ignore = "boots a kernel; make test-boot"]
fn a_guest_that_meets_an_unknown_breakpoint_is_booted_again() {
    let builder = builder();
    let machine = guest(&builder, "echo 'Oops: int3: 0000 [#1] SMP' > /dev/kmsg\nsleep 100\n");
    let dir = tempfile::tempdir().unwrap();
    let booted = machine.boot(Accel::Tcg, dir.path(), &builder.interrupt);
    let Err(Error::Guest { trouble, .. }) = booted else { panic!("{booted:?}") };
    assert_eq!(trouble.kind, TroubleKind::Breakpoint);
    for console in ["console-1.log", "console-2.log", "console.log"] {
        let text = fs::read_to_string(dir.path().join(console)).unwrap();
        assert_eq!(text.matches("Oops: int3").count(), 1, "{console}");
    }
    assert!(!dir.path().join("console-3.log").exists());
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn an_interrupt_ends_the_guest_at_once() {
    let builder = builder();
    let machine = guest(&builder, "sleep 1000\n");
    let (interrupt, dir) = (Interrupt::never(), tempfile::tempdir().unwrap());
    let remote = interrupt.clone();
    let setter = thread::spawn(move || {
        thread::sleep(Duration::from_secs(2));
        remote.set();
    });
    let started = Instant::now();
    let booted = machine.boot(Accel::Tcg, dir.path(), &interrupt);
    assert!(matches!(booted, Err(Error::Interrupted)), "{booted:?}");
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_no_qemu(dir.path());
    setter.join().unwrap();
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn rows_and_files_come_back_whole() {
    let builder = builder();
    let job = "load=0\nobserve '\"n\":1'\nseq 1 20000 > /tmp/n\nsend n.txt /tmp/n\nsend m /tmp/n\n";
    let machine = guest(&builder, job);
    let dir = tempfile::tempdir().unwrap();
    let boot =
        machine.boot(Accel::Tcg, dir.path(), &builder.interrupt).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(boot.rows_of("observation").count(), 1);
    assert_eq!(boot.rows_of("boot").next().unwrap()["cpus"], 2);
    let expected: String = (1..=20_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(boot.files.len(), 2);
    for (name, path) in &boot.files {
        assert!(fs::read_to_string(path).unwrap() == expected, "{name}");
    }
}

#[test]
#[ignore = "boots a kernel; make test-boot"]
fn a_profile_has_the_kernels_own_stacks() {
    let builder = builder();
    let kernel = builder.build(&Spec::plain("slub"), &mut |_| ()).unwrap_or_else(|e| panic!("{e}"));
    let job = profiled_job("hackbench -g 2 -l 50");
    let mut initramfs = builder.initramfs(&kernel, &job, &mut |_| ()).unwrap();
    ["hackbench", "perf"].iter().for_each(|program| initramfs.tool(program).unwrap());
    let machine = Machine::new(kernel, 2, initramfs);
    let dir = tempfile::tempdir().unwrap();
    let boot =
        machine.boot(Accel::Tcg, dir.path(), &builder.interrupt).unwrap_or_else(|e| panic!("{e}"));
    let (_, stacks) = boot.files.iter().find(|(name, _)| name == STACKS).expect("the stacks");
    let (folded, samples) = fold(&fs::read_to_string(stacks).unwrap());
    println!("{samples} samples");
    let stack =
        |line: &&str| line.starts_with("hackbench;") && line.contains("unix_stream_sendmsg;");
    assert!(folded.lines().filter(stack).count() > 0, "{folded}");
}

/// Boots the kernel called `name` and returns what its guest reports after hackbench.
fn hackbench_in(builder: &KernelBuilder, name: &str) -> serde_json::Value {
    let spec = Spec::named(&builder.data, name).unwrap_or_else(|e| panic!("{e}"));
    let kernel = builder.build(&spec, &mut |_| ()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let job = r#"
        hackbench -g 1 -l 10 > /tmp/said
        grep -q ^Time: /tmp/said
        capacity=/sys/kernel/slab/kmalloc-64/sheaf_capacity
        sheaves=$(cat $capacity 2> /dev/null || echo no)
        largest=$(sed -n 's/^kmalloc-\([0-9]*k\).*/\1/p' /proc/slabinfo | sort -n | tail -n 1)
        load=0
        observe "\"sheaves\":\"$sheaves\",\"largest\":\"$largest\",\"machine\":\"$(uname -m)\""
    "#;
    let mut initramfs = builder.initramfs(&kernel, job, &mut |_| ()).unwrap();
    initramfs.tool("hackbench").unwrap();
    let release = kernel.release().to_owned();
    let mut machine = Machine::new(kernel, 2, initramfs);
    machine.memory_mib = 512;
    let dir = tempfile::tempdir().unwrap();
    let boot = machine.boot(Accel::Tcg, dir.path(), &builder.interrupt);
    let boot = boot.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(boot.rows_of("boot").next().unwrap()["release"], release.as_str());
    let said = boot.rows_of("observation").next().unwrap().clone();
    println!("{name} {release}: {said}");
    said
}

#[test]
#[ignore = "downloads and boots kernels; make test-boot"]
fn a_stock_kernel_of_each_generation_boots() {
    let builder = builder();
    // The kernels have no file, no sheaf except for two caches, and sheaves.
    for (name, sheaves) in [("debian:6.12", "no"), ("debian:6.18", "0"), ("debian:7.3", "60")] {
        assert_eq!(hackbench_in(&builder, name)["sheaves"], sheaves, "{name}");
    }
}

#[test]
#[ignore = "downloads and boots kernels; make test-boot"]
fn a_foreign_machine_boots_and_passes_messages() {
    let said = hackbench_in(&builder(), "debian:6.12/arm64-16k");
    assert_eq!((&said["machine"], &said["largest"]), (&"aarch64".into(), &"32k".into()));
}

#[test]
#[ignore = "downloads and boots a kernel; make test-boot"]
fn a_script_is_compared_by_boot_parameters_and_one_that_fails_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("load.sh");
    let set = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let params = [
        set("kernels", "debian:7.3"),
        set("append", "slab_nomerge"),
        set("metrics", "answer:more,MemFree,nr_slab_unreclaimable"),
        set("memory", "256"),
    ];
    let request = Request {
        engine: Engine::Kernel,
        scale: Scale::Smoke,
        params: params.into(),
        input: Some(script.clone()),
        rounds: Some(1),
        seed: 1,
    };
    let experiment = find("load").unwrap();
    let run = |text: &str, folder: &str| {
        fs::write(&script, text).unwrap();
        let plan = plan(experiment, &request).unwrap_or_else(|e| panic!("{e}"));
        run(experiment, &plan, &dir.path().join(folder), &mut |_| ())
    };
    // The guest has loopback, a server, a writable /tmp and a hundred processes.
    let load = "mkdir /tmp/www; echo yes > /tmp/www/x; httpd -p 8080 -h /tmp/www\n\
                [ \"$(wget -q -O - http://127.0.0.1:8080/x)\" = yes ] || exit 7\n\
                seq 100 | while read -r i; do sleep 3 < /dev/null & done; sleep 1\n\
                metric answer 42\n";
    assert_eq!(run(load, "good").unwrap_or_else(|e| panic!("{e}")), 2);
    let outcome = Outcome::read(&dir.path().join("good")).unwrap();
    for (metric, least) in [
        ("slab_peak_kb", 1000.0),
        ("answer", 42.0),
        ("MemFree", 1.0),
        ("nr_slab_unreclaimable", 1.0),
    ] {
        let groups = outcome.groups(metric, "2");
        let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["debian:7.3", "debian:7.3 slab_nomerge"]);
        assert!(groups.iter().all(|group| group.values[0] >= least), "{metric}: {groups:?}");
    }
    let error = run("echo what went wrong\nexit 3\n", "bad").unwrap_err().to_string();
    let parts = ["the job failed: the script ended with status 3", "what went wrong"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}
