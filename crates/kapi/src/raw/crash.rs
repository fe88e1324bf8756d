//! A signal ends the process: one last event, written with what a signal handler may call.
//!
//! # How it works
//! The handler writes the event's JSON with `write` alone: signal, address, where the module was,
//! and the return addresses on the stack that lie in the module. The stack is read through the
//! operating system, so that a broken one ends the walk and not the handler. The parent
//! finds the names, and sends [`HANG`] itself when the module's time is over: the kernel gives that to the main
//! thread, which runs init, files and exit.

use std::ffi::c_void;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bytes;

static BASE: AtomicU64 = AtomicU64::new(0);
static START: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicU64 = AtomicU64::new(0);

/// The signal that asks where the module is.
pub(crate) const HANG: i32 = libc::SIGALRM;
/// The signals that a module can cause.
const SIGNALS: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];
/// Frames reported.
const FRAMES_MAX: usize = 12;
/// Words of the stack that are searched when the crash was outside of the module.
const SEARCH_WORDS: u64 = 512;

/// Installs the handler for [`HANG`], and for what a module can cause with `crashes`; `text` is where the module's
/// functions are, from its load address on.
pub(crate) fn watch(base: u64, text: (u64, u64), crashes: bool) {
    BASE.store(base, Ordering::Relaxed);
    START.store(base + text.0, Ordering::Relaxed);
    STOP.store(base + text.1, Ordering::Relaxed);
    let crashes = if crashes { &SIGNALS[..] } else { &[] };
    for &signal in crashes.iter().chain(&[HANG]) {
        // SAFETY: all zero is a valid sigaction.
        let mut action = unsafe { std::mem::zeroed::<libc::sigaction>() };
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESETHAND;
        // SAFETY: the action is complete and the handler keeps to what a handler may do. Rust gives
        // each thread an alternative stack.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

pub(super) extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let mut line = Line::default();
    // SAFETY: the kernel passes a valid record.
    let info = unsafe { &*info };
    let registers = Registers::of(context);
    // A full line cannot be written; what fits is not JSON then, and the parent names the signal.
    let _ = if signal == HANG {
        line.write_str("\n{\"hang\":{").and_then(|()| write_place(&mut line, registers))
    } else {
        // SAFETY: each of the other signals comes with an address.
        let address = unsafe { info.si_addr() } as u64;
        write!(line, "\n{{\"crash\":{{\"signal\":{signal},\"address\":{address},")
            .and_then(|()| write_place(&mut line, registers))
    };
    // SAFETY: the buffer is ours; standard output is the pipe to the parent.
    unsafe { libc::write(1, line.bytes.as_ptr().cast(), line.len) };
    // SAFETY: ends the process without running anything.
    unsafe { libc::_exit(128 + signal) };
}

#[derive(Clone, Copy)]
struct Registers {
    pc: u64,
    sp: u64,
    frame: u64,
}

impl Registers {
    #[cfg(target_arch = "x86_64")]
    fn of(context: *mut c_void) -> Self {
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the kernel passes a valid context.
        let registers = unsafe { &(*context).uc_mcontext.gregs };
        let get = |register: i32| registers[register as usize].cast_unsigned();
        Self { pc: get(libc::REG_RIP), sp: get(libc::REG_RSP), frame: get(libc::REG_RBP) }
    }

    #[cfg(target_arch = "aarch64")]
    fn of(context: *mut c_void) -> Self {
        let context = context.cast::<libc::ucontext_t>();
        // SAFETY: the kernel passes a valid context.
        let machine = unsafe { &(*context).uc_mcontext };
        Self { pc: machine.pc, sp: machine.sp, frame: machine.regs[29] }
    }
}

fn in_module(address: u64) -> Option<u64> {
    let (start, stop) = (START.load(Ordering::Relaxed), STOP.load(Ordering::Relaxed));
    (start..=stop).contains(&address).then(|| address - BASE.load(Ordering::Relaxed))
}

fn word(address: u64) -> Option<u64> {
    let mut word = [0; 8];
    bytes::read(address, &mut word).then(|| u64::from_ne_bytes(word))
}

/// Writes the end of an event: where the module was.
fn write_place(line: &mut Line, registers: Registers) -> std::fmt::Result {
    write!(line, "\"pc\":")?;
    let pc = in_module(registers.pc);
    match pc {
        Some(pc) => write!(line, "{pc}")?,
        None => write!(line, "null")?,
    }
    write!(line, ",\"frames\":[")?;
    let mut count = 0;
    let mut put = |line: &mut Line, at: u64| {
        let comma = if count > 0 { "," } else { "" };
        count += 1;
        write!(line, "{comma}{at}").map(|()| count < FRAMES_MAX)
    };
    if pc.is_none() {
        // The host has no frame pointers: the first return address into the module is looked for.
        let words = (0..SEARCH_WORDS).filter_map(|i| word(registers.sp + 8 * i));
        if let Some(at) = words.filter_map(in_module).next() {
            put(line, at)?;
        }
    }
    let mut frame = registers.frame;
    while let (Some(next), Some(back)) = (word(frame), word(frame.wrapping_add(8))) {
        if let Some(at) = in_module(back)
            && !put(line, at)?
        {
            break;
        }
        if next <= frame {
            break;
        }
        frame = next;
    }
    writeln!(line, "]}}}}")
}

/// A line of text without allocation.
struct Line {
    bytes: [u8; 1024],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self { bytes: [0; 1024], len: 0 }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
