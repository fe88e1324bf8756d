//! Sets of kmalloc size classes: a row each.

use slablab_replay::{ClassAdvice, ClassSetFit};
use slablab_report::{Table, field};

/// Returns what each set of classes allocates and holds.
pub fn classes(advice: &ClassAdvice) -> Table {
    let rows: Vec<_> = std::iter::once(&advice.recorded).chain(&advice.proposals).collect();
    let fields = [
        field::text("further classes", "added", |fit: &&ClassSetFit| further(fit)),
        field::bytes("allocated, mean", "allocated_bytes_mean", |fit| fit.allocated_bytes_mean),
        field::bytes("held, peak", "held_bytes_peak", |fit| fit.held_bytes.peak),
        field::bytes("mean", "held_bytes_mean", |fit| fit.held_bytes.mean),
        field::bytes("end", "held_bytes_end", |fit| fit.held_bytes.end),
    ];
    Table::of(&rows, fields)
}

/// Names the classes beyond the recorded ones.
pub(crate) fn further(fit: &ClassSetFit) -> String {
    match fit.added.is_empty() {
        true => "as recorded".to_owned(),
        false => fit.added.iter().map(u32::to_string).collect::<Vec<_>>().join(" "),
    }
}
