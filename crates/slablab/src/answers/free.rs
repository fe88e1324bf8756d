//! Which blocks of pages are free, and which requests can have one: the answer about free lists that a user pasted or saved.

use serde::Serialize;
use slablab_report::{Cell, Document, Fact, Item, Section, Table, counted, field, human};
use slablab_snapshot::{FreeBlocks, Paste};

use crate::output::{Answer, thousands};

/// Bytes of a page of most machines, where a list does not tell.
const PAGE_BYTES: u64 = 4 << 10;
/// The order above which the kernel gives up more easily (`PAGE_ALLOC_COSTLY_ORDER`).
const COSTLY_ORDER: usize = 3;
/// What a list does not tell.
const WATERMARKS: &str = "Whether a request gets a free block depends on the watermarks, too, which a list does not tell.";
/// Zones that have a sentence.
const ZONES_TOLD_MAX: usize = 3;

/// What `slablab info` says of free lists.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct FreeAnswer {
    files: Vec<String>,
    /// Bytes of a page
    page_bytes: u64,
    /// Whether a list tells how large a page is
    is_page_size_told: bool,
    /// Zones, or migrate types in them; of each the last list of the text
    lists: Vec<FreeLine>,
    /// The free blocks of all zones, by order
    orders: Vec<OrderLine>,
    /// Free bytes
    free_bytes: u64,
    /// Whether some counts are more than is told
    is_more: bool,
    /// The lists, those of the types of a zone put together: a request takes blocks of other types, too
    #[serde(skip)]
    zones: Vec<FreeBlocks>,
}

/// The free blocks of a zone, or of one migrate type in it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct FreeLine {
    #[serde(flatten)]
    list: FreeBlocks,
    free_bytes: u64,
    /// Bytes of the largest free block; absent where nothing is free
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_bytes: Option<u64>,
    /// The share of the free memory that is in blocks too small for order 3
    #[serde(skip_serializing_if = "Option::is_none")]
    unusable_order3: Option<f64>,
    /// The same for order 9
    #[serde(skip_serializing_if = "Option::is_none")]
    unusable_order9: Option<f64>,
}

/// The free blocks of one order.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
struct OrderLine {
    order: usize,
    block_bytes: u64,
    blocks: u64,
    free_bytes: u64,
    /// The share of all free memory that is in smaller blocks
    unusable: f64,
}

impl FreeAnswer {
    /// Judges the free lists of a text; there is one at least.
    pub(crate) fn new(files: Vec<String>, paste: &Paste) -> Self {
        let told = paste.free.iter().find_map(|list| list.page_bytes);
        let page_bytes = told.unwrap_or(PAGE_BYTES);
        let bytes = |pages: u64| pages.saturating_mul(page_bytes);
        // A zone whose types are listed is the sum of these.
        let is_sum = |list: &&FreeBlocks| {
            let is_part = |part: &FreeBlocks| {
                part.migrate_type.is_some()
                    && (&part.host, part.node, &part.zone) == (&list.host, list.node, &list.zone)
            };
            list.migrate_type.is_none() && paste.free.iter().any(is_part)
        };
        let lists: Vec<&FreeBlocks> = paste.free.iter().filter(|list| !is_sum(list)).collect();
        let zones = zones(&lists);
        let most = lists.iter().map(|list| list.blocks.len()).max().unwrap_or(0);
        let mut all = FreeBlocks { blocks: vec![0; most], ..FreeBlocks::default() };
        for (order, count) in lists.iter().flat_map(|list| list.blocks.iter().enumerate()) {
            all.blocks[order] = all.blocks[order].saturating_add(*count);
        }
        let order = |(order, count): (usize, &u64)| OrderLine {
            order,
            block_bytes: bytes(1 << order),
            blocks: *count,
            free_bytes: bytes(count.saturating_mul(1 << order)),
            unusable: all.unusable(order).unwrap_or(0.0),
        };
        let line = |list: &&FreeBlocks| FreeLine {
            free_bytes: bytes(list.pages()),
            largest_bytes: list.largest().map(|order| bytes(1 << order)),
            unusable_order3: list.unusable(COSTLY_ORDER),
            unusable_order9: list.unusable(9),
            list: (*list).clone(),
        };
        Self {
            files,
            page_bytes,
            is_page_size_told: told.is_some(),
            lists: lists.iter().map(line).collect(),
            orders: all.blocks.iter().enumerate().map(order).collect(),
            free_bytes: bytes(all.pages()),
            is_more: lists.iter().any(|list| list.is_more),
            zones,
        }
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![self.all()];
        if self.zones.iter().any(|zone| zone.host != self.zones[0].host) {
            sentences.push("The text names several hosts, and these sums are of all.".to_owned());
        }
        sentences.extend(self.without_large());
        sentences.extend(self.small());
        if self.is_more {
            sentences
                .push("Some counts end at 100,000, so there is more than these sums.".to_owned());
        }
        if !self.is_page_size_told {
            sentences.push(format!(
                "The text does not tell how large a page is: {} are taken.",
                human(PAGE_BYTES as f64, "B")
            ));
        }
        sentences
    }

