//! How much address space this process may have (`ulimit -v`).

use rustix::process::{Resource, getrlimit};

/// Returns the limit in bytes; `None` where there is none.
#[must_use]
pub fn address_space_bytes() -> Option<u64> {
    getrlimit(Resource::As).current
}
