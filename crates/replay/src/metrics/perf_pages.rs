//! The numbers of `perf kmem --page --caller --alloc stat`, to the last digit.
//!
//! # How it works
//! The tool perf keeps the last allocation at each page that is not free. A free of a page without one counts apart. Rows are
//! kept by call site, order, migrate type and flags, and once more by page; no free takes anything off them.
//!
//! # Source
//! Linux counterpart: tools/perf/builtin-kmem.c @ 6.1 (behaviour). Two traits are kept on purpose: a free counts with the order
//! of its own event, also where that is another than at the allocation; allocations that failed are in the totals and in no
//! row.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

/// An allocation of pages as perf sees it.
#[derive(Debug, Clone, Copy)]
pub struct PerfPageAlloc {
    /// A number that stands for the function that called the page allocator; calls in the order of these
    pub callsite: u64,
    /// The page's number; `None` of an allocation that failed
    pub page: Option<u64>,
    /// Two to the power of this pages
    pub order: u32,
    /// The migrate type
    pub migrate_type: u32,
    /// The flags
    pub gfp: u32,
}

/// A row of perf's tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerfPageRow {
    /// Of the table of pages the page, else 0
    pub page: u64,
    /// The number of the call site; of the table of pages that of the last allocation
    pub callsite: u64,
    /// Two to the power of this pages
    pub order: u32,
    /// The migrate type
    pub migrate_type: u32,
    /// The flags
    pub gfp: u32,
    /// Allocations
    pub hits: u64,
    /// Their bytes
    pub bytes: u64,
}

/// The summary below perf's tables: events, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PerfPagesTotals {
    /// "Total allocation requests"
    pub allocs: (u64, u64),
    /// "Total free requests"
    pub frees: (u64, u64),
    /// "Total alloc+freed requests"
    pub alloc_freed: (u64, u64),
    /// "Total free-only requests"
    pub free_only: (u64, u64),
    /// "Total allocation failures"
    pub failures: (u64, u64),
}

impl PerfPagesTotals {
    /// Returns "Total alloc-only requests".
    #[must_use]
    pub fn alloc_only(&self) -> (u64, u64) {
        let (allocs, freed) = (self.allocs, self.alloc_freed);
        (allocs.0.wrapping_sub(freed.0), allocs.1.wrapping_sub(freed.1))
    }
}

/// Rows of a table by page, call site, order, migrate type and flags.
type Rows = BTreeMap<(u64, u64, u32, u32, u32), PerfPageRow>;

/// Counts like `perf kmem --page stat`.
#[derive(Debug)]
pub struct PerfPages {
    page_bytes: u64,
    /// The pages that are not free
    live: HashSet<u64>,
    callers: Rows,
    pages: Rows,
    orders: BTreeMap<(u32, u32), u64>,
    totals: PerfPagesTotals,
}

fn add(to: &mut (u64, u64), bytes: u64) {
    *to = (to.0 + 1, to.1.wrapping_add(bytes));
}

impl PerfPages {
    /// Starts counting on a machine with pages of this size.
    #[must_use]
    pub fn new(page_bytes: u32) -> Self {
        let (callers, pages) = (Rows::new(), Rows::new());
        Self {
            page_bytes: page_bytes.into(),
            live: HashSet::new(),
            callers,
            pages,
            orders: BTreeMap::new(),
            totals: PerfPagesTotals::default(),
        }
    }

    fn bytes(&self, order: u32) -> u64 {
        self.page_bytes.checked_shl(order).unwrap_or(0)
    }

