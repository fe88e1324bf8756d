//! How far a run of an experiment is, on a terminal.

use slablab_lab::Stage;

use crate::progress::Progress;

/// The step of the setup, then a bar over the cells.
pub(crate) struct Bars<'a> {
    name: &'a str,
    steps: Progress,
    cells: Option<Progress>,
}

impl<'a> Bars<'a> {
    /// Shows nothing yet of the run of the experiment `name`.
    pub(crate) fn new(name: &'a str) -> Self {
        Self { name, steps: Progress::default(), cells: None }
    }

    pub(crate) fn show(&mut self, now: &Stage<'_>) {
        match now {
            Stage::Setup(step) => self.steps.show(step),
            Stage::Cell { done, total, cell } => {
                self.steps.clear();
                let bar = self.cells.get_or_insert_with(|| Progress::new(self.name, *total as u64));
                bar.set(*done as u64);
                bar.message(&format!("{}: {}", self.name, cell.words()));
            }
        }
    }
}
