//! Whether KVM truly works here. That `/dev/kvm` opens proves nothing: in a nested machine guests may stop
//! with an emulation error or hang at their first instruction, so a guest is booted, with a time limit.
//!
//! The answer is kept in the store until the machine is booted anew.

use std::fs::{self, OpenOptions};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Error, Initramfs, Kernel, Machine, Result, Step, Workshop};

/// How long a guest that does nothing may take under KVM: a healthy one needs a second.
const PROBE_LIMIT: Duration = Duration::from_secs(8);

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accel {
    /// The processor: times are those of this machine
    Kvm,
    /// QEMU's translator: times are emulated, and fit for comparison only
    Tcg,
}

impl Accel {
    /// Returns the name that QEMU has for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }

    /// Returns whether times are emulated.
    #[must_use]
    pub fn is_emulated(self) -> bool {
        self == Self::Tcg
    }
}

/// Which accelerator was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccelChoice {
    /// KVM if a probe shows that it works
    Auto,
    /// This one
    Only(Accel),
}

/// What a probe found, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Found {
    boot_id: String,
    accel: Accel,
    why: String,
}

impl AccelChoice {
    /// Returns the accelerator to use and why, probing with `kernel` if need be.
    ///
    /// # Errors
    ///
    /// Those of the file system, and [`Error::Interrupted`]; that KVM does not work is no error.
    pub fn resolve(
        self,
        workshop: &Workshop,
        kernel: &Kernel,
        watch: &mut dyn FnMut(Step<'_>),
    ) -> Result<(Accel, String)> {
        match self {
            Self::Only(accel) => Ok((accel, "as asked for".into())),
            Self::Auto => {
                if let Err(e) = OpenOptions::new().read(true).write(true).open("/dev/kvm") {
                    return Ok((Accel::Tcg, format!("/dev/kvm: {e}")));
                }
                watch(Step::Begin("probing KVM"));
                let found = kept(workshop).map_or_else(|| probe(workshop, kernel), Ok)?;
                Ok((found.accel, found.why))
            }
        }
    }
}

/// Returns what an earlier probe found, if this machine was not booted anew since.
fn kept(workshop: &Workshop) -> Option<Found> {
    let text = fs::read(workshop.store.root().join("kvm-probe.json")).ok()?;
    let found: Found = serde_json::from_slice(&text).ok()?;
    (found.boot_id == boot_id()?).then_some(found)
}

fn boot_id() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// Boots a guest that does nothing under KVM, and keeps what came of it.
fn probe(workshop: &Workshop, kernel: &Kernel) -> Result<Found> {
    let root = workshop.store.root();
    let folder = tempfile::tempdir_in(root).map_err(Error::io("cannot write into", root))?;
    let initramfs = Initramfs::new(&workshop.data, "true\n")?;
    let mut machine = Machine::new(kernel.clone(), 2, initramfs);
    machine.limit = PROBE_LIMIT;
    let booted = machine.boot(Accel::Kvm, folder.path(), &workshop.interrupt, &mut |_| Ok(()));
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
    // Two probes at a time: each writes the whole file beside and renames.
    let beside = folder.path().join("found.json");
    fs::write(&beside, json).map_err(Error::io("cannot write", &beside))?;
    fs::rename(&beside, &path).map_err(Error::io("cannot write", &path))?;
    Ok(found)
}
