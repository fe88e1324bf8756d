//! Guests that record their own allocations, with the slabs they hold when the recording ends.
//!
//! # How it works
//! From the boot on, the kernel's own trace buffer is filled (`trace_event=`), stopped after the load, and sent as
//! text, behind comments that describe the machine and its slabs; `kernel/guest/record.sh` does that. The text has the
//! allocations of the boot itself, which no program can record. It needs no program of ours, so any machine can do it.
//! During a load alone, the guest runs `slablab record`.
//!
//! # Invariants
//! - A buffer that lost events is an error, never a trace.
//! - The slabs are those at the end of the recording, except for changes while they are being read.

use std::fs;
use std::path::{Path, PathBuf};

use slablab_trace::ImportOptions;
use slablab_vm::{Accel, Boot, Initramfs, Kernel, KernelBuilder, Machine};

use crate::error::{Error, Result};

/// The events that a trace is made of.
const EVENTS: &str = "kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free";

/// The kernel's buffer for each CPU in MiB, here and on other machines. An event takes 54 bytes, and the boot of the
/// base configuration makes 310,000 of them. Kernels with much memory to set up later cannot allocate as much this
/// early.
const BUFFER_MIB: (u32, u32) = (48, 24);

/// A guest that records itself.
#[derive(Debug, Clone)]
pub(crate) struct Recorder<'a> {
    /// What makes guests
    pub(crate) builder: &'a KernelBuilder,
    /// The kernel
    pub(crate) kernel: Kernel,
    /// Virtual CPUs
    pub(crate) cpus: u32,
    /// Boot parameters
    pub(crate) arguments: Vec<String>,
    /// A snippet for busybox's shell
    pub(crate) load: String,
    /// Programs that it needs besides busybox and hackbench
    pub(crate) tools: Vec<String>,
    /// Memory of the guest in MiB, without that of a trace buffer
    pub(crate) memory_mib: u32,
    /// The accelerator
    pub(crate) accel: Accel,
}

/// Returns a guest's script that runs `load`, a snippet for its shell, and sends the kernel's recording since its boot,
/// called `recording.txt` then. The load has a shell of its own, so that its `wait` does not wait for the recorders, and
/// its `exit` does not end the recording.
#[must_use]
pub fn from_boot_job(load: &str) -> String {
    format!(
        "before=$(meminfo Slab)\n\
         record_begin\n\
         (\n\
         :\n\
         {load}\n\
         )\n\
         {ROW}\
         record_end\n"
    )
}

/// Adds the module that reports about a kernel's caches what the kernel does not.
///
/// # Errors
///
/// If it does not compile.
pub fn add_slabinfo(
    builder: &KernelBuilder,
    kernel: &Kernel,
    initramfs: &mut Initramfs,
) -> Result<()> {
    if kernel.spec.needs_slabinfo() {
        let module = builder.data.module("slabinfo")?;
        let module = builder.build_module(&module, kernel, &mut |_| ())?;
        initramfs.file("lib/modules/slabinfo.ko", &module);
    }
    Ok(())
}

/// Returns the boot parameters of a kernel that records itself from its boot on.
#[must_use]
pub fn from_boot_arguments(kernel: &Kernel) -> [String; 4] {
    let mib = if kernel.spec.arch().is_native() { BUFFER_MIB.0 } else { BUFFER_MIB.1 };
    [
        format!("trace_event={EVENTS}"),
        format!("trace_buf_size={mib}M"),
        // This is the clock of the samples of slabinfo.
        "trace_clock=mono".into(),
        // In text, pointers are hashed, and all of them alike until there is entropy.
        "no_hash_pointers".into(),
    ]
}

/// Returns the memory in MiB that such a guest needs beside its own: for the buffers and their text.
#[must_use]
pub fn from_boot_memory_mib(cpus: u32) -> u32 {
    4 * BUFFER_MIB.0 * cpus
}

/// The recording of a guest.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    /// The trace: text of the kernel's own, or the Parquet file of `slablab record`
    pub(crate) trace: PathBuf,
    /// `/proc/slabinfo` at its end; empty for an allocator without slabs for each cache
    pub(crate) slabinfo: String,
    /// `Slab` of `/proc/meminfo` at its end, in kB
    pub(crate) slab_kb: u64,
    /// `Slab` before the load, in kB
    pub(crate) slab_kb_before: u64,
}

impl Recording {
    /// Returns the trace as a Parquet file; text is imported first, into the same folder.
    ///
    /// # Errors
    ///
    /// If it cannot be imported.
    pub(crate) fn parquet(&self) -> Result<PathBuf> {
        let path = self.trace.with_extension("parquet");
        if path != self.trace {
            let slabinfo = (!self.slabinfo.is_empty()).then(|| self.slabinfo.clone());
            let options = ImportOptions { slabinfo, ..ImportOptions::new(&self.trace, &path) };
            slablab_trace::import(&options, &mut |_| ())?;
        }
        Ok(path)
    }
}

