//! Epochs, records and tickets: has every reader of a certain moment left its section?
//!
//! # How it works
//! A reader that enters a section copies the epoch into its own record; one that leaves it stores 0 there. A
//! writer that has unlinked something takes a ticket, which begins the next epoch. Once every record is 0 or shows
//! an epoch after the ticket, no reader holds what was unlinked before the ticket was taken.
//!
//! # Memory order
//! Let U be the unlinking store, T the taking of the ticket, S the check that finds a record past, and F what is
//! done to the memory after it. U happens before T (same thread, or handed over by a lock or a queue).
//!
//! - *The record shows an epoch after the ticket.* T is a read-modify-write with release, and so are all later
//!   advances, which continue its release sequence. The reader loaded such an epoch with acquire, so U happens
//!   before everything in its section: it finds what replaced the object. A plain load in T would not do: it
//!   publishes nothing, and when another thread then advances the epoch, a reader of the new epoch may still find
//!   the object. (The model `a_ticket_publishes_what_its_taker_unlinked` in raw/models.rs shows that.)
//! - *The record shows 0.* A section that ended before left by a release store, or was followed by one. S loads
//!   with acquire, so all its reads happen before F. (Entering stores with release for the same reason: a new
//!   section's record must not hide the end of the one before.) A section that begins later has the reader's
//!   barrier between its store to the record and its reads; the writer's barrier stands between U and S. S did not
//!   see the store, so the writer's barrier came first, and the reads see U.
//! - *The record shows an epoch up to the ticket.* S says no, and is repeated later. The barrier need not be repeated:
//!   if the section ends and the next begins, its reads come after the writer's barrier as well.
//!
//! The two barriers are sequentially consistent fences. Or the reader's is only a compiler fence, and the
//! writer's is `membarrier(2)`, which runs a fence on every CPU where a thread of the process runs.
//!
//! # Invariants
//! - A record is 0 or has a depth of at least 1; its epoch is the one in which the outermost section began.
//!
//! Linux counterpart: `get_state_synchronize_rcu`, `poll_state_synchronize_rcu` (kernel/rcu @ 6.1).

use crate::sync::{AtomicUsize, Ordering, const_fn};

/// The low bits of a record count the sections that its reader is in; the upper ones hold the epoch of the outermost
/// section.
const DEPTH: usize = 0xffff;
/// Distance between two epochs. All of them have a depth of 1, so that entering a section is one store. 2^48 epochs
/// last for nine years at a million tickets a second.
const STEP: usize = DEPTH + 1;

/// The current epoch.
#[derive(Debug)]
pub struct Epoch(AtomicUsize);

/// A moment: everything that its taker had unlinked by then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(usize);

impl Ticket {
    /// The moment before all sections, which is the default.
    pub const FIRST: Self = Self(0);
}

impl Default for Epoch {
    fn default() -> Self {
        Self::new()
    }
}

impl Epoch {
    const_fn! {
        /// Returns the first epoch.
        #[must_use]
        pub fn new() -> Self {
            Self(AtomicUsize::new(STEP | 1))
        }
    }

    /// Begins the next epoch. A reader that [is past](Record::is_past) the ticket holds nothing that happened
    /// to be unlinked before.
    pub fn ticket(&self) -> Ticket {
        Ticket(self.0.fetch_add(STEP, Ordering::AcqRel))
    }
}

/// What one reader shows to the writers that wait for it: 0 outside a section, else the epoch in which it entered and
/// the number of sections it is in. It fills two cache lines, since processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub struct Record(AtomicUsize);

impl Default for Record {
    fn default() -> Self {
        Self::new()
    }
}

impl Record {
    const_fn! {
        /// Returns the record of a reader outside any section.
        #[must_use]
        pub fn new() -> Self {
            Self(AtomicUsize::new(0))
        }
    }

    /// Enters a section; sections nest. The caller orders this before the reads that follow (see the module).
    ///
    /// # Panics
    ///
    /// If 65,535 sections are open already.
    #[inline]
    pub fn enter(&self, epoch: &Epoch) {
        match self.0.load(Ordering::Relaxed) {
            0 => self.0.store(epoch.0.load(Ordering::Acquire), Ordering::Release),
            active => self.enter_nested(active),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_nested(&self, active: usize) {
        assert!(active & DEPTH < DEPTH, "65,535 nested read-side sections");
        self.0.store(active + 1, Ordering::Release);
    }

    /// Leaves the section that was entered last.
    #[inline]
    pub fn leave(&self) {
        match self.0.load(Ordering::Relaxed) {
            active if active & DEPTH == 1 => self.0.store(0, Ordering::Release),
            active => self.leave_nested(active),
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_nested(&self, active: usize) {
        debug_assert!(active != 0, "a read-side section was left that was not entered");
        self.0.store(active.saturating_sub(1), Ordering::Release);
    }

    /// Leaves all sections of a reader that is gone.
    #[cfg(all(feature = "std", not(all(test, loom))))]
    pub(crate) fn leave_all(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Returns whether its reader is in a section; only the reader itself calls this.
    #[inline]
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Returns whether its reader has left every section that was open when the ticket was taken. The caller orders
    /// this after what it unlinked (see the module).
    #[must_use]
    pub fn is_past(&self, ticket: Ticket) -> bool {
        let active = self.0.load(Ordering::Acquire);
        active == 0 || active > ticket.0 | DEPTH
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_reader_holds_back_only_tickets_taken_while_it_reads() {
        let (epoch, record) = (Epoch::new(), Record::new());
        let before = epoch.ticket();
        record.enter(&epoch);
        let during = epoch.ticket();
        assert!(record.is_past(Ticket::FIRST) && record.is_past(before) && !record.is_past(during));
        record.enter(&epoch);
        record.leave();
        assert!(!record.is_past(during), "the outer section goes on");
        record.leave();
        assert!(record.is_past(during));
        record.enter(&epoch);
        assert!(record.is_past(during), "the next section began after the ticket");
    }
}
