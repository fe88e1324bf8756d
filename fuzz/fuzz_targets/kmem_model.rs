//! Every backend against a plain map of what is live: see crates/kmem/tests/model.rs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slablab_kmem::{BackendKind, WithBackend};

#[path = "../../crates/kmem/tests/model/driver.rs"]
mod driver;

struct Run<'a>(&'a [u8]);

impl WithBackend for Run<'_> {
    type Output = ();

    fn run<B: slablab_kmem::Backend>(self) {
        driver::run::<B>(self.0);
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Some((&kind, rest)) = bytes.split_first() {
        let all = BackendKind::ALL;
        all[usize::from(kind) % all.len()].dispatch(Run(rest));
    }
});
