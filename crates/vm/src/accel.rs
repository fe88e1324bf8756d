//! What runs a guest's instructions.

use serde::{Deserialize, Serialize};

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accel {
    /// The processor: times are those of this machine
    Kvm,
    /// QEMU's translator: times are emulated, and fit for comparison only
    Tcg,
    /// The same with one thread that counts instructions: a time is so many of them, and repeats
    Icount,
}

impl Accel {
    /// Returns the name that QEMU has for it.
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
