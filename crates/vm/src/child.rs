//! Child processes that never outlive us, and the signals that end us.
//!
//! # How it works
//!
//! Each child runs under `setpriv --pdeathsig TERM` (util-linux, on every Debian machine): the kernel sends
//! it SIGTERM when the thread that started it dies, however it dies. On SIGINT, SIGTERM and SIGHUP a flag is
//! set; whoever waits for a child looks at it several times a second, ends the child, waits for it, and
//! returns [`Error::Interrupted`]. A second signal ends us on the spot, and the children with us.
//!
//! A child is the head of a process group, and the whole group is ended: `make` and shells do not take the
//! compilers with them that their own children started. When we are killed ourselves, nobody is left to do
//! that, so what starts others is run by a shell that does it at the death signal ([`bound_family`]).
//!
//! # Invariants
//!
//! - A [`Child`] is waited for by the thread that started it: the death signal is tied to that thread.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::{Error, Result};

/// How often a waiting thread looks for signals and output.
pub(crate) const POLL: Duration = Duration::from_millis(20);

/// How long a child may take to end after SIGTERM before it gets SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(5);

/// Whether somebody asked us to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Returns one that is set by SIGINT, SIGTERM and SIGHUP from now on; a second signal ends the process
    /// with status 2.
    ///
    /// # Errors
    ///
    /// When the system refuses the handlers.
    pub fn on_signals() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The order counts: the shutdown looks at the flag before this signal sets it.
            signal_hook::flag::register_conditional_shutdown(signal, 2, interrupt.0.clone())
                .and_then(|_| signal_hook::flag::register(signal, interrupt.0.clone()))
                .map_err(Error::io("cannot handle signals", "/proc/self"))?;
        }
        Ok(interrupt)
    }

    /// Returns one that is never set.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// Fails when somebody asked us to stop.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Asks to stop, as a signal would.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns `program` bound to our life.
pub(crate) fn bound(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program).stdin(Stdio::null());
    command
}

/// What the shell of a family runs: the program, and at SIGTERM the end of the whole group.
const FAMILY: &str = r#"trap 'trap - TERM; kill 0' TERM; "$@" & wait $!"#;

/// Returns `program` bound to our life with all that it will start.
pub(crate) fn bound_family(program: impl AsRef<OsStr>) -> Command {
    let mut command = bound("sh");
    command.args(["-c", FAMILY, "sh"]).arg(program);
    command
}

/// A running child; ended when dropped, with its group.
#[derive(Debug)]
pub(crate) struct Child(std::process::Child);

