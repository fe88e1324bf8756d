//! QEMU's command line for a guest: a plain machine, a console and two channels back.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use slablab_host::{Child, bound};

use crate::accel::Accel;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::{run, tools};

/// The files that a guest writes, in the folder of its boot.
pub(crate) mod files {
    /// Output of the kernel and the job
    pub(crate) const CONSOLE: &str = "console.log";
    /// JSON rows
    pub(crate) const ROWS: &str = "rows.jsonl";
    /// Files, one after another, each with a header line
    pub(crate) const FILES: &str = "files.bin";
    /// QEMU's own complaints
    pub(crate) const EMULATOR: &str = "qemu.log";
}

/// Starts a guest with the archive `initrd`; its output goes to files in `folder`.
pub(crate) fn start(
    machine: &Machine,
    accel: Accel,
    initrd: &Path,
    folder: &Path,
) -> Result<Child> {
    let log = folder.join(files::EMULATOR);
    let log = File::create(&log).map_err(Error::io("cannot write", &log))?;
    let copy = log.try_clone().map_err(Error::io("cannot write into", folder))?;
    let arch = machine.kernel.spec.arch();
    let mut command = bound(tools::program_of(&arch.emulator[0])?);
    arguments(&mut command, machine, accel, initrd, folder);
    run::start(command.stdout(log).stderr(copy))
}

fn arguments(command: &mut Command, machine: &Machine, accel: Accel, initrd: &Path, folder: &Path) {
    let arch = machine.kernel.spec.arch();
    command.args(["-nodefaults", "-no-user-config", "-display", "none"]).args(arch.machine);
    // A guest that reboots is done, and a panic reboots (panic=-1): QEMU ends either way.
    command.arg("-no-reboot");
    match accel {
        Accel::Kvm => command.args(["-accel", "kvm", "-cpu", "host"]),
        Accel::Tcg => command.args(["-accel", "tcg,thread=multi", "-cpu", arch.cpu]),
        Accel::Icount => {
            let counted = ["-accel", "tcg", "-icount", "shift=1,sleep=off", "-cpu", arch.cpu];
            command.args(counted)
        }
    };
    command.args(["-smp", &machine.cpus.to_string(), "-m", &machine.memory_mib.to_string()]);
    command.arg("-kernel").arg(machine.kernel.image()).arg("-initrd").arg(initrd);
    command.args(["-append", &kernel_arguments(machine, accel)]);
    chardev(command, "console", &folder.join(files::CONSOLE));
    command.args(["-serial", "chardev:console"]);
    command.args(["-device", "virtio-serial-pci"]);
    for (number, (name, file)) in
        [("rows", files::ROWS), ("files", files::FILES)].iter().enumerate()
    {
        chardev(command, name, &folder.join(file));
        let port = format!("virtserialport,chardev={name},nr={},name=slablab.{name}", number + 1);
        command.args(["-device", &port]);
    }
}

/// Adds a channel that ends in a file.
fn chardev(command: &mut Command, id: &str, file: &Path) {
    let mut value = OsString::from(format!("file,id={id},path="));
    // In QEMU's option lists a comma in a value is written twice.
    value.push(file.to_string_lossy().replace(',', ",,"));
    command.arg("-chardev").arg(value);
}

/// Returns the kernel's command line.
fn kernel_arguments(machine: &Machine, accel: Accel) -> String {
    let arch = machine.kernel.spec.arch();
    let mut line = format!("console={} loglevel=7 panic=-1 oops=panic", arch.console);
    if accel == Accel::Icount {
        // The code is at the same place in every boot.
        line.push_str(" nokaslr");
    }
    if accel.is_emulated() && arch.is_native() {
        // All emulated CPUs read the same host counter, which the kernel does not trust on an AMD
        // machine; the HPET, which it would take instead, costs an exit for every read of the
        // clock.
        line.push_str(" tsc=reliable");
        // On a busy host the emulated timer may miss the few ticks for which the kernel waits at boot,
        // and it panics: "IO-APIC + timer doesn't work!" (seen at a load of 30 on two processors).
        line.push_str(" no_timer_check");
    }
    if machine.is_small() {
        // A tmpfs holds half of the memory at most.
        line.push_str(" rootfstype=ramfs");
    }
    for argument in &machine.arguments {
        line.push(' ');
        line.push_str(argument);
    }
    line
}
