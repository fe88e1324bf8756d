//! `slablab record` as its users meet it: refused, interrupted, killed, out of disk. Needs root, tracefs and
//! util-linux, and says so where they are not.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use slablab_tests::{refusal, root, slablab, slablab_path};
use slablab_trace::{Kind, State, TraceReader, probe};

const INSTANCES: &str = "/sys/kernel/tracing/instances";

fn can_record() -> bool {
    let lacking: Vec<_> = probe().into_iter().filter(|fact| fact.state == State::Missing).collect();
    for fact in &lacking {
        eprintln!("not run: {}: {}. {}", fact.name, fact.found, fact.remedy);
    }
    lacking.is_empty()
}

/// A copy of the command where anybody may run it, and a folder that anybody may write to.
fn public_copy() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let copy = folder.path().join("slablab");
    fs::copy(slablab_path(), &copy).unwrap();
    (folder, copy)
}

/// Runs a script in a mount namespace of its own, with the command as $1 and a folder as $2.
fn unshared(script: &str, command: &Path, folder: &Path) -> Output {
    let mut unshare = Command::new("unshare");
    unshare.args(["-m", "sh", "-ec", script, "sh"]).arg(command).arg(folder);
    unshare.stdin(Stdio::null()).output().expect("util-linux is on every machine")
}

