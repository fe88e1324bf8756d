//! What a machine could give at a moment, without giving it.
//!
//! # How it works
//! Blocks are counted zone by zone: those in the free lists of the usual migrate types, as far as the watermark below which
//! an allocation waits lets them go. An allocation of the kernel's own takes blocks of other types where its own has none,
//! so that all of these lists count.
//!
//! # Differences from Linux
//! Blocks that CPUs keep in lists of their own do not count: another CPU cannot have them.
//!
//! Linux counterpart: `zone_watermark_ok` and `can_steal_fallback` of `mm/page_alloc.c` @ 6.1 to 7.3.

use super::machine::Machine;
use super::migrate::Migrate;
use super::zone::Zone;

impl Machine {
    /// Returns how many blocks of an order the kernel (`GFP_KERNEL`) would get one after the other before it has to wait for
    /// reclaim or compaction.
    pub(crate) fn room(&self, order: u8) -> u64 {
        self.kernel_zones().map(|(zone, highest)| zone.room(order, highest)).sum()
    }
}

impl Zone {
    /// Does so for one zone; `highest` is the index of the highest zone that the allocation may use.
    fn room(&self, order: u8, highest: u8) -> u64 {
        let kept = self.protection.get(usize::from(highest)).copied().unwrap_or(0);
        let kept = kept.saturating_add(self.marks.min).saturating_add(self.reserved);
        let above = self.lists.pages().saturating_sub(kept) >> order;
        let usual = || Migrate::ALL.into_iter().filter(|migrate| migrate.is_usual());
        let of_order = |from: u8| -> u64 {
            usual().map(|migrate| self.lists.count(from, migrate) << (from - order)).sum()
        };
        let blocks: u64 = (order..=self.rules.max_order).map(of_order).sum();
        blocks.min(above)
    }
}
