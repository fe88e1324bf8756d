//! A cache of its own for a call site, in a real kernel: what a recording predicts, and what guests hold with the patch.
//!
//! # How it works
//! [`record`] boots a kernel once, which records from its boot to the end of the load; the load is the one of the measured
//! boots, to the letter. [`predict`] replays that recording with and without the cache, and keeps the caches whose slabs
//! change. The experiment `load` then boots the kernel without and with the patch, in rounds, and [`measure`] reads what the
//! same caches hold in the guests' slabinfo.
//!
//! # Invariants
//! - Prediction and measurement are of one moment, the end of the load, and of the same caches.
//! - A cache that no guest lists is not counted as empty: the kernel merged it with another, and the answer says so.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slablab_kmem::BackendKind;
use slablab_replay::{Changes, ReplayPlan, what_if};
use slablab_stats::{Bootstrap, Interval, median, median_interval};
use slablab_trace::TraceReader;
use slablab_vm::{Kernel, Step};

use crate::error::{Error, Result};
use crate::experiments::load::recipe;
use crate::experiments::patch::Wanted;
use crate::guest::{CPUS, Options, Recorder};
use crate::journal::Row;
use crate::outcome::Outcome;
use crate::request::Request;
use crate::run::Stage;
use crate::slabs::held_bytes;

/// The prediction holds if it is off by at most this share of what was measured.
pub const OFF_SHARE_MAX: f64 = 0.10;

/// Returns the kernel called `name` with what `request` asks of its configuration, built or downloaded if it is not in the
/// cache.
///
/// # Errors
///
/// If there is no such kernel, or it cannot be built.
pub fn build(request: &Request, name: &str, watch: &mut dyn FnMut(Step<'_>)) -> Result<Kernel> {
    let options = Options::of(request)?;
    let spec = options.spec(name)?;
    Ok(options.builder([&spec])?.build(&spec, watch)?)
}

/// Boots `wanted.recorded` and records the load of `request`; returns the trace, which is in `folder`. A recording that is
/// there already is not made again.
///
/// # Errors
///
/// If the kernel cannot be built or booted, or its trace buffer lost events.
pub fn record(
    request: &Request,
    wanted: &Wanted,
    folder: &Path,
    progress: &mut dyn FnMut(Stage<'_>),
) -> Result<PathBuf> {
    let kept = folder.join("recording.parquet");
    if kept.exists() {
        return Ok(kept);
    }
    let mut asked = request.clone();
    asked.params.insert("kernels".to_owned(), wanted.recorded.clone());
    let (recipe, options) = recipe(&asked)?;
    let spec = recipe.variants[0].spec.clone();
    let builder = options.builder([&spec])?;
    let watch = &mut |step: Step<'_>| progress(Stage::Setup(step));
    let kernel = builder.build(&spec, watch)?;
    let accel = options.accel.resolve(&builder, &kernel, watch)?.0;
    watch(Step::Begin(&format!("recording the load in {}", wanted.recorded)));
    let boot = folder.join("recording");
    if boot.exists() {
        fs::remove_dir_all(&boot).map_err(Error::io(&boot, "remove what a boot left"))?;
    }
    let recorder = Recorder {
        builder: &builder,
        kernel,
        cpus: CPUS.numbers(request)?[0] as u32,
        arguments: recipe.variants[0].arguments.clone(),
        load: format!("{}load=0\n{}", recipe.setup, recipe.loads[0].script),
        tools: recipe.tools.clone(),
        memory_mib: recipe.memory_mib,
        accel,
    };
    let trace = recorder.since_boot(&boot)?.parquet()?;
    fs::rename(&trace, &kept).map_err(Error::io(&kept, "keep the recording"))?;
    // Its text is large, and the trace has all of it.
    fs::remove_dir_all(&boot).map_err(Error::io(&boot, "remove what a boot left"))?;
    Ok(kept)
}

/// A cache whose slabs change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CacheEffect {
    /// Its name
    pub cache: String,
    /// Bytes of its slabs in the replay without the patch
    pub predicted_before_bytes: u64,
    /// Bytes of its slabs in the replay with the patch
    pub predicted_after_bytes: u64,
    /// Bytes of its slabs in guests without the patch, the median
    pub measured_before_bytes: u64,
    /// Bytes of its slabs in guests with the patch, the median
    pub measured_after_bytes: u64,
    /// Bytes of one of its slabs in the replay
    pub slab_bytes: u64,
}

impl CacheEffect {
    /// Returns by how many bytes its slabs were predicted to grow.
    #[must_use]
    pub fn predicted_bytes(&self) -> i64 {
        self.predicted_after_bytes as i64 - self.predicted_before_bytes as i64
    }

    /// Returns by how many bytes its slabs grew.
    #[must_use]
    pub fn measured_bytes(&self) -> i64 {
        self.measured_after_bytes as i64 - self.measured_before_bytes as i64
    }
}

/// What was measured beside what was predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Effect {
    /// The caches whose slabs change, the largest prediction first
    pub caches: Vec<CacheEffect>,
    /// By how many bytes their slabs were predicted to grow together
    pub predicted_bytes: i64,
    /// By how many bytes they grew: the median of the rounds
    pub measured_bytes: f64,
    /// The interval of that median
    pub interval: Option<Interval>,
    /// Rounds, each a boot without the patch and one with it
    pub rounds: u64,
    /// By how many bytes all slabs together grew (`Slab` of `/proc/meminfo`): the values of the rounds
    pub slab_bytes: Vec<f64>,
    /// Whether no guest with the patch lists the new cache: the kernel merged it with another
    pub is_merged: bool,
}

