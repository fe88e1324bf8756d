//! What stock kernels hold in slabs, release by release: the answer of `slablab lab run history`.

use serde::Serialize;
use slablab_lab::history::{Held, LOADS};
use slablab_report::{
    BarGroup, Bars, Cell, Document, Fact, Item, Plot, Section, Table, counted, field,
};
use slablab_stats::median;

use crate::output::Answer;

/// The load that the sentences are about: of the three it moves most between releases.
const TOLD: &str = LOADS[1];

/// What `slablab lab run history` says.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct HistoryAnswer {
    /// The kernels, those of a machine together in the order of their releases
    kernels: Vec<Held>,
    /// The folder with the results
    folder: String,
    #[serde(skip)]
    facts: Vec<Fact>,
}

impl HistoryAnswer {
    pub(crate) fn new(kernels: Vec<Held>, folder: String, facts: Vec<Fact>) -> Self {
        Self { kernels, folder, facts }
    }

    /// Returns the kernels that were measured, by machine.
    fn machines(&self) -> impl Iterator<Item = (&str, Vec<&Held>)> {
        self.kernels.chunk_by(|a, b| a.machine == b.machine).filter_map(|of| {
            let measured: Vec<_> = of.iter().filter(|held| !held.slab_kb.is_empty()).collect();
            (!measured.is_empty()).then(|| (of[0].machine.as_str(), measured))
        })
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> =
            self.machines().flat_map(|(of, all)| told(of, &all)).collect();
        let left_out = self.kernels.iter().filter(|held| held.left_out.is_some());
        let left_out: Vec<_> = left_out.map(|held| held.kernel.as_str()).collect();
        if !left_out.is_empty() {
            sentences.push(format!("Left out, as it does not boot here: {}.", left_out.join(", ")));
        }
        if sentences.is_empty() {
            sentences.push(format!("{} has no kernel that was measured.", self.folder));
        }
        sentences
    }

    /// Returns a table for each machine.
    fn tables(&self) -> Vec<Item> {
        const HOW: &str = "Slab of /proc/meminfo, the median of the boots. Each boot runs the loads in turn, each on what those \
            before it left: hackbench, 8,000 files less every second, 200 connections over loopback. Change \
            and spread are of hackbench: against the release before, and from the least to the greatest boot.";
        let of =
            |load: &'static str| move |held: &&Held| value(held, load).map_or(Cell::Missing, kib);
        let boots = |held: &Held| held.slab_kb.values().map(Vec::len).max().unwrap_or(0) as u64;
        let table = |(machine, all): (&str, Vec<&Held>)| {
            let fields = vec![
                field::name("release", "release", |held: &&Held| &held.release),
                field::by("boots", "boots", move |held: &&Held| Cell::Count(boots(held))),
                field::by("after boot", "boot_bytes", of(LOADS[0])),
                field::by("hackbench", "hackbench_bytes", of(LOADS[1])),
                field::by("files", "files_bytes", of(LOADS[2])),
                field::by("sockets", "sockets_bytes", of(LOADS[3])),
                field::by("change", "hackbench_change_share", |held: &&Held| {
                    let share = self.before(held).and_then(|before| change(before, held));
                    share.map_or(Cell::Missing, Cell::Change)
                }),
                field::by("spread", "hackbench_spread_share", |held: &&Held| {
                    spread(held).map_or(Cell::Missing, Cell::Share)
                }),
            ];
            Item::table(format!("Memory in slabs, {machine}"), HOW, Table::of_fields(&all, fields))
        };
        self.machines().map(table).collect()
    }

    /// Returns the kernel before one, of the same machine.
    fn before(&self, held: &Held) -> Option<&Held> {
        let at = self.kernels.iter().position(|of| of.kernel == held.kernel)?;
        let before = self.kernels[..at].iter().rfind(|of| !of.slab_kb.is_empty())?;
        (before.machine == held.machine).then_some(before)
    }

    fn versions(&self) -> Table {
        let fields = vec![
            field::name("kernel", "kernel", |held: &Held| &held.kernel),
            field::text("version", "version", |held: &Held| held.version.clone()),
            field::text("left out, as", "left_out", |held: &Held| {
                held.left_out.clone().unwrap_or_default()
            }),
        ];
        Table::of_fields(&self.kernels, fields)
    }

