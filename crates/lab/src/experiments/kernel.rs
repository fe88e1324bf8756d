//! What the experiments in real kernels share: one boot of one variant is one cell.
//!
//! How it works: `klab` knows what to build, to boot and to run; the lab gives it a plan of a single boot each time, so
//! that the lab's own order, rows and resuming hold for kernels too. A boot that goes through several loads or sizes
//! gives a part for each. Kernels are built once and kept in the store.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use slablab_klab::{Experiment, Lab, Plan, Size, read_raw};
use slablab_vm::{
    Accel, AccelChoice, Data, Interrupt, Need, Source, Store, Workshop, install, missing,
};

use crate::{Bench, Cell, Error, Metric, Nature, Observation, Part, Request, Result, Scale};

/// The parameters that all of them have.
pub(super) const CPUS: (&str, &str) = ("cpus", "virtual CPUs of the guest; 2 by default");

/// The longest that a guest may be silent.
const SILENCE: Duration = Duration::from_secs(180);

/// A workshop, and what to boot in it.
pub(super) struct Boots {
    workshop: Workshop,
    experiment: Experiment,
    accel: AccelChoice,
    cpus: u32,
    point: &'static str,
}

/// Returns the sizes of `klab`: a smoke test, or what an emulated guest can do in seconds.
pub(super) fn size(request: &Request) -> Size {
    match request.scale {
        Scale::Smoke => Size::Smoke,
        Scale::Full => Size::Normal,
    }
}

/// Returns the metrics of a kernel experiment by the names that people read.
pub(super) fn metrics(experiment: &Experiment, names: &[(&str, &str)]) -> Vec<Metric> {
    let name = |key: &str| {
        names
            .iter()
            .find(|(known, _)| *known == key)
            .map_or_else(|| key.replace('_', " "), |(_, n)| (*n).to_owned())
    };
    let metric = |metric: &slablab_klab::Metric| Metric {
        key: metric.key.to_owned(),
        name: name(metric.key),
        unit: metric.unit.to_owned(),
        direction: metric.direction,
        nature: Nature::Sampled,
    };
    experiment.metrics.iter().map(metric).collect()
}

/// Returns the number of CPUs that the request asks for.
pub(super) fn cpus(request: &Request) -> Result<u32> {
    let text = request.params.get("cpus").map_or("2", String::as_str);
    match text.parse() {
        Ok(cpus) if (1..=16).contains(&cpus) => Ok(cpus),
        _ => Err(Error::Request(format!("cpus={text}: a number from 1 to 16 is needed"))),
    }
}

/// Sets a kernel experiment up; `point` is the field of a row that tells its points apart.
///
/// # Errors
///
/// If the kernel's source or a tool is missing and cannot be installed.
pub(super) fn prepare(
    experiment: Experiment,
    request: &Request,
    point: &'static str,
) -> Result<Box<dyn Bench>> {
    let interrupt = Interrupt::on_signals().map_err(klab)?;
    let lacking = missing(&[Need::BUILD, Need::BOOT, Need::SOURCE]);
    if !lacking.is_empty() {
        install(&lacking, &interrupt).map_err(klab)?;
    }
    let store = Store::open(Store::default_root()).map_err(klab)?;
    let workshop = Workshop::new(
        Data::find().map_err(klab)?,
        Source::debian().map_err(klab)?,
        store,
        interrupt,
    );
    Ok(Box::new(Boots {
        workshop,
        experiment,
        accel: AccelChoice::Auto,
        cpus: cpus(request)?,
        point,
    }))
}

fn klab(error: impl std::fmt::Display) -> Error {
    Error::Request(error.to_string())
}

impl Bench for Boots {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let failed = |reason: String| Error::Cell { cell: cell.words(), reason };
        let mut experiment = self.experiment.clone();
        experiment.variants.retain(|variant| variant.name == cell.variant);
        let plan = Plan::draw(&experiment, &[self.cpus], 1, cell.index as u64)
            .map_err(|e| failed(e.to_string()))?;
        let folder = tempfile::Builder::new()
            .prefix("slablab-boot-")
            .tempdir()
            .map_err(Error::io(&std::env::temp_dir(), "make a folder for a boot"))?;
        let lab = Lab {
            workshop: &self.workshop,
            accel: self.accel,
            folder: folder.path(),
            command: Vec::new(),
            silence: SILENCE,
        };
        let ran = slablab_klab::run(&lab, &experiment, &plan, &mut |_| ());
        let summary = match ran {
            Ok(summary) => summary,
            Err(error) => {
                // The console says why; it must outlive us.
                let kept = folder.keep();
                return Err(failed(format!(
                    "{error} (what the guest said is kept in {})",
                    kept.display()
                )));
            }
        };
        // Whether KVM works was found out by a boot; once is enough.
        self.accel = AccelChoice::Only(summary.accel);
        let (header, rows) = read_raw(&summary.raw).map_err(|e| failed(e.to_string()))?;
        if rows.is_empty() {
            return Err(failed("the guest sent no row".to_owned()));
        }
        let parts: Vec<Part> = rows
            .iter()
            .map(|row| Part {
                point: row.params.get(self.point).map_or_else(String::new, shown),
                values: row.metrics.clone(),
            })
            .collect();
        let detail = serde_json::json!({
            "emulated": header.emulated, "accelerator": header.accel, "cpus": self.cpus,
            "kernel": header.kernels, "params": rows[0].params,
        });
        let command = match summary.accel {
            Accel::Kvm | Accel::Tcg => {
                format!("slablab kernel run {} --rounds 1 --cpus {}", experiment.name, self.cpus)
            }
        };
        // One point is the cell's own.
        match <[Part; 1]>::try_from(parts) {
            Ok([only]) if only.point.is_empty() || only.point == cell.point => {
                Ok(Observation { values: only.values, parts: Vec::new(), detail, command })
            }
            Ok(one) => {
                Ok(Observation { values: BTreeMap::new(), parts: one.into(), detail, command })
            }
            Err(parts) => Ok(Observation { values: BTreeMap::new(), parts, detail, command }),
        }
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
