//! Kinds of locks, to count how often each is taken.
//!
//! # How it works
//! A kind is an index into a CPU's counters. The first kinds are those of the page allocator and of
//! vmalloc; a backend names its own (`Ops::LOCKS`) and counts them by their place in that list.

/// A kind of lock that an allocation or free may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockKind(u8);

impl LockKind {
    /// A zone's lock in the page allocator.
    pub(crate) const ZONE: Self = Self(0);
    /// A per-CPU page list's lock.
    pub(crate) const PCP: Self = Self(1);
    /// The vmalloc area tree's lock.
    pub(crate) const VMALLOC: Self = Self(2);

    /// Names of the kinds above, by index.
    pub(crate) const COMMON: [&'static str; 3] = ["zone_lock", "pcp_lock", "vmalloc_lock"];
    /// Kinds that a machine counts at most: the common ones and a backend's own.
    pub(crate) const MAX: usize = 8;

    /// Returns the kind that a backend names at place `own` of its list.
    pub(crate) const fn of_backend(own: usize) -> Self {
        let index = Self::COMMON.len() + own;
        assert!(index < Self::MAX, "a backend names too many kinds of locks");
        Self(index as u8)
    }

    /// Returns the place of the kind's counter.
    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}
