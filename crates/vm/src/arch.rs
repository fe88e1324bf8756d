//! The machines that a guest can be: Debian's names for them, and QEMU's arguments.

use crate::error::{Error, Result};
use crate::tools::{Need, need};

/// A kind of machine, with a flavour of Debian's kernel for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arch {
    /// The name after the slash of `debian:SERIES/ARCH`
    pub name: &'static str,
    /// Debian's architecture
    pub debian: &'static str,
    /// The end of the names of Debian's image packages
    pub(crate) flavour: &'static str,
    /// The emulator, with its package
    pub(crate) emulator: &'static [Need],
    /// The emulator's arguments for a machine that has only what a guest needs
    pub(crate) machine: &'static [&'static str],
    /// The processor under translation
    pub(crate) cpu: &'static str,
    /// The kernel's name for the first serial port
    pub(crate) console: &'static str,
}

const fn emulator(what: &'static str, package: &'static str) -> Need {
    need(what, package, "booting")
}

const X86: &[Need] = &[emulator("qemu-system-x86_64", "qemu-system-x86")];
const ARM64: &[Need] = &[emulator("qemu-system-aarch64", "qemu-system-arm")];
const ARM: &[Need] = &[emulator("qemu-system-arm", "qemu-system-arm")];
const RISCV: &[Need] = &[emulator("qemu-system-riscv64", "qemu-system-misc")];

/// Pointer authentication by QEMU's own, cheap code: the architecture's takes half the time of a boot.
const ARM64_CPU: &str = "max,pauth-impdef=on";

impl Arch {
    /// All machines; kernels are built for the first.
    pub const ALL: &[Self] = &[
        Self {
            name: "amd64",
            debian: "amd64",
            flavour: "cloud-amd64",
            emulator: X86,
            machine: &["-machine", "pc"],
            // Otherwise programs that read random bytes would wait for minutes of interrupts.
            cpu: "qemu64,+rdrand",
            console: "ttyS0",
        },
        Self {
            name: "arm64",
            debian: "arm64",
            flavour: "cloud-arm64",
            emulator: ARM64,
            machine: &["-machine", "virt"],
            cpu: ARM64_CPU,
            console: "ttyAMA0",
        },
        Self {
            name: "arm64-16k",
            debian: "arm64",
            flavour: "arm64-16k",
            emulator: ARM64,
            machine: &["-machine", "virt"],
            cpu: ARM64_CPU,
            console: "ttyAMA0",
        },
        Self {
            name: "armmp",
            debian: "armhf",
            flavour: "armmp",
            emulator: ARM,
            // Without LPAE the kernel cannot reach a PCI window above 4 GiB.
            machine: &["-machine", "virt,highmem=off"],
            cpu: "cortex-a15",
            console: "ttyAMA0",
        },
        Self {
            name: "riscv64",
            debian: "riscv64",
            flavour: "riscv64",
            emulator: RISCV,
            machine: &["-machine", "virt"],
            cpu: "rv64",
            console: "ttyS0",
        },
    ];

    /// The machine that kernels are built for, and that this is.
    pub const NATIVE: &'static Self = &Self::ALL[0];

    /// Returns the machine called `name`.
    ///
    /// # Errors
    ///
    /// If there is none; the message names those that are.
    pub fn named(name: &str) -> Result<&'static Self> {
        Self::ALL.iter().find(|arch| arch.name == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|arch| arch.name).collect();
            let why = format!("no such machine; there are: {}", known.join(", "));
            Error::Config { place: name.to_owned(), why }
        })
    }

    /// Returns whether its programs run on this machine.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.debian == Self::NATIVE.debian
    }
}
