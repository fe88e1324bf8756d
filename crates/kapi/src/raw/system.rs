//! Threads, sleeping, memory and random bytes of the operating system, for the runtime.

use std::ffi::c_void;
use std::time::Duration;

type ThreadMain = unsafe extern "C" fn(*mut c_void);

pub(crate) extern "C" fn kapi_thread_start(main: ThreadMain, arg: u64) -> i32 {
    let body = move || {
        // SAFETY: the runtime passes a function and its own argument.
        unsafe { main(arg as *mut c_void) };
    };
    std::thread::Builder::new().spawn(body).map_or(-1, |_| 0)
}

/// Ends a thread that is deep in C code: it never runs again, and goes with the process.
pub(crate) extern "C" fn kapi_thread_exit() -> ! {
    loop {
        std::thread::park();
    }
}

pub(crate) extern "C" fn kapi_futex_wait(word: *const u32, value: u32, timeout_ns: i64) {
    let timeout = Duration::from_nanos(timeout_ns.max(0).cast_unsigned());
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: i64::from(timeout.subsec_nanos()),
    };
    let limit = if timeout_ns < 0 { std::ptr::null() } else { &raw const timeout };
    let op = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the kernel checks the word's address; the timeout holds for the call.
    unsafe { libc::syscall(libc::SYS_futex, word, op, value, limit) };
}

pub(crate) extern "C" fn kapi_futex_wake(word: *const u32, count: i32) {
    let op = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the kernel uses the address as a name only.
    unsafe { libc::syscall(libc::SYS_futex, word, op, count) };
}

/// Copies from an address that may lead nowhere; returns whether all of it is there.
pub(crate) extern "C" fn kapi_read_nofault(to: *mut c_void, from: *mut c_void, size: u64) -> bool {
    let size = size as usize;
    let local = libc::iovec { iov_base: to, iov_len: size };
    let remote = libc::iovec { iov_base: from, iov_len: size };
    let own = std::process::id().cast_signed();
    // SAFETY: the kernel checks the addresses of both; the caller passes `size` bytes to write to.
    let copied =
        unsafe { libc::process_vm_readv(own, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied) == Ok(size)
}

pub(crate) extern "C" fn get_random_bytes(buf: *mut c_void, len: u64) {
    // SAFETY: the module passes a buffer of `len` bytes.
    unsafe { libc::getrandom(buf, len as usize, 0) };
}

/// Lets this process end when the thread that started it does.
pub(crate) fn end_with_parent() {
    // SAFETY: takes no pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Memory of the runtime's own, zeroed; no check counts it.
pub(crate) extern "C" fn kapi_alloc(size: u64) -> *mut c_void {
    // SAFETY: a plain allocation; NULL is the caller's to see.
    unsafe { libc::calloc(1, size as usize) }
}

pub(crate) extern "C" fn kapi_free(block: *mut c_void, _size: u64) {
    // SAFETY: the runtime gives back what `kapi_alloc` gave.
    unsafe { libc::free(block) };
}
