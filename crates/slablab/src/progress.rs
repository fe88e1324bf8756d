//! Progress, for whatever takes longer than a moment.
//!
//! # How it works
//! A terminal has a bar or a spinner. Elsewhere (a file, a pipe, a job's log) a step that takes longer than
//! [`SILENT_MAX`] is reported in a line, then once a minute, and at its end.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use slablab_vm::Step;

use crate::say::say;

/// How long a step may take before a log gets a line about it.
const SILENT_MAX: Duration = Duration::from_secs(10);
/// Time between two later lines in a log.
const SAID_EVERY: Duration = Duration::from_secs(60);

/// Shows what is being done and how far it is; clears the line when dropped.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    what: String,
    bar: Option<ProgressBar>,
    log: Option<StepLog>,
}

/// A thread that reports the progress of a step in lines.
#[derive(Debug)]
struct StepLog {
    /// What ends it when it is dropped
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StepLog {
    /// Reports in lines how far `bar` is, which is not shown.
    fn start(bar: &ProgressBar) -> Self {
        let (ended, end) = mpsc::channel();
        let bar = bar.clone();
        let thread = thread::spawn(move || {
            let began = Instant::now();
            if end.recv_timeout(SILENT_MAX) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            say(format_args!("slablab: {}", bar.message()));
            while end.recv_timeout(SAID_EVERY) == Err(RecvTimeoutError::Timeout) {
                say(format_args!("slablab: {}{}, {}", bar.message(), share(&bar), took(began)));
            }
            say(format_args!("slablab: {}: ended after {}", bar.message(), took(began)));
        });
        Self { ended: Some(ended), thread: Some(thread) }
    }
}

impl Drop for StepLog {
    fn drop(&mut self) {
        drop(self.ended.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Returns how far a bar is, where its length is known.
fn share(bar: &ProgressBar) -> String {
    match bar.length() {
        Some(length) if length > 0 => format!(", {} %", 100 * bar.position() / length),
        _ => String::new(),
    }
}

/// Returns for how long something has gone on.
fn took(began: Instant) -> String {
    match began.elapsed().as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

impl Progress {
    /// Starts a bar over `total` units of `what`.
    pub(crate) fn new(what: &str, total: u64) -> Self {
        let mut progress = Self::default();
        progress.begin(what, Some(total));
        progress
    }

    /// Starts a spinner for work whose length is unknown.
    pub(crate) fn spinner(what: &str) -> Self {
        let mut progress = Self::default();
        progress.begin(what, None);
        progress
    }

    /// Shows a bar over `total` units, or a spinner, in place of the present one. indicatif hides both when
    /// standard error is not a terminal, which a log is for.
    fn begin(&mut self, what: &str, total: Option<u64>) {
        self.clear();
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(10));
        let template = match total {
            Some(_) => "{msg} [{bar:30}] {percent:>3} %  {eta} left",
            None => "{spinner} {msg}  {elapsed}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        bar.set_style(style.progress_chars("=> "));
        bar.set_message(what.to_owned());
        if bar.is_hidden() {
            self.log = Some(StepLog::start(&bar));
        } else {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        (self.what, self.bar) = (what.to_owned(), Some(bar));
    }

    /// Shows a step of building or booting: a note stays on the screen, and is printed in a pipe, too.
    pub(crate) fn show(&mut self, step: &Step<'_>) {
        match step {
            Step::Begin(what) => self.begin(what, None),
            Step::Parts(done, total) => self.part(&self.what.clone(), *done, *total),
            Step::Note(text) => {
                self.clear();
                say(format_args!("slablab: {text}"));
            }
            _ => {}
        }
    }

    /// Shows a step of an import.
    pub(crate) fn step(&mut self, step: slablab_trace::Progress) {
        self.part(step.phase, step.done, step.total.max(1));
    }

    /// Shows that `done` of `total` units of `what` are done.
    fn part(&mut self, what: &str, done: u64, total: u64) {
        if self.bar.as_ref().is_none_or(|bar| bar.length().is_none()) || self.what != what {
            self.begin(what, Some(total));
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done.min(total));
        }
    }

    /// Says that `done` units are done.
    pub(crate) fn set(&self, done: u64) {
        self.bar.iter().for_each(|bar| bar.set_position(done));
    }

    /// Says what is being done now.
    pub(crate) fn message(&self, what: &str) {
        self.bar.iter().for_each(|bar| bar.set_message(what.to_owned()));
    }

    /// Takes it off the screen.
    pub(crate) fn clear(&mut self) {
        self.log = None;
        self.bar.take().iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
