//! Model fuzzing: an engine against a plain map, driven by bytes.
//!
//! Every object is stamped over its whole length with a token of its own, which is checked when it
//! is freed and when its neighbour is. Page allocations fail after the n-th time now and then. The
//! fuzz target `kmem_model` uses the same driver. Here it runs on pseudo-random bytes for
//! `SLABLAB_FUZZ_SECONDS` (default 2; CI 60) per backend.

use std::time::{Duration, Instant};

use slablab_kmem::{BackendKind, WithBackend};

#[path = "model/driver.rs"]
mod driver;

struct Fuzz {
    until: Instant,
    seed: u64,
}

impl WithBackend for Fuzz {
    type Output = u64;

    fn run<B: slablab_kmem::Backend>(mut self) -> u64 {
        let (mut runs, mut bytes) = (0, vec![0; 8192]);
        while Instant::now() < self.until {
            for byte in &mut bytes {
                self.seed ^= self.seed << 13;
                self.seed ^= self.seed >> 7;
                self.seed ^= self.seed << 17;
                *byte = (self.seed >> 32) as u8;
            }
            driver::run::<B>(&bytes);
            runs += 1;
        }
        runs
    }
}

fn fuzz(kind: BackendKind) {
    let seconds = std::env::var("SLABLAB_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let runs = kind.dispatch(Fuzz { until, seed: 0x9e37_79b9_7f4a_7c15 });
    println!("{kind}: {runs} runs of 8192 bytes");
    assert!(runs > 0);
}

#[test]
fn every_backend_agrees_with_the_model() {
    for pair in BackendKind::ALL.chunks(2) {
        std::thread::scope(|scope| {
            pair.iter().for_each(|&kind| _ = scope.spawn(move || fuzz(kind)));
        });
    }
}
