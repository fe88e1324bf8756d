//! Blocks of another migrate type: which one is taken where a type has none, and whether its page block changes.
//!
//! # How it works
//! Large blocks are taken first, as their page block is likely to be free otherwise, and takes the type of the allocation
//! when at least half of it is free or alike. A movable allocation that cannot have the page block takes the smallest
//! block, since it can be moved away later.
//!
//! Linux counterpart: `__rmqueue_fallback`, `steal_suitable_fallback` @ 6.1 and 6.12, `__rmqueue_claim`,
//! `try_to_claim_block` and `__rmqueue_steal` @ 7.3.

use super::lists::End;
use super::migrate::Migrate;
use super::rules::Stealing;
use super::zone::{Taken, Way, Zone};

impl Zone {
    /// Takes a block of another type.
    pub(super) fn take_other(&mut self, order: u8, migrate: Migrate, way: Way) -> Option<u32> {
        let least = if way.is_tidy { order.max(self.rules.block_order) } else { order };
        if self.rules.stealing == Stealing::Claim {
            return self.claim(order, migrate, least).or_else(|| match way.is_tidy {
                true => None,
                false => self.take_alone(order, migrate),
            });
        }
        let largest = (least..=self.rules.max_order).rev();
        let found = largest.into_iter().find_map(|from| Some((from, self.other(from, migrate)?)));
        let (from, other) = found?;
        let may_change = self.may_change(from, migrate);
        let (from, other) = match !may_change && migrate == Migrate::Movable && from > order {
            true => self.smallest_other(order, migrate)?,
            false => (from, other),
        };
        let page = self.lists.first(from, other)?;
        let given = self.steal(page, (from, order), (migrate, other), may_change);
        self.note_taken(order, migrate, from, other);
        given
    }

    /// Returns the type whose block of this order may be taken.
    fn other(&self, order: u8, migrate: Migrate) -> Option<Migrate> {
        migrate.fallbacks().into_iter().find(|other| self.lists.first(order, *other).is_some())
    }

    fn smallest_other(&self, order: u8, migrate: Migrate) -> Option<(u8, Migrate)> {
        let orders = order..=self.rules.max_order;
        orders.into_iter().find_map(|from| Some((from, self.other(from, migrate)?)))
    }

    /// Returns whether a page block may change its type for a block of this order.
    fn may_change(&self, order: u8, migrate: Migrate) -> bool {
        order >= self.rules.block_order / 2 || migrate != Migrate::Movable
    }

    /// Takes a block, to 6.14.
    fn steal(
        &mut self,
        page: u32,
        (from, order): (u8, u8),
        (migrate, other): (Migrate, Migrate),
        may_change: bool,
    ) -> Option<u32> {
        let is_mixed = self.rules.stealing == Stealing::Mixed;
        let of_block = self.block_type(page);
        let rest = if is_mixed { migrate } else { other };
        if of_block == Migrate::HighAtomic {
            return self.take_alone_at(page, order, rest);
        }
        if from >= self.rules.block_order {
            self.set_block_types(page, from, migrate);
            return self.take_alone_at(page, order, migrate);
        }
        if !may_change {
            return self.take_alone_at(page, order, rest);
        }
        let changes = self.changes_type(page, of_block, migrate);
        if !is_mixed && !changes {
            return self.take_alone_at(page, order, rest);
        }
        self.move_block(page, migrate);
        if changes {
            self.set_block_types(page, 0, migrate);
        }
        self.take_smallest(order, migrate)
    }

    /// Returns whether at least half of a page block is free or alike what is asked for.
    fn changes_type(&self, page: u32, of_block: Migrate, migrate: Migrate) -> bool {
        let free: u32 = self.free_in_block(page).iter().map(|(_, order)| 1 << order).sum();
        let (all, movable) = (self.rules.block_pages(), self.movable_pages(page));
        let alike = match (migrate, of_block) {
            (Migrate::Movable, _) => movable,
            (_, Migrate::Movable) => all.saturating_sub(free + movable),
            _ => 0,
        };
        free + alike >= all / 2
    }

    /// Moves all free blocks of a page block to the lists of a type.
    pub(super) fn move_block(&mut self, page: u32, migrate: Migrate) {
        for (page, order) in self.free_in_block(page) {
            self.lists.remove(page);
            self.lists.push(page, order, migrate, End::Last);
        }
    }

    fn take_alone_at(&mut self, page: u32, order: u8, rest: Migrate) -> Option<u32> {
        self.take_part(page, order, rest);
        Some(page)
    }

    /// Takes a block of a page block that changes its type with it, from 6.15 on.
    fn claim(&mut self, order: u8, migrate: Migrate, least: u8) -> Option<u32> {
        for from in (least..=self.rules.max_order).rev() {
            if !self.may_change(from, migrate) {
                return None;
            }
            let Some(other) = self.other(from, migrate) else { continue };
            let page = self.lists.first(from, other)?;
            let given = if from >= self.rules.block_order {
                self.set_block_types(page, from, migrate);
                self.take_alone_at(page, order, migrate)
            } else if self.changes_type(page, other, migrate) {
                self.move_block(page, migrate);
                self.set_block_types(page, 0, migrate);
                self.take_smallest(order, migrate)
            } else {
                None
            };
            if given.is_some() {
                self.note_taken(order, migrate, from, other);
                return given;
            }
        }
        None
    }

    /// Takes the smallest block of another type, whose page block stays as it is.
    fn take_alone(&mut self, order: u8, migrate: Migrate) -> Option<u32> {
        let (from, other) = self.smallest_other(order, migrate)?;
        let page = self.lists.first(from, other)?;
        self.take_part(page, order, other);
        self.note_taken(order, migrate, from, other);
        Some(page)
    }

    fn note_taken(&mut self, order: u8, migrate: Migrate, fallback_order: u8, fallback: Migrate) {
        self.taken.push(Taken { order, migrate, fallback_order, fallback });
    }

    /// Keeps the page block of an atomic allocation of several pages for others of these: up to 1 % of the zone.
    pub(crate) fn reserve(&mut self, page: u32, order: u8) {
        let (block, share) = (u64::from(self.rules.block_pages()), self.managed / 100);
        let most = match self.rules.has_small_reserve {
            true => share + block,
            false if share < block => return,
            false => share.next_multiple_of(block),
        };
        if self.reserved >= most || !self.block_type(page).is_usual() {
            return;
        }
        if order < self.rules.block_order {
            self.move_block(page, Migrate::HighAtomic);
        }
        self.set_block_types(page, order, Migrate::HighAtomic);
        self.reserved += block.max(1 << order);
    }

    /// Gives page blocks that are kept for atomic allocations back to others, one at a time; returns whether there was one.
    pub(crate) fn unreserve(&mut self, migrate: Migrate) -> bool {
        let mut orders = 0..=self.rules.max_order;
        let found = orders
            .find_map(|order| self.lists.first(order, Migrate::HighAtomic).map(|at| (at, order)));
        let Some((page, order)) = found else { return false };
        let pages = u64::from(self.rules.block_pages()).max(1 << order);
        self.reserved = self.reserved.saturating_sub(pages);
        if order < self.rules.block_order {
            self.move_block(page, migrate);
        } else {
            self.lists.remove(page);
            self.lists.push(page, order, migrate, End::Last);
        }
        self.set_block_types(page, order, migrate);
        true
    }
}
