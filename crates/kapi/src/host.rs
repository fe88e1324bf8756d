//! The parent: starts the child, listens, stops it when its time is over.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use slablab_host::bound;

use crate::error::Error;
use crate::event::Event;
use crate::job::Job;

/// How the child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It did everything.
    Done,
    /// Its time was over.
    TimedOut,
    /// It stopped before it was done; an event says why, if there is one to say it.
    Stopped {
        /// The signal that ended it, if one did.
        signal: Option<i32>,
        /// Its exit status otherwise.
        status: Option<i32>,
    },
}

/// How long a child may take to say where it is when its time is over.
const HANG_GRACE: Duration = Duration::from_secs(2);

/// What is to be started, and for how long.
#[derive(Debug)]
pub struct Start<'a> {
    /// The command that calls `slablab_kapi::child_main` with the path that follows it.
    pub command: &'a [OsString],
    /// What the child is to do.
    pub job: &'a Job,
    /// A folder for the job's file.
    pub dir: &'a Path,
    /// A library to load first.
    pub preload: Option<&'a Path>,
    /// How long it may take; `None` for as long as it likes.
    pub timeout: Option<Duration>,
}

/// Runs a job in a child process and hands its events over as they come.
///
/// Returns how it ended and what it wrote to standard error.
///
/// # Errors
/// [`Error::Child`] if it cannot be started, [`Error::Io`] if the job's file cannot be written.
pub fn run(start: &Start<'_>, mut on_event: impl FnMut(Event)) -> Result<(End, String), Error> {
    let path = start.dir.join("job.json");
    let text = serde_json::to_string(start.job).map_err(|e| Error::Child(e.to_string()))?;
    std::fs::write(&path, text).map_err(Error::io(&path))?;
    let (program, args) =
        start.command.split_first().ok_or_else(|| Error::Child("no command given".into()))?;
    // By env: what it sets is for the child alone, and not for what binds the child to us.
    let mut command = bound("env");
    if let Some(library) = start.preload {
        let mut preload = OsString::from("LD_PRELOAD=");
        preload.push(library);
        command.arg(preload);
        // Copies by the host are not the module's; leaks are found by the ledger.
        command.arg("ASAN_OPTIONS=detect_leaks=0:replace_intrin=0:abort_on_error=0:exitcode=71");
    }
    command.arg(program).args(args).arg(&path);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| Error::Child(e.to_string()))?;
    let errors = child.stderr.take().map(|mut stderr| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let events = listen(&mut child);
    let end = follow(&mut child, &events, start.timeout, &mut on_event)?;
    let errors = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
    Ok((end, errors))
}

fn listen(child: &mut Child) -> Receiver<Event> {
    let (sender, receiver) = channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || read_events(BufReader::new(stdout), &sender));
    }
    receiver
}

fn read_events(mut lines: impl BufRead, sender: &Sender<Event>) {
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        // A line that a crash cut short is no event; the crash's own follows on a line of its own.
        if let Ok(event) = serde_json::from_slice(&line)
            && sender.send(event).is_err()
        {
            return;
        }
        line.clear();
    }
}

fn follow(
    child: &mut Child,
    events: &Receiver<Event>,
    timeout: Option<Duration>,
    on_event: &mut dyn FnMut(Event),
) -> Result<End, Error> {
    let mut deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let (mut done, mut timed_out) = (false, false);
    while !done {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let event = match left {
            // A module that logs without end has no pause for a timeout to fall into.
            Some(Duration::ZERO) => Err(RecvTimeoutError::Timeout),
            Some(left) => events.recv_timeout(left),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Done) => done = true,
            Ok(event) => on_event(event),
            Err(RecvTimeoutError::Timeout) if !timed_out => {
                // It says where it is, and ends.
                timed_out = true;
                deadline = Some(Instant::now() + HANG_GRACE);
                if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
                    let _ = kill_process(pid, Signal::ALARM);
                }
            }
            Err(_) => break,
        }
    }
    timed_out &= !done;
    if done || timed_out {
        // A module's threads may still run: they end with the process.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|e| Error::Child(e.to_string()))?;
    Ok(match (done, timed_out) {
        (true, _) => End::Done,
        (_, true) => End::TimedOut,
        _ => End::Stopped { signal: status.signal(), status: status.code() },
    })
}
