//! A run as it was stored: its plan and its rows, which are checked to belong to one work and one
//! environment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use slablab_report::Group;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::journal::{FILE, Journal, Part, Row, accelerator};
use crate::plan::Plan;
use crate::request::{Metric, Nature};

/// A run as it was stored.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its name: that of its folder
    pub name: String,
    /// What was planned
    pub plan: Plan,
    /// The rows that count, one for each point
    pub rows: Vec<Row>,
    /// The number of cells with a row, and the number of cells
    done: (usize, usize),
}

impl Outcome {
    /// Reads a result folder.
    ///
    /// # Errors
    ///
    /// If it is not a result folder, is of another version, has no row that counts, or rows of several environments.
    pub fn read(folder: &Path) -> Result<Self> {
        let unreadable = Error::unreadable(folder);
        let Some(plan) = Plan::read(folder)? else {
            let none =
                "is not a result of the lab: it has no plan.json; 'slablab lab run NAME' makes one";
            return Err(unreadable(none.to_owned()));
        };
        if plan.is_for_any_machine() && !folder.join(FILE).exists() {
            let remedy = "is a plan for shards; 'slablab lab run' runs it and 'slablab lab merge' makes a result of it";
            return Err(unreadable(remedy.to_owned()));
        }
        let mut rows = Journal::read(folder)?;
        rows.retain(|row| !row.warmup);
        if rows.is_empty() {
            let none = "has no rows yet; run the same 'slablab lab run' again to continue";
            return Err(unreadable(none.to_owned()));
        }
        check_rows(&plan, &rows).map_err(|what| {
            Error::Incomparable(format!("{}: {what}; keep one folder for each", folder.display()))
        })?;
        let name = folder
            .canonicalize()
            .ok()
            .and_then(|full| full.file_name().map(|n| n.to_string_lossy().into_owned()));
        Ok(Self::new(name.unwrap_or_else(|| folder.display().to_string()), plan, rows))
    }

    /// Returns the hosts that made the rows. There may be several after a merge; each round of a point then
    /// belongs to one.
    pub fn hosts(&self) -> BTreeSet<&str> {
        self.rows.iter().map(|row| row.environment.host.as_str()).collect()
    }

    /// Returns it as one outcome for each host.
    pub fn by_host(&self) -> Vec<Self> {
        let of = |host: &str| {
            let rows: Vec<Row> =
                self.rows.iter().filter(|row| row.environment.host == host).cloned().collect();
            let environment = rows[0].environment.clone();
            let plan = Plan { environment, ..self.plan.clone() };
            Self { name: format!("{} on {host}", self.name), plan, rows, done: self.done }
        };
        match self.hosts().len() {
            1 => vec![self.clone()],
            _ => self.hosts().into_iter().map(of).collect(),
        }
    }

    /// Returns how the guests ran, `kvm` or `tcg`; empty where there were none.
    pub fn accelerator(&self) -> &str {
        self.rows.first().map_or("", |row| accelerator(&row.detail))
    }

    /// Returns the identity of the kernel that was built for a variant, if one was.
    pub fn build(&self, variant: &str) -> Option<&str> {
        self.rows.iter().find(|row| row.variant == variant)?.detail["build"].as_str()
    }

    /// Makes an outcome from rows that count; cells that went through several points become a row for
    /// each.
    pub(crate) fn new(name: String, mut plan: Plan, rows: Vec<Row>) -> Self {
        let cells = rows.len();
        let mut spread = Vec::with_capacity(cells);
        for mut row in rows {
            let parts = std::mem::take(&mut row.parts);
            if parts.is_empty() {
                spread.push(row);
                continue;
            }
            for Part { point, values } in parts {
                spread.push(Row { point, values, ..row.clone() });
            }
        }
        let planned = plan.design.rounds * plan.design.variants.len() * plan.design.points.len();
        if spread.iter().any(|row| !plan.design.points.contains(&row.point)) {
            plan.design.points = points_of(&spread);
        }
        Self { name, plan, rows: spread, done: (cells, planned) }
    }

