//! Allocators and settings on little memory: a row each.

use slablab_replay::{Budget, Contender};
use slablab_report::{Table, field};

use crate::budget::contender_name;

/// Returns what each allocator makes of the memory.
pub fn budget(budget: &Budget) -> Table {
    let fields = [
        field::bytes("needs", "memory_bytes_min", |c: &Contender| c.memory_bytes_min),
        field::count("failed", "failed", |c| c.failed),
        field::bytes("held, peak", "held_bytes_peak", |c| c.held_bytes.peak),
        field::bytes("largest free", "free_largest_bytes_end", |c| c.free_end.largest_bytes()),
        field::bytes("at worst", "free_largest_bytes_worst", |c| c.free_worst.largest_bytes()),
        field::text("allocator", "allocator", contender_name),
    ];
    Table::of(&budget.contenders, fields)
}
