//! A guest: a kernel, a number of CPUs, a job.

use std::time::Duration;

use crate::initramfs::Initramfs;
use crate::kernel::Kernel;

/// Guests with less memory than this have their large files packed.
const SMALL_BELOW_MIB: u32 = 128;

/// A guest to be booted.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The kernel
    pub kernel: Kernel,
    /// Virtual CPUs
    pub cpus: u32,
    /// Memory in MiB
    pub memory_mib: u32,
    /// Kernel arguments besides those that every guest has
    pub arguments: Vec<String>,
    /// Its first file system, with the job
    pub initramfs: Initramfs,
    /// The longest time that the whole job may take
    pub limit: Duration,
    /// The longest time without any output
    pub silence: Duration,
}

impl Machine {
    /// Returns a guest of `kernel` with 1 GiB of memory, a limit of ten minutes, and two minutes of
    /// silence.
    #[must_use]
    pub fn new(kernel: Kernel, cpus: u32, initramfs: Initramfs) -> Self {
        Self {
            kernel,
            cpus,
            memory_mib: 1024,
            arguments: Vec::new(),
            initramfs,
            limit: Duration::from_secs(600),
            silence: Duration::from_secs(120),
        }
    }

    /// Returns whether memory is so short that the first file system takes a notable part of it.
    pub(crate) fn is_small(&self) -> bool {
        self.memory_mib < SMALL_BELOW_MIB
    }

    /// Returns its name in errors: `slub, 2 CPUs`.
    #[must_use]
    pub fn name(&self) -> String {
        let plural = if self.cpus == 1 { "" } else { "s" };
        format!("{}, {} CPU{plural}", self.kernel.spec.name(), self.cpus)
    }
}
