//! `slablab leaks`: planted leaks are named by owner and program, beside a load that leaks nothing.
//!
//! The tests want root and BPF, and run one after the other: a hunt sees the whole machine. `SLABLAB_LEAKS_SECONDS=1800` makes
//! them long for the load without a leak; the short form is a minute.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use slablab_tests::{root, shown, slablab};

/// Kinds of leaks, and who owns one of the objects that each leaks.
const PLANTED: [(&str, &[&str]); 18] = [
    ("epoll", &["do_epoll_ctl", "ep_insert", "ep_ptable_queue_proc"]),
    ("eventfd", &["do_eventfd"]),
    ("pipe", &["alloc_pipe_info"]),
    ("key", &["key_alloc", "user_preparse"]),
    ("inotify", &["inotify_new_watch", "__do_sys_inotify_add_watch", "inotify_update_watch"]),
    ("cgroup", &["cgroup_mkdir", "mem_cgroup_css_alloc"]),
    ("in-flight", &["unix_create1", "unix_prepare_fpl", "__scm_send"]),
    ("timer", &["alloc_posix_timer", "do_timer_create"]),
    ("xattr", &["simple_xattr_alloc", "simple_xattr_set"]),
    ("message", &["load_msg", "alloc_msg"]),
    ("shared-memory", &["newseg"]),
    ("semaphore", &["newary"]),
    ("file-lock", &["locks_alloc_lock", "posix_lock_inode"]),
    ("timerfd", &["__do_sys_timerfd_create"]),
    ("udp-socket", &["inet_create", "udp_init_sock", "sock_alloc_inode"]),
    ("mapping", &["vm_area_alloc", "__mmap_region", "mmap_region", "mas_"]),
    ("queued-signal", &["sigqueue_alloc", "__sigqueue_alloc", "__send_signal_locked"]),
    ("loop-device", &["loop_add"]),
];

static ALONE: Mutex<()> = Mutex::new(());

