//! The domain of this process, entered through thread-local state.

use std::cell::Cell;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, compiler_fence, fence};

use super::domain::{Domain, Reader};
use super::queue::{Chain, Queue, Reclaim};
use crate::Ticket;

static DOMAIN: Domain = Domain::new(heavy_barrier);
/// Whether readers must fence for themselves, because `membarrier` is not available.
static READERS_FENCE: AtomicBool = AtomicBool::new(true);

struct Local {
    reader: Cell<Option<&'static Reader>>,
    /// The same record, if one store to it is enough to enter a section.
    quick: Cell<Option<&'static Reader>>,
    /// Open sections of [`enter`]. All of them together are one section of the record, so that no [`leave`] can end a
    /// guard's.
    sections: Cell<usize>,
    /// Whether functions that were deferred are being called.
    calling: Cell<bool>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            reader: Cell::new(None),
            quick: Cell::new(None),
            sections: Cell::new(0),
            calling: Cell::new(false),
        }
    };
    static EXIT: Exit = const { Exit };
    /// The key of [`at_end`], and the pass in which it is called next.
    static END: Cell<Option<(libc::pthread_key_t, usize)>> = const { Cell::new(None) };
}

/// Gives the record back when the thread ends.
struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        LOCAL.with(|local| {
            local.quick.set(None);
            // A section may be in another thread-local, whose destructor comes later: see `at_end`.
            if let Some(reader) = local.reader.get()
                && !reader.is_active()
            {
                local.reader.set(None);
                DOMAIN.unregister(reader);
            }
        });
    }
}

/// Makes sure that [`at_end`] is called when this thread ends.
fn watch_end() {
    END.set(key_of_end().map(|key| (key, 1)));
    set_again();
}

/// Returns the key whose destructor is [`at_end`], or `None` if this process has no keys left.
fn key_of_end() -> Option<libc::pthread_key_t> {
    /// One more than the key. It is an atomic, not a `OnceLock`, because ThreadSanitizer does not see what the standard
    /// library orders.
    static KEY: AtomicU64 = AtomicU64::new(0);
    let known = |key: u64| libc::pthread_key_t::try_from(key - 1).ok();
    match KEY.load(Ordering::Acquire) {
        0 => {}
        key => return known(key),
    }
    let mut key = 0;
    // SAFETY: the place is written before it is read, and the function is sound on any thread.
    if unsafe { libc::pthread_key_create(&mut key, Some(at_end)) } != 0 {
        return None;
    }
    match KEY.compare_exchange(0, u64::from(key) + 1, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(key),
        Err(others) => {
            // SAFETY: this thread made the key, and no thread has a value under it.
            let _ = unsafe { libc::pthread_key_delete(key) };
            known(others)
        }
    }
}

/// Makes sure that [`at_end`] is called in the next pass over the destructors of this thread.
fn set_again() {
    if let Some((key, pass)) = END.get() {
        // SAFETY: the key is never deleted, and a reader never follows the value.
        let _ = unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(pass)) };
    }
}

/// Ends the sections of a thread that forgot a guard, when none of its code can run any more. That is in the third of the
/// four passes (`PTHREAD_DESTRUCTOR_ITERATIONS`) over thread-specific data, behind the destructors of thread-locals, whose
/// guards are valid.
extern "C" fn at_end(_: *mut libc::c_void) {
    const LAST_PASS: usize = 3;
    if let Some((key, pass)) = END.get()
        && pass < LAST_PASS
    {
        END.set(Some((key, pass + 1)));
        return set_again();
    }
    LOCAL.with(|local| {
        let Some(reader) = local.reader.take() else { return };
        if reader.is_active() {
            reader.leave_all();
            let _ = writeln!(
                std::io::stderr(),
                "slablab-rcu: a thread ended in a read-side section, whose guard it forgot; the section is ended"
            );
        }
        DOMAIN.unregister(reader);
    });
}

