//! Which threads are within a function of `--callers`, so that no stack of another is walked.
//!
//! # How it works
//! Programs at the entry and at the return of each function count the calls of each thread; one that runs when a thread is gone
//! forgets it. Threads that were within when all began are found by their stacks, and are forgotten when a walk finds them
//! elsewhere. A thread that is on a CPU then has no stack that can be read, and counts as one that is within. An allocation of a
//! thread that is within is looked at as any other: its stack decides.
//!
//! It does not see what interrupts do on an idle CPU until that wakes, where an idle thread is within a caller when the recording
//! begins: these threads are in no list.
//!
//! # Invariants
//! A thread that is within is never taken for one that is elsewhere; one that is elsewhere may cost walks. Returns are watched
//! before entries, and entries before stacks are read, so that no call is missed in between.
//!
//! Linux counterpart: `kernel/bpf/trampoline.c`, `task_iter.c` @ 6.1 to 7.3.

use std::ops::Range;
use std::path::Path;

use slablab_bpf::{Assembly, Attached, Btf, Error as BpfError, Kind, Map, Names, Program};

use crate::Symbols;
use crate::record::filter::returns;
use crate::symbols::Place;

/// Threads that may be within at once, before all stacks are walked.
const THREADS_MAX: usize = 1 << 16;
/// The list of threads, which knows those of one namespace, and the file that says which: the first of all has a number of its
/// own (`PROC_PID_INIT_INO`).
const THREADS: &str = "bpf_iter_task";
const NAMESPACE: &str = "/proc/self/ns/pid";
const FIRST_NAMESPACE: &str = "pid:[4026531836]";
/// Functions that do not return: what waits for their return is never freed (`kernel/bpf/trampoline.c`; since 6.16 the kernel
/// refuses them). The names are those of the kernel's `noreturn` functions that run in a thread which goes on in them.
const NEVER_RETURN: [&str; 12] = [
    "__ia32_sys_exit",
    "__ia32_sys_exit_group",
    "__x64_sys_exit",
    "__x64_sys_exit_group",
    "cpu_startup_entry",
    "do_exit",
    "do_group_exit",
    "do_task_dead",
    "kthread_complete_and_exit",
    "kthread_exit",
    "make_task_dead",
    "panic",
];
/// The tracepoint at which a thread is gone.
const GONE: &str = "sched_process_free";

/// Makes the map of threads; a small one where no function is named.
pub(super) fn threads(is_called: bool) -> Result<Map, BpfError> {
    Map::hash("within", 8, 8, if is_called { THREADS_MAX } else { 1 })
}

/// Loads a program, as [`super::tracer::Tracer`] does it.
pub(super) type Load<'l> =
    dyn FnMut(Kind, &str, u32, (&Assembly<'_>, &mut Names)) -> Result<Program, BpfError> + 'l;

/// Watches the calls of `functions` from now on.
///
/// # Errors
/// Where one of them cannot be watched: it is of a module, or does not return, or the kernel refuses it.
pub(super) fn watch(
    functions: &[String],
    symbols: &Symbols,
    btf: &Btf,
    (assembly, names): (&Assembly<'_>, &mut Names),
    load: &mut Load<'_>,
) -> Result<Vec<Attached>, BpfError> {
    let missing = |what: &str| BpfError::Missing(what.to_owned());
    let namespace = std::fs::read_link(NAMESPACE).unwrap_or_default();
    if namespace != Path::new(FIRST_NAMESPACE) {
        return Err(missing("threads of other namespaces"));
    }
    // A return address within a function is reached by its calls.
    let named = functions.iter().map(|name| Place::function_of(name));
    let ids = named.map(|name| match (symbols.places(name).len(), btf.function(name)) {
        (1, Some((id, _))) if !NEVER_RETURN.contains(&name) => Ok(id),
        _ => Err(missing(&format!("one function {name}"))),
    });
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    names.number("iter.task", btf.offset("bpf_iter__task", "task")?);
    let (threads, _) = btf.function(THREADS).ok_or_else(|| missing(THREADS))?;
    let before = load(Kind::Iterator, "caller.before", threads, (assembly, &mut *names))?;
    let gone = btf.tracepoint(GONE)?.type_id;
    let gone = load(Kind::Tracepoint, "caller.ended", gone, (assembly, &mut *names))?;
    let mut attached = vec![gone.attach()?];
    for (kind, program) in
        [(Kind::FunctionExit, "caller.exit"), (Kind::FunctionEntry, "caller.entry")]
    {
        for id in &ids {
            attached.push(load(kind, program, *id, (assembly, &mut *names))?.attach()?);
        }
    }
    before.iterate()?;
    Ok(attached)
}

/// Bytes of a function's begin within which the call of a trampoline returns; the first call of its own returns further on.
const ENTRY_BYTES: u64 = if cfg!(target_arch = "x86_64") { 9 } else { 12 };

/// Leaves out of a stack what is there because calls of `functions` are watched: the trampoline that calls such a function, and
/// the place in the function's begin that calls the trampoline. From 6.19 on that place jumps, and is in no stack.
pub(super) fn leave_out_trampolines(
    frames: &mut Vec<u64>,
    functions: &[Range<u64>],
    is_known: impl Fn(u64) -> bool,
) {
    let is_begin =
        |frame: u64| functions.iter().any(|at| frame > at.start && frame <= at.start + ENTRY_BYTES);
    let mut is_within = false;
    frames.retain(|&frame| {
        if is_begin(frame) || (is_within && !is_known(frame)) {
            return false;
        }
        is_within = functions.iter().any(|place| returns(place).contains(&frame));
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function whose calls were watched stood twice in each stack, with an address of no symbol in between.
    #[test]
    fn a_stack_is_the_same_whether_calls_are_watched_or_not() {
        let functions = [0x1000..0x1100, 0x2000..0x2100];
        let without = |frames: &[u64]| {
            let mut frames = frames.to_vec();
            leave_out_trampolines(&mut frames, &functions, |frame| frame < 0x1_0000);
            frames
        };
        let (trampoline, other) = (0xffff_0000, 0x5000);
        let jumped = [other, 0x1080, trampoline, 0x20ff, trampoline, other];
        assert_eq!(without(&jumped), [other, 0x1080, 0x20ff, other]);
        assert_eq!(without(&[other, trampoline, other]), [other, trampoline, other]);
        let nested = [other, 0x1080, trampoline, 0x1005, 0x20ff, trampoline, 0x2009, other];
        assert_eq!(without(&nested), [other, 0x1080, 0x20ff, other]);
        assert_eq!(without(&[other, 0x1080, other]), [other, 0x1080, other]);
        assert_eq!(without(&[0x1080, 0x1005, other]), [0x1080, other]);
        assert!(without(&[0x1005]).is_empty());
        assert!(without(&[]).is_empty());
    }
}
