//! Carries a plan out: runs every cell that has no row yet, in order, and adds one row for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use slablab_vm::Step;

use crate::environment::{Environment, load};
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Setup};
use crate::journal::{self, Journal, Row, SCHEMA, accelerator};
use crate::plan::{self, Cell, Plan};
use crate::planning::plan as plan_of;
use crate::request::Request;
use crate::settings;

/// The progress of a run.
#[derive(Debug)]
pub enum Stage<'a> {
    /// The experiment is being set up
    Setup(Step<'a>),
    /// `done` of `total` cells have their row, and `cell` comes now
    Cell {
        /// Cells that have their row
        done: usize,
        /// Cells in all
        total: usize,
        /// The next one
        cell: &'a Cell,
    },
}

/// Finds the folder for a run without a given one: the first of `NAME`, `NAME-2`, `NAME-3` ... under `root` that does
/// not exist, or holds the same work, begun and not finished.
///
/// A run that is continued keeps its seed unless `seed` is another.
///
/// # Errors
///
/// If the request does not fit the experiment, or a folder cannot be read.
pub fn begin(
    root: &Path,
    experiment: &dyn Experiment,
    request: &Request,
    seed: Option<u64>,
) -> Result<(PathBuf, Plan)> {
    let name = format!("{}-{}", experiment.about().name, request.engine);
    for number in 1.. {
        let folder = match number {
            1 => root.join(&name),
            _ => root.join(format!("{name}-{number}")),
        };
        if !folder.exists() {
            return Ok((folder, plan_of(experiment, request)?));
        }
        let Ok(Some(there)) = Plan::read(&folder) else { continue };
        let request = Request { seed: seed.unwrap_or(there.seed), ..request.clone() };
        let again = plan_of(experiment, &request)?;
        let is_begun = || Journal::read(&folder).is_ok_and(|rows| rows.len() < again.cells().len());
        if again.is_same_work(&there) && is_begun() {
            return Ok((folder, again));
        }
    }
    unreachable!("some number is free")
}

/// Returns the files that make `folder` a result, whether they exist or not.
#[must_use]
pub fn result_files(folder: &Path) -> [PathBuf; 3] {
    [plan::FILE, journal::FILE, settings::FILE].map(|name| folder.join(name))
}

/// Runs `plan` in the result folder `folder` and returns how many rows it added.
///
/// A folder with part of the same plan is continued: a run that was killed continues when its command is given
/// again.
///
/// # Errors
///
/// If the folder has another plan or cannot be written, or a cell cannot be measured.
pub fn run(
    experiment: &dyn Experiment,
    plan: &Plan,
    folder: &Path,
    progress: &mut dyn FnMut(Stage<'_>),
) -> Result<usize> {
    carry_out(experiment, plan, folder, &plan.cells(), progress)
}

/// Runs these `cells` of the plan in the same way.
pub(crate) fn carry_out(
    experiment: &dyn Experiment,
    plan: &Plan,
    folder: &Path,
    cells: &[Cell],
    progress: &mut dyn FnMut(Stage<'_>),
) -> Result<usize> {
    let missing = folder.ancestors().take_while(|place| !place.exists());
    let made: Vec<&Path> = missing.filter(|place| !place.as_os_str().is_empty()).collect();
    fs::create_dir_all(folder).map_err(Error::io(folder, "make the result folder"))?;
    if Plan::read(folder)?.is_none() && has_foreign_files(folder)? {
        return Err(Error::Request(format!(
            "{}: has files and no plan of the lab; take another folder",
            folder.display()
        )));
    }
    let was_begun = folder.join(journal::FILE).exists();
    let mut journal = Journal::open(folder)?;
    match Plan::read(folder)? {
        None => plan.write(folder)?,
        // If a run failed before its first row, there is nothing to continue.
        Some(_) if was_begun && journal.is_empty() => plan.write(folder)?,
        Some(there) => check_same(plan, &there, folder)?,
    }
    let total = cells.len();
    let mut done = cells.iter().filter(|cell| journal.has(cell.index)).count();
    if done == total {
        return Ok(0);
    }
    let prepared = experiment.prepare(&mut Setup {
        request: &plan.request(),
        design: &plan.design,
        folder,
        watch: &mut |step| progress(Stage::Setup(step)),
    });
    let mut fixture = prepared.inspect_err(|_| unmake(&made))?;
    let environment = Environment::of_this_machine();
    let before = done;
    for cell in cells {
        if journal.has(cell.index) {
            continue;
        }
        progress(Stage::Cell { done, total, cell });
        let started_unix_ms =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as u64);
        let (load, start) = (load(), Instant::now());
        let observation = fixture.observe(cell)?;
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
            work_key: plan.work_key(accelerator(&observation.detail)),
            environment_key: environment.key(),
            detail: observation.detail,
            command: observation.command,
            started_unix_ms,
            took_ms: start.elapsed().as_millis() as u64,
            load,
            environment: environment.clone(),
        })?;
        done += 1;
    }
    Ok(done - before)
}

/// Removes the folders `made`, the innermost first, after a run that was refused; one that has anything but a plan and no
/// rows stays.
fn unmake(made: &[&Path]) {
    if let Some(folder) = made.first() {
        // Files that remain do no harm: the same command takes the folder again.
        let _ = fs::remove_file(folder.join(journal::FILE));
        let _ = Plan::remove(folder);
    }
    made.iter().take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
}

/// Returns whether there is anything but the empty journal of a run that was stopped before it wrote its plan.
fn has_foreign_files(folder: &Path) -> Result<bool> {
    let failed = || Error::io(folder, "read the result folder");
    for entry in fs::read_dir(folder).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let is_empty = fs::metadata(entry.path()).is_ok_and(|file| file.len() == 0);
        if !(is_empty && entry.file_name() == journal::FILE) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_same(plan: &Plan, there: &Plan, folder: &Path) -> Result<()> {
    if !plan.is_same_work(there) {
        return Err(Error::Request(format!(
            "{}: has another plan ({}, engine {}, seed {}, {} rounds); take another folder, or give the same \
             parameters to continue it",
            folder.display(),
            there.experiment,
            there.engine,
            there.seed,
            there.design.rounds
        )));
    }
    let (here, begun) = (&plan.environment, &there.environment);
    let host = |host: &str| [("host", host.to_owned())];
    let now = host(&here.host).into_iter().chain(here.factors());
    let then = host(&begun.host).into_iter().chain(begun.factors());
    if let Some(((factor, now), (_, then))) = now.zip(then).find(|(now, then)| now != then) {
        return Err(Error::Incomparable(format!(
            "{}: was begun on the {factor} '{then}', and this is '{now}'; a run stays in one environment, so take another \
             folder here",
            folder.display()
        )));
    }
    Ok(())
}
