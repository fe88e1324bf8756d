//! A barn: the full and the empty sheaves that the CPUs of a node share.
//!
//! # Invariants
//! The number of full sheaves is limited; that of empty ones only where sheaves come from a grace period.

use core::ops::{Deref, DerefMut};

use super::sheaf::Sheaf;
use crate::cache::blocks::BlockList;
use crate::cache::cx::Cx;
use crate::cpu::LockKind;
use crate::raw::local::LocalU32;
use crate::raw::lock::{Guard, Lock};
use crate::raw::zeroed::zeroed_struct;

/// A barn's lock: place 2 of `Ops::LOCKS` in each backend with sheaves.
const BARN_LOCK: LockKind = LockKind::of_backend(2);
/// Full sheaves in a barn, and empty ones that come from a grace period, unless the machine sets another number
/// (`MAX_FULL_SHEAVES`, `MAX_EMPTY_SHEAVES`).
pub(super) const SHEAVES_MAX: u32 = 10;

zeroed_struct! {
    /// The sheaves of a barn.
    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct Lists {
        pub(super) full: BlockList,
        pub(super) empty: BlockList,
    }
}

zeroed_struct! {
    /// A node's barn of a cache.
    #[derive(Debug)]
    pub(super) struct Barn {
        lists: Lock<Lists>,
        /// Full sheaves, readable without the lock.
        full: LocalU32,
        /// Empty sheaves, readable without the lock.
        empty: LocalU32,
        /// How many full ones it takes, and how many empty ones from a grace period.
        sheaves_max: LocalU32,
    }
}

/// A barn, locked; its numbers are published when the lock is given up.
struct Open<'a> {
    lists: Guard<'a, Lists>,
    barn: &'a Barn,
}

impl Deref for Open<'_> {
    type Target = Lists;

    fn deref(&self) -> &Lists {
        &self.lists
    }
}

impl DerefMut for Open<'_> {
    fn deref_mut(&mut self) -> &mut Lists {
        &mut self.lists
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.barn.full.set(self.lists.full.len());
        self.barn.empty.set(self.lists.empty.len());
    }
}

/// Why a barn takes no full sheaf in exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Refusal {
    /// It has enough full ones.
    TooManyFull,
    /// It has no empty one to give.
    NoEmpty,
}

impl Barn {
    /// Sets how many full sheaves it takes, and how many empty ones from a grace period.
    pub(super) fn set_sheaves_max(&self, sheaves_max: u32) {
        self.sheaves_max.set(sheaves_max);
    }

    /// Returns how many full sheaves it takes.
    pub(super) fn sheaves_max(&self) -> u32 {
        self.sheaves_max.get()
    }

    #[inline(always)]
    fn lock(&self, cx: &Cx<'_>) -> Open<'_> {
        cx.count_lock(BARN_LOCK);
        Open { lists: self.lists.lock(), barn: self }
    }

    /// Returns what is in the barn.
    pub(super) fn lists(&self) -> Lists {
        *self.lists.lock()
    }

    pub(super) fn get_empty(&self, cx: &Cx<'_>) -> Option<Sheaf> {
        if self.empty.get() == 0 {
            return None;
        }
        self.lock(cx).empty.pop(&cx.core.arena).map(Sheaf::of)
    }

    /// Gives a full sheaf for an empty one.
    #[inline(always)]
    pub(super) fn replace_empty(&self, cx: &Cx<'_>, empty: Sheaf) -> Option<Sheaf> {
        if self.full.get() == 0 {
            return None;
        }
        let mut lists = self.lock(cx);
        let full = lists.full.pop(&cx.core.arena).map(Sheaf::of)?;
        lists.empty.push(&cx.core.arena, empty.block());
        Some(full)
    }

    /// Gives an empty sheaf for a full one.
    #[inline(always)]
    pub(super) fn replace_full(&self, cx: &Cx<'_>, full: Sheaf) -> Result<Sheaf, Refusal> {
        let full_max = self.sheaves_max();
        let refuse = |full: u32, empty: u32| match (full >= full_max, empty) {
            (true, _) => Err(Refusal::TooManyFull),
            (_, 0) => Err(Refusal::NoEmpty),
            _ => Ok(()),
        };
        refuse(self.full.get(), self.empty.get())?;
        let mut lists = self.lock(cx);
        refuse(lists.full.len(), lists.empty.len())?;
        lists.full.push(&cx.core.arena, full.block());
        lists.empty.pop(&cx.core.arena).map(Sheaf::of).ok_or(Refusal::NoEmpty)
    }

    /// Takes a full sheaf; `false` if there are enough.
    pub(super) fn put_full(&self, cx: &Cx<'_>, full: Sheaf) -> bool {
        if self.full.get() >= self.sheaves_max() {
            return false;
        }
        let mut lists = self.lock(cx);
        let room = lists.full.len() < self.sheaves_max();
        if room {
            lists.full.push(&cx.core.arena, full.block());
        }
        room
    }

    /// Takes an empty sheaf.
    pub(super) fn put_empty(&self, cx: &Cx<'_>, empty: Sheaf) {
        self.lock(cx).empty.push(&cx.core.arena, empty.block());
    }

    /// Takes an empty sheaf that comes from a grace period; `false` if there are enough.
    pub(super) fn put_empty_if_few(&self, cx: &Cx<'_>, empty: Sheaf) -> bool {
        let few = self.empty.get() < self.sheaves_max();
        if few {
            self.put_empty(cx, empty);
        }
        few
    }

    /// Takes everything out.
    pub(super) fn clear(&self, cx: &Cx<'_>) -> Lists {
        core::mem::take(&mut *self.lock(cx))
    }
}
