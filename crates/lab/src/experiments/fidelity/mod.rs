//! `fidelity`: how far is replay from a real kernel that does the same?
//!
//! With a trace (`--input`), the module `slabreplay` does its events in a real kernel, in their order and each on its CPU, in
//! caches that merge with none. The model of the kernel's allocator does the same. Nothing gets lost on the way and nothing is
//! older than the trace, so that each difference is the model's. Without one, each guest records its own boot
//! and a load, and the replay of that is compared with the guest's `/proc/slabinfo` (`recorded`).
//!
//! What a model may be off by is a limit; what is outside one, and why, is in `differs.txt`. A difference without a reason
//! makes the run end with status 1.

mod recorded;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use slablab_kmem::BackendKind;
use slablab_replay::{BytesAt, CompactTrace, Fidelity as Pair, PathPair};
use slablab_report::{
    AxisScale, Cell as TableCell, Item, Lines, Plot, Point, Section, Series, Table, counted, field,
    human,
};
use slablab_trace::TraceReader;
use slablab_vm::{Accel, Kernel, KernelBuilder, Origin, Spec};

use crate::error::{Error, Result};
use crate::experiment::{About, Experiment, Finding, Fixture, Observation, Setup};
use crate::guest::{CPUS, Options, Replayer, trace_for};
use crate::journal::Row;
use crate::outcome::Outcome;
use crate::parameter::{Kind, Parameter};
use crate::plan::Cell;
use crate::request::{Design, Engine, Metric, Nature, Request};

/// Memory of the model, as the guests have: what magazines may hold depends on it.
const GUEST_BYTES: u64 = 1 << 30;
/// Moments at which kernel and model are compared.
const MOMENTS: usize = 32;
/// What is outside the limits, and why: `ALLOCATOR: WHAT: WHY`.
const DIFFERS: &str = include_str!("differs.txt");

const KERNELS: Parameter = Parameter::new(
    "kernels",
    Kind::Names,
    "the kernels, each beside the model of its allocator: slub, build:6.12/slub, debian:6.12",
)
.or("slub");

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
            parameters: &[KERNELS, CPUS],
        }
    }

    fn kernels(&self, request: &Request) -> Result<Vec<Spec>> {
        let options = Options::of(request)?;
        KERNELS.list(request).iter().map(|name| options.spec(name)).collect()
    }

    fn design(&self, request: &Request) -> Result<Design> {
        self.kernels(request)?;
        let names = KERNELS.list(request);
        if request.input.is_some() && request.params.contains_key(CPUS.name) {
            return Err(Error::Request(
                "cpus: a trace has the CPUs that it was recorded on".to_owned(),
            ));
        }
        if CPUS.numbers(request)?.len() != 1 {
            return Err(Error::Request("cpus: take one number".to_owned()));
        }
        Ok(Design::without_points(names, 1, 0))
    }

    fn prepare(&self, setup: &mut Setup<'_>) -> Result<Box<dyn Fixture>> {
        let request = setup.request;
        let options = Options::of(request)?;
        let names = KERNELS.list(request);
        let specs = names.iter().map(|name| options.spec(name)).collect::<Result<Vec<_>>>()?;
        let builder = options.builder(&specs)?;
        let mut guests = Vec::new();
        for (name, spec) in names.into_iter().zip(&specs) {
            let kernel = builder.build(spec, setup.watch)?;
            let (accel, why) = options.accel.resolve(&builder, &kernel, setup.watch)?;
            guests.push(Guest { name, kind: model_of(&kernel)?, kernel, accel, why });
        }
        let trace = request.input.as_deref().map(compact).transpose()?;
        let cpus = CPUS.numbers(request)?[0] as u32;
        Ok(Box::new(Pairs { builder, guests, trace, cpus, folder: setup.folder.join("boots") }))
    }

    fn findings(&self, outcome: &Outcome) -> Vec<Finding> {
        told(outcome).map(|(row, told)| told.finding(&row.variant)).collect()
    }

    fn sections(&self, outcome: &Outcome) -> Vec<Section> {
        let pairs: Vec<(&Row, Told)> = told(outcome).collect();
        let several = pairs.len() > 1;
        let sections = |(row, told): &(&Row, Told)| {
            let of = if several { format!(", {}", row.variant) } else { String::new() };
            told.sections(&of)
        };
        pairs.iter().flat_map(sections).collect()
    }
}

