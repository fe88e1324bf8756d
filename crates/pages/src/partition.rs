//! The page of a partition of kmalloc's objects: what it holds more, boot by boot where that is drawn.

use slablab_replay::{PartitionBy, PartitionCost, Partitioned};
use slablab_report::{Document, Fact, Group, Item, Plot, Section, Strip};

use crate::size;
use crate::tables::{self, with_structures};
use crate::trace::facts;

/// Makes the page of what the partition costs on the trace in `file`.
pub fn partition(file: &str, cost: &PartitionCost) -> Document {
    let mut facts = facts(&cost.trace, file);
    facts.extend([
        Fact::new("allocator", &cost.allocator),
        Fact::new("structures of a cache", size(cost.structures_bytes_each)),
    ]);
    let items =
        vec![Item::Plot(plot(cost)), Item::table("In numbers", "", tables::partition(cost))];
    let how = "Whole replays of the trace, from an empty machine; where a kernel draws the copies at boot, one for each of \
               many draws.";
    Document {
        title: format!("Objects of kmalloc kept apart, for the load of {file}"),
        question: "What does keeping kmalloc's objects apart cost?".to_owned(),
        answers: vec![partition_sentence(cost)],
        sections: vec![Section::new("Memory", how, items)],
        facts,
        ..Document::default()
    }
}

fn plot(cost: &PartitionCost) -> Plot {
    let group = |name: &str, replays: &[Partitioned]| Group {
        name: name.to_owned(),
        values: replays.iter().map(|replay| with_structures(replay) as f64).collect(),
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
    Plot::new("Bytes held, with the structures of added caches", "Each mark is a replay.", strip)
}

/// Says what the partition costs.
pub fn partition_sentence(cost: &PartitionCost) -> String {
    let how = match cost.by {
        PartitionBy::Random { copies } => format!(
            "{copies} copies of each kmalloc class, chosen by a hash of the call site as with \
             CONFIG_RANDOM_KMALLOC_CACHES, over {} seeds",
            cost.partitioned.len()
        ),
        PartitionBy::Buckets => {
            "Classes of their own for memdup_user and msg_msg, as with CONFIG_SLAB_BUCKETS"
                .to_owned()
        }
        PartitionBy::Site => "A cache for each call site of kmalloc".to_owned(),
        PartitionBy::Type => {
            let known = cost.typed.unwrap_or_default();
            format!(
                "A cache for each of the {} structures that {} of the {} call sites of kmalloc allocate, and for each \
                 other site",
                known.structures, known.sites, known.sites_all
            )
        }
    };
    let was = with_structures(&cost.recorded);
    let range = cost.range(with_structures);
    let more = |now: u64| (now as f64 / was.max(1) as f64 - 1.0) * 100.0;
    let spread = match cost.partitioned.len() {
        1 => String::new(),
        _ => format!(" (from {:+.1} to {:+.1} %)", more(range.least), more(range.most)),
    };
    let added = cost.range(|p| p.caches_added).median;
    format!(
        "{how}: under {} {} at the peak instead of {}, {:+.1} %{spread}, for {added} caches more, whose own \
         structures take {} each. The machine was empty before the first event.",
        cost.allocator,
        size(range.median),
        size(was),
        more(range.median),
        size(cost.structures_bytes_each)
    )
}
