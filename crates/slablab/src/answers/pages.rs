//! Who takes pages: what was alive, by order, migrate type, flags, owner, program and others.

use serde::Serialize;
use slablab_replay::{
    PageGroup, PageHoldings, PageWaits, TraceFacts, USE_SLAB, USE_UNTOLD, WaitKind,
};
use slablab_report::{Cell, Document, Fact, Item, Section, Table, counted, field, human};
use slablab_trace::{PageKind, PageMeta};

use super::groups::MomentLine;
use super::trace::{facts, source};
use crate::output::{Answer, duration, thousands};

/// Bytes of a page of most machines, where a recording does not tell.
const PAGE_BYTES: u64 = 4 << 10;

/// What `slablab stat --pages` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PagesAnswer {
    /// Bytes of a page
    pub(crate) page_bytes: u64,
    /// Whether the recording tells how large a page is
    pub(crate) is_page_size_told: bool,
    /// The moments, in the order of the numbers in each group
    pub(crate) moments: Vec<MomentLine>,
    /// The sum of all groups
    pub(crate) total: PageLine,
    /// The groups, once by each of what they are made by
    pub(crate) tables: Vec<PageTable>,
    /// Events of each kind
    pub(crate) events_by_kind: Vec<(String, u64)>,
    /// Pages that were freed and that the trace saw allocated
    pub(crate) freed_pages: u64,
    /// Frees of pages that were not seen allocated: older than the trace, or of lost events
    pub(crate) older_frees: u64,
    /// The pages of these
    pub(crate) older_pages: u64,
    /// Blocks, or parts of them, that were given again without a free in between
    pub(crate) implicit_frees: u64,
    /// Frees of a part of a block that the kernel had split
    pub(crate) part_frees: u64,
    pub(crate) failed_allocs: u64,
    pub(crate) allocs_without_stack: u64,
    /// Whether frees were recorded: where they were not, nothing tells what is alive
    pub(crate) frees_recorded: bool,
    /// How long threads made room for the pages that they asked for; those that lasted longest first
    pub(crate) waits: Vec<WaitLine>,
    #[serde(skip)]
    pub(crate) view: PagesView,
}

/// The waits of one kind, of one program, for blocks of one order.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct WaitLine {
    /// Direct reclaim, cgroup reclaim or compaction
    pub(crate) kind: String,
    pub(crate) program: String,
    /// The order that was asked for; absent where the events do not tell
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<u8>,
    pub(crate) waits: u64,
    pub(crate) total_ns: u64,
    pub(crate) longest_ns: u64,
    /// Those without a begin or an end in the trace, which count in no other number
    pub(crate) unended: u64,
}

impl WaitLine {
    fn new(waits: &PageWaits) -> Self {
        let program = if waits.program.is_empty() { "(not known)" } else { &waits.program };
        Self {
            kind: waits.kind.name().to_owned(),
            program: program.to_owned(),
            order: waits.order,
            waits: waits.waits,
            total_ns: waits.total_ns,
            longest_ns: waits.longest_ns,
            unended: waits.unended,
        }
    }
}

/// What people see beside the numbers.
#[derive(Debug)]
pub(crate) struct PagesView {
    pub(crate) file: String,
    pub(crate) trace: Box<TraceFacts>,
    pub(crate) is_growth: bool,
}

/// Groups by one thing, or by several.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PageTable {
    /// What the groups are made by
    pub(crate) by: Vec<String>,
    pub(crate) groups: Vec<PageLine>,
    /// Whether it is on the first screen
    #[serde(skip)]
    pub(crate) is_first: bool,
}

/// A group.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PageLine {
    /// Its name, one for each of `by`
    pub(crate) names: Vec<String>,
    /// Of the stacks in it the one that has most: from the call site outwards
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stack: Vec<String>,
    pub(crate) allocs: u64,
    pub(crate) pages: u64,
    /// Pages alive at each moment
    pub(crate) live_pages: Vec<u64>,
    /// By how many pages it grew from the first moment to the last, where growth was asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) growth_pages: Option<i64>,
    /// Blocks that were freed as a whole
    pub(crate) freed: u64,
    /// How long these lived on average; absent where none was freed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lifetime_mean_ns: Option<u64>,
    pub(crate) allocs_per_second: f64,
}

