//! Which of several versions of a kernel moved a metric: releases, settings, the patches of a series, or commits.
//!
//! # How it works
//! Versions stand in an order, the good one first ([`Version`]). The first and the last are booted until a
//! [`Sequential`] test decides whether they differ. If they do, the version in the middle is compared with both, and the
//! halves that differ are divided further, until neighbours differ: a step ([`Step`]). So several steps are found as such,
//! and a version that cannot be built or booted is left out, and named. Each version has a result folder of its own, which
//! is an ordinary result of the experiment `load`: a bisection that was killed goes on from its rows.
//!
//! # Invariants
//! Where versions are all alike, a step is named with a probability of at most alpha: only a difference of the first and
//! the last, found at a part of alpha, leads to another comparison. What is decided depends on rows alone, and not on when
//! they were made.
//!
//! Counterparts: `git bisect run`, which takes one run for the truth; lkp-tests' bisection, which compares means.

mod boots;
mod found;
mod job;
mod search;
mod version;

use std::path::Path;

use slablab_stats::Sequential;

pub use self::boots::BisectStage;
use self::boots::Boots;
pub use self::found::{Bisection, Compared, Decision, Step, VersionRuns};
pub use self::job::Bisect;
use self::search::Search;
pub use self::version::{Version, commits, kernels, series, settings};
use crate::error::{Error, Result};
use crate::request::Metric;

impl Bisect {
    /// Refuses what cannot be, before anything is installed, written or built.
    ///
    /// # Errors
    ///
    /// If a version is not a kernel, the metric is unknown, there are several points, or so few runs decide nothing.
    pub fn check(&self) -> Result<()> {
        let names = self.versions.iter().map(|version| &version.name);
        if let Some((_, twice)) =
            names.clone().enumerate().find(|(at, name)| names.clone().take(*at).any(|n| n == *name))
        {
            return Err(Error::Request(format!("{twice} is named twice")));
        }
        self.test()?;
        boots::plans(self).map(drop)
    }

    /// Finds the steps, with rows below `folder`.
    ///
    /// # Errors
    ///
    /// If the request cannot be met, the first or the last version cannot be measured, the folder belongs to another
    /// bisection, or the run is interrupted.
    pub fn run(
        &self,
        folder: &Path,
        progress: &mut dyn FnMut(BisectStage<'_>),
    ) -> Result<Bisection> {
        let test = self.test()?;
        let mut boots = Boots::open(self, folder, progress)?;
        let Metric { name, unit, .. } = boots.metric().clone();
        let mut found = Search::new(&test, &mut boots).of(self.versions.len())?;
        // Caches explain the memory of all slabs, and neither time nor a cache by itself.
        for step in found.steps.iter_mut().filter(|_| self.metric.starts_with("slab_")) {
            step.caches = boots.changes(step.from, step.to)?;
        }
        let values = boots.into_values();
        let versions = self.versions.iter().zip(values).enumerate();
        let versions = versions.map(|(at, (version, values))| VersionRuns {
            name: version.name.clone(),
            values,
            unusable: found.unusable.get(&at).cloned(),
        });
        Ok(Bisection {
            metric: name,
            unit,
            versions: versions.collect(),
            comparisons: found.comparisons,
            steps: found.steps,
            alpha: self.alpha,
            runs_max: self.runs_max,
        })
    }

    /// Returns how two versions are compared.
    fn test(&self) -> Result<Sequential> {
        let [_, _, ..] = self.versions[..] else {
            return Err(Error::Request("a bisection needs two versions or more".to_owned()));
        };
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            let why = format!("--alpha {}: a probability lies between 0 and 1", self.alpha);
            return Err(Error::Request(why));
        }
        // Halving, and two comparisons for each half: as many as a single step takes.
        let halvings = (self.versions.len() - 1).next_power_of_two().trailing_zeros();
        let comparisons = f64::from(1 + 2 * halvings);
        let test = Sequential::new(self.alpha / comparisons, self.runs_max, self.ignored_share);
        test.map_err(|error| match error {
            slablab_stats::Error::TooFew { need, .. } => Error::Request(format!(
                "--runs {}: {need} boots of each version at least are needed to decide with --alpha {}",
                self.runs_max, self.alpha
            )),
            error => Error::numbers("--ignore")(error),
        })
    }
}
