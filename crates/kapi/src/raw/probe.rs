//! Breakpoints in the module: setting them, and handing their traps to the runtime.
//!
//! # How it works
//! Each function begins with a one-byte instruction that does nothing (`-fpatchable-function-entry=1`). A breakpoint
//! takes its place: what goes on behind it has skipped nothing. The trap is a signal, whose registers the
//! runtime's `kapi_trap()` sees as the kernel's `struct pt_regs`, and may change.
//!
//! # Invariants
//! Where no breakpoint of the runtime's stands, a trap is the module's crash.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{crash, module};

/// The runtime's `kapi_trap()`, 0 before the first breakpoint.
static TRAP: AtomicU64 = AtomicU64::new(0);

/// The instruction that does nothing.
#[cfg(target_arch = "x86_64")]
const NOP: u8 = 0x90;
/// The breakpoint.
#[cfg(target_arch = "x86_64")]
const INT3: u8 = 0xcc;

/// What `struct pt_regs` in `asm/ptrace.h` looks like: the numbers of its registers in a signal's context, `orig_ax`
/// being none of them.
#[cfg(target_arch = "x86_64")]
const ORDER: [Option<i32>; 21] = [
    Some(libc::REG_R15),
    Some(libc::REG_R14),
    Some(libc::REG_R13),
    Some(libc::REG_R12),
    Some(libc::REG_RBP),
    Some(libc::REG_RBX),
    Some(libc::REG_R11),
    Some(libc::REG_R10),
    Some(libc::REG_R9),
    Some(libc::REG_R8),
    Some(libc::REG_RAX),
    Some(libc::REG_RCX),
    Some(libc::REG_RDX),
    Some(libc::REG_RSI),
    Some(libc::REG_RDI),
    None,
    Some(libc::REG_RIP),
    None,
    Some(libc::REG_EFL),
    Some(libc::REG_RSP),
    None,
];

/// Lets traps come to [`handler`].
#[cfg(target_arch = "x86_64")]
fn watch() {
    let trap = module::loaded().and_then(|module| module.find(c"kapi_trap"));
    TRAP.store(trap.expect("the runtime has it"), Ordering::Relaxed);
    // SAFETY: all zero is a valid sigaction.
    let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
    action.sa_sigaction = handler as *const () as usize;
    // A handler of the module's may run into a breakpoint itself.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
    // SAFETY: the action is complete; the trap comes from the module's code, which runs in no handler.
    unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()) };
}

#[cfg(target_arch = "x86_64")]
extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    type Trap = unsafe extern "C" fn(*mut u64) -> bool;
    // SAFETY: the kernel passes a valid context.
    let gregs = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let mut registers = ORDER.map(|at| at.map_or(0, |at| gregs[at as usize].cast_unsigned()));
    // SAFETY: the runtime's function has this type; it was found before any breakpoint was set.
    let trap = unsafe { std::mem::transmute::<u64, Trap>(TRAP.load(Ordering::Relaxed)) };
    // SAFETY: the registers hold for the call.
    if !unsafe { trap(registers.as_mut_ptr()) } {
        return crash::handler(signal, info, context);
    }
    for (value, at) in registers.iter().zip(ORDER) {
        if let Some(at) = at {
            gregs[at as usize] = value.cast_signed();
        }
    }
}

/// Sets a breakpoint at `address`, or takes it off. Returns 0, or an error where no function that can be probed begins.
#[cfg(target_arch = "x86_64")]
pub(crate) extern "C" fn kapi_breakpoint(address: u64, set: bool) -> i32 {
    use std::sync::atomic::AtomicU8;
    static WATCH: std::sync::Once = std::sync::Once::new();
    let (from, to) = if set { (NOP, INT3) } else { (INT3, NOP) };
    WATCH.call_once(watch);
    let page = address & !0xfff;
    let protect = |flags| {
        // SAFETY: the page is one of the module's code, which stays what it is but for this byte.
        unsafe { libc::mprotect(page as *mut c_void, 0x1000, libc::PROT_READ | flags) }
    };
    if protect(libc::PROT_WRITE | libc::PROT_EXEC) != 0 {
        return -libc::EACCES;
    }
    // SAFETY: the byte is in that page, which can be written now; other threads fetch one or the other.
    let byte = unsafe { AtomicU8::from_ptr(address as *mut u8) };
    let changed = byte.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    protect(libc::PROT_EXEC);
    if changed { 0 } else { -libc::EINVAL }
}

/// There are none on other machines.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) extern "C" fn kapi_breakpoint(_address: u64, _set: bool) -> i32 {
    -libc::EOPNOTSUPP
}
