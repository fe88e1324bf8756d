//! `/proc/slabinfo` 2.1, `/proc/buddyinfo` and the attributes under `/sys/kernel/slab`.
//!
//! Linux counterpart: `print_slabinfo_header`, `cache_show` in `mm/slab_common.c`, the attributes
//! of `mm/slub.c` @ 6.1.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::backend::Backend;
use crate::cache::SlabFlags;
use crate::ids::{CacheId, Order};
use crate::machine::Machine;

impl<B: Backend> Machine<B> {
    /// Returns the text of `/proc/slabinfo`, newest cache first, as parsers of it expect.
    pub fn slabinfo(&self) -> String {
        let mut text = String::from("slabinfo - version: 2.1\n");
        text.push_str(
            "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> \
             : tunables <limit> <batchcount> <sharedfactor> \
             : slabdata <active_slabs> <num_slabs> <sharedavail>\n",
        );
        for id in self.caches().into_iter().rev() {
            let Some(stats) = self.cache_stats(id) else { continue };
            let slot = self.slot(id);
            let (limit, batch, shared) = self.backend.array_limits(slot);
            // Carved objects have no slabs of their own, so the live ones are all there are.
            let objects = stats.objects_total.max(stats.objects_live);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{:<17} {:>6} {:>6} {:>6} {:>4} {:>4} : tunables {:>4} {:>4} {:>4} : slabdata \
                 {:>6} {:>6} {:>6}",
                stats.name.replace(char::is_whitespace, "_"),
                stats.objects_live,
                objects,
                stats.slab_size,
                stats.objs_per_slab,
                self.core.setup.arch.order_in_pages(stats.order).pages(),
                limit,
                batch,
                shared,
                stats.slabs,
                stats.slabs,
                0
            );
        }
        text
    }

    /// Returns the number of free blocks of each order, of all zones together, without those of per-CPU lists.
    pub fn free_blocks(&self) -> [u64; Order::MAX.0 as usize + 1] {
        let mut sums = [0; Order::MAX.0 as usize + 1];
        for (_, _, counts) in self.core.zones.free_counts(&self.core.pages) {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    /// Returns the text of `/proc/buddyinfo`: free blocks of each order, by zone.
    pub fn buddyinfo(&self) -> String {
        let mut text = String::new();
        for (node, zone, counts) in self.core.zones.free_counts(&self.core.pages) {
            // Writing to a string cannot fail.
            let _ = write!(text, "Node {}, zone {zone:>8} ", node.0);
            for count in counts {
                let _ = write!(text, "{count:>6} ");
            }
            text.push('\n');
        }
        text
    }

    /// Returns a cache's attributes by the names they have under `/sys/kernel/slab`; `None` once
    /// it is destroyed.
    pub fn cache_attributes(&self, id: CacheId) -> Option<Vec<(&'static str, String)>> {
        let stats = self.cache_stats(id)?;
        let slot = self.slot(id);
        let flag = |flag| String::from(if slot.flags().has(flag) { "1" } else { "0" });
        let mut attributes = Vec::from([
            ("aliases", format!("{}", stats.aliases.len())),
            ("align", format!("{}", stats.align)),
            ("cache_dma", flag(SlabFlags::CACHE_DMA)),
            ("destroy_by_rcu", flag(SlabFlags::TYPESAFE_BY_RCU)),
            ("hwcache_align", flag(SlabFlags::HWCACHE_ALIGN)),
            ("object_size", format!("{}", stats.object_size)),
            ("objects", format!("{}", stats.objects_live)),
            ("objs_per_slab", format!("{}", stats.objs_per_slab)),
            ("order", format!("{}", self.core.setup.arch.order_in_pages(stats.order).0)),
            ("poison", flag(SlabFlags::POISON)),
            ("reclaim_account", flag(SlabFlags::RECLAIM_ACCOUNT)),
            ("red_zone", flag(SlabFlags::RED_ZONE)),
            ("slab_size", format!("{}", stats.slab_size)),
            ("slabs", format!("{}", stats.slabs)),
            ("store_user", flag(SlabFlags::STORE_USER)),
            ("total_objects", format!("{}", stats.objects_total)),
        ]);
        if let Some(entry) = self.core.registry.lock().entry(id) {
            let own = self.backend.attributes(&self.core, slot, &entry.args);
            attributes.extend(own.into_iter().map(|(name, value)| (name, format!("{value}"))));
        }
        attributes.extend(stats.paths.iter().map(|(name, count)| (name, format!("{count}"))));
        Some(attributes)
    }
}
