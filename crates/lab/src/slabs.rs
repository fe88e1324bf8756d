//! The caches of guests: what each holds after a load, and which of them explain the difference of two variants.
//!
//! # How it works
//! A guest sends `/proc/slabinfo` after a load. A row keeps the caches by point in `detail.slabs`. Of the runs of a variant
//! the median counts, and a cache that a run lacks holds nothing there. What `Slab:` has beyond the listed caches are
//! large blocks of kmalloc, and slabs that came or went between the two readings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slablab_linux::SlabInfo;
use slablab_report::{Cell, Table, field};
use slablab_stats::median;

use crate::journal::Row;

/// The key in the detail of a row.
pub(crate) const DETAIL: &str = "slabs";
/// Caches in a sentence.
const NAMES_MAX: usize = 4;
/// Bytes of a page in the guests that the lab boots.
const PAGE_BYTES: u64 = 4096;

/// What a cache holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    objects: u64,
    object_bytes: u64,
    slab_bytes: u64,
}

/// The caches of a guest by name.
pub(crate) type Caches = BTreeMap<String, Held>;

/// A cache that holds more or less in another variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CacheChange {
    /// Its name
    pub name: String,
    /// Bytes of its slabs in the baseline
    pub before_bytes: u64,
    /// Bytes of its slabs in the candidate
    pub after_bytes: u64,
    /// Objects in use in the baseline
    pub before_objects: u64,
    /// Objects in use in the candidate
    pub after_objects: u64,
    /// Bytes between objects in the baseline, 0 where it has no such cache
    pub before_object_bytes: u64,
    /// Bytes between objects in the candidate, 0 where it has no such cache
    pub after_object_bytes: u64,
}

impl CacheChange {
    /// Returns how many bytes more the candidate's slabs take.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        self.after_bytes as i64 - self.before_bytes as i64
    }

    /// Returns how many bytes more its objects take: the part that the load explains, and not how they lie in slabs.
    #[must_use]
    pub fn object_bytes(&self) -> i64 {
        let of = |objects: u64, bytes: u64| objects.saturating_mul(bytes) as i64;
        of(self.after_objects, self.after_object_bytes)
            - of(self.before_objects, self.before_object_bytes)
    }

    /// Returns the table of `changes`.
    #[must_use]
    pub fn table(changes: &[Self]) -> Table {
        let fields = [
            field::name("cache", "cache", |of: &Self| &of.name),
            field::cell("slabs", "slab_bytes_change", |of| Cell::SignedBytes(of.bytes())),
            field::cell("of it objects", "object_bytes_change", |of| {
                Cell::SignedBytes(of.object_bytes())
            }),
            field::bytes("before", "slab_bytes_before", |of: &Self| of.before_bytes),
            field::bytes("after", "slab_bytes_after", |of: &Self| of.after_bytes),
            field::count("objects before", "objects_before", |of: &Self| of.before_objects)
                .where_room(),
            field::count("objects after", "objects_after", |of: &Self| of.after_objects)
                .where_room(),
        ];
        Table::of(changes, fields)
    }

    /// Names the caches that make up nine tenths of the differences, each with its own; nothing where there is none.
    #[must_use]
    pub fn sentence(changes: &[Self]) -> Option<String> {
        let all: u64 = changes.iter().map(|of| of.bytes().unsigned_abs()).sum();
        let mut sum = 0;
        let is_short = |of: &&Self| {
            let is_short = sum * 10 < all * 9;
            sum += of.bytes().unsigned_abs();
            is_short
        };
        let most: Vec<&Self> = changes.iter().take_while(is_short).collect();
        let (named, more) = most.split_at(most.len().min(NAMES_MAX));
        let named: Vec<_> = named
            .iter()
            .map(|of| {
                let sign = if of.bytes() > 0 { "+" } else { "" };
                format!("{} ({sign}{})", of.name, Cell::SignedBytes(of.bytes()).short())
            })
            .collect();
        match (named.is_empty(), more.len()) {
            (true, _) => None,
            (false, 0) => {
                let make = if named.len() == 1 { "makes" } else { "make" };
                Some(format!("{} {make} up 90 % of what differs.", named.join(", ")))
            }
            (false, more) => {
                Some(format!("{} and {more} more make up 90 % of what differs.", named.join(", ")))
            }
        }
    }
}

/// Reads the text of `/proc/slabinfo`.
pub(crate) fn read(text: &str) -> Caches {
    let rows = text.lines().filter_map(SlabInfo::parse);
    let held = |row: SlabInfo<'_>| {
        let held = Held {
            objects: row.active_objs,
            object_bytes: row.objsize,
            slab_bytes: row.num_slabs.saturating_mul(row.pagesperslab).saturating_mul(PAGE_BYTES),
        };
        (row.name.to_owned(), held)
    };
    rows.map(held).collect()
}