/// A read-side section: while it lives, nothing that this thread finds is reclaimed. Linux: `rcu_read_lock`. Sections
/// nest.
#[derive(Debug)]
pub struct Guard {
    /// Ties the guard to its thread.
    _thread: PhantomData<*mut ()>,
}

/// Enters a read-side section.
///
/// # Panics
///
/// If 65,535 sections are open already.
#[inline]
#[must_use]
pub fn pin() -> Guard {
    LOCAL.with(enter_record);
    Guard { _thread: PhantomData }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        LOCAL.with(leave_record);
    }
}

/// Enters a section that [`leave`] ends, for C, which has no guards. Such sections nest, and are counted apart from
/// guards: nothing that is done with them ends a guard's section.
#[inline]
pub fn enter() {
    LOCAL.with(|local| {
        let open = local.sections.get();
        if open == 0 {
            enter_record(local);
        }
        local.sections.set(open + 1);
    });
}

/// Leaves the section that [`enter`] entered last.
///
/// # Panics
///
/// If this thread is in no such section.
#[inline]
pub fn leave() {
    LOCAL.with(|local| match local.sections.get() {
        0 => left_too_often(),
        open => {
            local.sections.set(open - 1);
            if open == 1 {
                leave_record(local);
            }
        }
    });
}

#[cold]
#[inline(never)]
fn left_too_often() -> ! {
    panic!("a read-side section was left that was not entered");
}

#[inline(always)]
fn enter_record(local: &Local) {
    match local.quick.get() {
        Some(reader) => DOMAIN.enter(reader),
        None => enter_slowly(local),
    }
    compiler_fence(Ordering::SeqCst);
}

#[cold]
#[inline(never)]
fn enter_slowly(local: &Local) {
    DOMAIN.enter(local.reader.get().unwrap_or_else(|| register(local)));
    if READERS_FENCE.load(Ordering::Relaxed) {
        fence(Ordering::SeqCst);
    }
}

#[inline(always)]
fn leave_record(local: &Local) {
    match local.quick.get() {
        Some(reader) => reader.leave(),
        None => leave_slowly(local),
    }
}

#[cold]
#[inline(never)]
fn leave_slowly(local: &Local) {
    if let Some(reader) = local.reader.get() {
        reader.leave();
    }
}

fn register(local: &Local) -> &'static Reader {
    // This is decided before the first reader, so no reader ever relies on a barrier that is
    // missing.
    let readers_fence = !membarrier_works();
    READERS_FENCE.store(readers_fence, Ordering::SeqCst);
    let reader = DOMAIN.register();
    local.reader.set(Some(reader));
    watch_end();
    // A thread that reads from its own last destructors keeps its record until these are done.
    if EXIT.try_with(|_| ()).is_ok() && !readers_fence {
        local.quick.set(Some(reader));
    }
    reader
}

/// Returns this thread's record, if it ever read, and whether it is in a section.
#[inline]
fn own() -> (Option<&'static Reader>, bool) {
    let reader = LOCAL.with(|local| local.reader.get());
    (reader, reader.is_some_and(Reader::is_active))
}

/// While it lives, this thread calls functions that were deferred.
pub(super) struct Calling(());

impl Calling {
    /// Returns `None` inside such a function. What that function defers waits in the queue; otherwise a function that defers
    /// itself, or a list each of whose nodes defers the next, would take a stack without end.
    #[inline]
    pub(super) fn begin() -> Option<Self> {
        LOCAL.with(|local| (!local.calling.replace(true)).then(|| Self(())))
    }
}

impl Drop for Calling {
    #[inline]
    fn drop(&mut self) {
        LOCAL.with(|local| local.calling.set(false));
    }
}

/// Returns whether no reader can hold what this thread unlinked before.
#[inline]
pub(super) fn is_solitary() -> bool {
    let (reader, is_active) = own();
    compiler_fence(Ordering::SeqCst);
    if READERS_FENCE.load(Ordering::Relaxed) {
        fence(Ordering::SeqCst);
    }
    !is_active && DOMAIN.is_solitary(usize::from(reader.is_some()))
}

