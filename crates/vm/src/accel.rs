//! The accelerators that run a guest's instructions.

use serde::{Deserialize, Serialize};

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accel {
    /// The processor: times are those of this machine
    Kvm,
    /// QEMU's translator: times are emulated, and fit for comparison only
    Tcg,
    /// QEMU's translator with one thread that counts instructions: times are numbers of
    /// instructions, and repeat exactly
    Icount,
}

impl Accel {
    /// Returns QEMU's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
            Self::Icount => "icount",
        }
    }

    /// Returns whether times are emulated.
    #[must_use]
    pub fn is_emulated(self) -> bool {
        self != Self::Kvm
    }
}
