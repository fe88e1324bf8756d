//! What of a frame is shown: rows of call sites or of caches, those whose names fit, in the order asked for.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_trace::{LiveFrame, LiveRow};

/// What a row is of.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum By {
    /// Call sites
    Site,
    /// Caches
    Cache,
}

/// The columns that rows are sorted by.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SortBy {
    /// Allocations a second
    Allocs,
    /// Frees a second
    Frees,
    /// Bytes given a second
    Given,
    /// Share of the bytes that nobody asked for
    Waste,
    /// Live bytes
    Live,
    /// Growth since the start
    Growth,
    /// Bytes of slabs
    Slabs,
    /// Name
    Name,
}

/// Which way a column is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    GreatestFirst,
    LeastFirst,
}

/// What is shown.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) by: By,
    pub(super) sort: SortBy,
    pub(super) order: Order,
    pub(super) filter: String,
}

impl View {
    pub(super) fn new(by: By, sort: Option<SortBy>, filter: &str) -> Self {
        let sort = sort.unwrap_or_else(|| usual(by));
        Self { by, sort, order: Order::GreatestFirst, filter: filter.to_owned() }
    }

    /// Changes between call sites and caches.
    pub(super) fn turn(&mut self) {
        self.by = match self.by {
            By::Site => By::Cache,
            By::Cache => By::Site,
        };
        self.sort = usual(self.by);
    }

    /// Sorts by the column `step` columns further.
    pub(super) fn sort_by_next(&mut self, step: isize) {
        let columns = SortBy::value_variants();
        let at = columns.iter().position(|column| *column == self.sort).unwrap_or(0) as isize;
        self.sort = columns[(at + step).rem_euclid(columns.len() as isize) as usize];
    }

    /// Turns the order round.
    pub(super) fn reverse(&mut self) {
        self.order = match self.order {
            Order::GreatestFirst => Order::LeastFirst,
            Order::LeastFirst => Order::GreatestFirst,
        };
    }

    /// Returns the rows to be shown.
    pub(super) fn rows<'a>(&self, frame: &'a LiveFrame) -> Vec<&'a LiveRow> {
        let all = match self.by {
            By::Site => &frame.sites,
            By::Cache => &frame.caches,
        };
        let fits =
            |row: &&LiveRow| row.name.contains(&self.filter) || row.place.contains(&self.filter);
        let mut rows: Vec<_> = all.iter().filter(fits).collect();
        rows.sort_by(|a, b| {
            let order = self.key(a).total_cmp(&self.key(b));
            let order = match self.order {
                Order::GreatestFirst => order.reverse(),
                Order::LeastFirst => order,
            };
            // Names ascend where all else is equal, and when they are asked for.
            let names = a.name.cmp(&b.name);
            order.then(if self.sort == SortBy::Name && self.order == Order::LeastFirst {
                names.reverse()
            } else {
                names
            })
        });
        rows
    }

    fn key(&self, row: &LiveRow) -> f64 {
        let level = |bytes: Option<u64>| bytes.map_or(-1.0, |bytes| bytes as f64);
        match self.sort {
            SortBy::Allocs => row.allocs_per_second.unwrap_or(-1.0),
            SortBy::Frees => row.frees_per_second.unwrap_or(-1.0),
            SortBy::Given => row.bytes_per_second.unwrap_or(-1.0),
            SortBy::Waste => row.waste_share.unwrap_or(-1.0),
            SortBy::Live => level(row.live_bytes),
            SortBy::Growth => row.growth_bytes.map_or(f64::NEG_INFINITY, |bytes| bytes as f64),
            SortBy::Slabs => level(row.slab_bytes),
            SortBy::Name => 0.0,
        }
    }
}

fn usual(by: By) -> SortBy {
    match by {
        By::Site => SortBy::Allocs,
        By::Cache => SortBy::Slabs,
    }
}

/// Says what it means that events were lost.
pub(super) fn events_lost_mean(allocs_counted: bool) -> &'static str {
    if allocs_counted { "shares are those of the others" } else { "rates are too low" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(view: &View) -> Vec<String> {
        let row = |name: &str, allocs, live| LiveRow {
            name: name.into(),
            allocs_per_second: allocs,
            live_bytes: live,
            ..LiveRow::default()
        };
        let sites =
            vec![row("a", Some(1.0), None), row("b", Some(2.0), Some(5)), row("ab", None, Some(9))];
        let frame = LiveFrame { sites, ..LiveFrame::default() };
        view.rows(&frame).iter().map(|row| row.name.clone()).collect()
    }

    #[test]
    fn rows_are_sorted_both_ways_and_filtered() {
        let mut view = View::new(By::Site, None, "");
        assert_eq!(names(&view), ["b", "a", "ab"]);
        view.reverse();
        assert_eq!(names(&view), ["ab", "a", "b"]);
        view.sort_by_next(-1);
        assert_eq!(
            (view.sort, names(&view)),
            (SortBy::Name, ["b", "ab", "a"].map(str::to_owned).to_vec())
        );
        view.filter = "b".into();
        assert_eq!(names(&view), ["b", "ab"]);
        view.turn();
        assert_eq!((view.by, view.sort, names(&view).len()), (By::Cache, SortBy::Slabs, 0));
    }
}
