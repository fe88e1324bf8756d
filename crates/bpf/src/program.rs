//! Programs: loaded, attached, and what the kernel counts of their runs.
//!
//! Linux counterpart: `kernel/bpf/syscall.c`, `verifier.c` and `kernel/trace/bpf_trace.c` @ 6.18.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};

use crate::error::Error;
use crate::raw::{Attributes, call, call_for_fd};

const PROG_LOAD: i32 = 5;
const PROG_RUN: i32 = 10;
const OBJ_GET_INFO_BY_FD: i32 = 15;
const RAW_TRACEPOINT_OPEN: i32 = 17;
const LINK_CREATE: i32 = 28;
const ITERATOR_CREATE: i32 = 33;
const TYPE_TRACING: u32 = 26;
const TYPE_SYSCALL: u32 = 31;
const ATTACH_RAW_TRACEPOINT: u32 = 23;
const ATTACH_FUNCTION_ENTRY: u32 = 24;
const ATTACH_FUNCTION_EXIT: u32 = 25;
const ATTACH_ITERATOR: u32 = 28;
/// The program may sleep, as each must that is run by a call.
const FLAG_SLEEPABLE: u32 = 1 << 4;
const INSTRUCTION_BYTES: usize = 8;

/// Bytes of `struct bpf_prog_info` up to what is read, and where it is.
const INFO_BYTES: usize = 232;
const RECURSION_MISSES_AT: usize = 208;

/// Room for the verifier's log, and the part of it that a message has.
const LOG_BYTES: usize = 1 << 20;
const LOG_LINES_TOLD: usize = 8;

/// The programs call helpers that the kernel offers to GPL programs only.
const LICENCE: &[u8] = b"GPL\0";

/// What a program is run by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A tracepoint, with arguments of known types (`tp_btf`)
    Tracepoint,
    /// The entry of a function (`fentry`)
    FunctionEntry,
    /// The return of a function (`fexit`), of calls that began when it was attached
    FunctionExit,
    /// Things that the kernel has a list of, one by one (`iter`); see [`Program::iterate`]
    Iterator,
    /// A call of ours (`syscall`); see [`Program::run`]
    Call,
}

/// A program that the verifier took.
#[derive(Debug)]
pub struct Program {
    name: String,
    fd: OwnedFd,
}

/// A program that runs until this is dropped.
#[derive(Debug)]
pub struct Attached {
    program: Program,
    _link: OwnedFd,
}

impl Program {
    /// Loads the instructions of a program for the tracepoint or function `name`, whose type in the kernel is `type_id`.
    ///
    /// # Errors
    /// When the kernel refuses it, with the verifier's log.
    pub fn load(kind: Kind, name: &str, type_id: u32, code: &[u8]) -> Result<Self, Error> {
        let (kind, attach, flags) = match kind {
            Kind::Tracepoint => (TYPE_TRACING, ATTACH_RAW_TRACEPOINT, 0),
            Kind::FunctionEntry => (TYPE_TRACING, ATTACH_FUNCTION_ENTRY, 0),
            Kind::FunctionExit => (TYPE_TRACING, ATTACH_FUNCTION_EXIT, 0),
            Kind::Iterator => (TYPE_TRACING, ATTACH_ITERATOR, 0),
            Kind::Call => (TYPE_SYSCALL, 0, FLAG_SLEEPABLE),
        };
        let load = |log: Option<&mut [u8]>| {
            let attributes = Attributes::new()
                .u32(0, kind)
                .u32(4, (code.len() / INSTRUCTION_BYTES) as u32)
                .input(8, code)
                .input(16, LICENCE)
                .u32(44, flags)
                .name(48, "slablab")
                .u32(68, attach)
                .u32(108, type_id);
            let mut attributes = match log {
                Some(log) => attributes.u32(24, 1).u32(28, log.len() as u32).output(32, log),
                None => attributes,
            };
            call_for_fd(PROG_LOAD, &mut attributes)
        };
        // The log costs time, and one that is too long for its buffer is an error of its own: it is asked for when needed.
        let source = match again(|| load(None)) {
            Ok(fd) => return Ok(Self { name: name.to_owned(), fd }),
            Err(source) => source,
        };
        let mut log = vec![0; LOG_BYTES];
        let _ = load(Some(&mut log));
        Err(Error::Verifier { name: name.to_owned(), log: last_lines(&log), source })
    }

    /// Lets the program run from now on.
    ///
    /// # Errors
    /// When the kernel cannot attach it.
    pub fn attach(self) -> Result<Attached, Error> {
        let fd = self.fd.as_raw_fd().cast_unsigned();
        match call_for_fd(RAW_TRACEPOINT_OPEN, &mut Attributes::new().u32(8, fd)) {
            Ok(link) => Ok(Attached { program: self, _link: link }),
            Err(source) => Err(Error::Attach { name: self.name, source }),
        }
    }

