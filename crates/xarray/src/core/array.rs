//! The normal interface, on entries.

use slablab_rcu::Guard;

use super::entries::Entries;
use super::find::{Found, Search};
use super::mark;
use crate::raw::{Section, Word, Writer};
use crate::{
    ArrayBody, Entry, Error, Filter, Flags, Gfp, IdLimit, Mark, PackedXArray, RawXArray, Result,
};

/// What takes the lock: the same for both layouts of an array.
macro_rules! locking {
    ($($array:ty),*) => {$(
        impl $array {
            /// Takes the lock for a number of changes. Linux: `xa_lock` and the `__xa_` functions.
            pub fn lock(&self) -> Writer<'_> {
                self.lock_for(Gfp::KERNEL)
            }

            /// Takes the lock; memory is allocated in this context.
            pub fn lock_for(&self, gfp: Gfp) -> Writer<'_> {
                let (body, lock) = self.parts();
                Writer::lock(body, lock, gfp)
            }

            /// Returns the bytes that the array's nodes take, as they were requested from the allocator.
            pub fn memory_bytes(&self) -> usize {
                self.lock().memory_bytes()
            }

            /// Removes everything. What entries point to is not touched. Linux: `xa_destroy`.
            pub fn clear(&self) {
                self.lock().clear();
            }
        }
    )*};
}

locking!(PackedXArray, RawXArray);

impl ArrayBody {
    /// Returns the entry at `index`, or NULL. Linux: `xa_load`.
    #[inline]
    pub fn load(&self, index: u64, guard: &Guard) -> Entry {
        let entry = crate::raw::lookup::lookup(&self.head, index, guard.pin());
        if entry.is_internal() { self.load_internal(index, guard) } else { entry }
    }

    /// Returns the entry as [`ArrayBody::load`] does, when a writer was in between or the index is
    /// reserved.
    #[cold]
    fn load_internal(&self, index: u64, guard: &Guard) -> Entry {
        loop {
            let entry = crate::raw::lookup::lookup(&self.head, index, guard.pin());
            if entry != Entry::RETRY {
                return entry.visible();
            }
        }
    }

    /// Returns whether the entry at `index` bears the mark. Linux: `xa_get_mark`.
    pub fn get_mark(&self, index: u64, mark: Mark, guard: &Guard) -> bool {
        mark::get_mark(self, index, mark, guard.pin())
    }

    /// Returns the first entry at or after `from`, at `max` at most, with its first index (or `from`, if it is
    /// inside the entry's indices). Linux: `xa_find`.
    pub fn find(&self, from: u64, max: u64, filter: Filter, guard: &Guard) -> Option<(u64, Entry)> {
        let found = self.next(from, Search::visible(self, max, filter), guard.pin())?;
        Some((found.first.max(from), found.entry))
    }

    /// Returns the first entry that begins after `index`, at `max` at most. Linux: `xa_find_after`.
    pub fn find_after(
        &self,
        index: u64,
        max: u64,
        filter: Filter,
        guard: &Guard,
    ) -> Option<(u64, Entry)> {
        let search = Search::visible(self, max, filter);
        let from = index.checked_add(1)?;
        let mut found = self.next(from, search, guard.pin())?;
        if found.first < from {
            found = self.next(found.last.checked_add(1)?, search, guard.pin())?;
        }
        Some((found.first, found.entry))
    }

    /// Returns the entries from `from` to `max`, in order. Entries that come or go meanwhile may be missed;
    /// all others are seen. Linux: `xa_for_each_range`, `xa_for_each_marked`.
    pub fn entries<'g>(
        &'g self,
        from: u64,
        max: u64,
        filter: Filter,
        guard: &'g Guard,
    ) -> Entries<'g> {
        Entries::new(self, from, Search::visible(self, max, filter), guard.pin())
    }

    /// Returns the order of the entry at `index`: it covers `2^order` indices. 0 if there is none. Linux:
    /// `xa_get_order`.
    pub fn order(&self, index: u64, guard: &Guard) -> u32 {
        let found = self.next(index, Search::all(index), guard.pin());
        found.map_or(0, |found| found.order())
    }
}

impl Found {
    pub(crate) fn order(&self) -> u32 {
        64 - (self.last - self.first).leading_zeros()
    }
}

impl Drop for ArrayBody {
    fn drop(&mut self) {
        // The caller alone has it by now, so that either lock would do.
        Writer::lock(self, &self.lock, Gfp::KERNEL).clear();
    }
}

