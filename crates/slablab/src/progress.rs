//! Progress on a terminal, for whatever takes longer than a moment; nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use slablab_vm::Step;

use crate::say::say;

/// Shows what is being done and how far it is; clears the line when dropped.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    what: String,
    bar: Option<ProgressBar>,
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

    /// Shows a bar over `total` units, or a spinner, in place of what is shown; indicatif hides both when standard
    /// error is no terminal.
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
        bar.enable_steady_tick(Duration::from_millis(100));
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
        self.bar.take().iter().for_each(ProgressBar::finish_and_clear);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
