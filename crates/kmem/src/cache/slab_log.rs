//! Slabs that came and went, in their order, for a caller that keeps something beside each.
//!
//! # How it works
//! A machine that is built with a log enters each slab when it has its pages, and again when these are about to be given back:
//! for type-safe caches that is after the grace period. Nothing is entered without [`MachineBuilder::slab_log`].
//!
//! [`MachineBuilder::slab_log`]: crate::MachineBuilder::slab_log

use alloc::vec::Vec;

use crate::ids::{CacheId, Pfn};
use crate::raw::lock::Lock;

/// A slab that came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlabChange {
    /// A slab of this cache begins with this page.
    Made(Pfn, CacheId),
    /// The slab that begins with this page is gone.
    Gone(Pfn),
}

/// The changes since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct SlabLog {
    is_on: bool,
    changes: Lock<Vec<SlabChange>>,
}

impl SlabLog {
    pub(crate) fn new(is_on: bool) -> Self {
        Self { is_on, changes: Lock::new(Vec::new()) }
    }

    /// Enters a change, if anybody asked for a log.
    #[inline]
    pub(crate) fn enter(&self, change: impl FnOnce() -> SlabChange) {
        if self.is_on {
            self.changes.lock().push(change());
        }
    }

    /// Returns whether anybody asked for a log.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Moves all changes to the end of `to`.
    pub(crate) fn take(&self, to: &mut Vec<SlabChange>) {
        to.append(&mut self.changes.lock());
    }
}
