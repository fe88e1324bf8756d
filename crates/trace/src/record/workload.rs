//! What is recorded: a command, or the time until a signal comes.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::Error;

/// The signals that end a recording, caught while this lives and back to their default afterwards.
#[derive(Debug)]
pub(super) struct Signals {
    wake: UnixStream,
    last: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn catch() -> std::io::Result<Signals> {
        let (wake, write) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let signals = Signals { wake, last: Arc::default(), over: Arc::default() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let over = Arc::clone(&signals.over);
            signal_hook::flag::register_conditional_default(signal, over)?;
            let last = Arc::clone(&signals.last);
            signal_hook::flag::register_usize(signal, last, signal as usize)?;
            signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, write)?;
        Ok(signals)
    }

    /// Sleeps until a signal comes, or until `until`; returns the last signal that asks for an end.
    fn wait(&mut self, until: Option<Instant>) -> Option<i32> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let time = left.map(|left| Timespec {
            tv_sec: left.as_secs().min(1 << 30) as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let mut woken = [PollFd::new(&self.wake, PollFlags::IN)];
        // An interruption is a signal too, so there is nothing to tell apart.
        let _ = poll(&mut woken, time.as_ref());
        let mut bytes = [0; 64];
        while self.wake.read(&mut bytes).is_ok_and(|read| read > 0) {}
        match self.last.swap(0, Ordering::AcqRel) {
            0 => None,
            signal => Some(signal as i32),
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
    }
}

/// Runs `command`, or waits when it is empty, until it ends, a signal comes or `duration` is over.
/// Returns the exit status to pass on, `None` without a command.
pub(super) fn run(
    command: &[String],
    duration: Option<Duration>,
    signals: &mut Signals,
) -> Result<Option<i32>, Error> {
    let until = duration.map(|duration| Instant::now() + duration);
    let Some((program, arguments)) = command.split_first() else {
        while signals.wait(until).is_none() && until.is_none_or(|until| Instant::now() < until) {}
        return Ok(None);
    };
    let mut child =
        Command::new(program).args(arguments).spawn().map_err(|error| Error::CannotRecord {
            what: format!("cannot run `{program}`: {error}"),
            remedy: "check the command behind --".into(),
        })?;
    let waited = wait(&mut child, until, signals);
    let status = waited.map_err(|e| Error::io(program.as_ref(), "cannot wait for", e))?;
    Ok(Some(exit_status(status)))
}

/// Waits for the child; what ends the recording first also ends the child, by SIGTERM at first.
fn wait(
    child: &mut Child,
    until: Option<Instant>,
    signals: &mut Signals,
) -> std::io::Result<ExitStatus> {
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let signal = signals.wait(until.filter(|_| !asked));
        let late = !asked && until.is_some_and(|until| Instant::now() >= until);
        if signal.is_some() && asked {
            child.kill()?;
        } else if signal.is_some() || late {
            asked = true;
            // It may have ended just now: then there is nobody to ask.
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
        }
    }
}

fn exit_status(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
