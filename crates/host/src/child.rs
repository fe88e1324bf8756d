//! Child processes that end when this process ends.
//!
//! # How it works
//! A command made by [`bound`] runs under `setpriv --pdeathsig TERM` (util-linux): the kernel sends it
//! SIGTERM when the thread that started it ends, however it ends. A child is the head of a process group,
//! and the whole group is ended, because `make` and shells do not end the compilers that their children
//! started. When this process is killed, it cannot signal the group any more. So a command that starts
//! others is run by a shell that signals them when it receives the death signal ([`bound_family`]).
//!
//! # Invariants
//! - A [`Child`] is waited for by the thread that started it: the death signal is tied to that thread.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often a waiting thread looks for signals and output.
pub const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a child may take to end after SIGTERM before it gets SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(5);

/// The script for the shell of [`bound_family`]: the program, and on SIGTERM the end of the whole
/// group.
const FAMILY: &str = r#"trap 'trap - TERM; kill 0' TERM; "$@" & wait $!"#;

/// Returns a command for `program` that ends with this process.
pub fn bound(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program).stdin(Stdio::null());
    command
}

/// Returns a command for `program` that ends with this process, as do all processes that it starts.
pub fn bound_family(program: impl AsRef<OsStr>) -> Command {
    let mut command = bound("sh");
    command.args(["-c", FAMILY, "sh"]).arg(program);
    command
}

/// A running child at the head of its own process group; the group is ended when this is dropped.
#[derive(Debug)]
pub struct Child(std::process::Child);

impl Child {
    /// Starts `command` at the head of a process group.
    ///
    /// # Errors
    ///
    /// If the program cannot be run.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }

    /// Returns the process itself, for its pipes and its number.
    pub fn process(&mut self) -> &mut std::process::Child {
        &mut self.0
    }

    /// Returns how it ended, if it has.
    ///
    /// # Errors
    ///
    /// If the system cannot tell.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Ends the group with SIGTERM, and after the grace period what is left of it with SIGKILL.
    pub fn end(&mut self) {
        let patience = Instant::now() + TERM_GRACE;
        self.signal_group(Signal::TERM);
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < patience {
            thread::sleep(POLL_INTERVAL);
        }
        // Other members of the group may remain when its head has ended.
        self.signal_group(Signal::KILL);
        let _ = self.0.wait();
    }

    /// Sends `signal` to the whole group.
    pub fn signal_group(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.0.id().cast_signed()) {
            // The group may have ended by itself in the meantime.
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = bound("sh");
        command.args(["-c", script]);
        command
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
            thread::sleep(POLL_INTERVAL);
        };
        drop(child);
        // Its new parent may take a moment to reap it.
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let patience = Instant::now() + Duration::from_secs(10);
        while !state().is_empty() && !state().contains(") Z ") {
            assert!(Instant::now() < patience, "{}", state());
            thread::sleep(POLL_INTERVAL);
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