/// Returns the bytes of the slabs of a cache after a run, if the guest has listed it.
pub(crate) fn held_bytes(row: &Row, point: &str, cache: &str) -> Option<u64> {
    of_point(row, point)?.get(cache).map(|held| held.slab_bytes)
}

/// Returns the caches of a run at a point. Where the load adds its own number to the point (`10, 2` for 10 groups on 2 CPUs),
/// a run with a single point is meant.
fn of_point(row: &Row, point: &str) -> Option<Caches> {
    let points = row.detail[DETAIL].as_object()?;
    let end = format!(", {point}");
    let only = || points.iter().find(|(key, _)| points.len() == 1 && key.ends_with(&end));
    Caches::deserialize(points.get(point).or_else(|| Some(only()?.1))?).ok()
}

/// Returns the caches whose slabs take more or less memory in the runs `after` than in `before` at a point, the one with
/// the largest difference first; none where the guests of a side told none.
pub(crate) fn changes<'a>(
    before: impl Iterator<Item = &'a Row>,
    after: impl Iterator<Item = &'a Row>,
    point: &str,
) -> Vec<CacheChange> {
    let (before, after) = (middle(before, point), middle(after, point));
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let change = |name: &String| {
        let of = |caches: &Caches| caches.get(name).copied().unwrap_or_default();
        let (before, after) = (of(&before), of(&after));
        CacheChange {
            name: name.clone(),
            before_bytes: before.slab_bytes,
            after_bytes: after.slab_bytes,
            before_objects: before.objects,
            after_objects: after.objects,
            before_object_bytes: before.object_bytes,
            after_object_bytes: after.object_bytes,
        }
    };
    let mut changes: Vec<_> = names.into_iter().map(change).filter(|c| c.bytes() != 0).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.bytes().unsigned_abs()));
    changes
}

/// Returns the caches of runs, with the median of each number.
fn middle<'a>(rows: impl Iterator<Item = &'a Row>, point: &str) -> Option<Caches> {
    let runs: Vec<Caches> = rows.filter_map(|row| of_point(row, point)).collect();
    if runs.is_empty() {
        return None;
    }
    let number = |name: &String, of: fn(&Held) -> u64| {
        let value = |caches: &Caches| caches.get(name).map_or(0, of) as f64;
        median(&mut runs.iter().map(value).collect::<Vec<_>>()) as u64
    };
    let names = runs.iter().flat_map(Caches::keys);
    let held = |name: &String| Held {
        objects: number(name, |held| held.objects),
        object_bytes: number(name, |held| held.object_bytes),
        slab_bytes: number(name, |held| held.slab_bytes),
    };
    Some(names.map(|name| (name.clone(), held(name))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(slabinfo: &str) -> Row {
        Row::with_detail(json!({ "slabs": { "2": read(slabinfo) } }))
    }

    fn line(name: &str, objects: u64, slabs: u64) -> String {
        format!(
            "{name} {objects} {objects} 64 64 1 : tunables 0 0 0 : slabdata {slabs} {slabs} 0\n"
        )
    }

    #[test]
    fn the_cache_with_the_largest_difference_of_medians_comes_first() {
        let before = [10, 11, 90].map(|slabs| row(&(line("a", 600, slabs) + &line("b", 64, 1))));
        let after = [row(&(line("a", 640, 12) + &line("c", 200, 5)))];
        let found = changes(before.iter(), after.iter(), "2");
        let told: Vec<_> = found.iter().map(|of| (of.name.as_str(), of.bytes() / 4096)).collect();
        assert_eq!(told, [("c", 5), ("a", 1), ("b", -1)]);
        assert_eq!((found[1].before_objects, found[1].after_objects), (600, 640));
        assert_eq!((found[0].before_object_bytes, found[0].after_object_bytes), (0, 64));
        let said = CacheChange::sentence(&found).unwrap();
        assert!(
            said.starts_with("c (+20.0 KiB)")
                && said.contains("b (")
                && said.ends_with("of what differs."),
            "{said}"
        );
        assert_eq!(CacheChange::sentence(&[]), None);
        assert_eq!(found[1].object_bytes(), 40 * 64);
        // hackbench has its groups before the CPUs.
        let with_groups = |mut row: Row| {
            let caches = row.detail["slabs"]["2"].clone();
            row.detail = json!({ "slabs": { "10, 2": caches } });
            row
        };
        let (before, after) = (before.map(with_groups), after.map(with_groups));
        assert_eq!(changes(before.iter(), after.iter(), "2"), found, "the only point is meant");
        assert_eq!(changes(before.iter(), after.iter(), "4"), [], "no guest told of that point");
    }
}
