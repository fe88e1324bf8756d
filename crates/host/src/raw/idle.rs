//! Threads that run only where a CPU has nothing else to do.
//!
//! Linux counterpart: `SCHED_IDLE`, sched(7).

use rustix::thread::gettid;

/// Has the calling thread run only where its CPU has nothing else to do; returns the thread's number. A system that refuses
/// it lets the thread run as others do.
pub fn run_when_idle() -> u32 {
    set_policy(0, libc::SCHED_IDLE);
    gettid().as_raw_pid().cast_unsigned()
}

/// Has a thread of this process run as others do again.
pub fn run_as_others(thread: u32) {
    set_policy(thread, libc::SCHED_OTHER);
}

/// Sets how a thread is scheduled, 0 being the calling one. (The C library musl refuses its own function for it.)
fn set_policy(thread: u32, policy: i32) {
    let priority: i32 = 0;
    // SAFETY: the kernel reads one number behind the pointer, which lives until the call returns.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const priority) };
}