/// Runs `slablab record` with these words, and returns what it printed when it ended with `status`.
#[track_caller]
fn recorded(words: &[&str], status: i32) -> Output {
    let output = slablab().args(["record", "-m", "1M"]).args(words).output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Checks that a command was refused in one sentence, and returns it.
fn sentence(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn instance_of(pid: u32) -> PathBuf {
    Path::new(INSTANCES).join(format!("slablab-{pid}"))
}

/// A shell that opens a pipe for each line, and reads the files of a folder.
const PIPES: &str = "for i in 1 2 3 4 5 6 7 8 9 10; do ls / | cat > /dev/null; done";

#[test]
fn a_recording_of_call_sites_has_their_objects_and_no_others() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.parquet");
    let trace = trace.to_str().unwrap();
    let shell = folder.path().join("shell");
    let program = format!("echo $$ > {}; {PIPES}", shell.display());
    recorded(&["-o", trace, "--sites", "alloc_pipe_info", "--", "sh", "-c", &program], 0);
    let trace = TraceReader::open(trace).unwrap();
    let meta = trace.meta();
    assert_eq!(meta.only, ["call site alloc_pipe_info"]);
    assert!(!meta.sites.is_empty());
    let allocating = meta.sites.iter().filter(|site| site.name.starts_with("alloc_pipe_info+"));
    assert!(allocating.count() >= 1, "{:?}", meta.sites);
    // The whole system is recorded: another program may hold a pipe open at the end, the shell none.
    let shell: u32 = fs::read_to_string(shell).unwrap().trim().parse().unwrap();
    let (mut by_shell, mut held) = (0, BTreeMap::new());
    for batch in trace.batches() {
        for event in batch.unwrap().events() {
            assert_ne!(event.kind, Kind::ImplicitFree, "a free that was not recorded");
            if event.kind.is_alloc() {
                by_shell += u32::from(event.pid == shell);
                assert_eq!(held.insert(event.object, event.pid), None);
            } else {
                assert!(held.remove(&event.object).is_some(), "a free of another object");
            }
        }
    }
    assert_eq!(by_shell, 20, "a pipe and its buffers, ten times");
    assert!(
        held.values().all(|&pid| pid != shell),
        "the shell is gone, its pipes are not: {held:?}"
    );
    assert_eq!(meta.quality.older_frees, 0);

    let there = folder.path().join("u.parquet");
    let refused = recorded(&["-o", there.to_str().unwrap(), "--sites", "no_such_function"], 2);
    assert!(sentence(&refused).contains("no function called no_such_function"));
    assert!(!there.exists());
    // It was recorded first, and its trace could not be made, then or later.
    let refused = recorded(&["-o", there.to_str().unwrap(), "--callers", "no_such_function"], 2);
    assert!(sentence(&refused).contains("no function called no_such_function"));
    assert_eq!(names(folder.path()).iter().filter(|name| name.contains("recording")).count(), 0);

    // Where nothing matched, "0 events, none lost" came first, and read as a success.
    let none = recorded(&["-o", there.to_str().unwrap(), "--sites", "panic", "--", "true"], 1);
    let said = String::from_utf8(none.stderr).unwrap();
    assert!(said.starts_with("[ slablab record: no event came from panic"), "{said}");
}

/// Starts a recording of a minute and waits until it records; returns it.
fn started(output: &Path) -> std::process::Child {
    let mut command = slablab();
    command.args(["record", "-m", "1M", "--duration", "60", "-o"]).arg(output);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let instance = instance_of(child.id());
    let since = Instant::now();
    // An instance is born with tracing on: only with the events it is the recorder's doing.
    let is_on = |file: &str| fs::read_to_string(instance.join(file)).is_ok_and(|on| on == "1\n");
    while !(is_on("events/kmem/kfree/enable") && is_on("tracing_on")) {
        assert!(since.elapsed() < Duration::from_secs(60), "the recording does not begin");
        sleep(Duration::from_millis(20));
    }
    assert!(Command::new("true").status().is_ok(), "something to record");
    child
}

fn signal(child: &std::process::Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn who_may_not_record_is_told_so() {
    if !can_record() {
        return;
    }
    let (folder, copy) = public_copy();
    let nobody =
        "setpriv --reuid 65534 --regid 65534 --clear-groups \"$1\" record -o \"$2/t\" -- true";
    let text = sentence(&unshared(nobody, &copy, folder.path()));
    assert!(text.contains("needs root") && text.contains("sudo"), "{text}");
    let no_tracefs = "mount -t tmpfs none /sys/kernel; \"$1\" record -o \"$2/t\" -- true";
    let text = sentence(&unshared(no_tracefs, &copy, folder.path()));
    assert!(text.contains("no tracefs") && text.contains("CONFIG_FTRACE"), "{text}");
    assert_eq!(names(folder.path()), ["slablab"]);
}

#[test]
fn what_cannot_be_written_is_refused_before_or_after() {
    if !can_record() {
        return;
    }
    let (folder, copy) = public_copy();
    for output in ["/no/such/folder/t", "/proc/t", "/tmp"] {
        let refused = slablab().args(["record", "-o", output, "--", "true"]).output().unwrap();
        let text = sentence(&refused);
        assert!(text.contains(output) && !text.contains(".partial"), "{text}");
    }
    // Caches are written to the disk in pages: a disk that is full is noticed at the first.
    let full = "mkdir \"$2/full\"; mount -t tmpfs -o size=64k none \"$2/full\"; \
        \"$1\" record -o \"$2/full/t\" -- find / -xdev -maxdepth 3 >/dev/null 2>\"$2/said\" || status=$?; \
        ls -A \"$2/full\"; cat \"$2/said\" >&2; exit $status";
    let refused = unshared(full, &copy, folder.path());
    assert_eq!(String::from_utf8_lossy(&refused.stdout), "", "half-written");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("No space left on device"), "{said}");
    assert!(said.contains("make room there, or name a file on another disk"), "{said}");
    assert_eq!(refused.status.code(), Some(2), "{said}");
}

#[test]
fn interrupted_it_keeps_what_it_has_and_leaves_nothing_behind() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    for name in ["INT", "TERM", "HUP"] {
        let mut child = started(&output);
        signal(&child, name);
        assert!(child.wait().unwrap().code().is_some(), "{name} killed it");
        assert!(!instance_of(child.id()).exists(), "{name}");
        assert!(TraceReader::open(&output).unwrap().meta().events > 0, "{name}");
        assert_eq!(names(folder.path()), ["t.parquet"]);
        fs::remove_file(&output).unwrap();
    }

    let mut child = started(&output);
    signal(&child, "KILL");
    assert_eq!(child.wait().unwrap().code(), None);
    assert_eq!(names(folder.path()), ["t.parquet.recording"]);
    let other = folder.path().join("other.parquet");
    let next = slablab().args(["record", "-o"]).arg(&other).args(["--", "true"]).output();
    assert!(next.unwrap().status.success());
    assert!(!instance_of(child.id()).exists(), "the next recording removes it");
}

/// Starts a program that leaves a hundred files of an own name open, and says so; returns it.
fn holder(name: &str, folder: &Path) -> std::process::Child {
    let script = format!("for n in $(seq 100); do : > {name}.$n; done; echo done; sleep 60");
    let mut command = Command::new("sh");
    let child = command.args(["-c", &script]).current_dir(folder).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut said = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut said).unwrap();
    assert_eq!(said, "done\n");
    child
}

