//! JudyL of libjudy (LGPL, linked from its Debian package).

use std::ffi::{c_int, c_void};
use std::ptr;

use super::{Peer, next_key};

#[link(name = "Judy")]
unsafe extern "C" {
    fn JudyLIns(array: *mut *mut c_void, index: u64, error: *mut c_void) -> *mut u64;
    fn JudyLDel(array: *mut *mut c_void, index: u64, error: *mut c_void) -> c_int;
    fn JudyLGet(array: *const c_void, index: u64, error: *mut c_void) -> *const u64;
    fn JudyLFirst(array: *const c_void, index: *mut u64, error: *mut c_void) -> *const u64;
    fn JudyLNext(array: *const c_void, index: *mut u64, error: *mut c_void) -> *const u64;
    fn JudyLFreeArray(array: *mut *mut c_void, error: *mut c_void) -> u64;
}

type Step = unsafe extern "C" fn(*const c_void, *mut u64, *mut c_void) -> *const u64;

pub struct Judy(*mut c_void);

impl Judy {
    pub fn new() -> Self {
        Self(ptr::null_mut())
    }

    #[inline]
    fn get(&self, key: u64) -> u64 {
        // SAFETY: the array is ours.
        let place = unsafe { JudyLGet(self.0, key, ptr::null_mut()) };
        // SAFETY: null, or a word of the array.
        if place.is_null() { 0 } else { unsafe { *place } }
    }

    /// Returns where a step from this index leads: an index and what is there, or 0 and 0 at the end.
    #[inline]
    fn step(&self, mut index: u64, step: Step) -> (u64, u64) {
        // SAFETY: the array is ours.
        let place = unsafe { step(self.0, &raw mut index, ptr::null_mut()) };
        // SAFETY: null, or a word of the array.
        if place.is_null() { (0, 0) } else { (index, unsafe { *place }) }
    }
}

impl Drop for Judy {
    fn drop(&mut self) {
        self.reset();
    }
}

impl Peer for Judy {
    fn name(&self) -> String {
        "JudyL".into()
    }

    fn reset(&mut self) {
        // SAFETY: the array is ours; freeing leaves it null.
        unsafe { JudyLFreeArray(&raw mut self.0, ptr::null_mut()) };
    }

    fn insert(&mut self, keys: &[u64], entries: &[u64]) {
        for (&key, &bits) in keys.iter().zip(entries) {
            // SAFETY: the array is ours.
            let place = unsafe { JudyLIns(&raw mut self.0, key, ptr::null_mut()) };
            // SAFETY: a word of the array.
            unsafe { *place = bits };
        }
    }

    fn erase(&mut self, keys: &[u64]) {
        for &key in keys {
            // SAFETY: the array is ours.
            unsafe { JudyLDel(&raw mut self.0, key, ptr::null_mut()) };
        }
    }

    fn hit(&self, keys: &[u64]) -> u64 {
        keys.iter().fold(0, |sum, &key| sum.wrapping_add(self.get(key)))
    }

    fn chain(&self, key: u64, n: usize) -> u64 {
        (0..n).fold(key, |key, _| next_key(self.get(key)))
    }

    fn find(&self, keys: &[u64]) -> Option<u64> {
        Some(keys.iter().fold(0, |sum, &key| sum.wrapping_add(self.step(key, JudyLFirst).1)))
    }

    fn find_after(&self, keys: &[u64]) -> Option<u64> {
        Some(keys.iter().fold(0, |sum, &key| sum.wrapping_add(self.step(key, JudyLNext).1)))
    }

    fn scan(&self, keys: &[u64], length: usize) -> Option<u64> {
        Some(keys.iter().fold(0, |sum: u64, &key| {
            let first = self.step(key, JudyLFirst);
            let entries =
                std::iter::successors(Some(first), |&(index, _)| Some(self.step(index, JudyLNext)));
            sum.wrapping_add(
                entries.take(length).fold(0, |sum, (_, entry)| sum.wrapping_add(entry)),
            )
        }))
    }

    fn iterate(&self) -> Option<u64> {
        let (mut index, mut sum) = (0, 0_u64);
        // SAFETY: the array is ours.
        let mut place = unsafe { JudyLFirst(self.0, &raw mut index, ptr::null_mut()) };
        while !place.is_null() {
            // SAFETY: a word of the array.
            sum = sum.wrapping_add(unsafe { *place });
            // SAFETY: the array is ours.
            place = unsafe { JudyLNext(self.0, &raw mut index, ptr::null_mut()) };
        }
        Some(sum)
    }
}
