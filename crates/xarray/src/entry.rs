//! Entries: the words that an array holds.
//!
//! # How it works
//! An [`Entry`] is one opaque word with the kernel's encoding in its low two bits:
//!
//! | low bits | what it is |
//! |---|---|
//! | `00` | a pointer |
//! | `x1` | an integer (`value << 1 \| 1`), or a pointer with tag 1 or 3 |
//! | `10` | internal when below 4096, an error word when at the very top, else an odd pointer |
//!
//! Internal words below 4096 are `n << 2 | 2`: 0..=62 a sibling (another slot of a multi-index entry),
//! 256 the retry entry, 257 the zero entry that reserves an index.
//!
//! Linux counterpart: the "entry" half of include/linux/xarray.h @ 6.1.
//!
//! # Differences from Linux
//! A pointer of any alignment may be stored at a single index. A multi-index entry of
//! order 6 or more shares its slot with tagged node pointers, so there (`10`) is refused. Error words and
//! error pointers are refused, where Linux only says that they must not be stored; those with an odd errno are
//! also the largest integers, and pass as such. Internal words above the zero entry are refused, too; Linux
//! takes them and then hides them from every reader.

use std::ptr;

/// Internal words are below this; no valid pointer is (page zero is never mapped).
const INTERNAL_END: usize = 4096;
/// The smallest word that Linux reads as an error: `-4095 << 2 | 2`.
const ERROR_BEGIN: usize = (-4095_isize as usize) << 2 | 2;

/// One word in an array: nothing, a pointer, an integer, or an internal entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Entry(*mut ());

impl Entry {
    /// Nothing is stored.
    pub const NULL: Self = Self(ptr::null_mut());
    /// Reserves an index: reads as nothing, but is there. Linux: `XA_ZERO_ENTRY`.
    pub const ZERO: Self = Self::internal(257);
    /// Tells a lock-free walker to start again. Linux: `XA_RETRY_ENTRY`.
    pub const RETRY: Self = Self::internal(256);
    /// The largest integer that fits an entry.
    pub const VALUE_MAX: usize = isize::MAX as usize;

    /// Returns the internal entry number `n`. Linux: `xa_mk_internal`.
    #[must_use]
    pub const fn internal(n: usize) -> Self {
        Self(ptr::without_provenance_mut(n << 2 | 2))
    }

    /// Returns the entry that stores this pointer.
    #[must_use]
    pub const fn from_ptr<T>(pointer: *const T) -> Self {
        Self(pointer.cast_mut().cast())
    }

    /// Returns the entry that stores this integer. Linux: `xa_mk_value`.
    ///
    /// # Panics
    ///
    /// If it is above [`Entry::VALUE_MAX`]: one bit says that it is an integer.
    #[must_use]
    pub const fn value(integer: usize) -> Self {
        assert!(integer <= Self::VALUE_MAX, "an integer entry has 63 bits");
        Self(ptr::without_provenance_mut(integer << 1 | 1))
    }

    /// Returns the pointer with a tag of 0, 1 or 3. Linux: `xa_tag_pointer`.
    ///
    /// # Panics
    ///
    /// If the tag is another one, or the pointer is not aligned to four bytes.
    #[must_use]
    pub fn tagged<T>(pointer: *const T, tag: usize) -> Self {
        assert!(matches!(tag, 0 | 1 | 3), "tag {tag}: only 0, 1 and 3 are free");
        assert!(pointer.addr() & 3 == 0, "a tagged pointer is aligned to four bytes");
        Self(pointer.cast_mut().cast::<()>().map_addr(|addr| addr | tag))
    }

    /// Returns the word as a pointer.
    #[must_use]
    pub const fn as_ptr(self) -> *mut () {
        self.0
    }

    /// Returns the bits of the word.
    #[must_use]
    pub fn addr(self) -> usize {
        self.0.addr()
    }

    /// Returns the integer, when it is one. Linux: `xa_to_value`.
    #[must_use]
    pub fn as_value(self) -> Option<usize> {
        self.is_value().then(|| self.addr() >> 1)
    }