    /// Says how much is free, and which request it is the largest block for.
    fn all(&self) -> String {
        let largest = self.orders.iter().rfind(|line| line.blocks > 0);
        let Some(largest) = largest else { return "Nothing is free in these lists.".to_owned() };
        let count = |zone: &&FreeBlocks| zone.blocks.get(largest.order).copied().unwrap_or(0);
        let zone = self.zones.iter().max_by_key(count);
        let is_all = zone.is_some_and(|zone| count(&zone) == largest.blocks);
        let zone = zone.map_or_else(String::new, name);
        format!(
            "{} are free; the largest block has {} (order {}), and there {}{}in {zone}.",
            human(self.free_bytes as f64, "B"),
            human(largest.block_bytes as f64, "B"),
            largest.order,
            match largest.blocks {
                1 => "is 1".to_owned(),
                blocks => format!("are {}", thousands(blocks)),
            },
            if is_all { " " } else { ", most of them " }
        )
    }

    /// Says in which zones a request of order 3 finds no block though memory is free, which is where most people meet it.
    fn without_large(&self) -> Option<String> {
        let is_out = |zone: &&FreeBlocks| {
            zone.pages() >= 1 << COSTLY_ORDER && zone.pages_from(COSTLY_ORDER) == 0
        };
        let mut out: Vec<&FreeBlocks> = self.zones.iter().filter(is_out).collect();
        out.sort_by_key(|zone| std::cmp::Reverse(zone.pages()));
        let first = out.first()?;
        let names: Vec<String> = out.iter().take(ZONES_TOLD_MAX).map(|zone| name(zone)).collect();
        Some(format!(
            "No block of {} (order {COSTLY_ORDER}) is free in {}{}; {} has {} in smaller ones: such a request fails there \
             for fragmentation and not for lack of memory, unless compaction makes one.",
            human((self.page_bytes << COSTLY_ORDER) as f64, "B"),
            names.join(" and "),
            if out.len() > ZONES_TOLD_MAX { " and others" } else { "" },
            if out.len() == 1 { "it" } else { "the first" },
            human(first.pages().saturating_mul(self.page_bytes) as f64, "B")
        ))
    }

    /// Says how much of it is of no use for large requests.
    fn small(&self) -> Option<String> {
        let of = |order: usize| {
            let line = self.orders.get(order)?;
            let size = human(line.block_bytes as f64, "B");
            Some(format!("{:.0} % for one of {size} (order {order})", 100.0 * line.unusable))
        };
        let shares: Vec<String> = [COSTLY_ORDER, 9].into_iter().filter_map(of).collect();
        (self.free_bytes > 0).then(|| {
            format!(
                "Of the free memory, blocks too small for a request hold {}. kvmalloc and vmalloc need no large block.",
                shares.join(", ")
            )
        })
    }

    /// Says what a list of caches beside it should not hide.
    pub(crate) fn note(&self) -> Option<String> {
        self.without_large()
    }