#[test]
fn a_recording_whose_recorder_was_killed_is_recovered_up_to_its_last_moment() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    let mut child = started(&output);
    let mut program = holder("held", folder.path());
    // A reading of slabinfo behind it tells that the recorder still lived.
    sleep(Duration::from_millis(400));
    signal(&child, "KILL");
    child.wait().unwrap();
    let info = slablab().arg("info").arg(&output).output().unwrap();
    let said = sentence(&info);
    assert!(said.contains("was interrupted") && said.contains("record --recover"), "{said}");
    let second = slablab().args(["record", "-o"]).arg(&output).args(["--", "true"]).output();
    assert!(sentence(&second.unwrap()).contains("was interrupted"));

    let recovered = slablab().args(["record", "--recover", "-o"]).arg(&output).output().unwrap();
    let said = String::from_utf8_lossy(&recovered.stderr).into_owned();
    assert!(recovered.status.success(), "{said}");
    assert!(said.contains("its recorder did not end in order"), "{said}");
    let trace = TraceReader::open(&output).unwrap();
    let pid = program.id();
    let mut of_program = 0;
    for batch in trace.batches() {
        of_program += batch.unwrap().events().filter(|event| event.pid == pid).count();
    }
    assert!(of_program > 100, "{of_program} events of {} are of the program", trace.meta().events);
    assert!(!instance_of(child.id()).exists());
    assert!(!names(folder.path()).iter().any(|name| name.ends_with(".recording")));
    program.kill().unwrap();
    program.wait().unwrap();
    let none = slablab().args(["record", "--recover", "-o"]).arg(&output).output().unwrap();
    assert!(sentence(&none).contains("no interrupted recording is there"));
}

#[test]
fn two_recordings_with_one_output_are_not_mixed() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    let mut child = started(&output);
    for words in [&["record", "-o"][..], &["record", "--recover", "-o"]] {
        let second = slablab().args(words).arg(&output).output().unwrap();
        assert!(sentence(&second).contains("another recording is being written there"));
    }
    signal(&child, "INT");
    child.wait().unwrap();
    assert!(TraceReader::open(&output).unwrap().meta().events > 0);
}

/// An instance with events on, as another user of tracefs has it; gone when dropped.
struct Other(PathBuf);

impl Other {
    fn new() -> Other {
        let other = Other(Path::new(INSTANCES).join(format!("other-{}", std::process::id())));
        fs::create_dir(&other.0).unwrap();
        fs::write(other.0.join("events/sched/sched_process_exit/enable"), "1").unwrap();
        other
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Turning the recording of names off in one instance turns it off in all.
#[test]
fn another_user_of_tracefs_keeps_the_names_of_threads() {
    if !can_record() {
        return;
    }
    let other = Other::new();
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(&folder.path().join("t.parquet"));
    for instance in [&other.0, &instance_of(child.id())] {
        let options = fs::read_to_string(instance.join("trace_options")).unwrap();
        assert!(options.lines().any(|option| option == "record-cmd"), "{instance:?}: {options}");
    }
    signal(&child, "INT");
    assert!(child.wait().unwrap().success());
}

/// Much more than the buffer holds comes through it, and what does not is counted.
#[test]
fn a_long_recording_is_drained_while_it_runs() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    let burst = "for i in 1 2 3; do find /usr -xdev -maxdepth 4 >/dev/null 2>&1; done";
    let mut command = slablab();
    command.args(["record", "-m", "512K", "-o"]).arg(&output).args(["--", "sh", "-c", burst]);
    let said = command.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let reader = TraceReader::open(&output).unwrap();
    let meta = reader.meta();
    let capacity = u64::from(meta.cpus) * (512 << 10) / 28; // the shortest record has 28 bytes
    assert!(meta.events > 2 * capacity, "{} events, {capacity} fit the buffers", meta.events);
    let lost = meta.quality.lost_total();
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(told.contains("none lost"), lost == 0, "{told}");
    assert_eq!(told.contains("LOST"), lost > 0, "{told}");
}

#[test]
fn a_recording_is_for_its_owner_only_and_json_is_honoured() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    let words =
        ["-o", output.to_str().unwrap(), "--strip-addresses", "--format", "json", "--", "true"];
    let said = recorded(&words, 0);
    assert_eq!(fs::metadata(&output).unwrap().permissions().mode() & 0o777, 0o600);
    let said: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(
        (&said["schema"], &said["addresses_stripped"]),
        (&"slablab.record/1".into(), &true.into())
    );
    let reader = TraceReader::open(&output).unwrap();
    assert_eq!(said["events"], reader.meta().events);
    let sites = &reader.meta().sites;
    assert!(!sites.is_empty());
    assert!(
        sites.iter().all(|site| site.address == 0 && !site.name.contains("0xffff")),
        "{sites:?}"
    );
}

