//! What the page allocator makes of page events: what stays free, in which blocks, and how well that fits the recorded kernel.

use serde::Serialize;
use slablab_replay::{
    PageFailure, PageFallback, PageFit, PageMoment, PageMoved, PageReplay, PageZone, RestOfMachine,
    TraceFacts, largest_order, pages_of, unusable_share,
};
use slablab_report::{Cell, Document, Item, Section, Table, counted, field, human};

use super::rest;
use super::trace::{facts, source};
use crate::output::{Answer, duration, thousands};

/// Bytes of a page of most machines, where a recording does not tell.
const PAGE_BYTES: u64 = 4 << 10;

/// What `slablab replay --pages` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PageReplayAnswer {
    #[serde(flatten)]
    pub(crate) replay: PageReplay,
    /// The same with the slabs of a replay in place of those recorded; absent where the trace has no events of slabs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) with_slabs: Option<RestOfMachine>,
    #[serde(skip)]
    pub(crate) file: String,
    #[serde(skip)]
    pub(crate) trace: Box<TraceFacts>,
}

/// An order at the end.
struct OrderLine {
    order: u8,
    blocks: u64,
    recorded: Option<u64>,
    unusable: Option<f64>,
    off: Option<f64>,
}

impl PageReplayAnswer {
    fn page_bytes(&self) -> u64 {
        if self.replay.page_bytes == 0 { PAGE_BYTES } else { self.replay.page_bytes }
    }

    fn bytes(&self, pages: u64) -> String {
        human(pages.saturating_mul(self.page_bytes()) as f64, "B")
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.replay.is_start_recorded {
            let all = "The recording does not say what was free when it began, so the model begins with all memory free.";
            sentences.push(all.to_owned());
        }
        sentences.extend([self.free(), self.fit(), self.fallbacks(), self.failures()]);
        sentences.extend(self.with_slabs.as_ref().map(slabs));
        sentences.extend(self.unknown());
        sentences
    }

    /// Says what is free at the end.
    fn free(&self) -> String {
        let Some(end) = self.replay.moments.last() else {
            return "The trace has no moment at which free blocks could be noted.".to_owned();
        };
        let managed: u64 = self.replay.zones.iter().map(|zone| zone.managed).sum();
        let free = pages_of(&end.free_blocks);
        let order = self.replay.block_order;
        let largest = match largest_order(&end.free_blocks) {
            Some(order) => format!("the largest free block is of order {order}"),
            None => "no block is free".to_owned(),
        };
        let unusable = unusable_share(&end.free_blocks, order).map_or(String::new(), |share| {
            format!(", and {:.1} % of it lies in blocks below order {order}", 100.0 * share)
        });
        format!(
            "At the end {} of {} are free{unusable}; {largest}.",
            self.bytes(free),
            self.bytes(managed)
        )
    }

    /// Says how well free blocks fit.
    fn fit(&self) -> String {
        let Some(PageFit { moments, off_share_median, off_share_max, largest_right_share, .. }) =
            &self.replay.fit
        else {
            return "Nothing tells how well this fits: only recordings of `slablab record --pages` have the kernel's free \
                    blocks."
                .to_owned();
        };
        format!(
            "At {} of /proc/buddyinfo the orders differ by {:.1} % of what is free (median; {:.1} % at most), and the \
             largest free order is right in {:.0} %.",
            counted(*moments, "reading"),
            100.0 * off_share_median,
            100.0 * off_share_max,
            100.0 * largest_right_share
        )
    }

    fn fallbacks(&self) -> String {
        let sum = |of: fn(&PageFallback) -> u64| self.replay.fallbacks.iter().map(of).sum::<u64>();
        let (simulated, recorded) = (sum(|one| one.simulated), sum(|one| one.recorded));
        format!(
            "Blocks of another migrate type were taken {} in the model, and {} in the recorded kernel.",
            counted(simulated, "time"),
            counted(recorded, "time")
        )
    }

    /// Says which order failed first, and for whom.
    fn failures(&self) -> String {
        let Some(PageFailure { order, program, first_ns, .. }) = self.replay.failures.first()
        else {
            return "Each allocation that the recorded kernel gave found a block in the model."
                .to_owned();
        };
        let count: u64 = self.replay.failures.iter().map(|failure| failure.count).sum();
        let whom = if program.is_empty() { String::new() } else { format!(" for {program}") };
        format!(
            "{} found no block in the model, first order {order}{whom} after {}.",
            counted(count, "allocation"),
            duration(*first_ns)
        )
    }

