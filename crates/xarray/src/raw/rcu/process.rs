//! The process's one domain, entered through thread-local state.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

use super::domain::{Domain, Limbo, Record};
use crate::raw::Pin;

static DOMAIN: Domain = Domain::new();
/// Whether readers must fence for themselves, because `membarrier` is not to be had.
static READERS_FENCE: AtomicBool = AtomicBool::new(true);

struct Local {
    record: Cell<Option<&'static Record>>,
    /// The same record, if entering a section takes no more than a store to it.
    quick: Cell<Option<&'static Record>>,
}

thread_local! {
    static LOCAL: Local = const { Local { record: Cell::new(None), quick: Cell::new(None) } };
    static EXIT: Exit = const { Exit };
}

/// Gives the record back when the thread ends.
struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        LOCAL.with(|local| {
            local.quick.set(None);
            // A thread that keeps a section in another of its thread-locals keeps its record for good.
            if let Some(record) = local.record.get()
                && !record.is_active()
            {
                local.record.set(None);
                DOMAIN.unregister(record);
            }
        });
    }
}

/// A read-side section: while it lives, nothing that this thread reads from any array is freed. Linux:
/// `rcu_read_lock`. Sections nest.
#[derive(Debug)]
pub struct Guard {
    /// Tied to its thread.
    _thread: PhantomData<*mut ()>,
}

/// Enters a read-side section.
#[inline]
#[must_use]
pub fn pin() -> Guard {
    enter();
    Guard { _thread: PhantomData }
}

impl Guard {
    #[inline]
    pub(crate) fn pin(&self) -> Pin<'_> {
        // SAFETY: this is a read-side section, and the pin borrows it.
        unsafe { Pin::new() }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        leave();
    }
}

#[inline]
pub(crate) fn enter() {
    LOCAL.with(|local| match local.quick.get() {
        Some(record) => DOMAIN.enter(record),
        None => enter_slowly(local),
    });
    compiler_fence(Ordering::SeqCst);
}

#[cold]
#[inline(never)]
fn enter_slowly(local: &Local) {
    DOMAIN.enter(local.record.get().unwrap_or_else(|| register(local)));
    if READERS_FENCE.load(Ordering::Relaxed) {
        fence(Ordering::SeqCst);
    }
}

#[inline]
pub(crate) fn leave() {
    LOCAL.with(|local| match local.quick.get() {
        Some(record) => record.leave(),
        None => leave_slowly(local),
    });
}

#[cold]
#[inline(never)]
fn leave_slowly(local: &Local) {
    if let Some(record) = local.record.get() {
        record.leave();
    }
}

/// Returns this thread's record, if it ever read, and whether it is in a section.
fn own() -> (Option<&'static Record>, bool) {
    let record = LOCAL.with(|local| local.record.get());
    (record, record.is_some_and(Record::is_active))
}

fn register(local: &Local) -> &'static Record {
    // Decided before the first reader, so no reader ever relies on a barrier that is not there.
    let readers_fence = !membarrier_works();
    READERS_FENCE.store(readers_fence, Ordering::SeqCst);
    let record = DOMAIN.register(heavy_barrier);
    local.record.set(Some(record));
    // A thread that reads from its own last destructors keeps its record for good.
    if EXIT.try_with(|_| ()).is_ok() && !readers_fence {
        local.quick.set(Some(record));
    }
    record
}

/// Frees unlinked nodes, now or later.
#[inline]
pub(crate) fn retire(limbo: &mut Limbo) {
    if !limbo.is_empty() {
        retire_all(limbo);
    }
}

fn retire_all(limbo: &mut Limbo) {
    if is_solitary() {
        // SAFETY: no other thread reads, and this one is outside any section.
        unsafe { limbo.free_all() };
    } else if DOMAIN.defer(limbo) {
        DOMAIN.collect(heavy_barrier);
    }
}

/// Returns whether what this thread unlinked before can be in nobody's hands.
pub(super) fn is_solitary() -> bool {
    let (record, is_active) = own();
    compiler_fence(Ordering::SeqCst);
    if READERS_FENCE.load(Ordering::Relaxed) {
        fence(Ordering::SeqCst);
    }
    !is_active && DOMAIN.is_solitary(usize::from(record.is_some()))
}

/// Waits until every section that is open now has been left, and frees what was unlinked before. Linux:
/// `synchronize_rcu` and `rcu_barrier`.
///
/// # Panics
///
/// If this thread is in a section itself: it would wait for itself.
pub fn synchronize() {
    assert!(!own().1, "synchronize() inside a read-side section");
    let ticket = DOMAIN.ticket();
    while !DOMAIN.is_done(ticket) {
        DOMAIN.collect(heavy_barrier);
        std::thread::yield_now();
    }
}

/// Returns a ticket for everything unlinked until now.
pub(super) fn ticket() -> usize {
    DOMAIN.ticket()
}

/// Returns whether every reader has moved on since the ticket was given.
pub(super) fn is_done(ticket: usize) -> bool {
    DOMAIN.is_done(ticket)
}

/// Frees what can be freed.
pub(super) fn poll() {
    DOMAIN.collect(heavy_barrier);
}

fn heavy_barrier() {
    Domain::fence_barrier();
    if membarrier_works() {
        membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    }
}

fn membarrier_works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        !cfg!(miri) && membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0
    })
}

fn membarrier(command: libc::c_int) -> libc::c_long {
    // SAFETY: the call takes no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_reading() -> bool {
        own().1
    }

    #[test]
    fn sections_nest_in_any_order() {
        assert!(!is_reading());
        let (outer, inner) = (pin(), pin());
        drop(outer);
        assert!(is_reading());
        drop(inner);
        assert!(!is_reading());
    }

    #[test]
    #[should_panic(expected = "nested read-side sections")]
    fn sections_that_cannot_be_counted_are_refused() {
        let _guards: Vec<Guard> = (0..1 << 16).map(|_| pin()).collect();
    }

    #[test]
    fn a_section_kept_in_a_thread_local_outlives_the_exit() {
        static WAS_READING: AtomicBool = AtomicBool::new(false);
        struct Keeper(Cell<Option<Guard>>);
        impl Drop for Keeper {
            fn drop(&mut self) {
                WAS_READING.store(is_reading(), Ordering::Relaxed);
                self.0.take();
            }
        }
        thread_local! {
            static KEEPER: Keeper = const { Keeper(Cell::new(None)) };
        }
        // What is touched last is dropped first, so the keeper goes after the record's owner.
        let keep = || KEEPER.with(|keeper| keeper.0.set(Some(pin())));
        std::thread::spawn(keep).join().expect("no panic");
        assert!(WAS_READING.load(Ordering::Relaxed));
    }
}
