//! The module's counted references (check level 2): those that are left at the end, or whose memory is freed while somebody
//! has one.
//!
//! # How it works
//! Each `kref` is known from `kref_init()` until its last reference is gone, with the call that took one last. What lies in
//! memory that is freed goes with it, and what lies on a stack is not looked at.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use crate::event::{Event, Misuse};
use crate::raw::bytes;
use crate::runtime::{lock, runtime};

/// What happens to one: `enum kapi_kref` in `include/linux/kref.h`.
const LAST: u32 = 2;

/// Where one was taken last, by the count's address.
static KREFS: LazyLock<Mutex<BTreeMap<u64, u64>>> = LazyLock::new(Mutex::default);

/// Of a module: a kref is initialised, got, or gone.
pub(crate) extern "C" fn kapi_kref(address: u64, what: u32, site: u64) {
    if runtime().job.check < 2 {
        return;
    }
    let mut krefs = lock(&KREFS);
    match what {
        LAST => krefs.remove(&address),
        _ => krefs.insert(address, site),
    };
}

/// Enters that memory is freed at `site`.
pub(crate) fn forget(start: u64, bytes: u64, site: u64) {
    let mut krefs = lock(&KREFS);
    let inside: Vec<u64> =
        krefs.range(start..start.saturating_add(bytes)).map(|(&a, _)| a).collect();
    for address in inside {
        krefs.remove(&address);
        // Who has the only one may free it as it is.
        if let Some(references) = count(address).filter(|&references| references > 1) {
            tell(format!("a kref with {references} references is freed"), site);
        }
    }
}

/// What is left at the end in memory that `is_live`, or among the module's variables.
pub(crate) fn tell_left(is_live: impl Fn(u64) -> bool) {
    let runtime = runtime();
    for (&address, &site) in lock(&KREFS).iter() {
        let is_variable = runtime.image.variable(runtime.offset(address)).is_some();
        let Some(references) = count(address).filter(|_| is_variable || is_live(address)) else {
            continue;
        };
        let plural = if references == 1 { "" } else { "s" };
        tell(format!("a kref is left with {references} reference{plural}"), site);
    }
}

/// Returns how many references there are, if there are any.
fn count(address: u64) -> Option<i32> {
    let mut word = [0; 4];
    bytes::read(address, &mut word).then(|| i32::from_ne_bytes(word)).filter(|&count| count > 0)
}

fn tell(detail: String, site: u64) {
    let runtime = runtime();
    let site = Some(runtime.offset(site));
    runtime.emit(&Event::Finding { kind: Misuse::Reference, detail, count: 1, block: None, site });
}
