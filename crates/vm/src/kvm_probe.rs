//! Whether KVM works here. That `/dev/kvm` opens proves nothing: in a nested machine guests may stop
//! with an emulation error or hang at their first instruction. So a guest is booted, with a time limit.
//!
//! The result is kept in the store until the machine is booted again.

use std::fs::{self, OpenOptions};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use slablab_host::{Access, write_whole};

use crate::accel::Accel;
use crate::builder::KernelBuilder;
use crate::error::{Error, Result};
use crate::initramfs::Initramfs;
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::step::Step;

/// The longest that a guest which does nothing may take under KVM: a healthy one needs a second.
const PROBE_LIMIT: Duration = Duration::from_secs(8);

/// The requested accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccelChoice {
    /// KVM if a probe shows that it works
    Auto,
    /// This one
    Only(Accel),
}

/// The stored result of a probe.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    boot_id: String,
    accel: Accel,
    why: String,
}

impl AccelChoice {
    /// Returns the accelerator to use and why, probing with `kernel` if necessary.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or written, or (as [`Error::Interrupted`]) the user stops it. A KVM
    /// that does not work is not an error.
    pub fn resolve(
        self,
        builder: &KernelBuilder,
        kernel: &Kernel,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<(Accel, String)> {
        let arch = kernel.spec.arch();
        match self {
            Self::Only(Accel::Kvm) | Self::Auto if !arch.is_native() => {
                Ok((Accel::Tcg, format!("no processor of this machine runs {}", arch.name)))
            }
            Self::Only(accel) => Ok((accel, "as asked for".into())),
            Self::Auto => {
                if let Err(e) = OpenOptions::new().read(true).write(true).open("/dev/kvm") {
                    return Ok((Accel::Tcg, format!("/dev/kvm: {e}")));
                }
                watch(Step::Begin("probing KVM"));
                let found = kept(builder).map_or_else(|| probe(builder, kernel), Ok)?;
                Ok((found.accel, found.why))
            }
        }
    }
}

/// Returns the result of an earlier probe, if this machine was not booted since.
fn kept(builder: &KernelBuilder) -> Option<Found> {
    let text = fs::read(builder.store.root().join("kvm-probe.json")).ok()?;
    let found: Found = serde_json::from_slice(&text).ok()?;
    (found.boot_id == boot_id()?).then_some(found)
}

fn boot_id() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// Boots a guest that does nothing under KVM, and keeps the result.
fn probe(builder: &KernelBuilder, kernel: &Kernel) -> Result<Found> {
    let root = builder.store.root();
    let folder = tempfile::tempdir_in(root).map_err(Error::io("cannot write into", root))?;
    let initramfs = Initramfs::new(&builder.data, "true\n", None)?;
    let mut machine = Machine::new(kernel.clone(), 2, initramfs);
    machine.limit = PROBE_LIMIT;
    let booted = machine.boot(Accel::Kvm, folder.path(), &builder.interrupt);
    let (accel, why) = match booted {
        Ok(_) => (Accel::Kvm, "a guest boots under KVM".to_owned()),
        Err(Error::Guest { trouble, .. }) => {
            (Accel::Tcg, format!("a guest under KVM does not work: {trouble}"))
        }
        Err(error) => return Err(error),
    };
    let found = Found { boot_id: boot_id().unwrap_or_default(), accel, why };
    let path = root.join("kvm-probe.json");
    let json = serde_json::to_vec_pretty(&found).expect("strings");
    write_whole(&path, &json, Access::Private).map_err(Error::io("cannot write", &path))?;
    Ok(found)
}