    /// Runs an iterator over all things that the kernel has now; returns what the program wrote.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn iterate(&self) -> Result<Vec<u8>, Error> {
        let told = |source| Error::Attach { name: self.name.clone(), source };
        let program = self.fd.as_raw_fd().cast_unsigned();
        let mut attributes = Attributes::new().u32(0, program).u32(8, ATTACH_ITERATOR);
        let link = call_for_fd(LINK_CREATE, &mut attributes).map_err(told)?;
        let mut attributes = Attributes::new().u32(0, link.as_raw_fd().cast_unsigned());
        let iterator = call_for_fd(ITERATOR_CREATE, &mut attributes).map_err(told)?;
        let mut written = Vec::new();
        File::from(iterator).read_to_end(&mut written).map_err(told)?;
        Ok(written)
    }

    /// Runs a program that is for calls; returns what it returned.
    ///
    /// # Errors
    /// When the kernel refuses it.
    pub fn run(&self) -> Result<u32, Error> {
        let mut attributes = Attributes::new().u32(0, self.fd.as_raw_fd().cast_unsigned());
        let told = |source| Error::Attach { name: self.name.clone(), source };
        call(PROG_RUN, &mut attributes).map_err(told)?;
        Ok(attributes.read_u32(4))
    }
}

impl Attached {
    /// Returns what it is attached to.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// Returns how often it should have run and did not, as it was running already on that CPU: in an interrupt.
    ///
    /// # Errors
    /// When the kernel refuses to tell.
    pub fn misses(&self) -> io::Result<u64> {
        let mut info = [0; INFO_BYTES];
        let attributes = Attributes::new()
            .u32(0, self.program.fd.as_raw_fd().cast_unsigned())
            .u32(4, INFO_BYTES as u32)
            .output(8, &mut info);
        call(OBJ_GET_INFO_BY_FD, &mut { attributes })?;
        let misses = &info[RECURSION_MISSES_AT..RECURSION_MISSES_AT + 8];
        Ok(u64::from_ne_bytes(misses.try_into().expect("eight bytes")))
    }
}

/// Returns the end of a log, in one line.
fn last_lines(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log.split(|byte| *byte == 0).next().unwrap_or_default());
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let told = &lines[lines.len().saturating_sub(LOG_LINES_TOLD)..];
    if told.is_empty() { "nothing".to_owned() } else { told.join("; ") }
}

/// Tries anew what the kernel broke off: the verifier does so when a signal comes meanwhile, as libbpf knows
/// (`PROG_LOAD_ATTEMPTS`).
fn again<T>(mut load: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const ATTEMPTS: usize = 5;
    for _ in 1..ATTEMPTS {
        match load() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
    load()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::asm::{Assembly, Names};
    use crate::btf::Btf;
    use crate::map::Shared;

    const TEXT: &str = ".program count\nr1 = value counts\nr2 = 1\nlock *(u64 *)(r1 + 8) += r2\n\
                        r0 = 0\nexit\n.end\n.program wrong\nr0 = *(u64 *)(r2 + 0)\nexit\n.end";

    /// Returns a shared value where this process may use BPF, and says why not elsewhere.
    fn counts() -> Option<Shared> {
        let counts = Shared::new("counts", 16);
        if let Err(error) = &counts {
            println!("SKIPPED: {error}");
        }
        counts.ok()
    }

    fn load(name: &str, counts: &Shared) -> Result<Program, Error> {
        let mut names = Names::default();
        names.value("counts", counts);
        let code = Assembly::parse(TEXT)?.program(name, &names)?;
        let type_id = Btf::running()?.tracepoint("kmalloc")?.type_id;
        Program::load(Kind::Tracepoint, "kmalloc", type_id, &code)
    }

    #[test]
    fn what_a_signal_broke_off_is_loaded_again() {
        let mut left = 3;
        let mut load = || {
            left -= 1;
            if left > 0 { Err(io::Error::from(io::ErrorKind::WouldBlock)) } else { Ok(left) }
        };
        assert_eq!(again(&mut load).unwrap(), 0);
        let mut refused = 0;
        let mut refuse = || -> io::Result<()> {
            refused += 1;
            Err(io::Error::from(io::ErrorKind::PermissionDenied))
        };
        assert!(again(&mut refuse).is_err() && refused == 1);
    }

    #[test]
    fn a_program_runs_until_it_is_dropped() {
        let Some(counts) = counts() else { return };
        let count = || counts.words()[1].load(Ordering::Relaxed);
        let attached = load("count", &counts).unwrap().attach().unwrap();
        // What starts a program allocates.
        let work = || std::process::Command::new("true").status().unwrap();
        work();
        let seen = count();
        assert!(seen > 0);
        assert!(attached.misses().unwrap() <= seen);
        drop(attached);
        let end = count();
        work();
        assert_eq!(count(), end);
    }

    #[test]
    fn what_the_verifier_refuses_is_told_with_its_words() {
        let Some(counts) = counts() else { return };
        let error = load("wrong", &counts).unwrap_err().to_string();
        assert!(error.contains("kmalloc") && error.contains("R2"), "{error}");
    }
}
