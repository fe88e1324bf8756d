//! `slablab top` in a real terminal (tmux), and once for scripts.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use slablab_tests::{refusal, run, slablab_path};

/// How long something that comes within a second or two may take on a machine that has other work.
const PATIENCE: Duration = Duration::from_secs(60);

fn can_trace() -> bool {
    let can = Path::new("/sys/kernel/tracing/events/kmem/kmalloc").exists()
        && Path::new("/proc/slabinfo").exists();
    let has_tmux =
        Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    if !can || !has_tmux {
        eprintln!("not run: it needs root, tracefs and tmux");
    }
    can && has_tmux
}

/// Where a process's instance of tracefs is.
fn instance(pid: &str) -> PathBuf {
    Path::new("/sys/kernel/tracing/instances").join(format!("slablab-{pid}"))
}

/// What allocates, until it is dropped.
struct Work(Child);

impl Work {
    fn start() -> Work {
        // No program is started: what each look allocates is the most that is allocated on a busy machine, too.
        let script = "while :; do read line </proc/self/status; done";
        Work(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A tmux of its own with a shell in it, so that what is left of a terminal can be seen.
struct Terminal {
    folder: tempfile::TempDir,
}

impl Terminal {
    fn new(width: u32, height: u32) -> Terminal {
        let terminal = Terminal { folder: tempfile::tempdir().unwrap() };
        let (width, height) = (width.to_string(), height.to_string());
        let shell = "PS1='$ ' exec sh";
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "t",
            "-x",
            &width,
            "-y",
            &height,
            shell,
        ]);
        terminal
    }

    fn tmux(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(self.folder.path().join("socket"))
            .args(words)
            .env("LC_ALL", "C.UTF-8");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys", "-t", "t"], keys].concat());
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "t"])
    }

    /// Waits until the screen is as it should be.
    fn wait(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if is_it(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "{what}:\n{screen}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Starts it; returns the number of its process.
    fn start(&self, options: &str) -> String {
        let pid = self.folder.path().join("pid");
        let command = format!("exec {} top {options}", slablab_path().display());
        let line = format!("clear; sh -c 'echo $$ >{}; {command}'", pid.display());
        self.keys(&[&line, "Enter"]);
        self.wait("no table", |screen| screen.starts_with("slablab top"));
        std::fs::read_to_string(pid).unwrap().trim().to_owned()
    }

    /// Waits for the shell, and asks it whether its terminal is as before.
    fn expect_shell(&self, pid: &str) {
        // What is typed before it has ended is its input, not the shell's.
        self.wait("it goes on", |_| !Path::new("/proc").join(pid).exists());
        self.keys(&["clear; stty -a | grep -c ' icanon'; echo left", "Enter"]);
        let screen = self.wait("no shell", |screen| screen.lines().any(|line| line == "left"));
        let lines: Vec<&str> = screen.lines().collect();
        let left = lines.iter().rposition(|line| *line == "left").unwrap();
        assert_eq!(lines[left - 1], "1", "the terminal is still raw:\n{screen}");
        assert_eq!(
            self.tmux(&["display", "-p", "-t", "t", "#{cursor_flag} #{alternate_on}"]),
            "1 0\n"
        );
        assert!(!instance(pid).exists(), "an instance is left");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let mut command = Command::new("tmux");
        let _ =
            command.arg("-S").arg(self.folder.path().join("socket")).arg("kill-server").output();
    }
}

#[test]
fn a_terminal_shows_what_allocates_and_is_left_as_it_was() {
    if !can_trace() {
        return;
    }
    let _work = Work::start();
    let terminal = Terminal::new(100, 24);
    let pid = terminal.start("--interval 0.5");
    // What reading /proc/self/status allocates, whatever the kernel's version.
    let shown = terminal
        .wait("no seq_file", |screen| screen.contains("seq_") || screen.contains("single_open"));
    assert!(shown.contains("*ALLOCS/S"), "{shown}");
    terminal.keys(&["Tab"]);
    terminal.wait("no caches", |screen| screen.contains("CACHE") && screen.contains("*SLABS"));
    terminal.keys(&["/"]);
    terminal.keys(&["filp", "Enter"]);
    terminal.wait("no filter", |screen| {
        screen.lines().nth(2).is_some_and(|line| line.contains("filp"))
    });
    for (width, height) in [("40", "10"), ("39", "9"), ("160", "50"), ("80", "24")] {
        terminal.tmux(&["resize-window", "-t", "t", "-x", width, "-y", height]);
        let fits = width != "39";
        terminal.wait("not redrawn", |screen| {
            screen.contains(if fits { "filter: filp" } else { "needs a terminal" })
        });
    }
    assert!(instance(&pid).exists());
    terminal.keys(&["q"]);
    terminal.expect_shell(&pid);

    let pid = terminal.start("--by cache --trace 0");
    terminal.keys(&["C-c"]);
    terminal.expect_shell(&pid);

    let pid = terminal.start("--interval 30");
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    terminal.expect_shell(&pid);
}

#[test]
fn a_lost_terminal_ends_it_and_leaves_no_instance() {
    if !can_trace() {
        return;
    }
    let terminal = Terminal::new(80, 24);
    let pid = terminal.start("--interval 0.5");
    assert!(instance(&pid).exists());
    terminal.tmux(&["kill-server"]);
    let until = Instant::now() + PATIENCE;
    while Path::new("/proc").join(&pid).exists() {
        assert!(Instant::now() < until, "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!instance(&pid).exists(), "an instance is left");
}

#[test]
fn a_signal_ends_one_table_early_and_leaves_no_instance() {
    if !can_trace() {
        return;
    }
    for signal in ["TERM", "INT", "HUP"] {
        let mut top = Command::new(slablab_path());
        top.args(["top", "--once", "--seconds", "600", "--format", "json"]);
        let top = top.stdout(Stdio::piped()).spawn().unwrap();
        let pid = top.id().to_string();
        let until = Instant::now() + PATIENCE;
        while !instance(&pid).exists() {
            assert!(Instant::now() < until, "it does not begin to look");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let output = top.wait_with_output().unwrap();
        assert!(!instance(&pid).exists(), "{signal}: an instance is left");
        let top: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(top["seconds"].as_f64().unwrap() < 600.0, "{signal}: {top}");
    }
}

#[test]
fn a_script_gets_one_table_as_json() {
    if !can_trace() {
        return;
    }
    let _work = Work::start();
    let output = run(&["top", "--once", "--seconds", "2", "--format", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let top: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&top["schema"], &top["by"]), (&"slablab.top/1".into(), &"site".into()));
    let rows = top["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["allocs_per_second"].as_f64().unwrap() > 0.0), "{top}");
    let told = |key: &str| rows.iter().filter(|row| row[key].is_string()).count();
    // Whatever opens a file has its name copied by a helper.
    assert!(told("program") > 0 && told("owner") > 0, "{top}");
    assert!(top["traced_seconds"].as_f64().unwrap() < top["seconds"].as_f64().unwrap() / 2.0);
    let caches = run(&[
        "top",
        "--once",
        "--seconds",
        "0.5",
        "--by",
        "cache",
        "--trace",
        "0",
        "--format",
        "csv",
    ]);
    let caches = String::from_utf8(caches.stdout).unwrap();
    assert!(caches.contains("\nfilp,"), "{caches}");
}

/// Tracing slows hackbench to half its speed in the slices, so that their rates alone are half of perf's.
#[test]
fn rates_are_those_that_perf_counts_of_a_load_that_tracing_slows() {
    let has_perf = Command::new("perf").arg("-v").output().is_ok_and(|o| o.status.success());
    if !can_trace() || !has_perf {
        return;
    }
    // They agree within 5 % where nothing else runs; other loads come and go between the slices, but not each time.
    let mut seen = Vec::new();
    let agree = |(by_top, by_perf): &(f64, f64)| (by_top / by_perf - 1.0).abs() < 0.15;
    while seen.len() < 3 && !seen.last().is_some_and(agree) {
        seen.push(by_top_and_perf());
    }
    assert!(seen.last().is_some_and(agree), "top and perf: {seen:?}");
}

/// Returns how many allocations top and perf count while hackbench runs for four seconds.
fn by_top_and_perf() -> (f64, f64) {
    // The load begins after both have begun and ends before either ends, so that both see all of it.
    let seconds = "12";
    let mut perf = Command::new("perf");
    perf.args(["stat", "-a", "-x,", "-e", "kmem:kmalloc,kmem:kmem_cache_alloc", "sleep", seconds]);
    let perf = perf.stderr(Stdio::piped()).spawn().unwrap();
    let mut top = Command::new(slablab_path());
    top.args(["top", "--once", "--seconds", seconds, "--format", "json"]);
    let top = top.stdout(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    while !instance(&top.id().to_string()).exists() {
        assert!(Instant::now() < until, "it does not begin to look");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(2));
    let hackbench = "exec timeout -s KILL 4 perf bench sched messaging -g 2 -l 10000000";
    let _ = Command::new("sh").args(["-c", hackbench]).output().unwrap();

    let top: serde_json::Value =
        serde_json::from_slice(&top.wait_with_output().unwrap().stdout).unwrap();
    let rows = top["rows"].as_array().unwrap();
    let by_site = rows.iter().filter_map(|row| row["allocs_per_second"].as_f64());
    let by_top = by_site.sum::<f64>() * top["seconds"].as_f64().unwrap();
    let counts = String::from_utf8(perf.wait_with_output().unwrap().stderr).unwrap();
    let counts = counts.lines().filter(|line| line.contains("kmem:"));
    let by_perf: f64 = counts.map(|l| l.split(',').next().unwrap().parse::<f64>().unwrap()).sum();
    assert!(by_perf > 0.0, "perf counts");
    (by_top, by_perf)
}

#[test]
fn a_live_view_is_for_a_terminal() {
    if !can_trace() {
        return;
    }
    assert!(refusal(&["top", "--trace", "0"]).contains("add --once"));
    assert!(refusal(&["top", "--format", "json"]).contains("add --once"));
}
