//! The jumps: for each function of the host a few instructions in the module that go through a
//! table, which the host fills after loading.
//!
//! Compared with exporting the functions from the command's executable this needs no linker option,
//! survives link-time optimisation and stripping, and adds the call site as an argument.

use std::fmt::Write;

use crate::symbols::{SYMBOLS, Symbol};

/// Registers that pass the first arguments.
#[cfg(target_arch = "x86_64")]
const ARGUMENTS_X86_64: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];

/// Returns the assembly source.
pub(super) fn source() -> String {
    let mut text = String::from("\t.text\n");
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

#[cfg(target_arch = "x86_64")]
fn jump(symbol: Symbol, index: usize) -> String {
    let site = symbol.site.map_or(String::new(), |arguments| {
        // At a function's first instruction the return address is on top of the stack.
        format!("\tmovq (%rsp), %{}\n", ARGUMENTS_X86_64[usize::from(arguments)])
    });
    format!("{site}\tjmpq *.Ltable+{}(%rip)\n", index * 8)
}

#[cfg(target_arch = "aarch64")]
fn jump(symbol: Symbol, index: usize) -> String {
    let site = symbol.site.map_or(String::new(), |n| format!("\tmov x{n}, x30\n"));
    format!(
        "{site}\tadrp x16, .Ltable+{offset}\n\tldr x16, [x16, :lo12:.Ltable+{offset}]\n\tbr x16\n",
        offset = index * 8
    )
}