fn compact(path: &Path) -> Result<CompactTrace> {
    Ok(CompactTrace::read(&TraceReader::open(path)?)?)
}

/// A kernel that is compared with its model.
struct Guest {
    name: String,
    kind: BackendKind,
    kernel: Kernel,
    accel: Accel,
    /// Why it runs so
    why: String,
}

/// Kernels that are built, and what they do.
struct Pairs {
    builder: KernelBuilder,
    guests: Vec<Guest>,
    /// The trace that is done in them, or what they do is recorded
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
        let told = match &self.trace {
            Some(trace) => self.replayed(guest, trace, &folder)?,
            None => recorded::told(&self.builder, guest, self.cpus, &folder)?,
        };
        let values = told.values();
        let mut detail = json!({
            "accelerator": guest.accel.name(), "accelerator_why": guest.why, "emulated": guest.accel.is_emulated(),
            "kernel": guest.kernel.release(), "build": guest.kernel.key.to_string(),
            "compiler": guest.kernel.compiler(), "arguments": ["slab_nomerge"],
        });
        detail["fidelity"] = serde_json::to_value(&told).unwrap_or_default();
        Ok(Observation { detail, ..Observation::of(values) })
    }
}

impl Pairs {
    /// Has a guest do the events of `trace`, and the model.
    fn replayed(&self, guest: &Guest, trace: &CompactTrace, folder: &Path) -> Result<Told> {
        let trace = trace_for(&guest.kernel, trace);
        let moments = trace.moments(MOMENTS);
        let replayer = Replayer { builder: &self.builder, accel: guest.accel };
        let told = replayer.run(&guest.kernel, &trace, MOMENTS, folder)?;
        told.check(folder)?;
        let model = trace.model(guest.kind, GUEST_BYTES, &moments)?;
        let pair = Pair::new(&trace, &moments, &told.replayed, &model);
        Ok(Told {
            model: guest.kind.name().to_owned(),
            release: guest.kernel.release().to_owned(),
            events: trace.events() as u64,
            limits: Some(Limits::of(guest.kind)),
            replay_ns: told.replay_ns,
            left_kb: told.left_kb,
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

/// What a model may be off by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Limits {
    /// Bytes in slabs at the moments: in the median, and at worst
    off_shares_max: (f64, f64),
    /// Caches with as many slabs at the end, and with about as many: at least this share of them
    caches_shares_min: (f64, f64),
    /// Each path that the kernel counts
    path_share_max: f64,
}

impl Limits {
    fn of(allocator: BackendKind) -> Self {
        // What is parked for each CPU depends on the moment more than slabs on a list do.
        let parks = matches!(allocator, BackendKind::Slab | BackendKind::SlubSheaves);
        Self {
            off_shares_max: if parks { (0.03, 0.08) } else { (0.02, 0.05) },
            caches_shares_min: (0.90, 0.97),
            path_share_max: 0.02,
        }
    }
}

/// What came of a kernel and its model; a row keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Told {
    model: String,
    release: String,
    events: u64,
    replay_ns: u64,
    /// How much more memory slabs had after the module was gone than before it came
    left_kb: i64,
    limits: Option<Limits>,
    /// The shares of caches that have as many slabs at the end, and about as many
    caches_shares: (f64, f64),
    /// What is not compared, and why
    notes: Vec<String>,
    pair: Pair,
}

/// Returns what the rows of a run keep.
fn told(outcome: &Outcome) -> impl Iterator<Item = (&Row, Told)> {
    let read = |row: &Row| Told::deserialize(&row.detail["fidelity"]).ok();
    outcome.rows.iter().filter_map(move |row| Some((row, read(row)?)))
}

impl Told {
    fn values(&self) -> Vec<(&'static str, f64)> {
        let (median, most) = self.pair.off_shares();
        let end = self.pair.moments.last();
        let mut values = vec![
            ("kernel_bytes_end", end.map_or(0, |end| end.kernel_bytes) as f64),
            ("model_bytes_end", end.map_or(0, |end| end.model_bytes) as f64),
            ("off_percent_median", 100.0 * median),
            ("off_percent_max", 100.0 * most),
        ];
        // SLOB and SLMB have no slabs for each cache.
        if !self.pair.caches.is_empty() {
            values.push(("caches_equal_percent", 100.0 * self.caches_shares.0));
            values.push(("caches_within_percent", 100.0 * self.caches_shares.1));
        }
        values.extend(self.paths_off().map(|off| ("paths_off_percent_max", 100.0 * off)));
        values
    }

    fn paths_off(&self) -> Option<f64> {
        self.pair.paths.iter().map(PathPair::off_share).reduce(f64::max)
    }

    /// Returns what is outside the limits.
    fn outside(&self) -> Vec<&'static str> {
        let Some(limits) = self.limits else { return Vec::new() };
        let Limits { off_shares_max, caches_shares_min, path_share_max } = limits;
        let (median, most) = self.pair.off_shares();
        let caches = self.caches_shares;
        [
            ("bytes", median > off_shares_max.0 || most > off_shares_max.1),
            ("slabs", caches.0 < caches_shares_min.0 || caches.1 < caches_shares_min.1),
            ("paths", self.paths_off().unwrap_or(0.0) > path_share_max),
        ]
        .into_iter()
        .filter_map(|(what, is_outside)| is_outside.then_some(what))
        .collect()
    }

    /// Says how far the model is from the kernel, and whether that is within the limits.
    fn finding(&self, kernel: &str) -> Finding {
        let (median, most) = self.pair.off_shares();
        let (median, most) = (median * 100.0, most * 100.0);
        let end = self.pair.moments.last().map_or(0, |end| end.kernel_bytes) as f64;
        let off = match self.pair.moments.len() {
            0 | 1 => format!("{most:.1} %"),
            moments => format!("{median:.1} % (median of {moments} moments), {most:.1} % at most"),
        };
        let caches = match self.pair.caches.len() {
            0 => String::new(),
            all => {
                let equal = self.pair.caches.iter().filter(|cache| cache.off_slabs() == 0).count();
                format!("; {equal} of {} have as many slabs", counted(all as u64, "cache"))
            }
        };
        let outside: Vec<_> =
            self.outside().into_iter().map(|what| (what, reason(&self.model, what))).collect();
        let limits: String = outside
            .iter()
            .map(|(what, why)| {
                format!(
                    " Outside the limits: {what}: {}.",
                    why.unwrap_or("the reason is not known")
                )
            })
            .collect();
        Finding {
            sentence: format!(
                "{kernel} (Linux {}): {} in slabs at the end, and {} is off by {off}{caches}.{limits}",
                self.release,
                human(end, "B"),
                self.model
            ),
            holds: outside.iter().all(|(_, why)| why.is_some()),
        }
    }

    /// Returns both curves, the caches and the paths of the pair called `of`.
    fn sections(&self, of: &str) -> Vec<Section> {
        let line = |name: &str, bytes: fn(&BytesAt) -> u64| Series {
            name: name.to_owned(),
            points: self
                .pair
                .moments
                .iter()
                .map(|at| Point { x: at.time_ns as f64, y: bytes(at) as f64, spread: None })
                .collect(),
        };
        let lines = Lines {
            x: ("time in the trace".to_owned(), "ns".to_owned()),
            y: ("memory in slabs".to_owned(), "B".to_owned()),
            x_scale: AxisScale::Linear,
            y_scale: AxisScale::FromZero,
            series: vec![line("kernel", |at| at.kernel_bytes), line("model", |at| at.model_bytes)],
        };
        let how = "Bytes in slabs after the same events, in the kernel (/proc/slabinfo, or Slab in /proc/meminfo where \
                   caches share pages) and in the model.";
        let mut sections = Vec::new();
        if self.pair.moments.len() > 1 {
            let plot = Plot::new(format!("Memory in slabs over time{of}"), how, lines);
            sections.push(Section::page("moments", plot.title.clone(), vec![plot.into()]));
        }
        let mut caches = vec![Item::table("", "", self.caches())];
        caches.extend(self.notes.iter().map(|note| Item::Text(note.clone())));
        let how = "At the end, those that differ most first; and the most by which the two differ at any moment.";
        sections.push(
            Section::named("caches", format!("Slabs of each cache{of}"), caches).with_method(how),
        );
        let how = "How often each path was taken, summed over the caches, where the kernel counts (CONFIG_SLUB_STATS).";
        let paths = vec![Item::table("", "", self.paths())];
        sections.push(Section::named("paths", format!("Paths{of}"), paths).with_method(how));
        sections
    }

    fn caches(&self) -> Table {
        let fields = [
            field::name("cache", "cache", |pair: &slablab_replay::CachePair| &pair.cache),
            field::count("slabs, kernel", "kernel_slabs", |pair| pair.kernel_slabs),
            field::count("slabs, model", "model_slabs", |pair| pair.model_slabs),
            field::bytes("held, kernel", "kernel_bytes", |pair| pair.kernel_bytes),
            field::bytes("held, model", "model_bytes", |pair| pair.model_bytes),
            field::count("slabs off, most", "off_slabs_max", |pair| pair.off_slabs_max),
        ];
        Table::of(&self.pair.caches, fields)
    }

    fn paths(&self) -> Table {
        let fields = [
            field::name("path", "path", |pair: &PathPair| &pair.path),
            field::count("kernel", "kernel", |pair| pair.kernel),
            field::count("model", "model", |pair| pair.model),
            field::cell("off by", "off_share", |pair| TableCell::Share(pair.off_share())),
        ];
        Table::of(&self.pair.paths, fields)
    }
}

/// Returns why an allocator's model is outside a limit, if that is written down.
fn reason(allocator: &str, what: &str) -> Option<&'static str> {
    DIFFERS.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let rest = line.strip_prefix(allocator)?.strip_prefix(": ")?;
        rest.strip_prefix(what)?.strip_prefix(": ")
    })
}