/// The recording used to wait for it without end.
#[test]
fn a_command_that_ignores_sigterm_ends_with_the_duration_and_with_all_it_started() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (output, pids) = (folder.path().join("t.parquet"), folder.path().join("pids"));
    let script = format!(
        "trap '' TERM; setsid sleep 1000 & echo $! >{0}; sleep 1001 & echo $! >>{0}; while :; do sleep 1; done",
        pids.display()
    );
    recorded(&["-o", output.to_str().unwrap(), "-d", "0.5", "--", "sh", "-c", &script], 0);
    let pids = fs::read_to_string(pids).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
    assert!(TraceReader::open(&output).unwrap().meta().events > 0);
}

#[test]
fn what_a_command_leaves_running_is_named_and_left_alone() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (output, pid) = (folder.path().join("t.parquet"), folder.path().join("pid"));
    let script = format!("setsid sleep 1000 >/dev/null 2>&1 & echo $! >{}; exit 3", pid.display());
    let said = recorded(&["-o", output.to_str().unwrap(), "--", "sh", "-c", &script], 3);
    let pid = fs::read_to_string(pid).unwrap();
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let alive = Command::new("kill").arg(pid.trim()).status().unwrap().success();
    assert!(alive, "it was ended");
    let (head, number) = ("the command left running: ", format!("(pid {})", pid.trim()));
    assert!(said.contains(head) && said.contains(&number), "{said}");
}

/// Says of a library that writes of packed pages take a tenth of a second, as on a disk of 0.5 MB/s.
const SLOW_WRITE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
ssize_t write(int file, const void *bytes, size_t count)
{
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (count >= 4096)
        usleep(100000);
    return next(file, bytes, count);
}
"#;

/// A larger buffer was proposed for a disk that took a third of the events.
#[test]
fn where_the_disk_is_too_slow_another_one_is_proposed() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("slow.c"), folder.path().join("slow.so"));
    fs::write(&source, SLOW_WRITE).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]);
    if !compiler.status().is_ok_and(|status| status.success()) {
        eprintln!("not run: there is no C compiler");
        return;
    }
    let output = folder.path().join("t.parquet");
    let storm = "for n in $(seq 1500); do /bin/true; done";
    let mut slow = slablab();
    slow.env("LD_PRELOAD", &library).args(["record", "-m", "256K", "-o"]).arg(&output);
    let ran = slow.args(["--", "env", "-u", "LD_PRELOAD", "sh", "-c", storm]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("LOST") && said.contains("the disk is too slow"), "{said}");
    assert!(!said.contains("--buffer"), "{said}");
}

/// A tmpfs of 6 MiB at "$2/full", and a command that has more recorded than it holds.
const SMALL_DISK: &str = "mkdir \"$2/full\"; mount -t tmpfs -o size=6M none \"$2/full\"; \
    load='for n in $(seq 500); do /bin/true; done; echo whole';";

/// Before, a full disk ended the command, and what had been recorded was lost.
#[test]
fn a_full_disk_ends_the_recording_and_not_its_command() {
    if !can_record() {
        return;
    }
    let (folder, copy) = public_copy();
    let script = format!(
        "{SMALL_DISK} \"$1\" record -m 64K -o \"$2/full/t\" -- sh -c \"$load\"; \
        \"$1\" info \"$2/full/t\"; ls -A \"$2/full\""
    );
    let ran = unshared(&script, &copy, folder.path());
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.contains("No space left on device") && said.contains("goes on"), "{said}");
    assert!(printed.starts_with("whole\n"), "the command has its result: {printed}");
    assert!(said.contains("the recording ended early"), "{said}");
    assert!(printed.contains("The recording ended early"), "{printed}{said}");
    assert!(printed.ends_with("\nt\n"), "{printed}");
}

/// Somebody else takes the room that the trace needs.
#[test]
fn a_trace_that_finds_no_room_is_made_when_there_is_some() {
    if !can_record() {
        return;
    }
    let (folder, copy) = public_copy();
    let script = format!(
        "{SMALL_DISK} (while :; do cat /dev/zero >>\"$2/full/filler\" 2>/dev/null || :; sleep 0.01; done) & \
        filling=$!; sleep 0.1; : > \"$2/full/filler\"; \
        \"$1\" record -m 64K -o \"$2/full/t\" -- sh -c \"$load\" || echo status $?; \
        kill $filling; ls -A \"$2/full\"; mount -o remount,size=64M \"$2/full\"; \
        \"$1\" record --recover -o \"$2/full/t\"; rm \"$2/full/filler\"; ls -A \"$2/full\""
    );
    let ran = unshared(&script, &copy, folder.path());
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    // Where the disk is full before the first event, nothing is recorded, and nothing is left.
    let began = printed.contains("t.recording");
    assert!(printed.contains("status 2"), "{printed}{said}");
    assert_eq!(began, printed.contains("whole\n"), "{printed}{said}");
    assert_eq!(began, said.contains("record --recover"), "{said}");
    assert_eq!(began, printed.ends_with("\nt\n"), "{printed}{said}");
}

