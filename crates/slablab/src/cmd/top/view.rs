//! The visible part of a frame: rows of call sites or of caches whose names fit, in the chosen order.

use clap::ValueEnum;
use serde::Serialize;
use slablab_trace::{LiveFrame, LiveRow};

use crate::output::Cell;

/// The subject of a row.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
// Comments of its variants would stand in `--help`, which lists them in one line.
pub(crate) enum By {
    Site,
    Cache,
}

impl By {
    /// Names what a row is of.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            By::Site => "call site",
            By::Cache => "cache",
        }
    }

    /// Names the rows, as `--show` does.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            By::Site => "sites",
            By::Cache => "caches",
        }
    }

    /// Names what stands beside a row: of a call site its cache or its line of the source, of a cache that grows the call
    /// site that keeps most of it.
    pub(crate) fn place(self) -> &'static str {
        match self {
            By::Site => "cache or line",
            By::Cache => "call site",
        }
    }

    /// Returns the numbers of a row, the most telling first.
    pub(crate) fn numbers(self) -> [SortBy; 7] {
        use SortBy::{Allocs, Frees, Given, Growth, Live, Slabs, Waste};
        match self {
            By::Site => [Allocs, Given, Waste, Frees, Live, Growth, Slabs],
            By::Cache => [Slabs, Live, Growth, Allocs, Frees, Waste, Given],
        }
    }

    /// Returns how many of these have a column on every screen: beside call sites stand program and owner.
    pub(crate) fn numbers_always(self) -> usize {
        match self {
            By::Site => 2,
            By::Cache => 3,
        }
    }

    /// Returns the column by which rows are sorted by default.
    pub(crate) fn usual_sort(self) -> SortBy {
        self.numbers()[0]
    }
}

/// The columns that rows are sorted by.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum SortBy {
    Allocs,
    Frees,
    // Bytes given a second.
    Given,
    // Share of the bytes given that were not requested.
    Waste,
    // Live bytes.
    Live,
    // Growth since the start.
    Growth,
    // Bytes of slabs.
    Slabs,
    Name,
}

impl SortBy {
    /// Returns what stands above the column.
    pub(crate) fn head(self) -> &'static str {
        match self {
            SortBy::Allocs => "allocs/s",
            SortBy::Frees => "frees/s",
            SortBy::Given => "given/s",
            SortBy::Waste => "waste",
            SortBy::Live => "live",
            SortBy::Growth => "growth",
            SortBy::Slabs => "slabs",
            SortBy::Name => "name",
        }
    }

    /// Returns what programs call the column.
    pub(crate) fn key(self) -> &'static str {
        match self {
            SortBy::Allocs => "allocs_per_second",
            SortBy::Frees => "frees_per_second",
            SortBy::Given => "bytes_per_second",
            SortBy::Waste => "waste_share",
            SortBy::Live => "live_bytes",
            SortBy::Growth => "growth_bytes",
            SortBy::Slabs => "slab_bytes",
            SortBy::Name => "name",
        }
    }

    /// Returns the column's value in `row`.
    pub(crate) fn cell(self, row: &LiveRow) -> Cell {
        let rate = |rate: Option<f64>| rate.map(|rate| Cell::Count(rate.round() as u64));
        let cell = match self {
            SortBy::Allocs => rate(row.allocs_per_second),
            SortBy::Frees => rate(row.frees_per_second),
            SortBy::Given => row.bytes_per_second.map(|bytes| Cell::Bytes(bytes as u64)),
            SortBy::Waste => row.waste_share.map(Cell::Share),
            SortBy::Live => row.live_bytes.map(Cell::Bytes),
            SortBy::Growth => row.growth_bytes.map(Cell::SignedBytes),
            SortBy::Slabs => row.slab_bytes.map(Cell::Bytes),
            SortBy::Name => Some(Cell::text(&row.name)),
        };
        cell.unwrap_or(Cell::Missing)
    }
}

/// Which way a column is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    GreatestFirst,
    LeastFirst,
}

/// What is shown.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) by: By,
    pub(crate) sort: SortBy,
    pub(crate) order: Order,
    pub(crate) filter: String,
}

impl View {
    pub(crate) fn new(by: By, sort: Option<SortBy>, filter: &str) -> Self {
        let sort = sort.unwrap_or_else(|| by.usual_sort());
        Self { by, sort, order: Order::GreatestFirst, filter: filter.to_owned() }
    }

    /// Changes between call sites and caches.
    pub(crate) fn turn(&mut self) {
        self.by = match self.by {
            By::Site => By::Cache,
            By::Cache => By::Site,
        };
        self.sort = self.by.usual_sort();
    }

    /// Sorts by the column `step` columns further.
    pub(crate) fn sort_by_next(&mut self, step: isize) {
        let columns = SortBy::value_variants();
        let at = columns.iter().position(|column| *column == self.sort).unwrap_or(0) as isize;
        self.sort = columns[(at + step).rem_euclid(columns.len() as isize) as usize];
    }

    /// Turns the order round.
    pub(crate) fn reverse(&mut self) {
        self.order = match self.order {
            Order::GreatestFirst => Order::LeastFirst,
            Order::LeastFirst => Order::GreatestFirst,
        };
    }

    /// Returns the rows to be shown.
    pub(crate) fn rows<'a>(&self, frame: &'a LiveFrame) -> Vec<&'a LiveRow> {
        let all = match self.by {
            By::Site => &frame.sites,
            By::Cache => &frame.caches,
        };
        let fits =
            |row: &&LiveRow| row.name.contains(&self.filter) || row.place.contains(&self.filter);
        let mut rows: Vec<_> = all.iter().filter(fits).collect();
        let by = |sort: SortBy, a: &LiveRow, b: &LiveRow| match self.order {
            Order::GreatestFirst => value(sort, b).total_cmp(&value(sort, a)),
            Order::LeastFirst => value(sort, a).total_cmp(&value(sort, b)),
        };
        rows.sort_by(|a, b| {
            // Names ascend where all else is equal, and when they are asked for.
            let names = a.name.cmp(&b.name);
            match (self.sort, self.order) {
                (SortBy::Name, Order::GreatestFirst) => names,
                (SortBy::Name, Order::LeastFirst) => names.reverse(),
                // A column without values, as growth of call sites has where no allocinfo is, tells nothing apart.
                (sort, _) => by(sort, a, b).then(by(self.by.usual_sort(), a, b)).then(names),
            }
        });
        rows
    }
}

/// Returns by what a row is sorted: what is not known is less than any number.
fn value(sort: SortBy, row: &LiveRow) -> f64 {
    let level = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    let value = match sort {
        SortBy::Allocs => row.allocs_per_second,
        SortBy::Frees => row.frees_per_second,
        SortBy::Given => row.bytes_per_second,
        SortBy::Waste => row.waste_share,
        SortBy::Live => level(row.live_bytes),
        SortBy::Growth => row.growth_bytes.map(|bytes| bytes as f64),
        SortBy::Slabs => level(row.slab_bytes),
        SortBy::Name => None,
    };
    value.unwrap_or(f64::NEG_INFINITY)
}

/// Says what it means that events were lost.
pub(crate) fn events_lost_mean(allocs_counted: bool) -> &'static str {
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

    /// Without allocinfo the growth of a call site is not known: the order used to be that of the alphabet.
    #[test]
    fn a_column_without_values_falls_back_to_the_usual_one() {
        assert_eq!(names(&View::new(By::Site, Some(SortBy::Growth), "")), ["b", "a", "ab"]);
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