impl Recorder<'_> {
    /// Boots, with the guest's files in `folder`, and records from the boot to the end of the load.
    ///
    /// # Errors
    ///
    /// If the guest gets into trouble, or the buffer lost events.
    pub(crate) fn since_boot(&self, folder: &Path) -> Result<Recording> {
        let job = from_boot_job(&self.load);
        let mut initramfs = self.builder.initramfs(&self.kernel, &job, &mut |_| ())?;
        add_slabinfo(self.builder, &self.kernel, &mut initramfs)?;
        let mut machine = self.machine(initramfs)?;
        machine.arguments.extend(from_boot_arguments(&self.kernel));
        self.boot(&machine, "recording.txt", folder)
    }

    /// Boots, with the guest's files in `folder`, and records the load with `slablab`, a program of this machine.
    ///
    /// # Errors
    ///
    /// If the guest gets into trouble.
    pub(crate) fn of_load(&self, slablab: &Path, folder: &Path) -> Result<Recording> {
        let script = format!(
            "for lib in /lib/*.sh; do . \"$lib\"; done\nbefore=$(meminfo Slab)\n{}\n{ROW}{SLABS}",
            self.load
        );
        // The shell does not touch text between the quotation marks of a here-document.
        let job = format!(
            "cat > /tmp/load <<'END OF LOAD'\n{script}\nEND OF LOAD\n\
             slablab record -o /tmp/trace.parquet -- sh -eu /tmp/load 2> /tmp/recorder\n\
             tail -n 1 /tmp/recorder\n\
             send trace.parquet /tmp/trace.parquet\n"
        );
        let mut initramfs = self.builder.initramfs(&self.kernel, &job, &mut |_| ())?;
        initramfs.program("slablab", slablab)?;
        self.boot(&self.machine(initramfs)?, "trace.parquet", folder)
    }

    fn machine(&self, mut initramfs: Initramfs) -> Result<Machine> {
        initramfs.tool("hackbench")?;
        self.tools.iter().try_for_each(|tool| initramfs.tool_or_path(tool))?;
        let mut machine = Machine::new(self.kernel.clone(), self.cpus, initramfs);
        machine.memory_mib = self.memory_mib + from_boot_memory_mib(self.cpus);
        machine.arguments.clone_from(&self.arguments);
        Ok(machine)
    }

    fn boot(&self, machine: &Machine, trace: &str, folder: &Path) -> Result<Recording> {
        let boot = machine.boot(self.accel, folder, &self.builder.interrupt)?;
        let slabs = boot.rows_of("slabs").next();
        let kb = |key: &str| slabs.and_then(|row| row[key].as_u64());
        let missing = || Error::Request(format!("guest {}: no slabs came back", machine.name()));
        Ok(Recording {
            trace: file(&boot, trace, machine)?,
            slabinfo: read(&file(&boot, "slabinfo.txt", machine)?)?,
            slab_kb: kb("slab_kb").ok_or_else(missing)?,
            slab_kb_before: kb("slab_kb_before").ok_or_else(missing)?,
        })
    }
}

/// Sends how much memory is held.
const ROW: &str = "\
    row \"\\\"kind\\\":\\\"slabs\\\",\\\"slab_kb_before\\\":$before,\\\"slab_kb\\\":$(meminfo Slab)\"\n";

/// Sends it by cache; SLOB and SLMB have no slabinfo.
const SLABS: &str = "\
    cat /proc/slabinfo > /tmp/slabinfo 2> /dev/null || true\n\
    send slabinfo.txt /tmp/slabinfo\n";

/// Returns the file that a guest sent as `name`.
pub(super) fn file(boot: &Boot, name: &str, machine: &Machine) -> Result<PathBuf> {
    let found = boot.files.iter().find(|(sent, _)| sent == name);
    let missing = || Error::Request(format!("guest {}: no {name} came back", machine.name()));
    found.map(|(_, path)| path.clone()).ok_or_else(missing)
}

/// Returns the content of a file.
pub(super) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(Error::io(path, "read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_waits_for_its_own_or_exits_is_recorded_to_its_end() {
        for load in ["true & wait", "exit 0", "# nothing"] {
            let job = from_boot_job(load);
            let stubs = "meminfo() { echo 1; }; row() { :; }\n\
                record_begin() { sleep 1000 & sampler=$!; }\n\
                record_end() { kill $sampler; echo ended; }\n";
            let shell = ["-k", "5", "20", "sh", "-eu", "-c", &format!("{stubs}{job}")];
            let out = std::process::Command::new("timeout").args(shell).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&out.stdout), "ended\n", "{load}");
        }
    }
}
