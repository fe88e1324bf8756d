//! The jumps: for each function of the host a few instructions in the module that go through a
//! table, which the host fills after loading.
//!
//! Compared with exporting the functions from the command's executable this needs no linker option,
//! survives link-time optimisation and stripping, and adds the call site as an argument: that of the module also where
//! it called a function of the runtime (`kstrdup()`) that calls the host's (on arm64 it is the runtime's own).

use std::fmt::Write;

use crate::symbols::{SYMBOLS, Symbol};

/// Registers that pass the first arguments.
#[cfg(target_arch = "x86_64")]
const ARGUMENTS_X86_64: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];

/// Returns the assembly source.
pub(super) fn source() -> String {
    let mut text = String::from("\t.hidden __ehdr_start, _end\n\t.text\n");
    for (i, symbol) in SYMBOLS.iter().enumerate() {
        let name = symbol.name;
        let body = jump(*symbol, i);
        write!(
            text,
            "\t.globl {name}\n\t.type {name}, %function\n{name}:\n{body}\t.size {name}, . - {name}\n"
        )
        .expect("writing to a string cannot fail");
    }
    let bytes = SYMBOLS.len() * 8;
    write!(
        text,
        "\t.bss\n\t.balign 8\n\t.globl kapi_table\n\t.type kapi_table, %object\n\
         \t.size kapi_table, {bytes}\nkapi_table:\n.Ltable:\n\t.zero {bytes}\n\
         \t.section .note.GNU-stack,\"\",%progbits\n"
    )
    .expect("writing to a string cannot fail");
    text
}

/// Frames of the runtime that are looked through for the module's call at most.
#[cfg(target_arch = "x86_64")]
const FRAMES_MAX: u32 = 8;

/// A return address in the runtime is that of a function which the module called, or which that called: the frames, by
/// which the runtime is compiled, lead to the module's call. What no module called keeps the runtime's address.
#[cfg(target_arch = "x86_64")]
fn jump(symbol: Symbol, index: usize) -> String {
    let jump = format!("\tjmpq *.Ltable+{}(%rip)\n", index * 8);
    // As the compiler does it for a function: for a breakpoint.
    let first = "\tnop\n";
    let Some(site) = symbol.site.map(|arguments| ARGUMENTS_X86_64[usize::from(arguments)]) else {
        return format!("{first}{jump}");
    };
    // Goes on at `label` if the register's address is not in the runtime.
    let outside = |register: &str, label: &str| {
        format!(
            "\tleaq kapi_runtime_begin(%rip), %rax\n\tcmpq %rax, %{register}\n\tjb {label}\n\
             \tleaq kapi_runtime_end(%rip), %rax\n\tcmpq %rax, %{register}\n\tjae {label}\n"
        )
    };
    // At a function's first instruction the return address is on top of the stack. No function of those gets a variable
    // number of arguments, so that %rax is free as well.
    format!(
        "{first}\tmovq (%rsp), %{site}\n{}\tpushq %rbx\n\tmovq %rbp, %r10\n\tmovl ${FRAMES_MAX}, %ebx\n\
         1:\tmovq 8(%r10), %r11\n\tmovq (%r10), %r10\n{}\tdecl %ebx\n\tjnz 1b\n\
         2:\tpopq %rbx\n\
         \tleaq __ehdr_start(%rip), %rax\n\tcmpq %rax, %r11\n\tjb 3f\n\
         \tleaq _end(%rip), %rax\n\tcmpq %rax, %r11\n\tjae 3f\n\tmovq %r11, %{site}\n\
         3:{jump}",
        outside(site, "3f"),
        outside("r11", "2f"),
    )
}

#[cfg(target_arch = "aarch64")]
fn jump(symbol: Symbol, index: usize) -> String {
    let site = symbol.site.map_or(String::new(), |n| format!("\tmov x{n}, x30\n"));
    format!(
        "{site}\tadrp x16, .Ltable+{offset}\n\tldr x16, [x16, :lo12:.Ltable+{offset}]\n\tbr x16\n",
        offset = index * 8
    )
}