impl PageLine {
    fn new(group: PageGroup, is_growth: bool, seconds: f64) -> Self {
        let signed = |pages: Option<&u64>| pages.copied().unwrap_or(0) as i64;
        let growth = signed(group.live.last()) - signed(group.live.first());
        Self {
            names: group.names,
            stack: group.stack,
            allocs: group.allocs,
            pages: group.pages,
            growth_pages: is_growth.then_some(growth),
            live_pages: group.live,
            freed: group.ended,
            lifetime_mean_ns: (group.ended > 0).then_some(group.lifetime_mean_ns),
            allocs_per_second: if seconds > 0.0 { group.allocs as f64 / seconds } else { 0.0 },
        }
    }

    /// Returns the pages that were alive at the first moment, which is the end where no other is asked for.
    fn first(&self) -> u64 {
        self.live_pages.first().copied().unwrap_or(0)
    }
}

impl PageTable {
    /// Makes a table; those of most pages at the first moment, or that grew most, stand first.
    pub(crate) fn new(
        by: Vec<String>,
        groups: Vec<PageGroup>,
        is_growth: bool,
        seconds: f64,
    ) -> Self {
        let line = |group| PageLine::new(group, is_growth, seconds);
        let mut groups: Vec<PageLine> = groups.into_iter().map(line).collect();
        groups.sort_by_key(|line| {
            let most = line.growth_pages.unwrap_or(line.first() as i64);
            std::cmp::Reverse((most, line.pages))
        });
        Self { by, groups, is_first: false }
    }
}

impl PagesAnswer {
    /// Makes the answer; `tables` are by all that is to be shown, and `total` is of one group.
    pub(crate) fn new(
        page_bytes: Option<u64>,
        (moments, tables, total): (Vec<MomentLine>, Vec<PageTable>, PageTable),
        holdings: &PageHoldings,
        waits: &[PageWaits],
        meta: &PageMeta,
        view: PagesView,
    ) -> Self {
        let kinds = PageKind::ALL.map(|kind| (kind.name().to_owned(), meta.count(kind)));
        let frees = [PageKind::Free, PageKind::FreeBatched].map(|kind| meta.count(kind));
        Self {
            page_bytes: page_bytes.unwrap_or(PAGE_BYTES),
            is_page_size_told: page_bytes.is_some(),
            moments,
            total: total.groups.into_iter().next().unwrap_or_default(),
            tables,
            events_by_kind: kinds.into_iter().filter(|(_, count)| *count > 0).collect(),
            freed_pages: holdings.freed_pages,
            older_frees: meta.older_frees,
            older_pages: meta.older_pages,
            implicit_frees: meta.implicit_frees,
            part_frees: meta.part_frees,
            failed_allocs: meta.failed_allocs,
            allocs_without_stack: meta.allocs_without_stack,
            waits: waits.iter().map(WaitLine::new).collect(),
            frees_recorded: frees.iter().sum::<u64>() > 0,
            view,
        }
    }

    fn bytes(&self, pages: u64) -> String {
        human(pages.saturating_mul(self.page_bytes) as f64, "B")
    }

    fn sentences(&self) -> Vec<String> {
        if !self.has_blocks() {
            let none = "The recording has neither allocations nor frees of pages.".to_owned();
            return std::iter::once(none).chain(self.waited()).collect();
        }
        let mut sentences = vec![self.live(), self.allocated()];
        sentences.extend(self.most());
        sentences.push(self.of_slabs());
        sentences.extend(self.waited());
        sentences.extend(self.unseen());
        if !self.is_page_size_told {
            sentences.push(format!(
                "The recording does not tell how large a page is: {} are taken.",
                human(PAGE_BYTES as f64, "B")
            ));
        }
        sentences
    }

    /// Returns whether pages were allocated or freed in the recording.
    fn has_blocks(&self) -> bool {
        self.frees_recorded || self.total.allocs + self.failed_allocs > 0
    }