/// Waits for its turn; `None` where a hunt cannot be.
fn turn() -> Option<MutexGuard<'static, ()>> {
    let can = shown::is_root() && Path::new("/sys/kernel/btf/vmlinux").exists();
    if !can {
        println!("SKIPPED: leaks needs root and BTF");
    }
    can.then(|| ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn seconds() -> u64 {
    let asked = std::env::var("SLABLAB_LEAKS_SECONDS").ok();
    asked.map_or(70, |seconds| seconds.parse().expect("a number of seconds"))
}

fn script() -> PathBuf {
    root().join("tests/tests/leaks/plant.py")
}

/// A process that ends with this value.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    fn signal(&self, signal: &str) {
        let killed = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(killed.unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A planted leak removes what it made when it is told to end.
        self.signal("-TERM");
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end && matches!(self.0.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Files made, read and removed, programs that live for a moment, and a compiler that never ends.
fn load(folder: &Path) -> [Running; 3] {
    let files = "while :; do for i in 1 2 3 4 5 6 7 8 9; do echo $i >$0/f$i; read x <$0/f$i; done; rm $0/f*; done";
    let programs = "while :; do ls -l /proc/self/fd | cat >/dev/null; sleep 0.01; done";
    let compiler = "while :; do for h in stdio stdlib pthread math netinet/in; do echo \"#include <$h.h>\"; done | \
                    cc -O2 -g -x c -c - -o $0/object.o; done";
    [files, programs, compiler]
        .map(|script| Running::start(Command::new("sh").args(["-c", script]).arg(folder)))
}

/// Hunts; returns the status and the answer.
fn hunt(seconds: u64) -> (i32, Value) {
    let time = format!("{seconds}s");
    let output =
        slablab().args(["leaks", "--once", "--for", &time, "--format", "json"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    (output.status.code().unwrap(), answer)
}

fn leakers(answer: &Value) -> Vec<&str> {
    let programs = answer["programs"].as_array().unwrap();
    programs.iter().map(|row| row["program"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "minutes of a machine with nothing else to do: make test-leaks"]
fn each_planted_leak_is_named_by_owner_and_program_beside_a_load() {
    let Some(_turn) = turn() else { return };
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut planted = Vec::new();
    for (kind, owners) in PLANTED {
        let mut command = Command::new("python3");
        command.arg(script()).args([kind, "100000"]).arg(folder.path()).stdout(Stdio::piped());
        let mut leak = Running::start(&mut command);
        let mut said = String::new();
        BufReader::new(leak.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
        match said.trim() {
            "ready" => planted.push((kind, owners, leak)),
            lacking => println!("not planted: {kind}: {lacking}"),
        }
    }
    assert!(planted.len() >= 10, "{} of {} can be planted here", planted.len(), PLANTED.len());
    let _load = load(folder.path());
    let (status, answer) = hunt(115);
    assert_eq!(status, 1);
    let owners = answer["owners"].as_array().unwrap();
    let mut missing = Vec::new();
    for (kind, names, _) in &planted {
        // The kernel keeps fifteen letters of a name.
        let program = &format!("leak-{kind}")[..format!("leak-{kind}").len().min(15)];
        let is_it = |row: &&Value| {
            row["verdict"] == "leak"
                && row["program"] == program
                && names.iter().any(|name| row["owner"].as_str().unwrap().starts_with(name))
        };
        match owners.iter().find(is_it) {
            Some(row) => {
                let rate = row["per_second"].as_f64().unwrap();
                assert!((0.2..40.0).contains(&rate), "{row}");
            }
            None => {
                let of_program = owners.iter().filter(|row| row["program"] == program);
                let told: Vec<String> = of_program
                    .map(|row| format!("{} {} {}", row["owner"], row["cache"], row["verdict"]))
                    .collect();
                missing.push(format!("{kind}: {}", told.join(", ")));
            }
        }
    }
    assert!(missing.is_empty(), "not named:\n{}", missing.join("\n"));
    // Devices get their files from a thread of the kernel.
    let others: Vec<&str> = leakers(&answer)
        .into_iter()
        .filter(|name| !name.starts_with("leak-") && *name != "kdevtmpfs")
        .collect();
    assert!(others.is_empty(), "{others:?} leak, too");
}

/// None of the programs keeps enough to be told.
#[test]
#[ignore = "minutes of a machine with nothing else to do: make test-leaks"]
fn a_leak_by_programs_with_names_of_their_own_is_told_of_all_of_them() {
    let Some(_turn) = turn() else { return };
    let mut command = Command::new("python3");
    command.arg(script()).args(["many-names", "100000"]).stdout(Stdio::piped());
    let mut leak = Running::start(&mut command);
    let mut said = String::new();
    BufReader::new(leak.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said.trim(), "ready");
    let (status, answer) = hunt(100);
    let owners = answer["owners"].as_array().unwrap();
    let is_it = |row: &&Value| {
        row["owner"].as_str().unwrap().starts_with("newque") && row["verdict"] == "leak"
    };
    let row = owners.iter().find(is_it).unwrap_or_else(|| panic!("{answer}"));
    assert!(status == 1 && row["programs"].as_u64().unwrap() > 20, "{row}");
    let (rate, leaked) = (row["per_second"].as_f64().unwrap(), row["objects"].as_f64().unwrap());
    assert!((0.7..1.1).contains(&rate) && leaked > 60.0, "{row}");
}

#[test]
#[ignore = "minutes of a machine with nothing else to do: make test-leaks"]
fn a_load_without_a_leak_has_none() {
    let Some(_turn) = turn() else { return };
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let _load = load(folder.path());
    let (status, answer) = hunt(seconds());
    assert_eq!((leakers(&answer), status), (Vec::new(), 0));
    assert!(answer["seen"]["allocations"].as_u64().unwrap() > 100_000, "{}", answer["seen"]);
}

/// Says how many programs of ours are in the kernel.
fn programs_in_kernel() -> usize {
    let script = root().join("tests/tests/leaks/programs.py");
    let output = Command::new("python3").arg(script).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn nothing_is_left_in_the_kernel_whatever_ends_a_hunt() {
    let Some(_turn) = turn() else { return };
    let before = programs_in_kernel();
    for (signal, status) in [("-TERM", Some(0)), ("-INT", Some(0)), ("-KILL", None)] {
        let mut command = slablab();
        command.args(["leaks", "--once", "--for", "1d"]).stdout(Stdio::piped());
        let mut hunt = Running::start(&mut command);
        let end = Instant::now() + Duration::from_secs(60);
        while programs_in_kernel() < before + 4 {
            assert!(Instant::now() < end, "the programs come within a minute");
            std::thread::sleep(Duration::from_millis(100));
        }
        hunt.signal(signal);
        let ended = hunt.0.wait().unwrap();
        assert_eq!(ended.code(), status, "{signal}");
        let end = Instant::now() + Duration::from_secs(10);
        // The kernel frees programs after a grace period.
        while programs_in_kernel() > before {
            assert!(Instant::now() < end, "{signal}: programs stay in the kernel");
            std::thread::sleep(Duration::from_millis(100));
        }
        std::mem::forget(hunt);
    }
}

#[test]
fn a_hunt_that_cannot_be_says_what_is_lacking() {
    let mut command = Command::new("setpriv");
    let path = slablab_tests::slablab_path();
    command.args(["--reuid", "65534", "--clear-groups"]).arg(path).args(["leaks", "--once"]);
    let output = match command.output() {
        Ok(output) if shown::is_root() => output,
        _ => return println!("SKIPPED: only root can become somebody else"),
    };
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("root") && error.lines().count() == 1, "{error}");
}

const INSTANCES: &str = "/sys/kernel/tracing/instances";

/// Somebody else's tracing: an instance of tracefs with events, a filter and a trigger; gone when dropped.
struct Other(PathBuf);

impl Other {
    fn new() -> Self {
        let other = Self(Path::new(INSTANCES).join(format!("other-{}", std::process::id())));
        std::fs::create_dir(&other.0).unwrap();
        let settings = [
            ("buffer_size_kb", "256"),
            ("events/kmem/kmalloc/filter", "bytes_req > 4000"),
            ("events/kmem/kmalloc/trigger", "stacktrace if bytes_req > 8000"),
            ("events/kmem/kmalloc/enable", "1"),
            ("events/kmem/kfree/enable", "1"),
        ];
        for (name, text) in settings {
            std::fs::write(other.0.join(name), text).unwrap();
        }
        other
    }

    /// All that can be set, as it is.
    fn settings(&self) -> Vec<String> {
        let files = [
            "tracing_on",
            "buffer_size_kb",
            "trace_options",
            "current_tracer",
            "trace_clock",
            "set_event",
        ];
        let of_event =
            ["enable", "filter", "trigger"].map(|file| format!("events/kmem/kmalloc/{file}"));
        let files = files.map(str::to_owned).into_iter().chain(of_event);
        files.map(|file| std::fs::read_to_string(self.0.join(file)).unwrap()).collect()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "{what} within a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A recorder and a hunt are killed beside another tracer, another recorder and another hunt: those go on, and the next
/// start removes what the killed ones left.
#[test]
fn what_is_killed_beside_others_changes_nothing_of_theirs() {
    let Some(_turn) = turn() else { return };
    if !Path::new(INSTANCES).exists() {
        return println!("SKIPPED: tracefs is not mounted");
    }
    let folder = tempfile::tempdir().unwrap();
    let other = Other::new();
    let settings = other.settings();
    let programs = programs_in_kernel();
    let record = |name: &str, stacks: &str| {
        let mut command = slablab();
        command.args(["record", "-m", "1M", stacks, "--no-probes", "--duration", "600", "-o"]);
        Running::start(command.arg(folder.path().join(name)).stderr(Stdio::null()))
    };
    let hunt = || {
        let mut command = slablab();
        Running::start(
            command
                .args(["leaks", "--once", "--for", "1d", "--format", "json"])
                .stdout(Stdio::piped()),
        )
    };
    let instance =
        |running: &Running| Path::new(INSTANCES).join(format!("slablab-{}", running.0.id()));
    let records = |running: &Running| {
        std::fs::read_to_string(instance(running).join("events/task/task_newtask/enable"))
            .is_ok_and(|on| on == "1\n")
    };
    // A sample is chosen by BPF; stacks of all events are the kernel's trigger's.
    let mut recorder = record("killed.parquet", "--stacks");
    let mut survivor = record("kept.parquet", "--stacks=all");
    wait_until("both record", || records(&recorder) && records(&survivor));
    wait_until("the recorder's programs come", || programs_in_kernel() >= programs + 4);
    let with_recorder = programs_in_kernel();
    let mut hunter = hunt();
    wait_until("the first hunt's programs come", || programs_in_kernel() >= with_recorder + 4);
    let of_one = programs_in_kernel() - with_recorder;
    let mut second = hunt();
    wait_until("the second's come", || programs_in_kernel() >= with_recorder + 2 * of_one);
    for killed in [&mut recorder, &mut hunter] {
        killed.signal("-KILL");
        killed.0.wait().unwrap();
    }
    wait_until("programs of who was killed go", || programs_in_kernel() == programs + of_one);
    assert_eq!(other.settings(), settings);
    assert!(instance(&recorder).exists() && records(&survivor));
    // The next start.
    let next = folder.path().join("next.parquet");
    let status =
        slablab().args(["record", "--no-probes", "-o"]).arg(&next).args(["--", "true"]).output();
    assert!(status.unwrap().status.success());
    assert!(!instance(&recorder).exists(), "the next recording removes what was left");
    assert!(records(&survivor), "and nothing else");
    assert_eq!(other.settings(), settings);
    std::thread::sleep(Duration::from_secs(2));
    for running in [&survivor, &second] {
        running.signal("-INT");
    }
    assert!(survivor.0.wait().unwrap().success());
    let answer: Value = serde_json::from_reader(second.0.stdout.take().unwrap()).unwrap();
    second.0.wait().unwrap();
    assert!(answer["seen"]["allocations"].as_u64().unwrap() > 0, "{answer}");
    assert!(
        slablab_trace::TraceReader::open(folder.path().join("kept.parquet")).unwrap().meta().events
            > 0
    );
    assert_eq!(other.settings(), settings);
    let trace = std::fs::read_to_string(other.0.join("trace")).unwrap();
    assert!(trace.contains("kfree:"), "the other tracer had its events");
    let _ = [recorder, survivor, hunter, second].map(std::mem::forget);
}