/// Waits until every section that is open now has been left. Linux: `synchronize_rcu`.
///
/// # Panics
///
/// If called in a section: it would wait for itself.
pub fn synchronize() {
    assert_outside_sections();
    DOMAIN.synchronize();
}

/// Returns a ticket for everything that this thread has unlinked; [`is_past`] takes it. Linux:
/// `get_state_synchronize_rcu`.
#[must_use]
pub fn ticket() -> Ticket {
    DOMAIN.ticket()
}

/// Returns whether every section that was open when the ticket was taken has been left. Linux:
/// `poll_state_synchronize_rcu`.
#[must_use]
pub fn is_past(ticket: Ticket) -> bool {
    DOMAIN.is_past(ticket)
}

/// Returns whether this thread is in a section. Linux: `rcu_read_lock_held`.
#[must_use]
pub fn is_reading() -> bool {
    own().1
}

#[track_caller]
fn assert_outside_sections() {
    assert!(!own().1, "waiting for all readers inside a read-side section");
}

impl<R: Reclaim> Queue<R> {
    /// Reclaims what is in the list, now or later, and empties it. It needs no memory and waits for no
    /// thread.
    ///
    /// # Safety
    ///
    /// All of it is sound to reclaim, on any thread, when every section that is open now has been left.
    #[inline]
    pub unsafe fn retire(&self, chain: &mut Chain<R>) {
        if !chain.is_empty() {
            // SAFETY: as the caller promises.
            unsafe { self.retire_all(chain) };
        }
    }

    /// # Safety
    ///
    /// Does as [`Queue::retire`].
    unsafe fn retire_all(&self, chain: &mut Chain<R>) {
        if !R::CALLS_BACK {
            if is_solitary() {
                // SAFETY: no other thread reads, and this one is in no section.
                unsafe { chain.reclaim_all() };
            } else if self.defer(chain) {
                self.collect(&DOMAIN);
            }
            return;
        }
        let Some(calling) = Calling::begin() else {
            self.defer(chain);
            return;
        };
        if is_solitary() {
            // SAFETY: as above.
            unsafe { chain.reclaim_all() };
            self.work_off(&calling);
        } else if self.defer(chain) {
            self.collect(&DOMAIN);
        }
    }

    /// Reclaims what functions that this thread called have deferred, and what those defer in turn. If that takes
    /// long, the rest is left for the next call, since a function may defer itself for ever.
    #[inline]
    pub(super) fn work_off(&self, _calling: &Calling) {
        // A deferred function takes two collections: in the first it begins to wait, in the second
        // it is called.
        const COLLECTIONS_MAX: u32 = 2048;
        if self.has_pending() {
            let _rest = (0..COLLECTIONS_MAX).all(|_| self.collect(&DOMAIN));
        }
    }

    /// Waits until every section that is open now has been left, and reclaims everything that was retired before.
    ///
    /// # Panics
    ///
    /// If called in a section, or while this queue reclaims on this thread: it would wait for
    /// itself.
    pub fn synchronize(&self) {
        assert_outside_sections();
        if !R::CALLS_BACK {
            return self.drain(&DOMAIN);
        }
        let calling = Calling::begin().expect("waiting for a function inside that function");
        self.drain(&DOMAIN);
        drop(calling);
    }
}

fn heavy_barrier() {
    fence(Ordering::SeqCst);
    if membarrier_works() {
        // The system may lack memory for a moment, and no section is safe without the barrier.
        while membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 {
            std::thread::yield_now();
        }
    }
}

fn membarrier_works() -> bool {
    const UNKNOWN: u8 = 0;
    const WORKS: u8 = 1;
    const MISSING: u8 = 2;
    static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
    let mut state = STATE.load(Ordering::Relaxed);
    if state == UNKNOWN {
        // Several threads may find out at once, and all find the same.
        let works = !cfg!(miri) && membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
        state = if works { WORKS } else { MISSING };
        STATE.store(state, Ordering::Relaxed);
    }
    state == WORKS
}

fn membarrier(command: libc::c_int) -> libc::c_long {
    // SAFETY: the call takes no pointers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}
