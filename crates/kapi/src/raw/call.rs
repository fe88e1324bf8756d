//! Calls of functions that C passed by address.

use std::ffi::c_void;
use std::ptr::NonNull;

/// Takes the next argument of a kind from a C list of arguments.
pub(crate) type Fetch = unsafe extern "C" fn(*mut c_void, i32) -> u64;

/// Takes the next argument.
pub(crate) fn fetch(fetch: Fetch, list: *mut c_void, kind: i32) -> u64 {
    // SAFETY: the runtime passes a function of its own with the list that it takes from.
    unsafe { fetch(list, kind) }
}

/// Calls a constructor of any age: today's takes the object; that of before 2.6.24 the cache and
/// flags as well (1: construct), which today's does not look at.
pub(crate) fn constructor(object: NonNull<u8>, ctor: usize) {
    type Constructor = unsafe extern "C" fn(*mut u8, *mut c_void, u64);
    // SAFETY: the module passed this address as a constructor.
    let ctor = unsafe { std::mem::transmute::<usize, Constructor>(ctor) };
    // SAFETY: the object is as large as the module said, and is given to nobody yet.
    unsafe { ctor(object.as_ptr(), std::ptr::null_mut(), 1) };
}