    /// Counts an allocation.
    pub fn alloc(&mut self, event: &PerfPageAlloc) {
        let &PerfPageAlloc { callsite, page, order, migrate_type, gfp } = event;
        let bytes = self.bytes(order);
        add(&mut self.totals.allocs, bytes);
        let Some(page) = page else {
            add(&mut self.totals.failures, bytes);
            return;
        };
        self.live.insert(page);
        let row = PerfPageRow { page: 0, callsite, order, migrate_type, gfp, hits: 0, bytes: 0 };
        let caller = self.callers.entry((0, callsite, order, migrate_type, gfp)).or_insert(row);
        (caller.hits, caller.bytes) = (caller.hits + 1, caller.bytes.wrapping_add(bytes));
        let of_page = self.pages.entry((page, 0, order, migrate_type, gfp)).or_insert(row);
        (of_page.page, of_page.callsite) = (page, callsite);
        (of_page.hits, of_page.bytes) = (of_page.hits + 1, of_page.bytes.wrapping_add(bytes));
        *self.orders.entry((order, migrate_type)).or_default() += 1;
    }

    /// Counts a free.
    pub fn free(&mut self, page: u64, order: u32) {
        let bytes = self.bytes(order);
        add(&mut self.totals.frees, bytes);
        let totals = &mut self.totals;
        match self.live.remove(&page) {
            true => add(&mut totals.alloc_freed, bytes),
            false => add(&mut totals.free_only, bytes),
        }
    }

    /// Returns the summary.
    #[must_use]
    pub fn totals(&self) -> PerfPagesTotals {
        self.totals
    }

    /// Returns the rows by caller, in perf's order: most bytes first, then most hits.
    #[must_use]
    pub fn callers(&self) -> Vec<PerfPageRow> {
        sorted(&self.callers)
    }

    /// Returns the rows by page.
    #[must_use]
    pub fn pages(&self) -> Vec<PerfPageRow> {
        sorted(&self.pages)
    }

    /// Returns how many allocations there were of an order and a migrate type.
    #[must_use]
    pub fn of_order(&self, order: u32, migrate_type: u32) -> u64 {
        self.orders.get(&(order, migrate_type)).copied().unwrap_or(0)
    }
}

fn sorted(rows: &Rows) -> Vec<PerfPageRow> {
    let mut rows: Vec<PerfPageRow> = rows.values().copied().collect();
    // Stable: where both are equal, the order of the keys.
    rows.sort_by_key(|row| std::cmp::Reverse((row.bytes, row.hits)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alloc(page: u64, order: u32, gfp: u32) -> PerfPageAlloc {
        PerfPageAlloc { callsite: 7, page: Some(page), order, migrate_type: 1, gfp }
    }

    #[test]
    fn a_page_that_is_freed_twice_was_allocated_once() {
        let mut perf = PerfPages::new(4096);
        perf.alloc(&alloc(5, 1, 0));
        perf.free(5, 1);
        perf.free(5, 0);
        let totals = perf.totals();
        assert_eq!((totals.alloc_freed, totals.free_only), ((1, 8192), (1, 4096)));
        assert_eq!((totals.alloc_only(), totals.frees), ((0, 0), (2, 12288)));
    }

    #[test]
    fn failed_allocations_are_in_the_totals_and_in_no_row() {
        let mut perf = PerfPages::new(4096);
        perf.alloc(&PerfPageAlloc { page: None, ..alloc(0, 4, 0) });
        assert_eq!((perf.totals().allocs, perf.totals().failures), ((1, 65536), (1, 65536)));
        assert!(perf.callers().is_empty() && perf.of_order(4, 1) == 0);
    }

    #[test]
    fn rows_are_kept_by_order_type_and_flags_and_sorted_by_bytes() {
        let mut perf = PerfPages::new(4096);
        [(5, 0, 1), (5, 0, 1), (5, 0, 2), (9, 3, 1)]
            .into_iter()
            .for_each(|(page, order, gfp)| perf.alloc(&alloc(page, order, gfp)));
        let rows: Vec<_> = perf.pages().iter().map(|row| (row.page, row.gfp, row.hits)).collect();
        assert_eq!(rows, [(9, 1, 1), (5, 1, 2), (5, 2, 1)]);
        assert_eq!(perf.callers().len(), 3);
        assert_eq!(perf.of_order(0, 1), 3);
    }
}
