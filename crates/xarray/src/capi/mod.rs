//! The C interface: the functions that include/linux/xarray.h and idr.h declare, and the spin locks and read-copy-update
//! that those headers need.

#[allow(unsafe_code, reason = "C's pointers, see its header")]
mod raw;

pub use raw::{advanced, idr, normal, process};