impl Effect {
    /// Returns by which share of the measured change the prediction is off; `None` where nothing was measured to change.
    #[must_use]
    pub fn off_share(&self) -> Option<f64> {
        let off = (self.predicted_bytes as f64 - self.measured_bytes).abs();
        (self.measured_bytes != 0.0).then(|| off / self.measured_bytes.abs())
    }

    /// Returns whether the prediction is at most [`OFF_SHARE_MAX`] off, or at most a slab of each cache, below which nothing
    /// can be told.
    #[must_use]
    pub fn holds(&self) -> bool {
        let off = (self.predicted_bytes as f64 - self.measured_bytes).abs();
        let slabs: u64 = self.caches.iter().map(|of| of.slab_bytes).sum();
        !self.is_merged
            && (self.off_share().is_some_and(|off| off <= OFF_SHARE_MAX) || off <= slabs as f64)
    }
}

/// Replays `trace` with and without a cache called `name` for the call site `site`; returns the caches whose slabs at the end
/// differ. Nothing is measured yet.
///
/// # Errors
///
/// If the trace cannot be read, or the call site does not allocate by kmalloc.
pub fn predict(trace: &TraceReader, site: u32, name: &str) -> Result<Vec<CacheEffect>> {
    let kind = BackendKind::of_release(&trace.meta().kernel_release).unwrap_or(BackendKind::Slub);
    let changes = Changes::default().dedicate(name, vec![site]);
    let plan = ReplayPlan { allocators: vec![kind], changes, ..ReplayPlan::default() };
    let both = what_if(trace, &plan, &mut |_| ())?;
    let caches = [&both.before, &both.after].map(|side| &side.allocators[0].caches);
    let held = |side: usize, name: &str| {
        let cache = caches[side].iter().find(|of| of.cache == name);
        let page_bytes = u64::from(trace.meta().page_bytes);
        cache.map_or((0, 0), |of| (of.held_bytes_end, page_bytes << of.order))
    };
    let mut names: Vec<&str> =
        caches.iter().flat_map(|of| of.iter()).map(|of| &*of.cache).collect();
    names.sort_unstable();
    names.dedup();
    let effect = |cache: &str| {
        let (before, after) = (held(0, cache), held(1, cache));
        CacheEffect {
            cache: cache.to_owned(),
            predicted_before_bytes: before.0,
            predicted_after_bytes: after.0,
            measured_before_bytes: 0,
            measured_after_bytes: 0,
            slab_bytes: before.1.max(after.1),
        }
    };
    let mut effects: Vec<_> = names.into_iter().map(effect).collect();
    effects.retain(|of| of.predicted_bytes() != 0 || of.cache == name);
    effects.sort_by_key(|of| std::cmp::Reverse(of.predicted_bytes().unsigned_abs()));
    Ok(effects)
}

