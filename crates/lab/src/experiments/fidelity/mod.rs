//! `fidelity`: how far is replay from a real kernel that does the same?
//!
//! With a trace (`--input`), the module `slabreplay` performs its events in a real kernel, in their order and each on its
//! CPU, in caches that merge with none. The model of the kernel's allocator performs the same events. No event gets lost on
//! the way and no object is older than the trace, so that each difference is the model's. Without a trace, each guest
//! records its own boot and a load, and the replay of that is compared with the guest's `/proc/slabinfo` (`recorded`).
//!
//! The error that a model may have is limited. `differs.txt` lists what is outside a limit, and why. A difference without
//! a reason makes the run end with status 1.

mod recorded;
mod result;

use std::path::{Path, PathBuf};

use serde_json::json;
use slablab_kmem::{BackendKind, Tunable, Tunables};
use slablab_replay::{CompactTrace, Fidelity as Pair};
use slablab_report::Section;
use slablab_trace::TraceReader;
use slablab_vm::{Kernel, KernelBuilder, Origin, Spec};

use self::result::{Guest, Limits, PairResult, results};
use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Finding, Fixture, Observation, Setup};
use crate::guest::{CPUS, Options, Replayer, trace_for};
use crate::journal::Row;
use crate::outcome::Outcome;
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

/// Memory of the model, as the guests have; the size of magazines depends on it.
const GUEST_BYTES: u64 = 1 << 30;
/// Moments at which kernel and model are compared.
const MOMENTS: usize = 32;

const KERNELS: Parameter = Parameter::new(
    "kernels",
    Kind::Names,
    "the kernels, each beside the model of its allocator: slub, build:6.12/slub, debian:6.12",
)
.or("slub");

const MODEL: Parameter = Parameter::new(
    "model",
    Kind::Names,
    "tunables of the model, where a kernel is patched: sheaf-percent:25,barn-sheaves:0, or those of each kernel, divided by \
     semicolons",
);

/// The experiment.
pub(crate) struct Fidelity;

impl Experiment for Fidelity {
    fn about(&self) -> About {
        let exact = |key, name, unit| Metric::less(key, name, unit, Nature::Exact);
        About {
            name: "fidelity",
            question: "How far is replay from a real kernel that does the same?",
            engines: &[Engine::Kernel],
            metrics: vec![
                exact("kernel_bytes_end", "memory in slabs at the end, kernel", "B"),
                exact("model_bytes_end", "memory in slabs at the end, model", "B"),
                exact("off_percent_median", "model off by, median of the moments", "%"),
                exact("off_percent_max", "model off by, at most", "%"),
                exact("caches_equal_percent", "caches with as many slabs at the end", "%"),
                exact("caches_within_percent", "caches with a slab more or less", "%"),
                exact("paths_off_percent_max", "paths off by, at most", "%"),
            ],
            parameters: &[KERNELS, CPUS, MODEL],
        }
    }

    fn kernels(&self, request: &Request) -> Result<Vec<Spec>> {
        let options = Options::of(request)?;
        KERNELS.list(request).iter().map(|name| options.spec(name)).collect()
    }

    fn design(&self, request: &Request) -> Result<Design> {
        let stock = self.kernels(request)?;
        let mut stock = stock.iter().filter(|spec| matches!(spec.origin, Origin::Stock(..)));
        if let (Some(spec), true) = (stock.next(), request.input.is_some()) {
            return Err(Error::Request(format!(
                "{0}: the module that performs a trace can be built for kernels that slablab builds, not for Debian's. Leave out \
                 --input, and {0} records itself; or take build:RELEASE",
                spec.name()
            )));
        }
        let names = KERNELS.list(request);
        if request.input.is_some() && request.params.contains_key(CPUS.name) {
            return Err(Error::Request(
                "cpus: a trace has the CPUs that it was recorded on".to_owned(),
            ));
        }
        if CPUS.numbers(request)?.len() != 1 {
            return Err(Error::Request("cpus: take one number".to_owned()));
        }
        if request.input.is_none() && request.params.contains_key(MODEL.name) {
            return Err(Error::Request(
                "model: tunables need a trace (--input), which kernel and model perform alike"
                    .to_owned(),
            ));
        }
        models(request, names.len())?;
        Ok(Design::without_points(names, 1, 0))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let request = setup.request;
        let options = Options::of(request)?;
        let names = KERNELS.list(request);
        let specs = names.iter().map(|name| options.spec(name)).collect::<Result<Vec<_>>>()?;
        let builder = options.builder(&specs)?;
        let mut guests = Vec::new();
        let models = models(request, names.len())?;
        for ((name, spec), tunables) in names.into_iter().zip(&specs).zip(models) {
            let kernel = builder.build(spec, setup.watch)?;
            let (accel, why) = options.accel.resolve(&builder, &kernel, setup.watch)?;
            let kind = model_of(&kernel)?;
            guests.push(Guest { name, kind, tunables, kernel, accel, why });
        }
        let trace = request.input.as_deref().map(compact).transpose()?;
        let cpus = CPUS.numbers(request)?[0] as u32;
        Ok(Box::new(Pairs { builder, guests, trace, cpus, folder: setup.folder.join("boots") }))
    }

    fn findings(&self, outcome: &Outcome) -> Vec<Finding> {
        results(outcome).map(|(row, result)| result.finding(&row.variant)).collect()
    }