    /// Says what the trace does not tell.
    fn unknown(&self) -> Option<String> {
        let PageReplay {
            older_pages, older_pages_unplaced, unplaced_pages, is_place_recorded, ..
        } = self.replay;
        let mut parts = Vec::new();
        if older_pages > 0 && !is_place_recorded {
            parts.push(format!(
                "{} were freed that are older than the trace, at places that the model chose",
                self.bytes(older_pages)
            ));
        }
        if older_pages_unplaced > 0 {
            parts.push(format!(
                "{} were freed that the model had not in use, as what compaction moves and what is freed without an event \
                 is not seen",
                self.bytes(older_pages_unplaced)
            ));
        }
        if unplaced_pages > 0 {
            parts.push(format!(
                "{} that were free at first found no place",
                self.bytes(unplaced_pages)
            ));
        }
        let text = parts.join("; ");
        (!text.is_empty()).then(|| format!("Not known: {text}."))
    }

    /// Makes the table of what is free at the end.
    fn orders(&self) -> Table {
        let end = self.replay.moments.last();
        let blocks = end.map_or(&[][..], |end| &end.free_blocks);
        let line = |(order, count): (u8, &u64)| OrderLine {
            order,
            blocks: *count,
            recorded: end
                .and_then(|end| end.recorded_blocks.as_ref()?.get(usize::from(order)).copied()),
            unusable: unusable_share(blocks, order),
            off: self.replay.fit.as_ref().and_then(|fit| *fit.by_order.get(usize::from(order))?),
        };
        let lines: Vec<OrderLine> = (0..).zip(blocks).map(line).collect();
        let page_bytes = self.page_bytes();
        let share = |share: Option<f64>| share.map_or(Cell::Missing, Cell::Share);
        Table::of_fields(
            &lines,
            vec![
                field::count("order", "order", |line: &OrderLine| line.order.into()),
                field::by("block", "block_bytes", move |line: &OrderLine| {
                    Cell::Bytes(page_bytes << line.order)
                }),
                field::count("free blocks", "free_blocks", |line: &OrderLine| line.blocks),
                field::cell("recorded", "recorded_blocks", |line: &OrderLine| {
                    line.recorded.map_or(Cell::Missing, Cell::Count)
                }),
                field::by("off (median)", "off_share_median", move |line: &OrderLine| {
                    share(line.off)
                }),
                field::by("unusable", "unusable_share", move |line: &OrderLine| {
                    share(line.unusable)
                }),
            ],
        )
    }

    /// Makes the table of what was free at each moment.
    fn moments(&self) -> Table {
        let (page_bytes, order) = (self.page_bytes(), self.replay.block_order);
        let bytes = move |blocks: &[u64]| Cell::Bytes(pages_of(blocks).saturating_mul(page_bytes));
        let largest = |blocks: &[u64]| {
            largest_order(blocks).map_or(Cell::Missing, |order| Cell::Count(order.into()))
        };
        let unusable =
            move |blocks: &[u64]| unusable_share(blocks, order).map_or(Cell::Missing, Cell::Share);
        fn recorded(moment: &PageMoment, of: impl Fn(&[u64]) -> Cell) -> Cell {
            moment.recorded_blocks.as_ref().map_or(Cell::Missing, |blocks| of(blocks))
        }
        Table::of_fields(
            &self.replay.moments,
            vec![
                field::ns("time", "time_ns", |moment: &PageMoment| moment.time_ns),
                field::by("free", "free_bytes", move |moment: &PageMoment| {
                    bytes(&moment.free_blocks)
                }),
                field::by("recorded", "recorded_free_bytes", move |moment| recorded(moment, bytes)),
                field::by("largest", "largest_order", move |moment: &PageMoment| {
                    largest(&moment.free_blocks)
                }),
                field::by("recorded", "recorded_largest_order", move |moment| {
                    recorded(moment, largest)
                }),
                field::by("unusable", "unusable_share", move |moment: &PageMoment| {
                    unusable(&moment.free_blocks)
                }),
                field::by("recorded", "recorded_unusable_share", move |moment| {
                    recorded(moment, unusable)
                }),
                field::by("of CPUs", "cpu_bytes", move |moment: &PageMoment| {
                    Cell::Bytes(moment.cpu_pages.saturating_mul(page_bytes))
                })
                .on_page(),
            ],
        )
    }

