//! What the experiments about slab memory by kernel share: `Slab` of `/proc/meminfo` after the boot, at its peak and after a
//! load, and the load's time.
//!
//! The peak is the largest of five looks a second (`slabs_around` of `kernel/guest/lab.sh`).

use serde_json::Value;

use crate::error::{Error, Result};
use crate::guest::{self, Load, Options, Recipe, Variant, by_cpus};
use crate::request::{Design, Metric, Nature, Request, Scale};

/// Memory of a guest in MiB, when nothing else is asked for.
const MEMORY_MIB: u32 = 512;

/// The parameters of both.
pub(super) const KERNELS: (&str, &str) =
    ("kernels", "what is compared, by comma: debian:6.12, build:7.3/slub_tiny, slob, a path");
pub(super) const MEMORY: (&str, &str) = ("memory", "memory of each guest in MiB; 512 by default");

/// Returns the metrics of both; the first answers the question.
pub(super) fn metrics() -> Vec<Metric> {
    let held = |key, name| Metric::less(key, name, "KiB", Nature::Independent);
    // How high the peak is that looks in time find depends on how fast the machine was.
    let in_time = |key, name, unit| Metric::less(key, name, unit, Nature::Sampled);
    vec![
        held("slab_kb", "memory in slabs after the load"),
        held("slab_boot_kb", "memory in slabs after the boot"),
        in_time("slab_peak_kb", "memory in slabs at the peak", "KiB"),
        in_time("seconds", "time of the load", "s"),
    ]
}

/// Returns what to boot: every kernel as it is, and with each of `appended`.
///
/// # Errors
///
/// If there is no such kernel, or too little memory.
pub(super) fn recipe(
    request: &Request,
    kernels: &[String],
    appended: &[String],
    script: String,
    tools: Vec<String>,
) -> Result<(Recipe, Options)> {
    let options = Options::of(request)?;
    let memory_mib = guest::count(request, "memory", MEMORY_MIB, 1 << 20)?;
    if memory_mib < 16 {
        return Err(Error::Request(format!("memory={memory_mib}: at least 16 MiB are needed")));
    }
    let plain = options.variants(kernels)?;
    let with = |words: &String| {
        let words = words.clone();
        plain.clone().into_iter().map(move |variant| Variant {
            name: format!("{} {words}", variant.name),
            arguments: words.split_whitespace().map(str::to_owned).collect(),
            ..variant
        })
    };
    let variants = plain.iter().cloned().chain(appended.iter().flat_map(with)).collect();
    let recipe = Recipe {
        variants,
        loads: vec![Load { name: String::new(), script }],
        metrics: metrics().into_iter().map(|metric| metric.key).collect(),
        point: |load: &Load, cpus: u32, row: &Value| by_cpus(load, cpus, row),
        tools,
        memory_mib,
        setup: String::new(),
        limit_seconds: 1800,
    };
    Ok((recipe, options))
}

/// Returns a design of `recipe` with `rounds` boots of each variant at each number of CPUs.
///
/// # Errors
///
/// If a number of CPUs is none.
pub(super) fn design(request: &Request, recipe: &Recipe, rounds: usize) -> Result<Design> {
    Ok(Design {
        variants: recipe.variants.iter().map(|variant| variant.name.clone()).collect(),
        point_name: "CPUs".to_owned(),
        points: guest::cpus(request)?,
        rounds: if request.scale == Scale::Full { rounds } else { 2 },
        warmups: 0,
        points_per_cell: 1,
    })
}
