//! Progress bars: on a terminal, for whatever takes longer than a moment; silent in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use slablab_vm::Step;

/// Shows how far a piece of work is; clears the line when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Starts a bar over `total` units of `what`; indicatif hides it when standard error is no terminal.
    pub(crate) fn new(what: &str, total: u64) -> Self {
        let bar =
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
        bar.set_style(
            ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3} %  {eta} left")
                .expect("the template is a constant")
                .progress_chars("=> "),
        );
        bar.set_message(what.to_owned());
        Self { bar }
    }

    /// Starts a bar for work that says itself what it is doing and how far it is.
    pub(crate) fn phases() -> Self {
        let progress = Self::new("", 1);
        progress.bar.enable_steady_tick(Duration::from_millis(100));
        progress
    }

    /// Shows a step of such work.
    pub(crate) fn step(&mut self, step: slablab_trace::Progress) {
        self.bar.set_message(step.phase);
        self.bar.set_length(step.total.max(1));
        self.bar.set_position(step.done.min(step.total.max(1)));
    }

    /// Starts a spinner for work whose length nobody knows.
    pub(crate) fn spinner(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        bar.set_style(
            ProgressStyle::with_template("{spinner} {msg}  {elapsed}")
                .expect("the template is a constant"),
        );
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    /// Says that `done` units are done.
    pub(crate) fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Says what is being done now.
    pub(crate) fn message(&self, what: String) {
        self.bar.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows the steps of building: a spinner, or a bar where the number of parts is known.
#[derive(Debug, Default)]
pub(crate) struct StepBar {
    what: String,
    spinner: Option<Progress>,
    bar: Option<Progress>,
}

impl StepBar {
    /// Shows a step.
    pub(crate) fn show(&mut self, step: &Step<'_>) {
        match step {
            Step::Begin(what) => {
                self.clear();
                self.what = (*what).to_owned();
                self.spinner = Some(Progress::spinner(what));
            }
            Step::Parts(done, total) => {
                self.spinner = None;
                let bar = self.bar.get_or_insert_with(|| Progress::new(&self.what, *total));
                bar.set(*done);
            }
            Step::Note(text) => {
                self.clear();
                eprintln!("slablab: {text}");
            }
            _ => {}
        }
    }

    /// Takes the bar off the screen.
    pub(crate) fn clear(&mut self) {
        self.spinner = None;
        self.bar = None;
    }
}
