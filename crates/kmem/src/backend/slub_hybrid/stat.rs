//! Paths that SLUB of 6.18 counts beside those of the classic one and of sheaves.

use crate::backend::{sheaves, slub};

crate::cache::paths::stats! { SHEAVES_AT + sheaves::stat::NAMES.len();
    ALLOC_CPU_SHEAF "alloc_cpu_sheaf", // from the CPU's sheaves
    FREE_CPU_SHEAF "free_cpu_sheaf", // to the CPU's sheaves
}

use crate::cache::paths::{Stat, common};

/// Place of the first counter of sheaves.
pub(super) const SHEAVES_AT: usize = common::NAMES.len() + slub::stat::NAMES.len();