    /// Returns the pointer without its tag. Linux: `xa_untag_pointer`.
    #[must_use]
    pub fn untagged(self) -> *mut () {
        self.0.map_addr(|addr| addr & !3)
    }

    /// Returns the tag of a tagged pointer. Linux: `xa_pointer_tag`.
    #[must_use]
    pub fn tag(self) -> usize {
        self.addr() & 3
    }

    /// Returns whether nothing is stored.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns whether this is an integer.
    #[must_use]
    pub fn is_value(self) -> bool {
        self.addr() & 1 == 1
    }

    /// Returns whether this is one of the array's own words (sibling, retry, zero).
    #[inline]
    #[must_use]
    pub fn is_internal(self) -> bool {
        self.addr() & 3 == 2 && self.addr() < INTERNAL_END
    }

    /// Returns whether this is a pointer with the low bits of an internal entry.
    pub(crate) fn is_odd_pointer(self) -> bool {
        self.addr() & 3 == 2 && self.addr() >= INTERNAL_END
    }

    /// Returns whether this is an error word. Linux: `xa_is_err`.
    #[must_use]
    pub fn is_err(self) -> bool {
        self.addr() & 3 == 2 && self.addr() >= ERROR_BEGIN
    }

    /// Returns whether this reserves an index. Linux: `xa_is_zero`.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.addr() == Self::ZERO.addr()
    }

    /// Returns whether only the array itself may store this. Linux: `xa_is_advanced`.
    #[must_use]
    pub fn is_advanced(self) -> bool {
        self.is_internal() && self.addr() <= Self::RETRY.addr()
    }

    /// Returns whether users may store this: no error word or error pointer, nothing of the array's own
    /// except the zero entry.
    #[must_use]
    pub fn is_storable(self) -> bool {
        let is_error_pointer = self.addr() & 1 == 0 && self.addr() > -4096_isize as usize;
        let is_own = self.is_internal() && !self.is_zero();
        !is_own && !self.is_err() && !is_error_pointer
    }

    /// Returns whether this may be stored above leaves, where a slot's word may be a node's.
    pub(crate) fn fits_many_indices(self) -> bool {
        self.is_storable() && !self.is_null() && !self.is_internal() && !self.is_odd_pointer()
    }

    /// Returns the entry as the normal interface shows it: a reserved index reads as nothing.
    #[inline]
    #[must_use]
    pub fn visible(self) -> Self {
        if self.is_internal() { Self::NULL } else { self }
    }

    /// Returns the word for "see slot `offset`", the other slots of a multi-index entry.
    pub(crate) fn sibling(offset: usize) -> Self {
        debug_assert!(offset < 63);
        Self::internal(offset)
    }

    /// Returns the slot that a sibling word points to.
    pub(crate) fn sibling_of(self) -> Option<usize> {
        (self.is_internal() && self.addr() >> 2 < 63).then(|| self.addr() >> 2)
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.as_value() {
            _ if self.is_null() => f.write_str("NULL"),
            Some(value) => write!(f, "value {value}"),
            None if self.is_internal() => write!(f, "internal {}", self.addr() >> 2),
            None => write!(f, "{:p}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip() {
        for value in [0, 1, 4095, Entry::VALUE_MAX] {
            let entry = Entry::value(value);
            assert_eq!(entry.as_value(), Some(value));
            assert!(!entry.is_internal() && !entry.is_err() && !entry.is_null());
        }
    }

    #[test]
    fn tags_come_off_again() {
        let object = 7_u64;
        for tag in [0, 1, 3] {
            let entry = Entry::tagged(&raw const object, tag);
            assert_eq!(
                (entry.tag(), entry.untagged()),
                (tag, (&raw const object).cast_mut().cast())
            );
        }
    }

    #[test]
    fn internal_words_are_told_apart() {
        assert!(Entry::RETRY.is_advanced() && !Entry::ZERO.is_advanced());
        assert!(Entry::sibling(62).is_advanced());
        assert_eq!(Entry::sibling(62).sibling_of(), Some(62));
        assert_eq!(Entry::RETRY.sibling_of(), None);
        assert!(
            Entry::from_ptr(ptr::without_provenance::<u8>((-22_isize as usize) << 2 | 2)).is_err()
        );
    }
}
