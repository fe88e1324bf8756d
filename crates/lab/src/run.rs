//! Carries a plan out: every cell that has no row yet, in order, one row each.

use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::environment::load;
use crate::journal::SCHEMA;
use crate::{Cell, Environment, Error, Experiment, Journal, Plan, Result, Row};

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Cells that have their row
    pub done: usize,
    /// Cells in all
    pub total: usize,
    /// Which cell comes now, `None` while the experiment is set up
    pub cell: Option<&'a Cell>,
}

/// Runs `plan` in the result folder `folder` and returns how many rows it added.
///
/// A folder that holds part of the same plan is continued; so a run that was killed goes on when its command is
/// given again.
///
/// # Errors
///
/// If the folder holds another plan or cannot be written, or a cell cannot be measured.
pub fn run(
    experiment: &dyn Experiment,
    plan: &Plan,
    folder: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<usize> {
    fs::create_dir_all(folder).map_err(Error::io(folder, "make the result folder"))?;
    let mut journal = Journal::open(folder)?;
    match Plan::read(folder)? {
        None if !journal.is_empty() => {
            return Err(Error::Request(format!(
                "{}: holds rows but no plan; take another folder",
                folder.display()
            )));
        }
        None => plan.write(folder)?,
        Some(there) => check_same(plan, &there, folder)?,
    }
    let cells = plan.cells();
    let total = cells.len();
    if journal.len() >= total {
        return Ok(0);
    }
    progress(Progress { done: journal.len(), total, cell: None });
    let mut bench = experiment.prepare(&plan.request(), &plan.design)?;
    let environment = Environment::of_this_machine();
    let mut added = 0;
    for cell in &cells {
        if journal.has(cell.index) {
            continue;
        }
        progress(Progress { done: journal.len(), total, cell: Some(cell) });
        let started_unix_ms =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as u64);
        let (load, start) = (load(), Instant::now());
        let observation = bench.observe(cell)?;
        let parts = observation.parts.iter().flat_map(|part| &part.values);
        let mut values = observation.values.iter().chain(parts);
        if let Some((key, value)) = values.find(|(_, value)| !value.is_finite()) {
            return Err(Error::Cell { cell: cell.words(), reason: format!("{key} is {value}") });
        }
        journal.append(&Row {
            schema: SCHEMA.to_owned(),
            experiment: plan.experiment.clone(),
            engine: plan.engine,
            cell: cell.index,
            round: cell.round,
            warmup: cell.warmup,
            variant: cell.variant.clone(),
            point: cell.point.clone(),
            values: observation.values,
            parts: observation.parts,
            detail: observation.detail,
            command: observation.command,
            started_unix_ms,
            took_ms: start.elapsed().as_millis() as u64,
            load,
            environment: environment.clone(),
        })?;
        added += 1;
    }
    Ok(added)
}

fn check_same(plan: &Plan, there: &Plan, folder: &Path) -> Result<()> {
    if !plan.is_same_work(there) {
        return Err(Error::Request(format!(
            "{}: holds another plan ({}, engine {}, seed {}, {} rounds); take another folder, or give the same \
             parameters to go on with it",
            folder.display(),
            there.experiment,
            there.engine,
            there.seed,
            there.design.rounds
        )));
    }
    let (here, host) = (&plan.environment.host, &there.environment.host);
    if here != host {
        return Err(Error::Incomparable(format!(
            "{}: was begun on the host '{host}', and this is '{here}'; a run stays on one host, so take another \
             folder here and compare with the host as a block",
            folder.display()
        )));
    }
    Ok(())
}
