//! Queues of objects that wait for their grace period.
//!
//! # How it works
//! A retired object is linked through itself, so that retiring needs no memory. It is *pending* first, on a stack
//! that grows without a lock. A collection reclaims the *waiting* batch if every reader is past its ticket, then
//! makes the pending ones the waiting batch and takes a ticket for them. Collections never wait for readers.
//!
//! # Invariants
//! - An object in the waiting batch was unlinked before its ticket was taken: it was pushed with release, and taken
//!   off the stack with acquire before the ticket.
//! - The waiting batch is touched, and batches are reclaimed, only by the holder. So a thread that gets the hold
//!   knows that everything taken off the queue before has been reclaimed.

use std::marker::PhantomData;
use std::mem::take;

use super::domain::Domain;
use crate::Ticket;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, UnsafeCell, const_fn, yield_now};

/// The name of something that can be reclaimed, and that has room for the name of another.
///
/// # Safety
///
/// `from_raw` gives back what `into_raw` made a pointer of, which is not null; `link` is valid until `reclaim`, and
/// all of it may happen on any thread.
pub unsafe trait Reclaim: Copy {
    /// Whether reclaiming runs code that may retire something itself.
    const CALLS_BACK: bool = true;

    /// Returns the name as a pointer.
    fn into_raw(self) -> *mut ();

    /// Returns the name.
    ///
    /// # Safety
    ///
    /// The pointer came from [`Reclaim::into_raw`].
    unsafe fn from_raw(raw: *mut ()) -> Self;

    /// Returns where the next name stands.
    ///
    /// # Safety
    ///
    /// It is not reclaimed while the reference lives.
    unsafe fn link<'a>(self) -> &'a std::sync::atomic::AtomicPtr<()>;

    /// Reclaims the object.
    ///
    /// # Safety
    ///
    /// The object is not used any more, and it is reclaimed once.
    unsafe fn reclaim(self);
}

/// A list of unlinked objects, linked through themselves. Dropping it leaks them.
#[derive(Debug)]
pub struct Chain<R> {
    first: *mut (),
    last: *mut (),
    count: usize,
    _names: PhantomData<R>,
}

impl<R> Chain<R> {
    /// Returns an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            first: std::ptr::null_mut(),
            last: std::ptr::null_mut(),
            count: 0,
            _names: PhantomData,
        }
    }

    /// Returns the list that [`Chain::into_first`] took apart. It can be emptied; retiring it panics, because its end
    /// is not known.
    ///
    /// # Safety
    ///
    /// The pointer is null, or came from [`Chain::into_first`] of a list of such names and was given to this function
    /// once; none of the names was reclaimed since.
    #[must_use]
    pub const unsafe fn from_first(first: *mut ()) -> Self {
        Self { first, ..Self::new() }
    }

    /// Takes the list apart: its first name as a pointer, or null.
    #[must_use]
    pub const fn into_first(self) -> *mut () {
        self.first
    }

    /// Returns whether nothing is in the list.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.first.is_null()
    }
}

impl<R> Default for Chain<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Reclaim> Chain<R> {
    /// Takes over something that was unlinked.
    ///
    /// # Safety
    ///
    /// The object belongs to the caller alone, and is in no list.
    #[inline]
    pub unsafe fn push(&mut self, name: R) {
        // SAFETY: the caller's, and not reclaimed.
        unsafe { name.link() }.store(self.first, Ordering::Relaxed);
        let was_empty = self.first.is_null();
        self.first = name.into_raw();
        if was_empty {
            self.last = self.first;
            self.count = 0;
        }
        self.count += 1;
    }

    /// Hands out what was taken over last.
    #[inline]
    pub fn pop(&mut self) -> Option<R> {
        if self.first.is_null() {
            return None;
        }
        // SAFETY: the list holds what into_raw returned.
        let name = unsafe { R::from_raw(self.first) };
        // SAFETY: the list owns it.
        self.first = unsafe { name.link() }.load(Ordering::Relaxed);
        Some(name)
    }

