//! Functions with the C interface that modules call.
//!
//! Each checks, converts and calls; what it means is said in [`crate::machine`]. What has to be unsafe is in
//! [`crate::raw`]. A pointer that a module passes is used as the kernel uses it.

pub(crate) mod memory;
pub(crate) mod system;
pub(crate) mod text;