    fn events(&self) -> Vec<Item> {
        let taken = [
            field::name("asked for", "migrate_type", |one: &PageFallback| &one.migrate_type),
            field::name("taken of", "fallback_type", |one: &PageFallback| &one.fallback_type),
            field::count("model", "simulated", |one: &PageFallback| one.simulated),
            field::count("recorded", "recorded", |one: &PageFallback| one.recorded),
        ];
        let moved = [
            field::name("event", "event", |one: &PageMoved| &one.event),
            field::count("model", "simulated", |one: &PageMoved| one.simulated),
            field::count("recorded", "recorded", |one: &PageMoved| one.recorded),
        ];
        let how = "Blocks that left the zones' lists and that went back from those of CPUs.";
        vec![
            Item::table("Blocks of another type", "", Table::of(&self.replay.fallbacks, taken)),
            Item::table("Between zones and CPUs", how, Table::of(&self.replay.moved, moved)),
        ]
    }

    fn failed(&self) -> Table {
        Table::of(
            &self.replay.failures,
            [
                field::count("order", "order", |one: &PageFailure| one.order.into()),
                field::name("program", "program", |one: &PageFailure| &one.program),
                field::ns("first", "first_ns", |one: &PageFailure| one.first_ns),
                field::count("allocs", "count", |one: &PageFailure| one.count),
            ],
        )
    }

    fn zones(&self) -> Table {
        let page_bytes = self.page_bytes();
        let bytes = move |pages: u64| Cell::Bytes(pages.saturating_mul(page_bytes));
        Table::of_fields(
            &self.replay.zones,
            vec![
                field::count("node", "node", |zone: &PageZone| zone.node.into()),
                field::name("zone", "zone", |zone: &PageZone| &zone.name),
                field::by("memory", "managed_bytes", move |zone: &PageZone| bytes(zone.managed)),
                field::by("free at first", "free_bytes", move |zone: &PageZone| bytes(zone.free)),
                field::by("low watermark", "low_bytes", move |zone: &PageZone| {
                    bytes(zone.low_watermark)
                }),
            ],
        )
    }
}

/// Says how well the machine fits with the slabs of a replay in place of those recorded.
fn slabs(rest: &RestOfMachine) -> String {
    let fit = rest.before.fit.as_ref().map_or_else(String::new, |fit| {
        format!(
            "With the slabs of a replay under {} in place of those recorded, the orders differ by {:.1} %. ",
            rest.allocator,
            100.0 * fit.off_share_median
        )
    });
    format!("{fit}{}", rest::truth(rest))
}

impl Answer for PageReplayAnswer {
    const SCHEMA: &'static str = "slablab.replay.pages/1";

    fn document(&self) -> Document {
        let PageReplayAnswer { file, trace, replay, .. } = self;
        let how = "Unusable: the share of free memory in blocks of lower orders. Off: by how much the model differs from \
                   the readings, of what was recorded.";
        let over_time = format!("Unusable: for blocks of order {}.", replay.block_order);
        let mut facts = facts(file, trace, None);
        facts.push(slablab_report::Fact::new("rules", replay.rules.clone()));
        facts.push(slablab_report::Fact::new(
            "allocations that failed when recorded",
            thousands(replay.recorded_failures),
        ));
        let recorded = [("as recorded", replay)];
        let sections = vec![
            Section::first(
                "orders",
                "Free blocks at the end",
                vec![Item::table("", how, self.orders())],
            ),
            Section::named(
                "moments",
                "Free memory over time",
                vec![Item::table("", over_time, self.moments())],
            ),
            Section::named("events", "Events", self.events()),
            Section::named("failed", "Found no block", vec![Item::table("", "", self.failed())]),
            Section::named("slabs", "Slabs on the page allocator", rest::slab_tables(&recorded)),
            Section::named("zones", "Zones", vec![Item::table("", "", self.zones())]),
            Section::page("map", "Who has the page blocks", rest::plots(&recorded)),
        ];
        Document {
            title: format!("Page allocator under {file}"),
            question: "What stays free, and in which blocks?".to_owned(),
            answers: self.sentences(),
            sections,
            source: source(file, trace, None),
            facts,
            ..Document::default()
        }
    }
}