    /// Reclaims all of it.
    ///
    /// # Safety
    ///
    /// None of the objects is used any more.
    pub unsafe fn reclaim_all(&mut self) {
        while let Some(name) = self.pop() {
            // SAFETY: as the caller promises.
            unsafe { name.reclaim() };
        }
        (self.last, self.count) = (std::ptr::null_mut(), 0);
    }
}

/// Objects that wait for their grace period and are reclaimed in batches. Each thread that retires writes to the queue,
/// so it shares no cache line with anything that readers look at.
#[derive(Debug)]
#[repr(align(128))]
pub struct Queue<R> {
    pending: AtomicPtr<()>,
    pending_count: AtomicUsize,
    /// How many further ones may be pending before a collection is due.
    batch: usize,
    /// The thread that touches the waiting batch, or 0.
    holder: AtomicUsize,
    waiting: UnsafeCell<(Chain<R>, Ticket)>,
}

/// SAFETY: names may be used on any thread ([`Reclaim`]), and the batch is touched by the holder only.
unsafe impl<R: Reclaim> Sync for Queue<R> {}

impl<R: Reclaim> Queue<R> {
    const_fn! {
        /// Returns an empty queue, which is tidied up whenever `batch` further names are pending.
        #[must_use]
        pub fn new(batch: usize) -> Self {
            Self {
                pending: AtomicPtr::new(std::ptr::null_mut()),
                pending_count: AtomicUsize::new(0),
                batch,
                holder: AtomicUsize::new(0),
                waiting: UnsafeCell::new((Chain::new(), Ticket::FIRST)),
            }
        }
    }

    /// Adds what is in the list, and empties it. Returns whether a collection is due.
    pub(crate) fn defer(&self, chain: &mut Chain<R>) -> bool {
        if chain.is_empty() {
            return false;
        }
        assert!(!chain.last.is_null(), "a list that was taken apart cannot be retired");
        let chain = take(chain);
        // SAFETY: the list holds what into_raw returned, also as its last.
        let last = unsafe { R::from_raw(chain.last) };
        let mut first = self.pending.load(Ordering::Relaxed);
        loop {
            // SAFETY: ours until the exchange succeeds.
            unsafe { last.link() }.store(first, Ordering::Relaxed);
            match self.pending.compare_exchange_weak(
                first,
                chain.first,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => first = now,
            }
        }
        let before = self.pending_count.fetch_add(chain.count, Ordering::Relaxed);
        // Only at each further batch: a collection costs all CPUs a barrier, also where a reader lets none of them be reclaimed.
        before / self.batch != (before + chain.count) / self.batch
    }

    fn take_pending(&self) -> Chain<R> {
        self.pending_count.store(0, Ordering::Relaxed);
        let first = self.pending.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: `defer` linked lists to one, and only this call has it now.
        unsafe { Chain::from_first(first) }
    }

    /// Returns whether something is pending.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.load(Ordering::Relaxed).is_null()
    }

    /// Reclaims what it can, and lets the objects that came since wait from now on. Returns whether another collection
    /// may reclaim more.
    pub(crate) fn collect(&self, domain: &Domain) -> bool {
        let Ok(mut hold) = self.try_hold() else { return false };
        let has_more = self.waiting.with_mut(|waiting| {
            // SAFETY: the hold is ours.
            let (batch, ticket) = unsafe { &mut *waiting };
            let is_past = domain.is_past(*ticket);
            if is_past {
                hold.due = std::mem::replace(batch, self.take_pending());
                *ticket = domain.ticket();
            }
            is_past && !batch.is_empty()
        });
        // SAFETY: it was unlinked before a ticket that every reader is past.
        unsafe { hold.reclaim() };
        has_more || self.has_pending()
    }

    /// Waits until everything that was retired before has been reclaimed. The caller is in no section.
    pub(crate) fn drain(&self, domain: &Domain) {
        let mut hold = loop {
            match self.try_hold() {
                Ok(hold) => break hold,
                Err(holder) => {
                    assert_ne!(holder, own_id(), "waiting for a function inside that function");
                }
            }
            yield_now();
        };
        self.waiting.with_mut(|waiting| {
            // SAFETY: the hold is ours.
            let (batch, ticket) = unsafe { &mut *waiting };
            hold.due = std::mem::replace(batch, self.take_pending());
            *ticket = domain.ticket();
        });
        domain.synchronize();
        // SAFETY: unlinked before the wait.
        unsafe { hold.reclaim() };
        // SAFETY: the hold is ours.
        hold.due = self.waiting.with_mut(|waiting| take(unsafe { &mut (*waiting).0 }));
        // SAFETY: unlinked before the wait.
        unsafe { hold.reclaim() };
    }

    fn try_hold(&self) -> Result<Hold<'_, R>, usize> {
        let holder =
            self.holder.compare_exchange(0, own_id(), Ordering::Acquire, Ordering::Relaxed);
        holder.map(|_| Hold { queue: self, due: Chain::new() })
    }
}

