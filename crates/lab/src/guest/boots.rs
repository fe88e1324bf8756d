//! One boot is one cell.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use slablab_stats::Rng;
use slablab_vm::{Accel, Boot, Kernel, KernelBuilder, Machine};

use super::options::Options;
use super::recipe::Recipe;
use crate::error::{Error, Result};
use crate::experiment::{Fixture, Observation, Setup};
use crate::journal::Part;
use crate::plan::Cell;
use crate::slabs;

/// Characters of a variant in the name of a boot's folder; the number of the cell tells boots apart.
const NAME_CHARS_MAX: usize = 80;

/// Kernels that are built, and what to run in them.
struct Boots {
    recipe: Recipe,
    builder: KernelBuilder,
    kernels: Vec<Kernel>,
    /// How each runs, and the reason
    accels: Vec<(Accel, String)>,
    silence: Duration,
    /// Where each boot has a folder with its console
    folder: PathBuf,
    seed: u64,
}

/// Builds the kernels of `recipe`.
///
/// # Errors
///
/// If a kernel cannot be built.
pub(crate) fn prepare(
    recipe: Recipe,
    options: &Options,
    setup: &mut Setup<'_>,
) -> Result<Box<dyn Fixture>> {
    let builder = options.builder(recipe.variants.iter().map(|variant| &variant.spec))?;
    let kernels = recipe
        .variants
        .iter()
        .map(|variant| builder.build(&variant.spec, setup.watch))
        .collect::<slablab_vm::Result<Vec<Kernel>>>()?;
    let mut accels = Vec::new();
    for kernel in &kernels {
        accels.push(options.accel.resolve(&builder, kernel, setup.watch)?);
        // Everything that a guest needs is downloaded before the first one is booted.
        builder.initramfs(kernel, "", setup.watch)?;
    }
    Ok(Box::new(Boots {
        recipe,
        builder,
        kernels,
        accels,
        silence: options.silence,
        folder: setup.folder.join("boots"),
        seed: setup.request.seed,
    }))
}

impl Fixture for Boots {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let failed = |reason: String| Error::Cell { cell: cell.words(), reason };
        let place = self.recipe.variants.iter().position(|variant| variant.name == cell.variant);
        let place = place.ok_or_else(|| failed("there is no such variant".to_owned()))?;
        let cpus: u32 = cell
            .point
            .parse()
            .map_err(|_| failed("its point is not a number of CPUs".to_owned()))?;
        let machine = self.machine(place, cpus, cell.index)?;
        // A kernel with several patches has a name that is longer than a file's can be.
        let plain = cell.variant.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        let plain: String = plain.chars().take(NAME_CHARS_MAX).collect();
        let folder = self.folder.join(format!("{:03}-{plain}-{cpus}cpu", cell.index));
        // Existing files come from a boot that was stopped.
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Error::io(&folder, "remove what a boot left"))?;
        }
        let boot = machine.boot(self.accels[place].0, &folder, &self.builder.interrupt)?;
        let parts: Vec<Part> = boot
            .rows_of("observation")
            .map(|row| self.part(cpus, row).map_err(|why| failed(format!("{why}: {row}"))))
            .collect::<Result<_>>()?;
        if parts.is_empty() {
            return Err(failed("the guest sent no row".to_owned()));
        }
        let mut detail = self.detail(place);
        detail[slabs::DETAIL] = self.slabs(cpus, &boot)?;
        let mut observation = Observation { detail, ..Observation::default() };
        match <[Part; 1]>::try_from(parts) {
            // The only point is that of the cell itself.
            Ok([only]) if only.point == cell.point => observation.values = only.values,
            Ok(one) => observation.parts = one.into(),
            Err(parts) => observation.parts = parts,
        }
        Ok(observation)
    }
}

impl Boots {
    fn machine(&self, place: usize, cpus: u32, cell: usize) -> Result<Machine> {
        let Recipe { variants, loads, setup, tools, memory_mib, limit_seconds, .. } = &self.recipe;
        let mut order: Vec<usize> = (0..loads.len()).collect();
        if !self.recipe.is_in_order {
            Rng::new(self.seed ^ cell as u64).shuffle(&mut order);
        }
        let mut job = setup.clone();
        for load in order {
            job.push_str(&format!("load={load}\n{}", loads[load].script));
        }
        let mut initramfs = self.builder.initramfs(&self.kernels[place], &job, &mut |_| ())?;
        tools.iter().try_for_each(|tool| initramfs.tool_or_path(tool))?;
        let mut machine = Machine::new(self.kernels[place].clone(), cpus, initramfs);
        machine.memory_mib = variants[place].memory_mib.unwrap_or(*memory_mib);
        machine.arguments.clone_from(&variants[place].arguments);
        machine.limit = Duration::from_secs(*limit_seconds);
        machine.silence = self.silence;
        Ok(machine)
    }

    /// Makes a part from a row that a guest sent, or returns what is wrong with it.
    fn part(&self, cpus: u32, row: &Value) -> std::result::Result<Part, String> {
        let load = row["load"].as_u64().and_then(|load| self.recipe.loads.get(load as usize));
        let load = load.ok_or("a row of the guest has no such load")?;
        let value = |key: &String| match row[key].as_f64() {
            Some(value) => Ok((key.clone(), value)),
            None => Err(format!("a row of the guest has no number '{key}'")),
        };
        let values = self.recipe.metrics.iter().map(value);
        let values = values.collect::<std::result::Result<BTreeMap<_, _>, _>>()?;
        Ok(Part { point: (self.recipe.point)(load, cpus, row), values })
    }

    /// Reads what the caches held after each load, by point; null where the guest told nothing.
    fn slabs(&self, cpus: u32, boot: &Boot) -> Result<Value> {
        let mut by_point = BTreeMap::new();
        for row in boot.rows_of("observation") {
            let Ok(part) = self.part(cpus, row) else { continue };
            let name = format!("slabinfo-{}", row["load"]);
            let Some((_, path)) = boot.files.iter().find(|(file, _)| *file == name) else {
                continue;
            };
            let text = fs::read_to_string(path).map_err(Error::io(path, "read slabinfo"))?;
            by_point.insert(part.point, slabs::read(&text));
        }
        Ok(if by_point.is_empty() { Value::Null } else { json!(by_point) })
    }

    fn detail(&self, place: usize) -> Value {
        let (variant, kernel) = (&self.recipe.variants[place], &self.kernels[place]);
        let (accel, why) = &self.accels[place];
        json!({
            "accelerator": accel.name(), "accelerator_why": why, "emulated": accel.is_emulated(),
            "kernel": kernel.release(), "build": kernel.key.to_string(), "compiler": kernel.compiler(),
            "arguments": variant.arguments, "configuration": variant.spec.configuration(),
        })
    }
}
