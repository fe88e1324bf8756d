//! The kinds of rows that tools print of slab memory, one file a kind.
//!
//! # How it works
//! A row is known by what it is made of, wherever in its line it begins: each file has `read`, which takes the words of a
//! cleaned line. Kinds whose rows could be anything (a name and two numbers) are read only below their own heading. Some
//! kinds have the stack of a row in the lines below it.
//!
//! # To add one
//! One file with `READER`, a line in [`Kind::ALL`], [`Kind::name`] and [`Kind::tells`], one in [`READERS`]; the fuzz target
//! `snapshot` reads it with the others.

pub(crate) mod alloc_traces;
mod allocinfo;
mod cgroup;
mod column;
mod crash;
mod found;
mod kind;
mod kmemleak;
pub(crate) mod machine;
pub(crate) mod memleak;
pub(crate) mod memory_stat;
mod mm_slabinfo;
mod oom;
pub(crate) mod page_owner;
mod perf_kmem;
mod prometheus;
mod row_reader;
mod slabinfo1;
pub(crate) mod slabinfo2;
mod slabratetop;
mod slabtop;
mod slub_failed;
mod spl;
pub(crate) mod stack;
mod vmstat;

pub(crate) use self::found::{Below, Found};
pub use self::kind::{Kind, Tells};
pub(crate) use self::row_reader::RowReader;

/// The readers; those whose rows nothing else looks like come first.
pub(crate) const READERS: [RowReader; 19] = [
    prometheus::READER,
    allocinfo::READER,
    slabinfo2::READER,
    slabtop::READER,
    spl::READER,
    mm_slabinfo::READER,
    crash::READER,
    oom::READER,
    slub_failed::READER,
    memleak::READER,
    kmemleak::READER,
    alloc_traces::READER,
    page_owner::READER,
    cgroup::READER,
    memory_stat::READER,
    perf_kmem::READER,
    vmstat::READER,
    slabratetop::READER,
    slabinfo1::READER,
];

impl Kind {
    /// Returns how its rows are read.
    ///
    /// # Panics
    ///
    /// For [`Kind::Meminfo`], which is made of what `machine` reads.
    pub(crate) fn reader(self) -> &'static RowReader {
        const ALL: &[RowReader] = &READERS;
        ALL.iter().find(|reader| reader.kind == self).expect("a kind of rows has a reader")
    }
}
