//! AddressSanitizer's view of the machine's memory: only what is allocated may be touched.

use std::ffi::{CStr, c_void};

type Mark = unsafe extern "C" fn(*const c_void, usize);

/// The two functions that mark memory, if the process was started with AddressSanitizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asan {
    poison: Mark,
    unpoison: Mark,
}

fn find(name: &CStr) -> Option<Mark> {
    // SAFETY: a lookup by name.
    let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: AddressSanitizer's interface gives these two functions this type.
    (!at.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Mark>(at) })
}

/// Whether AddressSanitizer found something: it ends the process once it has said what.
pub(crate) fn is_reporting() -> bool {
    type Present = unsafe extern "C" fn() -> i32;
    // SAFETY: a lookup by name.
    let at = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_report_present".as_ptr()) };
    if at.is_null() {
        return false;
    }
    // SAFETY: AddressSanitizer's interface gives this function this type.
    let present = unsafe { std::mem::transmute::<*mut c_void, Present>(at) };
    // SAFETY: it takes nothing and returns a number.
    unsafe { present() != 0 }
}

impl Asan {
    /// Looks the functions up.
    pub(crate) fn find() -> Option<Self> {
        let poison = find(c"__asan_poison_memory_region")?;
        Some(Self { poison, unpoison: find(c"__asan_unpoison_memory_region")? })
    }

    /// Allows the first `bytes` of a block of `room` bytes.
    pub(crate) fn allow(self, address: u64, bytes: u64, room: u64) {
        // SAFETY: the range is the machine's memory; marking it changes the shadow only.
        unsafe { (self.unpoison)(address as *const c_void, bytes as usize) };
        if room > bytes {
            self.forbid(address + bytes, room - bytes);
        }
    }

    /// Forbids a range.
    pub(crate) fn forbid(self, address: u64, bytes: u64) {
        // SAFETY: as above.
        unsafe { (self.poison)(address as *const c_void, bytes as usize) };
    }
}