/// The normal interface under the lock. Linux: `__xa_store` and its siblings.
impl Writer<'_> {
    /// Stores an entry and returns the old one; NULL erases. In an array that hands out ids NULL reserves.
    ///
    /// # Errors
    ///
    /// If the entry is invalid, or memory is out and there was nothing at this index.
    pub fn store(&self, index: u64, entry: Entry) -> Result<Entry> {
        if !entry.is_storable() {
            return Err(Error::Invalid);
        }
        if entry.is_null() && !self.has(Flags::TRACK_FREE) {
            return Ok(self.erase(index).visible());
        }
        let entry = if entry.is_null() { Entry::ZERO } else { entry };
        let old = self.insert(index, entry)?;
        self.take_id(index);
        Ok(old.visible())
    }

    fn take_id(&self, index: u64) {
        if self.has(Flags::TRACK_FREE) {
            self.unmark(index, Mark::FREE);
        }
    }

    /// Erases the whole entry at this index and returns it. Never fails.
    pub fn remove(&self, index: u64) -> Entry {
        self.erase(index).visible()
    }

    /// Stores an entry where there is none; NULL reserves.
    ///
    /// # Errors
    ///
    /// If there is something, even a reservation: busy. If the entry is invalid, or memory is out.
    pub fn insert_new(&self, index: u64, entry: Entry) -> Result<()> {
        if !entry.is_storable() {
            return Err(Error::Invalid);
        }
        if !self.load(index).is_null() {
            return Err(Error::Busy);
        }
        self.insert(index, if entry.is_null() { Entry::ZERO } else { entry })?;
        self.take_id(index);
        Ok(())
    }

    /// Stores `new` if the entry is `old`. Returns the entry found. A reservation matches only
    /// [`Entry::ZERO`], and is returned as NULL.
    ///
    /// # Errors
    ///
    /// If the entry is invalid, or memory is out.
    pub fn compare_exchange(&self, index: u64, old: Entry, new: Entry) -> Result<Entry> {
        if !new.is_storable() {
            return Err(Error::Invalid);
        }
        let current = self.load(index);
        if current == old && new.is_null() {
            self.erase(index);
        } else if current == old {
            self.insert(index, new)?;
            if current.is_null() {
                self.take_id(index);
            }
        }
        Ok(current.visible())
    }

    /// Makes sure that a later store at this index needs no memory.
    ///
    /// # Errors
    ///
    /// If memory is out.
    pub fn reserve(&self, index: u64) -> Result<()> {
        self.compare_exchange(index, Entry::NULL, Entry::ZERO).map(|_| ())
    }

    /// Takes a reservation back, if nothing was stored there. Never fails.
    pub fn release(&self, index: u64) {
        if self.load(index).is_zero() {
            self.erase(index);
        }
    }

    /// Stores an entry at the lowest free id within the limit. NULL reserves.
    ///
    /// # Errors
    ///
    /// If all ids are taken: busy. If the array does not hand out ids: invalid. If memory is out.
    pub fn alloc(&self, entry: Entry, limit: IdLimit) -> Result<u32> {
        self.allocate(entry, limit, |_| ())
    }

    /// Stores an entry at the first free id from `*next` on and around, and moves `*next` behind it. Also
    /// returns whether the search came around.
    ///
    /// # Errors
    ///
    /// Fails as [`Writer::alloc`] does.
    pub fn alloc_cyclic(
        &self,
        entry: Entry,
        limit: IdLimit,
        next: &mut u32,
    ) -> Result<(u32, bool)> {
        self.allocate_cyclic(entry, limit, next, |_| ())
    }

    /// Stores an entry that covers the `2^order` indices around `index`; NULL erases all of them. Returns the
    /// entry that was at the first of them.
    ///
    /// # Errors
    ///
    /// If the entry is invalid, the order is above 63, or memory is out.
    pub fn store_order(&self, index: u64, order: u32, entry: Entry) -> Result<Entry> {
        if order > 63 || !entry.is_storable() {
            return Err(Error::Invalid);
        }
        let old = self.exchange_order(index, order, entry)?;
        if !entry.is_null() {
            self.take_id(index);
        }
        Ok(old.visible())
    }

    /// Does as [`Writer::store_order`], for any entry, and without taking an id.
    pub(crate) fn exchange_order(&self, index: u64, order: u32, entry: Entry) -> Result<Entry> {
        let first = index >> order << order;
        if !entry.is_null() {
            return self.store_run(super::range::Run::of_order(index, order), entry);
        }
        let old = self.load(first);
        self.erase_range(first, first | ((1 << order) - 1));
        Ok(old)
    }

    /// Returns all entries.
    pub(crate) fn entries(&self) -> Entries<'_> {
        self.entries_in(0, u64::MAX)
    }

    /// Visits the entries from `from` to `max`.
    pub(crate) fn entries_in(&self, from: u64, max: u64) -> Entries<'_> {
        let search = Search::visible(self.array(), max, Filter::Present);
        Entries::new(self.array(), from, search, self.pin())
    }

    /// Removes everything.
    pub fn clear(&self) {
        let word = self.head().load();
        self.head().store(Word::NULL);
        for mark in Mark::ALL {
            let is_free = self.is_inverted(mark) && !self.has(Flags::ZERO_BUSY);
            self.array().set_root_mark(mark, is_free);
        }
        self.retire_tree(word);
    }
}