#[cfg(test)]
mod tests {
    use slablab_replay::CachePair;

    use super::*;

    /// A pair with these bytes in the kernel and in the model, these slabs of a cache and this path.
    fn pair(model: &str, bytes: &[(u64, u64)], slabs: &[(u64, u64)], path: (u64, u64)) -> Told {
        let moment = |(at, (kernel_bytes, model_bytes)): (usize, &(u64, u64))| BytesAt {
            event: at as u64,
            time_ns: at as u64,
            kernel_bytes: *kernel_bytes,
            model_bytes: *model_bytes,
        };
        let cache = |(kernel_slabs, model_slabs): &(u64, u64)| CachePair {
            cache: "c".into(),
            kernel_slabs: *kernel_slabs,
            model_slabs: *model_slabs,
            kernel_bytes: kernel_slabs * 4096,
            model_bytes: model_slabs * 4096,
            off_slabs_max: kernel_slabs.abs_diff(*model_slabs),
        };
        let pair = Pair {
            moments: bytes.iter().enumerate().map(moment).collect(),
            caches: slabs.iter().map(cache).collect(),
            paths: vec![PathPair { path: "p".into(), kernel: path.0, model: path.1 }],
        };
        Told {
            model: model.into(),
            release: "6.1".into(),
            events: 1,
            replay_ns: 1,
            left_kb: 0,
            limits: Some(Limits::of(model.parse().unwrap())),
            caches_shares: (pair.caches_within(0), pair.caches_within(1)),
            notes: Vec::new(),
            pair,
        }
    }