/// Adds to a prediction for the new cache `name` what the guests of `outcome` hold: its first variant is the kernel without
/// the patch, the second the one with it.
///
/// # Errors
///
/// If a variant has no boot, or the guests told no slabinfo.
pub fn measure(outcome: &Outcome, name: &str, predicted: Vec<CacheEffect>) -> Result<Effect> {
    let design = &outcome.plan.design;
    let point = &design.points[0];
    let side = |variant: usize| {
        let rows = outcome.rows.iter().filter(move |row| row.variant == design.variants[variant]);
        rows.collect::<Vec<_>>()
    };
    let sides = [side(0), side(1)];
    let pairs: Vec<_> = sides[0]
        .iter()
        .filter_map(|before| Some((*before, *sides[1].iter().find(|of| of.round == before.round)?)))
        .collect();
    let is_told = |cache: &str, side: usize| {
        sides[side].iter().any(|row| held_bytes(row, point, cache).is_some())
    };
    let is_any_told = predicted.iter().any(|of| is_told(&of.cache, 0));
    if pairs.is_empty() || !is_any_told {
        let caches: Vec<_> = predicted.iter().map(|of| of.cache.as_str()).collect();
        return Err(Error::Request(format!(
            "{}: no boots to compare: none lists {} in its slabinfo",
            outcome.name,
            caches.join(", ")
        )));
    }
    let held = |row, cache: &str| held_bytes(row, point, cache).unwrap_or(0) as f64;
    let middle = |side: usize, cache: &str| {
        let mut values: Vec<_> = sides[side].iter().map(|row| held(row, cache)).collect();
        median(&mut values) as u64
    };
    let caches: Vec<_> = predicted
        .into_iter()
        .map(|of| CacheEffect {
            measured_before_bytes: middle(0, &of.cache),
            measured_after_bytes: middle(1, &of.cache),
            ..of
        })
        .collect();
    let sum = |row| caches.iter().map(|of| held(row, &of.cache)).sum::<f64>();
    let mut grown: Vec<f64> =
        pairs.iter().map(|(before, after)| sum(after) - sum(before)).collect();
    let slab = |row: &Row| row.values.get("slab_kb").map(|kb| kb * 1024.0);
    let all = pairs.iter().filter_map(|(before, after)| Some(slab(after)? - slab(before)?));
    Ok(Effect {
        predicted_bytes: caches.iter().map(CacheEffect::predicted_bytes).sum(),
        interval: median_interval(&grown, &Bootstrap::default()).ok(),
        rounds: grown.len() as u64,
        measured_bytes: median(&mut grown),
        slab_bytes: all.collect(),
        is_merged: !is_told(name, 1),
        caches,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    /// Boots of a kernel without and with a patch: what `kmalloc-64` and `mine` hold, in pages.
    fn outcome(boots: &[[(u64, Option<u64>); 2]]) -> Outcome {
        let variants = ["slub", "slub+mine.patch"];
        let params = [("kernels", "slub,slob"), ("load", "files")];
        let mut plan =
            crate::plan(&crate::experiments::load::Load, &Request::for_guests(&params)).unwrap();
        plan.design.variants = variants.map(str::to_owned).to_vec();
        let line = |name: &str, pages: u64| {
            let caches = crate::slabs::read(&format!(
                "{name} 1 1 64 64 1 : tunables 0 0 0 : slabdata {pages} {pages} 0\n"
            ));
            serde_json::to_value(caches).unwrap()
        };
        let rows = boots.iter().enumerate().flat_map(|(round, pair)| {
            pair.iter().zip(variants).map(move |((shared, own), variant)| {
                let mut caches = line("kmalloc-64", *shared);
                if let Some(pages) = own {
                    caches["mine"] = line("mine", *pages)["mine"].clone();
                }
                let kb = 4.0 * (shared + own.unwrap_or(0)) as f64;
                Row {
                    round,
                    variant: variant.to_owned(),
                    point: "2".to_owned(),
                    values: BTreeMap::from([("slab_kb".to_owned(), kb)]),
                    ..Row::with_detail(json!({ "slabs": { "2": caches } }))
                }
            })
        });
        let rows = rows.collect();
        Outcome::new("test".to_owned(), plan, rows)
    }

    fn predicted() -> Vec<CacheEffect> {
        let effect = |cache: &str, before: u64, after: u64| CacheEffect {
            cache: cache.to_owned(),
            predicted_before_bytes: before * 4096,
            predicted_after_bytes: after * 4096,
            measured_before_bytes: 0,
            measured_after_bytes: 0,
            slab_bytes: 4096,
        };
        vec![effect("kmalloc-64", 200, 76), effect("mine", 0, 95)]
    }

    #[test]
    fn a_prediction_holds_within_a_tenth_of_the_median_of_pairs() {
        let boots = [
            [(210, None), (86, Some(95))],
            [(212, None), (86, Some(95))],
            [(209, None), (86, Some(95))],
        ];
        let effect = measure(&outcome(&boots), "mine", predicted()).unwrap();
        assert_eq!((effect.predicted_bytes, effect.measured_bytes), (-29 * 4096, -29.0 * 4096.0));
        assert_eq!((effect.rounds, effect.slab_bytes[1]), (3, -31.0 * 4096.0));
        assert!(effect.holds() && effect.off_share() == Some(0.0));
        assert_eq!(effect.caches[0].measured_bytes(), (86 - 210) * 4096);
        let worse = boots.map(|[before, (shared, own)]| [before, (shared - 60, own)]);
        let effect = measure(&outcome(&worse), "mine", predicted()).unwrap();
        assert!(!effect.holds() && effect.off_share().unwrap() > 0.6, "{effect:?}");
    }

    #[test]
    fn a_merged_cache_is_not_taken_for_an_empty_one() {
        let boots = [[(210, None), (115, None)], [(210, None), (115, None)]];
        let effect = measure(&outcome(&boots), "mine", predicted()).unwrap();
        assert!(effect.is_merged && !effect.holds());
        let none = measure(&outcome(&[]), "mine", predicted()).unwrap_err().to_string();
        assert!(none.contains("kmalloc-64, mine"), "{none}");
    }
}
