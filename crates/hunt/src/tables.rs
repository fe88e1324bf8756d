//! How large the tables of a hunt are: in the kernel, and in our memory.
//!
//! How it works: a quarter of the memory is for live objects, a quarter for call stacks, an eighth for call sites, and the rest
//! for what we read of them. Each entry of a hash map costs its key, its value and what the kernel puts before them.

/// Bytes of a live object's value: the order is that of `kernel/bpf/hunt.bpf`.
pub(crate) const LIVE_BYTES: usize = 80;
/// Frames of a call stack that are kept, and the bytes of their addresses.
pub(crate) const FRAMES_MAX: usize = 32;
pub(crate) const FRAMES_BYTES: usize = FRAMES_MAX * 8;
/// Bytes of what is kept of a cache.
pub(crate) const CACHE_BYTES: usize = 64;
/// Caches that have a place.
pub(crate) const CACHES_MAX: usize = 2048;
/// Bytes of an entry of the table of call sites.
pub(crate) const SITE_BYTES: usize = 32;
/// Tables of call sites for each CPU: of `kmalloc` and of `kmem_cache_alloc`.
pub(crate) const SITE_TABLES: usize = 2;

/// What the kernel puts before the key of a hash map's entry.
const ENTRY_OVERHEAD_BYTES: usize = 56;
/// Call sites of a kernel that is busy with all it can do are fewer, and half of a table is for programs.
const SITES_MAX: usize = 16_384;
const SITES_MIN: usize = 256;
const FILTER_COUNTERS_MAX: usize = 1 << 17;

/// Sizes of the tables, in entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tables {
    /// Live objects that have room
    pub(crate) live: usize,
    /// Call stacks that have room
    pub(crate) stacks: usize,
    /// Entries of each table of call sites: a power of two
    pub(crate) sites: usize,
    /// CPUs that have tables: a power of two
    pub(crate) cpus: usize,
    /// Counters of the filter: a power of two
    pub(crate) filter: usize,
}

impl Tables {
    /// Divides `ram_bytes` for a machine of `cpus` CPUs.
    pub(crate) fn of(ram_bytes: usize, cpus: usize) -> Self {
        let cpus = cpus.next_power_of_two();
        let live = ram_bytes / 4 / (ENTRY_OVERHEAD_BYTES + 8 + LIVE_BYTES);
        let stacks = ram_bytes / 4 / (ENTRY_OVERHEAD_BYTES + FRAMES_BYTES + 8);
        let sites = ram_bytes / 8 / (SITE_TABLES * cpus * SITE_BYTES);
        let power = |number: usize| (number + 1).next_power_of_two() / 2;
        Self {
            live,
            stacks,
            sites: power(sites).clamp(SITES_MIN, SITES_MAX),
            cpus,
            filter: power(ram_bytes / 16).clamp(1 << 12, FILTER_COUNTERS_MAX),
        }
    }

    /// Tells whether more memory gives call sites and programs more room.
    pub(crate) fn may_grow(&self) -> bool {
        self.sites < SITES_MAX
    }

    /// Returns the bytes of the tables of call sites.
    pub(crate) fn site_bytes(&self) -> usize {
        SITE_TABLES * self.cpus * self.sites * SITE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stay_within_the_memory_that_they_are_given() {
        for ram in [8 << 20, 64 << 20, 1 << 30] {
            for cpus in [1, 2, 3, 64, 500] {
                let tables = Tables::of(ram, cpus);
                assert!(tables.cpus >= cpus && tables.sites.is_power_of_two());
                let few_sites = tables.sites == SITES_MIN;
                assert!(few_sites || tables.site_bytes() <= ram / 8, "{tables:?}");
                assert!(tables.live >= 10_000 && tables.stacks >= 6_000, "{tables:?}");
            }
        }
        assert_eq!(Tables::of(64 << 20, 2).sites, 16_384);
    }
}
