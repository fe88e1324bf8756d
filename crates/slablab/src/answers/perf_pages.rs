//! Pages as `perf kmem --page --caller --alloc stat` counts and prints them.

use serde::Serialize;
use slablab_linux::{Gfp, Release};
use slablab_replay::{PerfPageRow, PerfPages, PerfPagesTotals};
use slablab_report::{Cell, Document, Item, Section, Table, field};

use crate::output::Answer;

/// What `slablab stat --pages --compat perf` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PerfPagesAnswer {
    /// Events and their bytes, of each line of perf's summary
    pub(crate) totals: PerfPagesTotals,
    /// By call site, order, migrate type and flags
    pub(crate) callers: Vec<PerfPageLine>,
    /// By page, order, migrate type and flags
    pub(crate) pages: Vec<PerfPageLine>,
    /// Allocations by order, in each by migrate type
    pub(crate) orders: Vec<Vec<u64>>,
    /// At most this many rows of each table are shown
    #[serde(skip)]
    pub(crate) lines: Option<usize>,
}

/// A row.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct PerfPageLine {
    /// The page's number; absent in rows by call site
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
    bytes: u64,
    hits: u64,
    order: u32,
    migrate_type: &'static str,
    gfp: u32,
    /// The flags by name
    gfp_flags: String,
    /// The flags as perf shortens them
    gfp_short: String,
    callsite: String,
}

/// Orders and migrate types that perf has columns for.
const ORDERS: u32 = 11;
const TYPES: [&str; 5] = ["UNMOVABL", "RECLAIM", "MOVABLE", "RESERVED", "CMA/ISLT"];

/// What perf calls flags in its tables; longer names stand before those that they begin with.
const SHORT: [(&str, &str); 35] = [
    ("GFP_TRANSHUGE", "THP"),
    ("GFP_TRANSHUGE_LIGHT", "THL"),
    ("GFP_HIGHUSER_MOVABLE", "HUM"),
    ("GFP_HIGHUSER", "HU"),
    ("GFP_USER", "U"),
    ("GFP_KERNEL_ACCOUNT", "KAC"),
    ("GFP_KERNEL", "K"),
    ("GFP_NOFS", "NF"),
    ("GFP_ATOMIC", "A"),
    ("GFP_NOIO", "NI"),
    ("GFP_NOWAIT", "NW"),
    ("GFP_DMA", "D"),
    ("__GFP_HIGHMEM", "HM"),
    ("GFP_DMA32", "D32"),
    ("__GFP_HIGH", "H"),
    ("__GFP_ATOMIC", "_A"),
    ("__GFP_IO", "I"),
    ("__GFP_FS", "F"),
    ("__GFP_NOWARN", "NWR"),
    ("__GFP_RETRY_MAYFAIL", "R"),
    ("__GFP_NOFAIL", "NF"),
    ("__GFP_NORETRY", "NR"),
    ("__GFP_COMP", "C"),
    ("__GFP_ZERO", "Z"),
    ("__GFP_NOMEMALLOC", "NMA"),
    ("__GFP_MEMALLOC", "MA"),
    ("__GFP_HARDWALL", "HW"),
    ("__GFP_THISNODE", "TN"),
    ("__GFP_RECLAIMABLE", "RC"),
    ("__GFP_MOVABLE", "M"),
    ("__GFP_ACCOUNT", "AC"),
    ("__GFP_WRITE", "WR"),
    ("__GFP_RECLAIM", "R"),
    ("__GFP_DIRECT_RECLAIM", "DR"),
    ("__GFP_KSWAPD_RECLAIM", "KR"),
];

fn short(flags: &str) -> String {
    let name = |flag: &str| {
        let known = SHORT.iter().find(|(name, _)| *name == flag);
        known.map_or_else(|| flag.to_owned(), |(_, short)| (*short).to_owned())
    };
    flags.split('|').map(name).collect::<Vec<_>>().join("|")
}

impl PerfPagesAnswer {
    /// Makes the answer; `name` gives the name of a call site.
    pub(crate) fn new(
        perf: &PerfPages,
        release: Option<Release>,
        lines: Option<usize>,
        name: impl Fn(u64) -> String,
    ) -> Self {
        let line = |row: &PerfPageRow, page: Option<u64>| {
            let gfp_flags = Gfp(row.gfp).text(release).replace(" | ", "|");
            PerfPageLine {
                page,
                bytes: row.bytes,
                hits: row.hits,
                order: row.order,
                migrate_type: TYPES.get(row.migrate_type as usize).unwrap_or(&"UNKNOWN"),
                gfp: row.gfp,
                gfp_short: short(&gfp_flags),
                gfp_flags,
                callsite: name(row.callsite),
            }
        };
        let types = 0..TYPES.len() as u32;
        let of_order = |order| types.clone().map(|kind| perf.of_order(order, kind)).collect();
        Self {
            totals: perf.totals(),
            callers: perf.callers().iter().map(|row| line(row, None)).collect(),
            pages: perf.pages().iter().map(|row| line(row, Some(row.page))).collect(),
            orders: (0..ORDERS).map(of_order).collect(),
            lines,
        }
    }