    fn plots(&self) -> Vec<Item> {
        let plot = |(machine, all): (&str, Vec<&Held>)| {
            let group = |held: &&Held| BarGroup {
                name: held.release.clone(),
                bars: LOADS
                    .iter()
                    .filter_map(|load| Some((format!("after {load}"), value(held, load)? / 1024.0)))
                    .collect(),
            };
            let bars = Bars {
                label: "release".to_owned(),
                quantity: ("memory in slabs".to_owned(), "MiB".to_owned()),
                groups: all.iter().map(group).collect(),
            };
            let how = "The median of the boots. Each boot runs the three loads in turn, each on what those before it left.";
            Item::Plot(Plot::new(format!("Memory in slabs by release, {machine}"), how, bars))
        };
        self.machines().map(plot).collect()
    }
}

/// Says what a machine's newest kernel holds beside its oldest, and which release moved it most.
fn told(machine: &str, all: &[&Held]) -> Vec<String> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    let amount =
        |held: &Held, load| value(held, load).map_or_else(|| "-".to_owned(), |v| kib(v).short());
    if all.len() == 1 {
        return vec![format!(
            "On {machine}, {} holds {} in slabs after the boot and {} after {TOLD}.",
            first.release,
            amount(first, LOADS[0]),
            amount(first, TOLD)
        )];
    }
    let mut sentences = vec![format!(
        "On {machine}, {} holds {} in slabs after {TOLD} where {} holds {}; after the boot {} and {}.",
        last.release,
        amount(last, TOLD),
        first.release,
        amount(first, TOLD),
        amount(last, LOADS[0]),
        amount(first, LOADS[0]),
    )];
    let steps =
        all.windows(2).filter_map(|pair| Some((pair[0], pair[1], change(pair[0], pair[1])?)));
    let most = steps.max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()));
    if let Some((before, after, share)) = most {
        let said = if is_apart(before, after) {
            "no boot of one is within the range of the other"
        } else {
            "their ranges overlap, so that it may be chance"
        };
        sentences.push(format!(
            "{} moved it most: {:+.1} % after {TOLD} against {}; {said}.",
            after.release,
            100.0 * share,
            before.release
        ));
    }
    sentences
}

/// Returns the median of the boots, in KiB.
fn value(held: &Held, load: &str) -> Option<f64> {
    let values = held.slab_kb.get(load).filter(|values| !values.is_empty())?;
    Some(median(&mut values.clone()))
}

fn kib(value: f64) -> Cell {
    Cell::Bytes((value * 1024.0) as u64)
}

fn change(before: &Held, after: &Held) -> Option<f64> {
    Some(value(after, TOLD)? / value(before, TOLD)? - 1.0)
}

fn range(held: &Held) -> Option<(f64, f64)> {
    let values = held.slab_kb.get(TOLD)?.iter().copied();
    Some((values.clone().reduce(f64::min)?, values.reduce(f64::max)?))
}

/// Returns whether all boots of one kernel hold more than all of the other.
fn is_apart(a: &Held, b: &Held) -> bool {
    match (range(a), range(b)) {
        (Some(a), Some(b)) => a.1 < b.0 || b.1 < a.0,
        _ => false,
    }
}

/// Returns the width of the range of the boots, as a share of their median.
fn spread(held: &Held) -> Option<f64> {
    let (low, high) = range(held)?;
    Some((high - low) / value(held, TOLD)?)
}

impl Answer for HistoryAnswer {
    const SCHEMA: &'static str = "slablab.lab.history/1";

    fn document(&self) -> Document {
        let measured: usize = self.machines().map(|(_, all)| all.len()).sum();
        let title =
            format!("Slab memory of {} by release", counted(measured as u64, "stock kernel"));
        Document {
            title,
            question: "What do stock kernels hold in slabs, release by release?".to_owned(),
            answers: self.sentences(),
            sections: vec![
                Section::first("history", "", self.tables()),
                Section::named("versions", "Which versions", vec![Item::table("", "", self.versions())]),
                Section::page("plot", "By release", self.plots()),
            ],
            source: format!("From {}.", self.folder),
            notes: vec![
                "Guests are small machines: caches that grow with memory and CPUs are larger on others.".to_owned(),
            ],
            facts: self.facts.clone(),
            ..Document::default()
        }
    }
}
