//! What keeping objects apart costs: a row a number.

use slablab_replay::{PartitionCost, Partitioned, Range};
use slablab_report::{Cell, Table, field};

/// A number that is shown: its name, and how it is read.
type Row = (&'static str, &'static str, Unit, fn(&Partitioned) -> u64);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Count,
}

const ROWS: [Row; 7] = [
    ("held, peak", "held_bytes_peak", Unit::Bytes, |p| p.held_bytes.peak),
    ("held, mean", "held_bytes_mean", Unit::Bytes, |p| p.held_bytes.mean),
    ("held, end", "held_bytes_end", Unit::Bytes, |p| p.held_bytes.end),
    ("structures of added caches", "structures_bytes", Unit::Bytes, |p| p.structures_bytes),
    ("held and structures, peak", "all_bytes_peak", Unit::Bytes, with_structures),
    ("slabs, peak", "slabs_peak", Unit::Count, |p| p.slabs.peak),
    ("caches used", "caches_used", Unit::Count, |p| p.caches_used),
];

/// Bytes held at the peak with the structures of the added caches.
pub(crate) fn with_structures(of: &Partitioned) -> u64 {
    of.held_bytes.peak + of.structures_bytes
}

/// Returns what was held as recorded and with the partition.
pub fn partition(cost: &PartitionCost) -> Table {
    let cell = |unit: Unit, number: u64| match unit {
        Unit::Bytes => Cell::Bytes(number),
        Unit::Count => Cell::Count(number),
    };
    let over = |read: fn(&Partitioned) -> u64| -> Range { cost.range(read) };
    let recorded = |(_, _, unit, read): &Row| cell(*unit, read(&cost.recorded));
    // Without a seed there is one answer, and nothing to have a median of.
    let (median, shown) =
        if cost.partitioned.len() > 1 { ("median", 5) } else { ("kept apart", 3) };
    let fields = [
        field::name("", "metric", |row: &Row| row.0),
        field::by("as recorded", "recorded", recorded),
        field::by(median, "median", |row: &Row| cell(row.2, over(row.3).median)),
        field::by("least", "least", |row: &Row| cell(row.2, over(row.3).least)),
        field::by("most", "most", |row: &Row| cell(row.2, over(row.3).most)),
    ];
    Table::of_fields(&ROWS, fields.into_iter().take(shown).collect())
}
