//! How the programs tell a thread's system call, and how deep its stack is, where `--callers` looks for callers in stacks.
//!
//! # How it works
//! Two functions of the kernel tell where the registers of a system call lie: `depth.asked` in the text. On x86-64 that place is
//! the same in each stack. There a program is run once to tell how far from the begin it is, and `depth.read` computes it. Its
//! two loads cost less than the two calls, which cost as much as all else that is done for an allocation. The kernel is to have
//! `bpf_rdonly_cast` for these loads, which came with 6.2.
//!
//! # Invariants
//! Where anything is not as it is known here, the functions are asked. Both ways tell the same of a thread's own stack.
//!
//! Linux counterpart: `task_pt_regs()` in `arch/x86/include/asm/processor.h`, `bpf_rdonly_cast()` in `kernel/bpf/helpers.c`
//! @ 6.2 to 7.3.

use slablab_bpf::{Btf, Error as BpfError, Names, Program};

use crate::record::config;

/// Kernels that shift the stack at each system call do it by less than a KiB (`KSTACK_OFFSET_MAX`): there depths within one say
/// nothing, and would make dozens of kinds of each.
const SHIFTED_BITS: i64 = 10;
/// The function that makes a pointer of a number.
const CAST: &str = "bpf_rdonly_cast";
/// The segment of 64-bit code of users (`__USER_CS`).
const USER_CODE: i64 = 0x33;
/// Bytes of a stack: it is a power of two, and larger where the kernel checks its own memory.
const STACK_BYTES_MIN: u32 = 1 << 12;
const STACK_BYTES_MAX: u32 = 1 << 17;

/// Names what the programs need to know of stacks. `load` loads a program that runs when it is called.
///
/// # Errors
/// When the kernel's registers have no number of a system call.
pub(super) fn name(
    names: &mut Names,
    btf: &Btf,
    load: &dyn Fn(&str, &Names) -> Result<Program, BpfError>,
) -> Result<(), BpfError> {
    let shift = if config::shifts_stacks() { SHIFTED_BITS } else { 0 };
    names.number("depth.shift", shift);
    // By architecture: x86, arm64, and what has neither.
    let fields = ["orig_ax", "syscallno"].into_iter();
    let syscall = fields.map(|field| btf.offset("pt_regs", field)).find_map(Result::ok);
    let missing = || BpfError::Missing("number of a system call in struct pt_regs".to_owned());
    names.number("pt_regs.syscall", syscall.ok_or_else(missing)?);
    let is_read = cfg!(target_arch = "x86_64") && read(names, btf, load).is_ok();
    names.part("depth", if is_read { "depth.read" } else { "depth.asked" });
    Ok(())
}

/// Names what `depth.read` needs to know.
fn read(
    names: &mut Names,
    btf: &Btf,
    load: &dyn Fn(&str, &Names) -> Result<Program, BpfError>,
) -> Result<(), BpfError> {
    let missing = |what: &str| BpfError::Missing(what.to_owned());
    let (cast, _) = btf.function(CAST).ok_or_else(|| missing(CAST))?;
    names.number(CAST, i64::from(cast));
    names.number("pt_regs.type", i64::from(btf.structure("pt_regs")?));
    names.number("pt_regs.code", btf.offset("pt_regs", "cs")?);
    names.number("task.stack", btf.offset("task_struct", "stack")?);
    names.number("user.code", USER_CODE);
    let registers = load("depth.place", names)?.run()?;
    let bytes = stack_bytes(registers).ok_or_else(|| missing("stack of a known size"))?;
    names.number("stack.mask", i64::from(bytes) - 1);
    names.number("stack.registers", i64::from(registers) - (i64::from(bytes) - 1));
    Ok(())
}

/// Returns how large a stack is at whose end registers lie.
fn stack_bytes(registers: u32) -> Option<u32> {
    let bytes = registers.checked_next_power_of_two()?;
    let is_end = bytes - registers < bytes / 8;
    (is_end && (STACK_BYTES_MIN..=STACK_BYTES_MAX).contains(&bytes)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::Ordering;

    use slablab_bpf::{Assembly, Kind, Shared};

    use super::*;
    use crate::record::chosen::tracer::PROGRAMS;

    /// Counts allocations for which both ways tell the same, for which they differ, and for which the functions have to be asked.
    const COMPARED: [&str; 28] = [
        ".part other",
        "r1 = value counts",
        "r1 += 16",
        "goto count",
        ".end",
        ".program compared",
        "r6 = r1",
        ".use depth.read",
        "*(u64 *)(r10 - 8) = r8",
        "*(u64 *)(r10 - 16) = r0",
        "call get_current_task_btf",
        "r1 = r0",
        "call task_pt_regs",
        "r8 = *(u64 *)(r0 + pt_regs.syscall)",
        "r0 -= r6",
        "r1 = value counts",
        "r2 = *(u64 *)(r10 - 8)",
        "if r2 != r8 goto different",
        "r2 = *(u64 *)(r10 - 16)",
        "if r2 == r0 goto count",
        "different:",
        "r1 += 8",
        "count:",
        "r2 = 1",
        "lock *(u64 *)(r1 + 0) += r2",
        "r0 = 0",
        "exit",
        ".end",
    ];

    /// Wants root, BPF tracing and x86-64: elsewhere it says so.
    #[test]
    fn what_is_read_from_a_stack_is_what_the_kernels_functions_tell() {
        let (Ok(counts), Ok(btf)) = (Shared::new("counts", 24), Btf::running()) else {
            return println!("SKIPPED: BPF is refused, or the kernel tells no types");
        };
        let text = format!("{PROGRAMS}\n{}", COMPARED.join("\n"));
        let assembly = Assembly::parse(&text).unwrap();
        let mut names = Names::default();
        let call = |name: &str, names: &Names| {
            Program::load(Kind::Call, name, 0, &assembly.program(name, names)?)
        };
        name(&mut names, &btf, &call).unwrap();
        if cfg!(not(target_arch = "x86_64")) || btf.function(CAST).is_none() {
            return println!("SKIPPED: the kernel's functions are asked here");
        }
        read(&mut names, &btf, &call).unwrap();
        names.part("depth.asked", "other");
        names.value("counts", &counts);
        let tracepoint = btf.tracepoint("kmem_cache_alloc").unwrap().type_id;
        let code = assembly.program("compared", &names).unwrap();
        let program = Program::load(Kind::Tracepoint, "kmem_cache_alloc", tracepoint, &code);
        let attached = program.unwrap().attach().unwrap();
        for _ in 0..20 {
            Command::new("true").status().unwrap();
        }
        drop(attached);
        let [same, different, other] =
            [0, 1, 2].map(|word: usize| counts.words()[word].load(Ordering::Relaxed));
        assert!(same > 1000 && different == 0, "{same} {different} {other}");
        assert!(other < same, "{same} {other}");
    }

    #[test]
    fn registers_lie_at_the_end_of_a_stack() {
        assert_eq!(stack_bytes(16384 - 168), Some(16384));
        assert_eq!(stack_bytes(32768 - 168 - 16), Some(32768));
        for wrong in [0, 168, 8192 + 168, u32::MAX, 1 << 20] {
            assert_eq!(stack_bytes(wrong), None, "{wrong}");
        }
    }
}
