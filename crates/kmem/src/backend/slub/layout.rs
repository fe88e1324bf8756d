//! Limits of a CPU's partial slabs.

use super::state::Slub;
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::geometry;
use crate::cache::table::CacheEntry;

impl Slub {
    /// Returns the objects that a CPU's partial slabs may hold.
    pub(super) fn cpu_partial(core: &Core, cache: &CacheEntry, args: &CacheArgs) -> u32 {
        let asked = core.tunable(args, "cpu_partial");
        asked.unwrap_or_else(|| geometry::cpu_partial_objects(core.setup.arch, cache.size.get()))
    }

    /// Sets how many slabs correspond to that.
    pub(super) fn set_limits(&self, core: &Core, cache: &CacheEntry, args: &CacheArgs) {
        // Slabs on the list are half full on average: `slub_set_cpu_partial`.
        let objects = Self::cpu_partial(core, cache, args).saturating_mul(2);
        self.cpu_partial_slabs(cache).set(objects.div_ceil(cache.objects.get().max(1)));
    }
}