    /// Returns what a reader should know before believing the numbers.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.rows.iter().any(|row| row.detail["emulated"] == true) {
            remarks.push(
                "The guests were emulated: compare the times of the variants with each other, \
                 not with those of a real machine."
                    .to_owned(),
            );
        }
        let hosts = self.hosts();
        if hosts.len() > 1 {
            let names = hosts.iter().copied().collect::<Vec<_>>().join(", ");
            remarks.push(format!(
                "{} hosts made the rows ({names}), each round of a point on one of them: variants are compared within a host.",
                hosts.len()
            ));
        }
        let (done, planned) = self.done;
        if done < planned {
            remarks.push(format!(
                "{done} of {planned} runs are done: run the same command again to continue."
            ));
        }
        remarks
    }

    /// Returns the values of `metric` for a variant at a point, by round.
    pub fn values(&self, metric: &str, variant: &str, point: &str) -> BTreeMap<usize, f64> {
        self.rows
            .iter()
            .filter(|row| row.variant == variant && row.point == point)
            .filter_map(|row| Some((row.round, *row.values.get(metric)?)))
            .collect()
    }

    /// Returns the samples of `metric` at a point, one group for each variant.
    pub fn groups(&self, metric: &str, point: &str) -> Vec<Group> {
        let group = |variant: &String| Group {
            name: variant.clone(),
            values: self.values(metric, variant, point).into_values().collect(),
        };
        self.plan.design.variants.iter().map(group).filter(|g| !g.values.is_empty()).collect()
    }

    /// Returns the metrics that were measured and differ from run to run, those that answer the question first.
    pub fn samples(&self) -> impl Iterator<Item = &Metric> {
        self.measured().filter(|metric| metric.nature != Nature::Exact)
    }

    /// Returns the metrics that were measured and are the same in every run.
    pub fn counts(&self) -> impl Iterator<Item = &Metric> {
        self.measured().filter(|metric| metric.nature == Nature::Exact)
    }

    fn measured(&self) -> impl Iterator<Item = &Metric> {
        let measured =
            |metric: &&Metric| self.rows.iter().any(|row| row.values.contains_key(&metric.key));
        self.plan.metrics.iter().filter(measured)
    }
}

/// Returns what is wrong when rows come from another environment than the plan, or ran under several
/// accelerators.
fn check_rows(plan: &Plan, rows: &[Row]) -> std::result::Result<(), String> {
    let mut machines: BTreeMap<(usize, &str), &Environment> = BTreeMap::new();
    for row in rows {
        // Several machines ran a plan that names no machine, and each round of a point belongs to
        // one.
        let (of, planned) = match plan.is_for_any_machine() {
            true => {
                let block = (row.round, row.point.as_str());
                ("its round", *machines.entry(block).or_insert(&row.environment))
            }
            false => ("the plan", &plan.environment),
        };
        let found = &row.environment;
        let host = |environment: &Environment| [("host", environment.host.clone())];
        let planned = host(planned).into_iter().chain(planned.factors());
        let mut pairs = planned.zip(host(found).into_iter().chain(found.factors()));
        if let Some(((factor, planned), (_, found))) = pairs.find(|(a, b)| a != b) {
            return Err(format!(
                "{of} is of the {factor} '{planned}', but cell {} of '{found}'",
                row.cell
            ));
        }
        let (first, own) = (accelerator(&rows[0].detail), accelerator(&row.detail));
        if first != own {
            return Err(format!(
                "its guests ran under {first}, and that of cell {} under {own}",
                row.cell
            ));
        }
    }
    Ok(())
}

/// Returns the points of `rows`, compared component by component; numbers are in their order and
/// come before names.
fn points_of(rows: &[Row]) -> Vec<String> {
    let mut points: Vec<String> = rows.iter().map(|row| row.point.clone()).collect();
    let order = |a: &String, b: &String| {
        let number = |part: &str| part.parse().unwrap_or(f64::INFINITY);
        let parts = a.split(", ").zip(b.split(", "));
        parts
            .map(|(a, b)| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.cmp(b))
    };
    points.sort_by(order);
    points.dedup();
    points
}