    /// Says how many pages were alive at the moments.
    fn live(&self) -> String {
        if !self.frees_recorded {
            return "Frees of pages were not recorded, so nothing tells what is alive: pages count from their \
                    allocation to the end."
                .to_owned();
        }
        let moment = |(place, moment): (usize, &MomentLine)| {
            let pages = self.total.live_pages.get(place).copied().unwrap_or(0);
            format!("{} {} ({})", self.bytes(pages), moment.name, duration(moment.time_ns))
        };
        let moments: Vec<String> = self.moments.iter().enumerate().map(moment).collect();
        format!(
            "Of the pages that the trace saw allocated, these were alive: {}.",
            moments.join(", ")
        )
    }

    fn allocated(&self) -> String {
        let failed = match self.failed_allocs {
            0 => "none failed".to_owned(),
            failed => format!("{} of them failed", thousands(failed)),
        };
        format!(
            "{} of {} were recorded, and {failed}; {} of these pages were freed.",
            counted(self.total.allocs + self.failed_allocs, "allocation"),
            self.bytes(self.total.pages),
            self.bytes(self.freed_pages)
        )
    }

    /// Says who has most by what the first table is of.
    fn most(&self) -> Option<String> {
        let table = self.tables.iter().find(|table| table.is_first)?;
        let most = table.groups.first()?;
        let of = |line: &PageLine| line.growth_pages.unwrap_or(line.first() as i64) as f64;
        let share = 100.0 * of(most) / of(&self.total).max(1.0);
        let short = |name: &String| name.split(" < ").take(3).collect::<Vec<_>>().join(" < ");
        let names = most.names.iter().map(short).collect::<Vec<_>>().join(", ");
        Some(format!("Most by {}: {names} ({share:.0} %).", table.by.join(" and ")))
    }

    /// Says what of it is slabs', as far as stacks tell.
    fn of_slabs(&self) -> String {
        let table = self.tables.iter().find(|table| table.by == ["use"]);
        let pages = |name: &str| {
            let groups = table.iter().flat_map(|table| &table.groups);
            groups.filter(|line| line.names == [name]).map(PageLine::first).sum::<u64>()
        };
        let (slabs, untold) = (pages(USE_SLAB), pages(USE_UNTOLD));
        if untold == self.total.first() && untold > 0 {
            return "Which of them are slabs' cannot be told without call stacks (record --pages --stacks): flags such as \
                    __GFP_COMP do not prove it."
                .to_owned();
        }
        let untold = match untold {
            0 => String::new(),
            untold => format!("; of {} without a stack nothing tells", self.bytes(untold)),
        };
        format!("Slabs have {} of them{untold}.", self.bytes(slabs))
    }

    /// Says how long threads made room, and who did most.
    fn waited(&self) -> Option<String> {
        let of = |kind: WaitKind| {
            let lines = self.waits.iter().filter(move |line| line.kind == kind.name());
            let sum = |(waits, ns), line: &WaitLine| (waits + line.waits, ns + line.total_ns);
            let (waits, ns) = lines.fold((0, 0u64), sum);
            (waits > 0).then(|| format!("{} in {}", duration(ns), counted(waits, kind.name())))
        };
        let kinds: Vec<String> = WaitKind::ALL.into_iter().filter_map(of).collect();
        let most = self.waits.first().filter(|_| !kinds.is_empty())?;
        let order = most.order.map_or(String::new(), |order| format!(" for order {order}"));
        Some(format!(
            "Threads made room for pages: {}; most of it {} in {}{order}.",
            kinds.join(", "),
            most.kind,
            most.program
        ))
    }