impl Child {
    /// Starts `command`, made by [`bound`].
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let child = command.process_group(0).spawn().map_err(|source| Error::Missing {
            programs: format!("{} ({source})", command.get_program().display()),
            remedy: "Install util-linux".into(),
        })?;
        Ok(Self(child))
    }

    /// Returns how it ended, if it has.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.0.try_wait().map_err(Error::io("cannot wait for a child of", "/proc/self"))
    }

    /// Ends it: SIGTERM, and SIGKILL when that is not enough.
    pub(crate) fn end(&mut self) {
        let patience = Instant::now() + TERM_GRACE;
        self.signal_group(Signal::TERM);
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < patience {
            thread::sleep(POLL);
        }
        // Others of the group may have stayed when its head went.
        self.signal_group(Signal::KILL);
        let _ = self.0.wait();
    }

    fn signal_group(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.0.id().cast_signed()) {
            // It may have ended by itself in the meantime.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

/// Runs `command` with its output in `log`, calling `tick` several times a second; fails with the log's line
/// that says why.
pub(crate) fn run_logged(
    command: &mut Command,
    log: &Path,
    interrupt: &Interrupt,
    mut tick: impl FnMut(),
) -> Result<()> {
    let open = || -> std::io::Result<(File, File)> {
        let file = File::create(log)?;
        let copy = file.try_clone()?;
        Ok((file, copy))
    };
    let (out, err) = open().map_err(Error::io("cannot write the log", log))?;
    let program = name_of(command);
    let mut child = Child::start(command.stdout(out).stderr(err))?;
    loop {
        if let Some(status) = child.ended()? {
            // A terminal sends ctrl-C to the children as well, and they may be faster than our handler.
            interrupt.check()?;
            if status.success() {
                return Ok(());
            }
            let why = reason(log).unwrap_or_else(|| status.to_string());
            return Err(Error::Tool { program, why, log: log.to_owned() });
        }
        if let Err(interrupted) = interrupt.check() {
            child.end();
            return Err(interrupted);
        }
        tick();
        thread::sleep(POLL);
    }
}

/// Runs `command` and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let program = name_of(command);
    let missing = |why: String| Error::Missing {
        programs: format!("{program} ({why})"),
        remedy: "Run `slablab kernel check`".into(),
    };
    let out = command.output().map_err(|e| missing(e.to_string()))?;
    if !out.status.success() {
        return Err(missing(String::from_utf8_lossy(&out.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Returns the name of the program that is meant, behind what it is run by.
fn name_of(command: &Command) -> String {
    const RUNNERS: [&str; 6] = ["sh", "-c", FAMILY, "nice", "-n", "10"];
    let mut args = command.get_args().skip_while(|arg| *arg != "--").skip(1);
    let program = args.find(|arg| RUNNERS.iter().all(|runner| arg != runner));
    let program = program.unwrap_or_else(|| command.get_program());
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
    // A script is called by its first word.
    name.split(' ').next().unwrap_or_default().to_owned()
}

/// Returns the line of a log that says why: the first that speaks of an error, else the one before make's
/// first complaint, else the last.
fn reason(log: &Path) -> Option<String> {
    const SIGNS: [&str; 4] = ["No space left on device", "rror:", "ERROR", "not found"];
    let text = std::fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let telling = lines.iter().find(|line| SIGNS.iter().any(|sign| line.contains(sign)));
    let before_make = || lines.iter().position(|line| line.contains("***"))?.checked_sub(1);
    let line = telling.or_else(|| before_make().map(|at| &lines[at])).or_else(|| lines.last());
    line.map(|line| line.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = bound("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_line_that_says_why_comes_out_of_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let script = "echo fine; echo 'a.c:1: error: no such thing'; echo later; exit 3";
        let error = run_logged(&mut sh(script), &log, &Interrupt::never(), || ()).unwrap_err();
        assert!(error.to_string().starts_with("echo: a.c:1: error: no such thing"), "{error}");
    }

    #[test]
    fn what_make_complains_of_stands_before_its_complaint() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let script =
            "echo sleep x; echo 'sleep: bad x'; echo 'make: *** [a] 1'; echo later; exit 2";
        let error = run_logged(&mut sh(script), &log, &Interrupt::never(), || ()).unwrap_err();
        assert!(error.to_string().starts_with("echo: sleep: bad x. The whole log"), "{error}");
    }

    #[test]
    fn an_interrupt_ends_the_child() {
        let dir = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::never();
        let started = Instant::now();
        let error =
            run_logged(&mut sh("exec sleep 60"), &dir.path().join("log"), &interrupt, || {
                interrupt.set();
            })
            .unwrap_err();
        assert!(matches!(error, Error::Interrupted));
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn what_a_child_started_ends_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        let script = format!(
            "sh -c 'sleep 60; true' & echo $! > {0}.new; mv {0}.new {0}; wait",
            file.display()
        );
        let child = Child::start(&mut sh(&script)).unwrap();
        let pid = loop {
            if let Ok(text) = std::fs::read_to_string(&file) {
                break text.trim().to_owned();
            }
            thread::sleep(POLL);
        };
        drop(child);
        // Whoever adopts it may take a moment to bury it.
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let patience = Instant::now() + Duration::from_secs(10);
        while !state().is_empty() && !state().contains(") Z ") {
            assert!(Instant::now() < patience, "{}", state());
            thread::sleep(POLL);
        }
    }

    #[test]
    fn a_child_that_ignores_sigterm_is_killed_when_dropped() {
        let child = Child::start(&mut sh("trap '' TERM; while :; do sleep 0.1; done")).unwrap();
        let pid = child.0.id();
        thread::sleep(Duration::from_millis(200));
        drop(child);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
}
