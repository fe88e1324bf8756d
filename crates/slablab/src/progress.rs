//! Progress, for whatever takes longer than a moment.
//!
//! # How it works
//! A terminal has a bar or a spinner. Elsewhere (a file, a pipe, a job's log) a step that takes longer than a moment is
//! reported in a line, then from time to time, and at its end: its [`Pace`] says when.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use slablab_host::{printable, terminal_size};
use slablab_vm::Step;

use crate::bar::Bar;
use crate::say::say;

/// When a log gets its lines.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// How long a step may take before the first.
    silent_max: Duration,
    /// The time between two later ones.
    said_every: Duration,
}

/// What takes long, in a log that is kept.
const CALM: Pace =
    Pace { silent_max: Duration::from_secs(10), said_every: Duration::from_secs(60) };
/// What somebody waits for who asked for something else.
const AT_ONCE: Pace = Pace { silent_max: Duration::ZERO, said_every: Duration::from_secs(3) };
/// Time between two drawings on a terminal.
const DRAWN_EVERY: Duration = Duration::from_millis(100);
/// Columns of a terminal whose width nothing tells.
const COLUMNS: usize = 80;

/// Shows what is being done and how far it is; clears the line when dropped.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    what: String,
    shown: Option<Shown>,
}

/// A bar, and the thread that shows it.
#[derive(Debug)]
struct Shown {
    bar: Arc<Mutex<Bar>>,
    /// What ends the thread when it is dropped
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Shown {
    /// Shows a bar: on a terminal, or in lines of a log.
    fn start(bar: Bar, pace: Pace) -> Self {
        let (ended, end) = mpsc::channel();
        let bar = Arc::new(Mutex::new(bar));
        let seen = Arc::clone(&bar);
        let thread = thread::spawn(move || {
            if stderr().is_terminal() {
                return draw(&seen, &end);
            }
            log(&seen, &end, pace, |line| say(format_args!("slablab: {line}")));
        });
        Self { bar, ended: Some(ended), thread: Some(thread) }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.ended.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Returns how far it is now.
fn now(bar: &Mutex<Bar>) -> MutexGuard<'_, Bar> {
    bar.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws a bar on a terminal until `end`, and takes it off.
fn draw(bar: &Mutex<Bar>, end: &Receiver<()>) {
    for turn in 0.. {
        let bar = now(bar).clone();
        let width = terminal_size().map_or(0, |(columns, _)| usize::from(columns));
        let width = if width == 0 { COLUMNS } else { width };
        let line = bar.line(bar.began.elapsed(), turn);
        let line: String = printable(&line).chars().take(width - 1).collect();
        let _ = write!(stderr(), "\r{line}\x1b[K");
        if end.recv_timeout(DRAWN_EVERY) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    let _ = write!(stderr(), "\r\x1b[K");
}

/// Reports in lines how far a bar is, until `end`; `say` takes each.
fn log(bar: &Mutex<Bar>, end: &Receiver<()>, pace: Pace, mut say: impl FnMut(String)) {
    let began = Instant::now();
    let goes_on = |time| end.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    let share = |bar: &Bar| bar.percent().map_or(String::new(), |percent| format!(", {percent} %"));
    let is_at_once = pace.silent_max.is_zero();
    if !is_at_once && !goes_on(pace.silent_max) {
        return;
    }
    let first = now(bar).clone();
    let shown = if is_at_once { share(&first) } else { String::new() };
    say(first.message + &shown);
    let mut is_long = !is_at_once;
    while goes_on(pace.said_every) {
        let bar = now(bar).clone();
        say(format!("{}{}, {}", bar.message, share(&bar), took(began)));
        is_long = true;
    }
    if is_long {
        say(format!("{}: ended after {}", now(bar).clone().message, took(began)));
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

    /// Starts a bar that a log has from its beginning on, with a line every few seconds.
    pub(crate) fn at_once(what: &str, total: u64) -> Self {
        let bar = Bar::new(what, Some(total));
        Self { what: what.to_owned(), shown: Some(Shown::start(bar, AT_ONCE)) }
    }

    /// Starts a spinner for work whose length is unknown.
    pub(crate) fn spinner(what: &str) -> Self {
        let mut progress = Self::default();
        progress.begin(what, None);
        progress
    }

    /// Shows a bar over `total` units, or a spinner, in place of the present one.
    fn begin(&mut self, what: &str, total: Option<u64>) {
        self.clear();
        (self.what, self.shown) =
            (what.to_owned(), Some(Shown::start(Bar::new(what, total), CALM)));
    }

    fn bar(&self) -> Option<MutexGuard<'_, Bar>> {
        self.shown.as_ref().map(|shown| now(&shown.bar))
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
        if self.bar().is_none_or(|bar| bar.length.is_none()) || self.what != what {
            self.begin(what, Some(total));
        }
        if let Some(mut bar) = self.bar() {
            (bar.length, bar.position) = (Some(total), done.min(total));
        }
    }

    /// Says that `done` units are done.
    pub(crate) fn set(&self, done: u64) {
        self.bar().into_iter().for_each(|mut bar| bar.position = done);
    }

    /// Says what is being done now.
    pub(crate) fn message(&self, what: &str) {
        self.bar().into_iter().for_each(|mut bar| bar.message = what.to_owned());
    }

    /// Takes it off the screen.
    pub(crate) fn clear(&mut self) {
        self.shown = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a terminal the first share was told after 70 seconds.
    #[test]
    fn a_log_that_is_told_at_once_has_a_line_before_the_first_pause_and_shares_later() {
        assert!(AT_ONCE.silent_max.is_zero() && AT_ONCE.said_every < CALM.silent_max);
        let bar = Mutex::new(Bar::new("compiling", Some(4)));
        let (ended, end) = mpsc::channel::<()>();
        let mut ended = Some(ended);
        let mut lines = Vec::new();
        let pace = Pace { said_every: Duration::from_millis(1), ..AT_ONCE };
        log(&bar, &end, pace, |line| {
            now(&bar).position += 1;
            lines.push(line);
            if lines.len() == 3 {
                ended = None;
            }
        });
        assert!(ended.is_none());
        let starts =
            ["compiling, 0 %", "compiling, 25 %, ", "compiling, 50 %, ", "compiling: ended after "];
        assert_eq!(lines.len(), starts.len(), "{lines:?}");
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.starts_with(start), "{lines:?}");
        }
    }

    #[test]
    fn a_step_that_is_told_at_once_and_ends_soon_has_one_line() {
        let (_, end) = mpsc::channel();
        let mut lines = Vec::new();
        log(&Mutex::new(Bar::new("compiling", Some(4))), &end, AT_ONCE, |line| lines.push(line));
        assert_eq!(lines, ["compiling, 0 %"]);
    }

    #[test]
    fn a_log_has_nothing_of_a_step_that_ends_soon() {
        let (ended, end) = mpsc::channel();
        drop(ended);
        let bar = Mutex::new(Bar::new("looking", None));
        log(&bar, &end, CALM, |line| panic!("{line}"));
    }
}