    /// Returns perf's text: the same columns, widths and words, so that eyes and scripts find their way.
    fn text(&self) -> Vec<String> {
        let width = self.callers.iter().map(|line| line.gfp_short.len()).max().unwrap_or(0).max(9);
        let rule = "-".repeat(105);
        let mut flags: Vec<_> =
            self.callers.iter().map(|line| (line.gfp, &line.gfp_short, &line.gfp_flags)).collect();
        flags.sort_unstable();
        flags.dedup();
        let mut text: Vec<String> = ["#", "# GFP flags", "# ---------"].map(str::to_owned).into();
        text.extend(
            flags.iter().map(|(gfp, short, long)| format!("# {gfp:08x}: {short:>width$}: {long}")),
        );
        let head = format!(
            "Total alloc (KB) | Hits      | Order | Mig.type | {:<width$} | Callsite",
            "GFP flags"
        );
        let dots =
            format!("...              | ...       | ...   | ...      | {:<width$} | ...", "...");
        let tables = [(&self.callers, ""), (&self.pages, "PFN              | ")];
        for (rows, of_page) in tables {
            text.extend([String::new(), rule.clone(), format!(" {of_page}{head}"), rule.clone()]);
            let shown = &rows[..self.lines.unwrap_or(usize::MAX).min(rows.len())];
            text.extend(shown.iter().map(|line| {
                let page = line.page.map_or_else(String::new, |page| format!("{page:>16} | "));
                format!(
                    " {page}{:>16} | {:>9} | {:>5} | {:>8} | {:<width$} | {}",
                    line.bytes / 1024,
                    line.hits,
                    line.order,
                    line.migrate_type,
                    line.gfp_short,
                    line.callsite
                )
            }));
            if shown.len() < rows.len() {
                let of_page = if of_page.is_empty() { "" } else { "...              | " };
                text.push(format!(" {of_page}{dots}"));
            }
            text.push(rule.clone());
        }
        text.extend(self.summary());
        text
    }

    fn summary(&self) -> Vec<String> {
        let totals = &self.totals;
        let line = |what: &str, (events, bytes): (u64, u64)| {
            format!("{what:<30}: {events:>16}   [ {:>16} KB ]", bytes / 1024)
        };
        let mut text = vec![
            String::new(),
            "SUMMARY (page allocator)".to_owned(),
            "========================".to_owned(),
            line("Total allocation requests", totals.allocs),
            line("Total free requests", totals.frees),
            String::new(),
            line("Total alloc+freed requests", totals.alloc_freed),
            line("Total alloc-only requests", totals.alloc_only()),
            line("Total free-only requests", totals.free_only),
            String::new(),
            line("Total allocation failures", totals.failures),
            String::new(),
            "Order     Unmovable   Reclaimable       Movable      Reserved  CMA/Isolated"
                .to_owned(),
            "-----  ------------  ------------  ------------  ------------  ------------"
                .to_owned(),
        ];
        text.extend(self.orders.iter().enumerate().map(|(order, of)| {
            let cell = |count: &u64| match count {
                0 => format!("  {:>12}", "."),
                count => format!("  {count:>12}"),
            };
            format!("{order:>5}{}", of.iter().map(cell).collect::<String>())
        }));
        text
    }
}

impl Answer for PerfPagesAnswer {
    const SCHEMA: &'static str = "slablab.stat.perf-pages/1";

    fn document(&self) -> Document {
        let table = |rows: &[PerfPageLine]| {
            let fields = vec![
                field::by("page", "page", |line: &PerfPageLine| {
                    line.page.map_or(Cell::Missing, Cell::Count)
                }),
                field::bytes("allocated", "bytes", |line: &PerfPageLine| line.bytes),
                field::count("allocs", "hits", |line: &PerfPageLine| line.hits),
                field::count("order", "order", |line: &PerfPageLine| line.order.into()),
                field::text("migrate type", "migrate_type", |line: &PerfPageLine| {
                    line.migrate_type.to_owned()
                }),
                field::text("flags", "gfp_flags", |line: &PerfPageLine| line.gfp_flags.clone()),
                field::text("call site", "callsite", |line: &PerfPageLine| line.callsite.clone()),
            ];
            Table::of_fields(rows, fields)
        };
        Document {
            title: "perf kmem --page stat".to_owned(),
            sections: vec![
                Section::first("perf", "", vec![Item::Lines(self.text())]),
                Section::data("callers", "Callers", table(&self.callers)),
                Section::data("pages", "Pages", table(&self.pages)),
            ],
            ..Document::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_shortened_as_perf_does() {
        assert_eq!(short("GFP_NOFS|__GFP_HIGHMEM|__GFP_MOVABLE|__GFP_NOWARN"), "NF|HM|M|NWR");
        assert_eq!(short("GFP_NOWAIT|__GFP_OF_TOMORROW"), "NW|__GFP_OF_TOMORROW");
    }
}