/// The right to touch the waiting batch and to reclaim.
struct Hold<'a, R: Reclaim> {
    queue: &'a Queue<R>,
    /// Objects taken off the queue. If a reclaiming function panics, those that are left are
    /// retired anew.
    due: Chain<R>,
}

impl<R: Reclaim> Hold<'_, R> {
    /// # Safety
    ///
    /// None of the due objects is used any more.
    unsafe fn reclaim(&mut self) {
        while let Some(name) = self.due.pop() {
            // SAFETY: as the caller promises.
            unsafe { name.reclaim() };
        }
    }
}

impl<R: Reclaim> Drop for Hold<'_, R> {
    fn drop(&mut self) {
        let mut rest = Chain::new();
        while let Some(name) = self.due.pop() {
            // SAFETY: popped, so in no list.
            unsafe { rest.push(name) };
        }
        self.queue.defer(&mut rest);
        self.queue.holder.store(0, Ordering::Release);
    }
}

/// Returns a number for the calling thread that is not 0.
#[cfg(not(all(test, loom)))]
fn own_id() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

/// Loom's threads share the thread-locals of one thread, so each takes a number of its own.
#[cfg(all(test, loom))]
fn own_id() -> usize {
    thread_local!(static NEXT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });
    NEXT.with(|next| {
        next.set(next.get() + 1);
        next.get()
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Name(*mut std::sync::atomic::AtomicPtr<()>);

    /// SAFETY: names are boxes that are leaked until they are reclaimed.
    unsafe impl Reclaim for Name {
        fn into_raw(self) -> *mut () {
            self.0.cast()
        }

        unsafe fn from_raw(raw: *mut ()) -> Self {
            Self(raw.cast())
        }

        unsafe fn link<'a>(self) -> &'a std::sync::atomic::AtomicPtr<()> {
            // SAFETY: as the caller promises, it is not reclaimed.
            unsafe { &*self.0 }
        }

        unsafe fn reclaim(self) {
            // SAFETY: as the caller promises, the box is not used any more.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }

    fn push(chain: &mut Chain<Name>) -> Name {
        let name = Name(Box::into_raw(Box::default()));
        // SAFETY: in no list.
        unsafe { chain.push(name) };
        name
    }

    /// The list kept the last name from before it was emptied, and linked the queue to that one's memory.
    #[test]
    fn a_list_that_was_emptied_and_filled_again_ends_with_what_is_in_it() {
        let mut chain = Chain::new();
        push(&mut chain);
        // SAFETY: popped, so this test alone has it.
        unsafe { chain.pop().expect("one name").reclaim() };
        let name = push(&mut chain);
        assert_eq!((chain.last, chain.count), (name.into_raw(), 1));
        // SAFETY: this test alone has them.
        unsafe { chain.reclaim_all() };
    }

    #[test]
    #[should_panic(expected = "taken apart")]
    fn a_list_that_was_taken_apart_is_not_retired() {
        // The name is on the stack, as the panic leaves it behind.
        let mut link = std::sync::atomic::AtomicPtr::default();
        let mut chain = Chain::new();
        // SAFETY: in no list, and it outlives them all.
        unsafe { chain.push(Name(&raw mut link)) };
        // SAFETY: taken apart in this line.
        let mut again = unsafe { Chain::<Name>::from_first(chain.into_first()) };
        Queue::new(9).defer(&mut again);
    }
}
