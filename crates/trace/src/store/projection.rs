//! Which columns of a row group are decoded.

use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;

use super::schema;
use super::wanted::{Held, PidColumn};

/// A column by its number in the file, and its name.
pub(super) type Leaf = (usize, &'static str);

/// Returns the columns that have to be decoded: `pid` and `stack` where they are asked for, and not `node` or `stack`
/// where the statistics say that all they hold is -1 and null. Hardly any event asks for a node, and null stands for the same.
pub(super) fn projection(
    file: &SchemaDescriptor,
    group: &RowGroupMetaData,
    pids: PidColumn,
) -> Vec<Leaf> {
    let no_node = |leaf: usize| {
        matches!(
            group.column(leaf).statistics(),
            Some(Statistics::Int32(node))
                if node.min_opt() == Some(&-1) && node.max_opt() == Some(&-1)
        )
    };
    let no_stack = |leaf: usize| {
        let nulls = group.column(leaf).statistics().and_then(Statistics::null_count_opt);
        nulls.is_some_and(|nulls| i64::try_from(nulls) == Ok(group.num_rows()))
    };
    let is_wanted = |&(leaf, name): &Leaf| match name {
        "pid" => pids == PidColumn::Read,
        "stack" => pids == PidColumn::Read && !no_stack(leaf),
        "node" => !no_node(leaf),
        name => Held::of(group) != Held::Slabs || !schema::is_of_pages_alone(name),
    };
    schema::leaves(file).filter(is_wanted).collect()
}

/// Returns those of a trace's columns whose names are wanted.
pub(super) fn projection_of(file: &SchemaDescriptor, is_wanted: fn(&str) -> bool) -> Vec<Leaf> {
    schema::leaves(file).filter(|(_, name)| is_wanted(name)).collect()
}

/// Returns whether a column has to be decoded for page rows.
pub(super) fn is_of_pages(name: &str) -> bool {
    let shared = ["time_ns", "cpu", "pid", "kind", "object", "gfp", "stack"];
    shared.contains(&name) || schema::is_of_pages_alone(name)
}
