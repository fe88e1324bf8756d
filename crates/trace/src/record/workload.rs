//! The recorded workload: a command, or the time until a signal comes.
//!
//! # How it works
//! The command stays in our process group, so that a terminal and its Ctrl-C reach it. What it
//! starts is found in `/proc` by parents; the recorder is their subreaper, so that what outlives its parent, a
//! daemon among them, becomes our child and is found all the same. When the recording has to end first, all of
//! them get SIGTERM, and SIGKILL after [`GRACE`].
//!
//! # Invariants
//! Only processes that began after the command are signalled, and through a pidfd that was checked,
//! so that a number that was given to another process meanwhile does no harm.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper,
};
use slablab_host::Signals;

use super::machine;
use crate::Error;

/// How long a process may take to end after SIGTERM before it gets SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// How often a failed recording and the end of processes are looked for.
const NAP: Duration = Duration::from_millis(100);

/// The result of the workload.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// The exit status to pass on, `None` without a command, or if the recording ended it as it was asked to.
    pub(super) status: Option<i32>,
    /// What the command left running, as in "sleep (pid 12)".
    pub(super) left_running: Vec<String>,
}

/// Returns what to do about a program that cannot be run.
fn remedy(program: &str, kind: ErrorKind) -> &'static str {
    match (program, kind) {
        // The command of the manual, which few machines have.
        ("perf", ErrorKind::NotFound) => {
            "install it (Debian: apt-get install linux-perf) or record another command"
        }
        _ => "check the command behind --",
    }
}

/// Runs `command`, or waits when it is empty, until it ends, a signal comes, `duration` is over or the
/// recording has `failed`.
pub(super) fn run(
    command: &[String],
    duration: Option<Duration>,
    signals: &mut Signals,
    failed: &AtomicBool,
) -> Result<Ended, Error> {
    // A time that no clock reaches is not a limit.
    let until = duration.and_then(|duration| Instant::now().checked_add(duration));
    let has_to_end = |signals: &mut Signals| {
        let nap = Instant::now() + NAP;
        signals.wait(Some(until.map_or(nap, |until| until.min(nap)))).is_some()
            || until.is_some_and(|until| Instant::now() >= until)
            || failed.load(Ordering::Acquire)
    };
    let Some((program, arguments)) = command.split_first() else {
        while !has_to_end(signals) {}
        return Ok(Ended::default());
    };
    let family = Family::new();
    let mut child =
        Command::new(program).args(arguments).spawn().map_err(|error| Error::CannotRecord {
            what: format!("cannot run `{program}`: {error}"),
            remedy: remedy(program, error.kind()).into(),
        })?;
    let mut wait = || loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, family.members()));
        }
        if has_to_end(signals) {
            return family.end(&mut child, signals);
        }
    };
    let (status, left) = wait().map_err(|e| Error::io(program.as_ref(), "cannot wait for", e))?;
    let is_limit =
        until.is_some_and(|until| Instant::now() >= until) || failed.load(Ordering::Acquire);
    let is_ours = is_limit && status.signal().is_some();
    let left_running =
        left.iter().map(|left| format!("{} (pid {})", left.name, left.pid)).collect();
    Ok(Ended { status: (!is_ours).then(|| exit_status(status)), left_running })
}

fn exit_status(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// The processes that a command starts, from when it is started.
struct Family {
    /// Our children of before.
    others: Vec<Process>,
}

/// A line of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    /// When it started, in clock ticks: with the number it names one process.
    started: u64,
    name: String,
}

impl Family {
    fn new() -> Family {
        // A kernel that refuses leaves orphans to init: then they are not found.
        let _ = set_child_subreaper(Some(getpid()));
        let own = getpid().as_raw_nonzero().get();
        Family { others: processes().into_iter().filter(|process| process.parent == own).collect() }
    }

    /// Returns those that live.
    fn members(&self) -> Vec<Process> {
        let (mut members, mut rest) = (Vec::<Process>::new(), processes());
        let own = getpid().as_raw_nonzero().get();
        rest.retain(|process| !self.others.contains(process));
        // Children, then their children, until there are no more.
        loop {
            let is_member = |process: &Process| {
                process.parent == own || members.iter().any(|m| m.pid == process.parent)
            };
            let (found, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_member);
            if found.is_empty() {
                return members;
            }
            members.extend(found);
            rest = others;
        }
    }

    /// Ends all of them; returns how `child` ended, and what could not be ended.
    fn end(
        &self,
        child: &mut Child,
        signals: &mut Signals,
    ) -> std::io::Result<(ExitStatus, Vec<Process>)> {
        let mut kill_at = Instant::now() + GRACE;
        self.signal(child, Signal::TERM);
        let mut killed = false;
        loop {
            let status = child.try_wait()?;
            let members = self.members();
            if let Some(status) = status
                && (members.is_empty() || killed && Instant::now() >= kill_at)
            {
                return Ok((status, members));
            }
            let urged = signals.wait(Some(Instant::now() + NAP / 5)).is_some();
            if urged || Instant::now() >= kill_at {
                self.signal(child, Signal::KILL);
                killed = true;
                kill_at = Instant::now() + GRACE;
            }
        }
    }

    fn signal(&self, child: &Child, signal: Signal) {
        for process in self.members() {
            let Some(pid) = Pid::from_raw(process.pid) else { continue };
            let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            // The number may have gone to another process before it was opened, but not after.
            if read(process.pid).is_some_and(|now| now.started == process.started) {
                let _ = pidfd_send_signal(pidfd, signal);
            }
        }
        // Where /proc does not show us: it was not waited for, so its number is its own.
        if !machine::proc_is_ours()
            && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        let _ = set_child_subreaper(None);
    }
}

/// Returns all processes but those that have ended and are not waited for.
fn processes() -> Vec<Process> {
    if !machine::proc_is_ours() {
        return Vec::new();
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

fn read(pid: i32) -> Option<Process> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `PID (NAME) STATE PARENT ...`; the name may hold anything. `None` for a process that has ended.
fn parse(stat: &str) -> Option<Process> {
    let (pid, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    if matches!(*words.first()?, "Z" | "X") {
        return None;
    }
    Some(Process {
        pid: pid.parse().ok()?,
        parent: words.get(1)?.parse().ok()?,
        started: words.get(19)?.parse().ok()?,
        name: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_be_called_anything() {
        let fields = "1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0";
        let process = parse(&format!("12 (a) S (b) S 7 {fields}\n")).unwrap();
        assert_eq!((process.pid, process.parent, process.started), (12, 7, 777));
        assert_eq!(process.name, "a) S (b");
        assert_eq!(parse(&format!("12 (a) Z 7 {fields}")), None);
        assert_eq!(parse("12 (a) S 7"), None);
    }
}