    fn sections(&self, outcome: &Outcome) -> Vec<Section> {
        let pairs: Vec<(&Row, PairResult)> = results(outcome).collect();
        let several = pairs.len() > 1;
        let sections = |(row, result): &(&Row, PairResult)| {
            let of = if several { format!(", {}", row.variant) } else { String::new() };
            result.sections(&of)
        };
        pairs.iter().flat_map(sections).collect()
    }
}

/// Reads the tunables of the model of each kernel.
fn models(request: &Request, kernels: usize) -> Result<Vec<Tunables>> {
    let text = MODEL.text(request);
    let lists: Vec<&str> = text.split(';').collect();
    let wrong = |why: String| Error::Request(format!("model={text}: {why}"));
    if lists.len() != 1 && lists.len() != kernels {
        return Err(wrong(format!("{} lists for {kernels} kernels", lists.len())));
    }
    let known: Vec<Tunable> =
        BackendKind::ALL.iter().flat_map(|kind| kind.tunables()).copied().collect();
    let tunables = |list: &&str| {
        let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts
            .map(|part| {
                let (name, value) = part.split_once(':').unwrap_or((part, ""));
                let tunable = known.iter().find(|of| of.option == name);
                let tunable =
                    tunable.ok_or_else(|| wrong(format!("there is no tunable '{name}'")))?;
                let value = value.parse().ok().filter(|value| *value <= tunable.max);
                let value = value.ok_or_else(|| {
                    wrong(format!("{name}: write {name}:N with N of at most {}", tunable.max))
                })?;
                Ok((tunable.name, value))
            })
            .try_fold(Tunables::default(), |all, part: Result<_>| {
                let (name, value) = part?;
                Ok(all.with(name, value))
            })
    };
    let all = lists.iter().map(tunables).collect::<Result<Vec<_>>>()?;
    Ok((0..kernels).map(|kernel| all[kernel.min(all.len() - 1)].clone()).collect())
}

fn compact(path: &Path) -> Result<CompactTrace> {
    Ok(CompactTrace::read(&TraceReader::open(path)?)?)
}

/// Kernels that are built, and their work.
struct Pairs {
    builder: KernelBuilder,
    guests: Vec<Guest>,
    /// The trace that they perform; without one they record themselves
    trace: Option<CompactTrace>,
    cpus: u32,
    folder: PathBuf,
}

impl Fixture for Pairs {
    fn observe(&mut self, cell: &Cell) -> Result<Observation> {
        let guest = self.guests.iter().find(|guest| guest.name == cell.variant);
        let guest = guest.ok_or_else(|| Error::Cell {
            cell: cell.words(),
            reason: "there is no such kernel".to_owned(),
        })?;
        let folder = self.folder.join(guest.name.replace([':', '/'], "-"));
        let result = match &self.trace {
            Some(trace) => self.replayed(guest, trace, &folder)?,
            None => recorded::recorded_and_replayed(&self.builder, guest, self.cpus, &folder)?,
        };
        let values = result.values();
        let mut detail = json!({
            "accelerator": guest.accel.name(), "accelerator_why": guest.why, "emulated": guest.accel.is_emulated(),
            "kernel": guest.kernel.release(), "build": guest.kernel.key.to_string(),
            "compiler": guest.kernel.compiler(), "arguments": ["slab_nomerge"],
        });
        detail["fidelity"] = serde_json::to_value(&result).unwrap_or_default();
        Ok(Observation { detail, ..Observation::of(values) })
    }
}

impl Pairs {
    /// Lets a guest perform the events of `trace`, and the model, too.
    fn replayed(&self, guest: &Guest, trace: &CompactTrace, folder: &Path) -> Result<PairResult> {
        let trace = trace_for(&guest.kernel, trace);
        let moments = trace.moments(MOMENTS);
        let replayer = Replayer { builder: &self.builder, accel: guest.accel };
        let result = replayer.run(&guest.kernel, &trace, MOMENTS, folder)?;
        result.check(folder)?;
        let model = trace.model(guest.kind, GUEST_BYTES, &guest.tunables, &moments)?;
        let pair = Pair::new(&trace, &moments, &result.replayed, &model);
        Ok(PairResult {
            model: guest.kind.name().to_owned(),
            release: guest.kernel.release().to_owned(),
            events: trace.events() as u64,
            limits: Some(Limits::of(guest.kind)),
            replay_ns: result.replay_ns,
            left_kb: result.left_kb,
            notes: Vec::new(),
            caches_shares: (pair.caches_within(0), pair.caches_within(1)),
            pair,
        })
    }
}

/// Returns the model of a kernel: that of its allocator, SLUB as its release has it.
fn model_of(kernel: &Kernel) -> Result<BackendKind> {
    match &kernel.spec.origin {
        Origin::Build(_, allocator) if allocator != "slub" => {
            let model = if allocator == "slub_dense" { "dense" } else { allocator };
            super::allocators::kind(&model.replace('_', "-"))
        }
        _ => Ok(BackendKind::of_release(kernel.release()).unwrap_or(BackendKind::Slub)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_for_a_stock_kernel_is_refused_before_it_is_downloaded() {
        let design = |kernels: &str, input: Option<&str>| {
            let input = input.map(PathBuf::from);
            let request = Request { input, ..Request::for_guests(&[(KERNELS.name, kernels)]) };
            Fidelity.design(&request).map_err(|error| error.to_string())
        };
        let why = design("build:7.3/slub,debian:7.1", Some("t.parquet")).unwrap_err();
        assert!(why.contains("Leave out --input, and debian:7.1 records itself"), "{why}");
        assert!(design("debian:7.1", None).is_ok());
        assert!(design("build:7.3/slub", Some("t.parquet")).is_ok());
    }
}