    /// Says what the trace did not see.
    fn unseen(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.older_frees > 0 {
            parts.push(format!(
                "{} were freed that were allocated before the recording, or whose event was lost: they are in no group",
                self.bytes(self.older_pages)
            ));
        }
        if self.implicit_frees > 0 {
            let were = if self.implicit_frees == 1 { "was" } else { "were" };
            parts.push(format!(
                "{} {were} given again without a free in between",
                counted(self.implicit_frees, "block")
            ));
        }
        (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
    }

    fn waits_section(&self) -> Option<Section> {
        let fields = [
            field::name("wait", "kind", |line: &WaitLine| &line.kind),
            field::name("program", "program", |line: &WaitLine| &line.program),
            field::cell("order", "order", |line: &WaitLine| {
                line.order.map_or(Cell::Missing, |order| Cell::Count(order.into()))
            }),
            field::count("times", "waits", |line: &WaitLine| line.waits),
            field::cell("total", "total_ns", |line: &WaitLine| Cell::Ns(line.total_ns)),
            field::cell("longest", "longest_ns", |line: &WaitLine| Cell::Ns(line.longest_ns)),
            field::count("no end", "unended", |line: &WaitLine| line.unended),
        ];
        let how = "Direct reclaim: a thread frees pages of others before it gets its own. Cgroup reclaim: it frees pages of a \
                   cgroup at its limit. Compaction: it moves pages together. Waits that began before the recording or ended \
                   after it count under \"no end\" alone.";
        let table = Table::of(&self.waits, fields);
        let section = || Section::named("waits", "Waits", vec![Item::table("", how, table)]);
        (!self.waits.is_empty()).then(section)
    }

    fn table(&self, table: &PageTable) -> Table {
        let mut fields = Vec::new();
        for (place, by) in table.by.iter().enumerate() {
            fields.push(field::text_by(by, by, move |line: &PageLine| line.names[place].clone()));
        }
        let page_bytes = self.page_bytes;
        let is_known = self.frees_recorded;
        for (place, moment) in self.moments.iter().enumerate() {
            let key = format!("live_bytes_{place}");
            fields.push(field::by(&moment.name, &key, move |line: &PageLine| {
                let pages = line.live_pages.get(place).copied().filter(|_| is_known);
                pages.map_or(Cell::Missing, |pages| Cell::Bytes(pages.saturating_mul(page_bytes)))
            }));
        }
        if self.view.is_growth {
            fields.push(field::by("growth", "growth_bytes", move |line: &PageLine| {
                let bytes = line.growth_pages.unwrap_or(0).saturating_mul(page_bytes as i64);
                Cell::SignedBytes(bytes)
            }));
        }
        fields.extend([
            field::by("allocated", "bytes_alloc", move |line: &PageLine| {
                Cell::Bytes(line.pages.saturating_mul(page_bytes))
            }),
            field::count("allocs", "allocs", |line: &PageLine| line.allocs),
            field::cell("mean life", "lifetime_mean_ns", |line: &PageLine| {
                line.lifetime_mean_ns.map_or(Cell::Missing, Cell::Ns)
            })
            .where_room(),
            field::count("freed", "freed", |line: &PageLine| line.freed).on_page(),
            field::cell("allocs/s", "allocs_per_second", |line: &PageLine| {
                Cell::Number(line.allocs_per_second, 1)
            })
            .on_page(),
        ]);
        Table::of_fields(&table.groups, fields)
    }
}

/// What the columns of the tables are.
const HOW: &str = "Only pages that the trace saw allocated count. Mean life: of blocks that were freed as a whole.";

impl Answer for PagesAnswer {
    const SCHEMA: &'static str = "slablab.stat.pages/1";

    fn document(&self) -> Document {
        let PagesView { file, trace, .. } = &self.view;
        let kinds = [
            field::name("event", "event", |(name, _): &(String, u64)| name),
            field::count("events", "events", |(_, events)| *events),
        ];
        let kinds = Table::of(&self.events_by_kind, kinds);
        let mut sections: Vec<Section> = Vec::new();
        for table in &self.tables {
            let name = table.by.join("-").replace(' ', "-");
            let how = if sections.is_empty() { HOW } else { "" };
            let items = vec![Item::table("", how, self.table(table))];
            let title = format!("By {}", table.by.join(" and "));
            sections.push(match table.is_first {
                true => Section::first(&name, title, items),
                false => Section::named(&name, title, items),
            });
        }
        let how = "Beside allocations and frees: what went between the lists of CPUs and zones (zone_locked, pcpu_drain), and \
                   blocks of another migrate type that were taken (extfrag).";
        sections.push(Section::named("events", "", vec![Item::table("Events", how, kinds)]));
        sections.extend(self.waits_section());
        let mut facts = facts(file, trace, None);
        facts.push(Fact::new("frees of older pages", thousands(self.older_frees)));
        Document {
            title: format!("Pages of {file}"),
            question: "Who took pages, and which were not freed?".to_owned(),
            answers: self.sentences(),
            sections,
            source: source(file, trace, None),
            facts,
            ..Document::default()
        }
    }
}
