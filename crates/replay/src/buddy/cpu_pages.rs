//! The pages that a CPU keeps of a zone: lists by order and type, how they are filled, and when they are drained.
//!
//! # How it works
//! A list that is empty gets a batch of blocks from the zone. A freed block goes to the front of its list; above a limit the CPU
//! gives blocks back from the ends of its lists, turn by turn. To Linux 6.6 the limit is fixed, and more is given back at
//! once while only frees come. From 6.7 on the limit follows what is allocated and freed, and falls every second.
//!
//! Linux counterpart: `struct per_cpu_pages`, `nr_pcp_alloc`, `nr_pcp_free`, `nr_pcp_high`, `free_pcppages_bulk`,
//! `decay_pcp_high` of `mm/page_alloc.c` @ 6.1, 6.12 and 7.3.
//!
//! # Differences from Linux
//! Limits do not sink while memory is reclaimed. Caches of processors count as large (`PCPF_FREE_HIGH_BATCH`).

use std::collections::VecDeque;

use super::migrate::{CPU_TYPES, Migrate};
use super::rules::{CpuLists, Rules, Stealing};
use super::zone::{Way, Zone};

/// Blocks of more pages have no lists but huge pages (`PAGE_ALLOC_COSTLY_ORDER`).
const LOW_ORDER_MAX: u8 = 3;
const LOW_LISTS: usize = CPU_TYPES * (LOW_ORDER_MAX as usize + 1);
/// Those, and two of huge pages: movable ones and others
const LISTS: usize = LOW_LISTS + 2;
/// A batch doubles at most so often (`CONFIG_PCP_BATCH_SCALE_MAX`).
const BATCH_SCALE_MAX: u32 = 5;

/// What a CPU keeps of a zone. Its numbers are pages.
#[derive(Debug, Default)]
pub(crate) struct CpuPages {
    /// The page of each block, and to 6.9 the type it had when it was freed
    lists: [VecDeque<(u32, Migrate)>; LISTS],
    pub(crate) count: u64,
    pub(crate) high: u64,
    pub(crate) high_min: u64,
    pub(crate) high_max: u64,
    pub(crate) batch: u64,
    /// To 6.6: how often the batch of a drain doubled. Later: that of a refill.
    factor: u32,
    /// From 6.7 on: the pages freed one behind the other
    freed: u64,
    /// Whether the block freed last had several pages
    was_large: bool,
    /// Blocks that went back to the zone
    pub(crate) drained: u64,
}

/// Returns whether CPUs keep blocks of an order.
pub(crate) fn has_list(order: u8, rules: &Rules) -> bool {
    order <= LOW_ORDER_MAX || order == rules.block_order
}

fn list_of(order: u8, migrate: Migrate) -> usize {
    match order {
        0..=LOW_ORDER_MAX => usize::from(order) * CPU_TYPES + migrate as usize,
        _ => LOW_LISTS + usize::from(migrate == Migrate::Movable),
    }
}

fn order_of(list: usize, rules: &Rules) -> u8 {
    if list < LOW_LISTS { (list / CPU_TYPES) as u8 } else { rules.block_order }
}

impl CpuPages {
    /// Puts a block there when the machine begins.
    pub(crate) fn begin_with(&mut self, page: u32, order: u8, migrate: Migrate) {
        self.lists[list_of(order, migrate)].push_back((page, migrate));
        self.count += 1 << order;
    }

    /// Takes a block of the CPU's, which gets some of the zone's first where it has none.
    pub(crate) fn take(
        &mut self,
        zone: &mut Zone,
        order: u8,
        migrate: Migrate,
        way: Way,
    ) -> Option<u32> {
        match zone.rules.cpu_lists {
            CpuLists::Fixed => self.factor >>= 1,
            CpuLists::Tuned { .. } => self.freed >>= 1,
        }
        let list = list_of(order, migrate);
        if self.lists[list].is_empty() {
            for _ in 0..self.refill(zone, order) {
                let Some(page) = zone.take(order, migrate, way) else { break };
                self.lists[list].push_back((page, migrate));
                self.count += 1 << order;
            }
        }
        let (page, _) = self.lists[list].pop_front()?;
        self.count -= 1 << order;
        Some(page)
    }

    /// Returns how many blocks are taken from the zone at once.
    fn refill(&mut self, zone: &Zone, order: u8) -> u64 {
        let mut batch = self.batch;
        if let CpuLists::Tuned { .. } = zone.rules.cpu_lists {
            self.bound();
            if self.high < batch {
                return 1;
            }
            if order == 0 {
                batch <<= self.factor;
            }
            if self.high_min != self.high_max && !self.is_low(zone) {
                self.high = (self.high + batch).min(self.high_max);
            }
            if order == 0 {
                let room = self.high.saturating_sub(self.count + self.batch).max(self.batch);
                if batch <= room && self.factor < BATCH_SCALE_MAX {
                    self.factor += 1;
                }
                batch = batch.min(room);
            }
        }
        if batch > 1 { (batch >> order).max(2) } else { batch.max(1) }
    }

    fn bound(&mut self) {
        self.high = self.high.clamp(self.high_min, self.high_max.max(self.high_min));
    }

    /// Returns whether a zone has less than it should (`ZONE_BELOW_HIGH`).
    fn is_low(&self, zone: &Zone) -> bool {
        zone.lists.pages() <= zone.marks.high
    }

