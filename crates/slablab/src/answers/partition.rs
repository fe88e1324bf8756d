//! A partition of kmalloc's objects: what keeping them apart costs, boot by boot where a kernel draws it.

use serde::Serialize;
use slablab_replay::{PartitionBy, PartitionCost, Partitioned, Range};
use slablab_report::{
    Cell, Document, Fact, Group, Item, Plot, Section, Strip, Table, counted, field, short,
};

use super::trace::{facts, sampled, source};
use crate::output::Answer;

/// What `slablab partition` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PartitionAnswer {
    pub(crate) file: String,
    #[serde(flatten)]
    pub(crate) cost: PartitionCost,
}

impl Answer for PartitionAnswer {
    const SCHEMA: &'static str = "slablab.partition/1";

    fn document(&self) -> Document {
        let Self { file, cost } = self;
        let mut facts = facts(file, &cost.trace, None);
        facts.extend([
            Fact::new("allocator", &cost.allocator),
            Fact::new("structures of a cache", bytes(cost.structures_bytes_each)),
        ]);
        let how = "Whole replays of the trace, from an empty machine; where a kernel draws the copies at boot, one for \
                   each of many draws.";
        Document {
            title: format!("Objects of kmalloc kept apart, for the load of {file}"),
            question: "What does keeping kmalloc's objects apart cost?".to_owned(),
            answers: sentences(cost),
            sections: vec![
                Section::first("memory", "", vec![plot(cost), numbers(cost)]).with_method(how),
            ],
            source: source(file, &cost.trace, None),
            notes: sampled(&cost.trace).into_iter().collect(),
            facts,
            ..Document::default()
        }
    }
}

pub(crate) fn bytes(n: u64) -> String {
    short(n as f64, "B")
}

/// Says what the partition costs, and how it chooses.
fn sentences(cost: &PartitionCost) -> Vec<String> {
    let was = all_bytes(&cost.recorded);
    let range = cost.range(all_bytes);
    let more = |now: u64| (now as f64 / was.max(1) as f64 - 1.0) * 100.0;
    let spread = match cost.partitioned.len() {
        1 => String::new(),
        _ => format!(" (from {:+.1} to {:+.1} %)", more(range.least), more(range.most)),
    };
    vec![
        format!(
            "{} holds {} at the peak instead of {}, {:+.1} %{spread}.",
            cost.allocator,
            bytes(range.median),
            bytes(was),
            more(range.median),
        ),
        how(cost),
        format!(
            "It takes {}, whose own structures take {} each and are counted.",
            counted(cost.range(|p| p.caches_added).median, "more cache"),
            bytes(cost.structures_bytes_each)
        ),
        "Both begin with an empty machine.".to_owned(),
    ]
}

/// Says how a partition chooses the cache of an object.
fn how(cost: &PartitionCost) -> String {
    match cost.by {
        PartitionBy::Random { copies } => format!(
            "Kept apart: {copies} copies of each kmalloc class, chosen by a hash of the call site as with \
             CONFIG_RANDOM_KMALLOC_CACHES, over {} seeds.",
            cost.partitioned.len()
        ),
        PartitionBy::Buckets => {
            "Kept apart: what memdup_user and msg_msg allocate, in classes of their own as with CONFIG_SLAB_BUCKETS."
                .to_owned()
        }
        PartitionBy::Site => "Kept apart: a cache for each call site of kmalloc.".to_owned(),
        PartitionBy::Type => {
            let known = cost.typed.unwrap_or_default();
            format!(
                "Kept apart: a cache for each of the {} structures that {} of the {} call sites of kmalloc allocate, \
                 and for each other site.",
                known.structures, known.sites, known.sites_all
            )
        }
        PartitionBy::Typed { tokens } => format!(
            "Kept apart: {tokens} copies of each kmalloc class, chosen by Clang's token of the type as with \
             CONFIG_KMALLOC_PARTITION_TYPED."
        ),
    }
}

fn plot(cost: &PartitionCost) -> Item {
    let group = |name: &str, replays: &[Partitioned]| Group {
        name: name.to_owned(),
        values: replays.iter().map(|replay| all_bytes(replay) as f64).collect(),
    };
    let strip = Strip {
        label: "kmalloc".to_owned(),
        quantity: "held at the peak".to_owned(),
        unit: "B".to_owned(),
        groups: vec![
            group("as recorded", &[cost.recorded]),
            group("kept apart", &cost.partitioned),
        ],
    };
    let title = "Bytes held, with the structures of added caches";
    Plot::new(title, "Each mark is a replay.", strip).into()
}

/// A number that is shown: its name, what it counts, and how it is read.
type PartitionRow = (&'static str, fn(u64) -> Cell, fn(&Partitioned) -> u64);

const ROWS: [PartitionRow; 7] = [
    ("held, peak", Cell::Bytes, |p| p.held_bytes.peak),
    ("held, mean", Cell::Bytes, |p| p.held_bytes.mean),
    ("held, end", Cell::Bytes, |p| p.held_bytes.end),
    ("structures of added caches", Cell::Bytes, |p| p.structures_bytes),
    ("held and structures, peak", Cell::Bytes, all_bytes),
    ("slabs, peak", Cell::Count, |p| p.slabs.peak),
    ("caches used", Cell::Count, |p| p.caches_used),
];

/// Returns the bytes held at the peak with the structures of the added caches.
pub(crate) fn all_bytes(of: &Partitioned) -> u64 {
    of.held_bytes.peak + of.structures_bytes
}

/// Returns the table of what is held as recorded and with the partition.
fn numbers(cost: &PartitionCost) -> Item {
    let over = |read: fn(&Partitioned) -> u64| -> Range { cost.range(read) };
    let mut fields = vec![
        field::name("memory", "metric", |row: &PartitionRow| row.0),
        field::by("as recorded", "recorded", |row: &PartitionRow| row.1(row.2(&cost.recorded))),
    ];
    let median = |row: &PartitionRow| row.1(over(row.2).median);
    // Without a seed there is one answer, which needs no median.
    if cost.partitioned.len() > 1 {
        fields.extend([
            field::by("median", "median", median),
            field::by("least", "least", |row: &PartitionRow| row.1(over(row.2).least)),
            field::by("most", "most", |row: &PartitionRow| row.1(over(row.2).most)),
        ]);
    } else {
        fields.push(field::by("kept apart", "median", median));
    }
    Item::table("In numbers", "", Table::of_fields(&ROWS, fields))
}
