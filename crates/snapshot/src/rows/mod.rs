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

mod alloc_traces;
mod allocinfo;
mod cgroup;
mod column;
mod crash;
mod found;
mod kmemleak;
pub(crate) mod machine;
mod memleak;
mod mm_slabinfo;
mod oom;
mod page_owner;
mod perf_kmem;
mod prometheus;
mod slabinfo1;
mod slabinfo2;
mod slabratetop;
mod slabtop;
mod spl;
pub(crate) mod stack;
mod vmstat;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::column::Column;
pub(crate) use self::found::{Below, Found};

/// What a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `/proc/slabinfo` from Linux 2.6 on
    Slabinfo,
    /// `/proc/slabinfo` of Linux 2.4
    Slabinfo1,
    /// `slabtop -o`
    Slabtop,
    /// `/proc/spl/kmem/slab` of ZFS
    Spl,
    /// `vmstat -m`
    Vmstat,
    /// crash's `kmem -s`
    Crash,
    /// "Unreclaimable slab info" of the OOM killer
    Oom,
    /// `/proc/allocinfo`
    Allocinfo,
    /// `slabinfo` of `tools/mm`
    MmSlabinfo,
    /// node_exporter's `node_slabinfo_*`
    Prometheus,
    /// `alloc_traces` of debugfs
    AllocTraces,
    /// `/sys/kernel/debug/kmemleak`
    Kmemleak,
    /// bcc's `memleak`
    Memleak,
    /// bcc's `slabratetop`
    Slabratetop,
    /// `perf kmem stat`
    PerfKmem,
    /// `/sys/kernel/debug/page_owner`
    PageOwner,
    /// Slabs of memory cgroups, as `slablab watch` writes them
    Cgroup,
}

/// What the numbers of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    /// What each cache's slabs hold
    Caches,
    /// What is alive, by who allocated it
    Live,
    /// What was allocated over some time, freed or not
    Flow,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 17] = [
        Kind::Slabinfo,
        Kind::Slabinfo1,
        Kind::Slabtop,
        Kind::Spl,
        Kind::Vmstat,
        Kind::Crash,
        Kind::Oom,
        Kind::Allocinfo,
        Kind::MmSlabinfo,
        Kind::Prometheus,
        Kind::AllocTraces,
        Kind::Kmemleak,
        Kind::Memleak,
        Kind::Slabratetop,
        Kind::PerfKmem,
        Kind::PageOwner,
        Kind::Cgroup,
    ];

    /// Returns what it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slabinfo => "slabinfo",
            Self::Slabinfo1 => "slabinfo of Linux 2.4",
            Self::Slabtop => "slabtop",
            Self::Spl => "ZFS's /proc/spl/kmem/slab",
            Self::Vmstat => "vmstat -m",
            Self::Crash => "crash's kmem -s",
            Self::Oom => "the OOM killer's list of unreclaimable slabs",
            Self::Allocinfo => "allocinfo",
            Self::MmSlabinfo => "slabinfo of tools/mm",
            Self::Prometheus => "node_exporter's slabinfo",
            Self::AllocTraces => "alloc_traces",
            Self::Kmemleak => "kmemleak",
            Self::Memleak => "memleak",
            Self::Slabratetop => "slabratetop",
            Self::PerfKmem => "perf kmem",
            Self::PageOwner => "page_owner",
            Self::Cgroup => "memory cgroups",
        }
    }

    /// Returns what its numbers are.
    #[must_use]
    pub const fn tells(self) -> Tells {
        match self {
            Self::Slabinfo
            | Self::Slabinfo1
            | Self::Slabtop
            | Self::Spl
            | Self::Vmstat
            | Self::Crash
            | Self::Oom
            | Self::MmSlabinfo
            | Self::Prometheus => Tells::Caches,
            Self::Allocinfo
            | Self::AllocTraces
            | Self::Kmemleak
            | Self::Memleak
            | Self::PageOwner
            | Self::Cgroup => Tells::Live,
            Self::Slabratetop | Self::PerfKmem => Tells::Flow,
        }
    }

    /// Returns whether the file in /proc or /sys that it comes from has all entries, so that a text which lacks its
    /// heading may have been cut.
    #[must_use]
    pub const fn has_heading(self) -> bool {
        matches!(
            self,
            Self::Slabinfo | Self::Slabinfo1 | Self::Slabtop | Self::Vmstat | Self::Allocinfo
        )
    }
}

/// How a kind is read.
pub(crate) struct RowReader {
    pub(crate) kind: Kind,
    /// Returns whether the words are the heading of such a table
    pub(crate) is_heading: fn(&[&str]) -> bool,
    /// Returns what the words are, below the heading or without it
    pub(crate) read: fn(&[&str], Below) -> Found,
    /// The columns of a row, in each form that it has: the begin of one is known by them
    pub(crate) columns: &'static [&'static [Column]],
    /// This number of them does not come by chance where there is no heading
    pub(crate) columns_min: usize,
    /// Whether rows could be anything without their heading
    pub(crate) needs_heading: bool,
    /// Whether a row without the end of its last word is still a row
    pub(crate) ends_anywhere: bool,
}

/// The readers; those whose rows nothing else looks like come first.
pub(crate) const READERS: [RowReader; 17] = [
    prometheus::READER,
    allocinfo::READER,
    slabinfo2::READER,
    slabtop::READER,
    spl::READER,
    mm_slabinfo::READER,
    crash::READER,
    oom::READER,
    memleak::READER,
    kmemleak::READER,
    alloc_traces::READER,
    page_owner::READER,
    cgroup::READER,
    perf_kmem::READER,
    vmstat::READER,
    slabratetop::READER,
    slabinfo1::READER,
];

impl Kind {
    /// Returns how it is read.
    pub(crate) fn reader(self) -> &'static RowReader {
        const ALL: &[RowReader] = &READERS;
        ALL.iter().find(|reader| reader.kind == self).expect("every kind has a reader")
    }
}

impl RowReader {
    /// A kind whose rows are known anywhere; the other kinds say what they have besides.
    const fn new(kind: Kind, read: fn(&[&str], Below) -> Found) -> Self {
        Self {
            kind,
            is_heading: never,
            read,
            columns: &[],
            columns_min: 3,
            needs_heading: false,
            ends_anywhere: false,
        }
    }
}

/// The heading of a kind that has none, or whose rows need none.
fn never(_: &[&str]) -> bool {
    false
}