    /// Returns the tables: zones, and orders.
    pub(crate) fn tables(&self) -> [(&'static str, Item); 2] {
        let hosts = self.lists.iter().any(|line| line.list.host.is_some());
        let types = self.lists.iter().any(|line| line.list.migrate_type.is_some());
        let mut fields = Vec::new();
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "all".to_owned());
        if hosts {
            fields
                .push(field::text_by("host", "host", move |line: &FreeLine| text(&line.list.host)));
        }
        fields.push(field::count("node", "node", |line: &FreeLine| line.list.node.into()));
        fields.push(field::text_by("zone", "zone", |line: &FreeLine| line.list.zone.clone()));
        if types {
            let kind = move |line: &FreeLine| text(&line.list.migrate_type);
            fields.push(field::text_by("migrate type", "migrate_type", kind));
        }
        let bytes = |bytes: Option<u64>| bytes.map_or(Cell::Missing, Cell::Bytes);
        let share = |share: Option<f64>| share.map_or(Cell::Missing, Cell::Share);
        fields.extend([
            field::bytes("free", "free_bytes", |line: &FreeLine| line.free_bytes),
            field::by("largest block", "largest_bytes", move |line: &FreeLine| {
                bytes(line.largest_bytes)
            }),
            field::by("too small for order 3", "unusable_order3", move |line: &FreeLine| {
                share(line.unusable_order3)
            }),
            field::by("for order 9", "unusable_order9", move |line: &FreeLine| {
                share(line.unusable_order9)
            }),
        ]);
        let zones = Table::of_fields(&self.lists, fields);
        let orders = [
            field::count("order", "order", |line: &OrderLine| line.order as u64),
            field::bytes("block", "block_bytes", |line: &OrderLine| line.block_bytes),
            field::count("free blocks", "blocks", |line: &OrderLine| line.blocks),
            field::bytes("free", "free_bytes", |line: &OrderLine| line.free_bytes),
            field::by("too small", "unusable", move |line: &OrderLine| share(Some(line.unusable))),
        ];
        let orders = Table::of(&self.orders, orders);
        let how = "Too small: the share of the free memory that lies in smaller blocks, which the kernel calls the index of \
                   unusable free space.";
        [
            ("zones", Item::table("Free memory by zone", how, zones)),
            ("orders", Item::table("Free blocks by order", WATERMARKS, orders)),
        ]
    }
}

/// Returns what a zone is called.
fn name(zone: &FreeBlocks) -> String {
    let host = zone.host.as_deref().map_or(String::new(), |host| format!(" of {host}"));
    format!("{} of node {}{host}", zone.zone, zone.node)
}

/// Puts the lists of the types of a zone together.
fn zones(lists: &[&FreeBlocks]) -> Vec<FreeBlocks> {
    let mut zones: Vec<FreeBlocks> = Vec::new();
    for list in lists {
        let key = |it: &FreeBlocks| (it.host.clone(), it.node, it.zone.clone());
        let Some(zone) = zones.iter_mut().find(|zone| key(zone) == key(list)) else {
            zones.push(FreeBlocks { migrate_type: None, ..(*list).clone() });
            continue;
        };
        zone.blocks.resize(zone.blocks.len().max(list.blocks.len()), 0);
        for (sum, count) in zone.blocks.iter_mut().zip(&list.blocks) {
            *sum = sum.saturating_add(*count);
        }
    }
    zones
}

impl Answer for FreeAnswer {
    const SCHEMA: &'static str = "slablab.free-blocks/1";

    fn document(&self) -> Document {
        let sections = self.tables().into_iter();
        let sections = sections.map(|(name, item)| Section::first(name, "", vec![item]));
        let repeated = self.lists.iter().filter(|line| line.list.lists > 1).count();
        let notes = (repeated > 0).then(|| {
            "The text has several lists of a zone: the last one of each is shown.".to_owned()
        });
        Document {
            title: format!("{}: free blocks", self.files.join(", ")),
            question: "Which blocks of pages are free, and which requests can have one?".to_owned(),
            answers: self.sentences(),
            sections: sections.collect(),
            source: format!(
                "From {}: {}.",
                self.files.join(", "),
                counted(self.lists.len() as u64, "free list")
            ),
            notes: notes.into_iter().collect(),
            facts: vec![Fact::new("files", self.files.join(", "))],
            ..Document::default()
        }
    }
}
