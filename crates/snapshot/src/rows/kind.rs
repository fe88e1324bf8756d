//! What a table is, and what its numbers are.

use serde::Serialize;

/// What a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
    /// What the allocator prints when it gets no page
    SlubFailed,
    /// `memory.stat` of a memory cgroup
    MemoryStat,
    /// The slab lines of `/proc/meminfo`, and what else says them
    Meminfo,
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
    /// What all slabs hold, in two halves
    Totals,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 20] = [
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
        Kind::SlubFailed,
        Kind::MemoryStat,
        Kind::Meminfo,
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
            Self::SlubFailed => "the allocator's message of a failed allocation",
            Self::MemoryStat => "memory.stat of a cgroup",
            Self::Meminfo => "meminfo",
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
            | Self::Prometheus
            | Self::SlubFailed => Tells::Caches,
            Self::Allocinfo
            | Self::AllocTraces
            | Self::Kmemleak
            | Self::Memleak
            | Self::PageOwner
            | Self::Cgroup => Tells::Live,
            Self::Slabratetop | Self::PerfKmem => Tells::Flow,
            Self::MemoryStat | Self::Meminfo => Tells::Totals,
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