    /// Frees a block to the CPU's lists, which give some back where they have too many.
    pub(crate) fn free(&mut self, zone: &mut Zone, page: u32, order: u8) {
        let of_block = zone.block_type(page);
        if of_block == Migrate::Isolate {
            zone.free(page, order, of_block);
            return;
        }
        let listed = if of_block.is_usual() { of_block } else { Migrate::Movable };
        let list = list_of(order, listed);
        self.lists[list].push_front((page, of_block));
        self.count += 1 << order;
        match zone.rules.cpu_lists {
            CpuLists::Fixed => self.free_fixed(zone, order, list),
            CpuLists::Tuned { is_late, is_in_portions } => {
                self.factor >>= 1;
                let is_flood = self.is_flood(order, is_late);
                let high = self.limit(zone, is_flood);
                if self.count >= high {
                    let pages = self.surplus(high, is_flood);
                    self.drain_by(zone, pages, list, is_in_portions);
                }
            }
        }
    }

    fn free_fixed(&mut self, zone: &mut Zone, order: u8, list: usize) {
        let is_flood = self.factor > 0 && (1..=LOW_ORDER_MAX).contains(&order);
        let high = if is_flood { 0 } else { self.high };
        if self.count < high {
            return;
        }
        let pages = if is_flood {
            self.count
        } else if high < self.batch {
            1
        } else {
            let (least, most) = (self.batch, high - self.batch);
            let batch = self.batch << self.factor.min(32);
            if batch < most {
                self.factor += 1;
            }
            batch.max(least).min(most)
        };
        self.drain(zone, pages, list);
    }

    /// Returns whether blocks of several pages come one behind the other, which are not kept then.
    fn is_flood(&mut self, order: u8, is_late: bool) -> bool {
        let is_large = (1..=LOW_ORDER_MAX).contains(&order);
        let least = if is_late { self.batch + self.high_min / 2 } else { self.batch };
        let is_flood =
            is_large && self.was_large && self.freed >= least && self.count >= self.batch;
        self.was_large = is_large;
        if self.freed < self.batch << BATCH_SCALE_MAX {
            self.freed += 1 << order;
        }
        is_flood
    }

    /// Returns how many pages the CPU may keep.
    fn limit(&mut self, zone: &Zone, is_flood: bool) -> u64 {
        self.bound();
        let high = self.high;
        if high == 0 {
            return 0;
        }
        if is_flood {
            self.high = high.saturating_sub(self.batch << BATCH_SCALE_MAX).max(self.high_min);
            return 0;
        }
        if self.high_min == self.high_max {
            return high;
        }
        if self.is_low(zone) {
            self.high = high.saturating_sub(self.freed.max(self.batch)).max(self.high_min);
            return self.count.max(self.high_min);
        }
        if self.count >= high {
            let needed = self.freed + self.batch;
            if self.high < needed {
                self.high = needed.clamp(self.high_min, self.high_max);
            }
        }
        high
    }

    /// Returns how many pages go back where there are more than may be kept.
    fn surplus(&self, high: u64, is_flood: bool) -> u64 {
        if is_flood {
            return self.count.min(self.batch << BATCH_SCALE_MAX);
        }
        if high < self.batch {
            return 1;
        }
        let (least, most) = (self.batch, high - self.batch);
        self.freed.max(least).min(most)
    }

    /// Gives pages back, all at once or a batch at a time; each begins with the same list.
    fn drain_by(&mut self, zone: &mut Zone, pages: u64, list: usize, is_in_portions: bool) {
        let portion = if is_in_portions { self.batch.max(1) } else { pages.max(1) };
        let mut left = pages;
        while left > 0 && self.count > 0 {
            let now = left.min(portion);
            self.drain(zone, now, list);
            left -= now;
        }
    }

    /// Gives pages back to the zone, from the ends of the lists, beginning with a list.
    pub(crate) fn drain(&mut self, zone: &mut Zone, pages: u64, list: usize) {
        let (mut left, mut list) = (pages.min(self.count) as i64, list);
        while left > 0 {
            let order = order_of(list, &zone.rules);
            while left > 0 {
                let Some((page, freed_as)) = self.lists[list].pop_back() else { break };
                left -= 1 << order;
                self.count -= 1 << order;
                self.drained += 1;
                let migrate = match zone.rules.stealing {
                    Stealing::Mixed => freed_as,
                    _ => zone.block_type(page),
                };
                zone.free(page, order, migrate);
            }
            list = (list + 1) % LISTS;
        }
    }

    /// Lets the limit fall, as Linux does every second, and gives back what is above it.
    pub(crate) fn decay(&mut self, zone: &mut Zone) {
        let CpuLists::Tuned { is_in_portions, .. } = zone.rules.cpu_lists else { return };
        if self.high > self.high_min {
            let few = self.count.saturating_sub(self.batch << BATCH_SCALE_MAX);
            self.high = few.max(self.high - (self.high >> 3)).max(self.high_min);
        }
        let pages = self.count.saturating_sub(self.high);
        self.drain_by(zone, pages, 0, is_in_portions);
    }

    /// Gives all pages back.
    #[cfg(test)]
    pub(crate) fn drain_all(&mut self, zone: &mut Zone) {
        let all = self.count;
        self.drain(zone, all, 0);
    }
}