    #[test]
    fn what_is_outside_its_limit_is_named_and_parked_slabs_have_wider_ones() {
        let same = [(100, 100); 3];
        let slabs = [(5, 5)];
        assert!(pair("slub", &same, &slabs, (100, 100)).outside().is_empty());
        let off = [(1000, 1025); 3];
        assert_eq!(pair("slub", &off, &slabs, (100, 100)).outside(), ["bytes"]);
        assert!(pair("slab", &off, &slabs, (100, 100)).outside().is_empty());
        assert_eq!(pair("slub", &same, &[(5, 7)], (100, 103)).outside(), ["slabs", "paths"]);
    }

    #[test]
    fn a_difference_holds_only_with_its_reason() {
        let off = |model| pair(model, &[(1000, 1900); 3], &[(5, 5)], (1, 1)).finding("k");
        let known = off("slmb");
        assert!(known.holds && known.sentence.contains("Outside the limits: bytes: in the patch"));
        let unknown = off("slub");
        assert!(
            !unknown.holds && unknown.sentence.contains("the reason is not known"),
            "{unknown:?}"
        );
    }

    #[test]
    fn what_differs_is_a_line_of_an_allocator() {
        for line in DIFFERS.lines().filter(|line| !line.starts_with('#')) {
            let (allocator, rest) = line.split_once(": ").unwrap();
            let (what, why) = rest.split_once(": ").unwrap();
            allocator.parse::<BackendKind>().unwrap();
            assert_eq!(reason(allocator, what), Some(why));
        }
        assert_eq!(reason("slub", "bytes"), None);
    }
}
