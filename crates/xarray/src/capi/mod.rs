//! The C face: the functions that include/linux/xarray.h and idr.h declare, and what those headers need of spin locks and
//! read-copy-update.

#[allow(unsafe_code, reason = "C's pointers, see its header")]
mod raw;

pub use raw::{advanced, idr, normal, process};
