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
pub(super) const MEMORY: (&str, &str) =
    ("memory", "memory of each guest in MiB, or of each kernel's, by comma; 512 by default");

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
    let mut plain = options.variants(kernels)?;
    let memory_mib = set_memory(request, &mut plain)?;
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

/// Returns the memory of the guests in MiB; where each kernel has its own, the variants get it, and their names say so.
fn set_memory(request: &Request, variants: &mut [Variant]) -> Result<u32> {
    let list = request.numbers("memory", &[], 16..=1 << 20)?;
    let list: Vec<u32> = list.iter().filter_map(|text| text.parse().ok()).collect();
    match list[..] {
        [] => return Ok(MEMORY_MIB),
        [memory_mib] => return Ok(memory_mib),
        _ if list.len() == variants.len() => {}
        _ => {
            return Err(Error::Request(format!(
                "memory: {} numbers for {} kernels; give one for all, or one for each",
                list.len(),
                variants.len()
            )));
        }
    }
    for (variant, memory_mib) in variants.iter_mut().zip(&list) {
        variant.name = format!("{} at {memory_mib} MiB", variant.name);
        variant.memory_mib = Some(*memory_mib);
    }
    Ok(list[0])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Engine;

    fn names_and_memory(kernels: &[&str], memory: &str) -> Result<Vec<(String, u32)>> {
        let request = Request {
            engine: Engine::Kernel,
            scale: Scale::Full,
            params: [("memory".to_owned(), memory.to_owned())].into(),
            input: None,
            rounds: None,
            seed: 1,
        };
        let kernels: Vec<String> = kernels.iter().map(|name| (*name).to_owned()).collect();
        let (recipe, _) = recipe(&request, &kernels, &["quiet".into()], String::new(), Vec::new())?;
        let memory_of = |variant: &Variant| variant.memory_mib.unwrap_or(recipe.memory_mib);
        Ok(recipe
            .variants
            .iter()
            .map(|variant| (variant.name.clone(), memory_of(variant)))
            .collect())
    }

    #[test]
    fn each_kernel_can_have_the_memory_that_it_needs() {
        let kernels = ["debian:6.12", "build:6.12/slub_tiny"];
        let same = names_and_memory(&kernels, "80").unwrap();
        assert!(same.iter().all(|(_, memory)| *memory == 80), "{same:?}");
        assert_eq!(same[2].0, "debian:6.12 quiet");
        let own = names_and_memory(&kernels, "80,32").unwrap();
        let own: Vec<_> = own.iter().map(|(name, memory)| (name.as_str(), *memory)).collect();
        let expected = [
            ("debian:6.12 at 80 MiB", 80),
            ("build:6.12/slub_tiny at 32 MiB", 32),
            ("debian:6.12 at 80 MiB quiet", 80),
            ("build:6.12/slub_tiny at 32 MiB quiet", 32),
        ];
        assert_eq!(own, expected);
    }

    #[test]
    fn memory_that_fits_no_list_of_kernels_is_refused() {
        let error =
            |memory: &str| names_and_memory(&["slub", "slob"], memory).unwrap_err().to_string();
        assert!(error("80,32,64").contains("3 numbers for 2 kernels"), "{}", error("80,32,64"));
        assert!(error("8").contains("memory=8"), "{}", error("8"));
    }
}