/// `/proc` there has other numbers than the kernel writes into events.
#[test]
fn own_threads_are_left_out_in_a_pid_namespace_too() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("t.parquet");
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--fork", "--mount-proc", "--"]).arg(slablab_path());
    let busy = "while :; do find /usr -xdev -maxdepth 3; done >/dev/null";
    unshare.args(["record", "-m", "1M", "-d", "1", "-o"]).arg(&output);
    unshare.args(["--", "sh", "-c", busy]);
    let mut child = unshare.stderr(Stdio::null()).spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let since = Instant::now();
    let own: Vec<u32> = loop {
        let recorder = fs::read_to_string(&children).unwrap_or_default();
        let tasks = fs::read_dir(format!("/proc/{}/task", recorder.trim())).into_iter().flatten();
        let tasks: Vec<u32> =
            tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok()).collect();
        // The threads that empty the buffers are there when there is one for each CPU.
        if tasks.len() > std::thread::available_parallelism().unwrap().get() {
            break tasks;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "the recording does not begin");
        sleep(Duration::from_millis(10));
    };
    assert_eq!(child.wait().unwrap().code(), Some(0), "the recording ended it, as it was asked to");
    let reader = TraceReader::open(&output).unwrap();
    let rows = reader.batches().flat_map(|batch| batch.unwrap().pid.clone());
    let of_own = rows.filter(|pid| own.contains(pid)).count();
    // What interrupts do has the number of the thread that they interrupt.
    let events = reader.meta().events;
    assert!(of_own < 20 + events as usize / 1000, "{of_own} of {events} events are our own");
}

#[test]
fn a_file_of_something_else_is_not_replaced_by_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes.txt");
    fs::write(&notes, "what I saw\n").unwrap();
    let trace = root().join("traces/hackbench.parquet");
    let words = [
        &["record", "-o", notes.to_str().unwrap(), "-d", "0.1"][..],
        &["import", trace.to_str().unwrap(), "-o", notes.to_str().unwrap()],
    ];
    for words in words {
        assert!(refusal(words).contains("no trace is there, and the file"), "{words:?}");
        assert_eq!(fs::read_to_string(&notes).unwrap(), "what I saw\n");
    }
}

#[test]
fn a_limit_above_the_machines_memory_is_refused() {
    let said = refusal(&["record", "--until-unreclaim", "900T"]);
    assert!(said.contains("the recording would not end"), "{said}");
}

#[test]
fn what_grew_between_two_recordings_is_told_by_their_slabinfo() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let paths = ["first.parquet", "second.parquet"].map(|name| folder.path().join(name));
    for path in &paths {
        recorded(&["-o", path.to_str().unwrap(), "-d", "1.2"], 0);
    }
    let [first, second] = paths.each_ref().map(|path| path.to_str().unwrap());
    let info = slablab().args(["info", second, first, "--format", "json"]).output().unwrap();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["slabs"]["moments"], 3, "the begin of the first, and both ends");
    assert!(info["slabs"]["seconds"].as_f64().unwrap() >= 2.0);
    let of = |path: &Path, end: bool| {
        let meta = TraceReader::open(path).unwrap().meta().clone();
        let slabs = if end { meta.slabs_end } else { meta.slabs_start }.unwrap();
        let dentry = slabs.slabinfo().find(|cache| cache.name == "dentry").unwrap();
        dentry.active_objs * dentry.objsize
    };
    let growth = info["slabs"]["growth"].as_array().unwrap();
    let dentry = growth.iter().find(|one| one["name"] == "dentry").unwrap();
    assert_eq!(dentry["first_bytes"], of(&paths[0], false));
    assert_eq!(dentry["last_bytes"], of(&paths[1], true));
}

/// Its first name is that of the recorder, which made it; the pages of the CPU that has its new one may be read first.
#[test]
fn the_command_is_named_by_its_program_and_not_by_the_recorder() {
    if !can_record() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.parquet");
    let file = trace.to_str().unwrap();
    for _ in 0..5 {
        recorded(&["-o", file, "--", "ls", "-R", "/etc"], 0);
        let trace = TraceReader::open(&trace).unwrap();
        let comms: Vec<&str> = trace.meta().comms.values().map(String::as_str).collect();
        assert!(comms.contains(&"ls"), "{comms:?}");
        fs::remove_file(file).unwrap();
    }
}
