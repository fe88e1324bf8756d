//! Printing: formats and text that come from C.

use std::ffi::{c_char, c_void};
use std::hash::{BuildHasher, RandomState};
use std::ptr::NonNull;
use std::sync::LazyLock;

use super::bytes;
use crate::child::engine::CacheHandle;
use crate::child::runtime;
use crate::format::{ArgKind, Args, Memory, format};

/// C's end of the arguments.
type Fetch = unsafe extern "C" fn(*mut c_void, i32) -> u64;

struct CArgs {
    list: *mut c_void,
    fetch: Fetch,
}

impl Args for CArgs {
    fn next(&mut self, kind: ArgKind) -> u64 {
        // SAFETY: the runtime's function takes the next argument from its own list.
        unsafe { (self.fetch)(self.list, kind as i32) }
    }
}

/// The memory of this process.
struct Process;

/// `%s` reads no further: a longer string would not fit the log.
const STRING_MAX: usize = 64 << 10;

static HASH: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl Memory for Process {
    fn string(&self, address: u64, max: usize) -> Option<Vec<u8>> {
        if address < 4096 { None } else { bytes::string(address, max.min(STRING_MAX)) }
    }

    fn bytes(&self, address: u64, len: usize) -> Option<Vec<u8>> {
        let mut buf = vec![0; len];
        bytes::read(address, &mut buf).then_some(buf)
    }

    fn nested(&self, address: u64) -> Vec<u8> {
        let mut buf = vec![0_u8; 1024];
        let len = super::module::format_nested(&mut buf, address);
        buf.truncate(len.min(1023));
        buf
    }

    fn symbol(&self, address: u64) -> Option<(String, u64, u64)> {
        runtime().symbol(address)
    }

    fn hashed(&self, address: u64) -> u64 {
        let runtime = runtime();
        if runtime.job.plain_pointers || !runtime.job.version.hashes_pointers() {
            return address;
        }
        HASH.hash_one(address) & 0xffff_ffff
    }
}

pub(crate) extern "C" fn kapi_format(
    buf: *mut c_char,
    size: u64,
    fmt: u64,
    list: *mut c_void,
    fetch: Fetch,
) -> i32 {
    let fmt = bytes::string(fmt, STRING_MAX).unwrap_or_else(|| b"(efault)".to_vec());
    let text = format(&fmt, &mut CArgs { list, fetch }, &Process);
    put_text(buf as u64, size, &text);
    i32::try_from(text.len()).unwrap_or(i32::MAX)
}

/// Writes as much as fits, with a zero byte at the end.
fn put_text(buf: u64, size: u64, text: &[u8]) {
    let Some(room) = size.checked_sub(1) else { return };
    let fits = &text[..text.len().min(room as usize)];
    // SAFETY: the caller of snprintf() has `size` bytes there.
    unsafe { bytes::write(buf, fits) };
    // SAFETY: as above; `fits` is at most one less than `size`.
    unsafe { bytes::write(buf + fits.len() as u64, &[0]) };
}

fn slice<'t>(text: *const u8, len: u64) -> &'t [u8] {
    // SAFETY: the runtime passes a buffer of its own that holds for the call.
    unsafe { std::slice::from_raw_parts(text, len as usize) }
}

pub(crate) extern "C" fn kapi_log(text: *const u8, len: u64) {
    runtime().log.write(slice(text, len), |event| runtime().emit(&event));
}

pub(crate) extern "C" fn kapi_output(text: *const u8, len: u64) {
    let text = String::from_utf8_lossy(slice(text, len)).into_owned();
    runtime().emit(&crate::event::Event::Text { text });
}

pub(crate) extern "C" fn kapi_stop(why: *const u8, len: u64) -> ! {
    runtime().stop(slice(why, len))
}

/// Calls a constructor of any age: today's takes the object; that of before 2.6.24 the cache and
/// flags as well (1: construct), which today's does not look at.
pub(crate) fn call_ctor(object: NonNull<u8>, ctor: usize) {
    type Constructor = unsafe extern "C" fn(*mut u8, *mut c_void, u64);
    // SAFETY: the module passed this address as a constructor.
    let ctor = unsafe { std::mem::transmute::<usize, Constructor>(ctor) };
    // SAFETY: the object is as large as the module said, and is given to nobody yet.
    unsafe { ctor(object.as_ptr(), std::ptr::null_mut(), 1) };
}

/// Gives a cache's handle an address that never moves.
pub(crate) fn leak(handle: CacheHandle) -> u64 {
    std::ptr::from_ref(Box::leak(Box::new(handle))) as u64
}

/// Returns the handle that a module holds.
#[inline(always)]
pub(crate) fn cache_handle(address: u64) -> &'static CacheHandle {
    // SAFETY: the module got the address from `leak`; handles are never freed. A module that makes
    // one up reads nonsense, as in the kernel.
    unsafe { &*(address as *const CacheHandle) }
}
