//! Times alloc and free of every allocator in one run, interleaved: see README.md.
//!
//! Usage: bench-kmem [--rounds N] [--only PATTERN[:ALLOCATOR[:SIZE]]] > results.csv

mod heap;
mod pattern;

use std::collections::BTreeMap;

use heap::{Glibc, Heap, Jemalloc, Mimalloc, Ours, OursCache};
use slablab_kmem::{Dense, Slab, Slmb, Slob, Slub, SlubSheaves};
use pattern::Pattern;

const SIZES: [usize; 6] = [16, 64, 192, 512, 1024, 4096];

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut rounds, mut only) = (7, String::new());
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--rounds", Some(n)) => rounds = n.parse().expect("--rounds takes a number"),
            ("--only", Some(name)) => only = name,
            _ => {
                eprintln!("usage: bench-kmem [--rounds N] [--only PATTERN[:ALLOCATOR[:SIZE]]]");
                std::process::exit(2);
            }
        }
    }
    let mut only = only.split(':');
    let [only_pattern, only_heap, only_size] = [(); 3].map(|()| only.next().unwrap_or(""));
    let mut samples: BTreeMap<(usize, usize, &str), Vec<f64>> = BTreeMap::new();
    for _ in 0..rounds {
        for (p, pattern) in Pattern::ALL.iter().enumerate() {
            if !pattern.name().contains(only_pattern) {
                continue;
            }
            for size in SIZES {
                if !only_size.is_empty() && only_size != size.to_string() {
                    continue;
                }
                let mut enter = |name: &'static str, ns: f64| {
                    samples.entry((p, size, name)).or_default().push(ns);
                };
                macro_rules! time {
                    ($heap:ty) => {
                        if <$heap>::NAME.contains(only_heap) {
                            enter(<$heap>::NAME, pattern.run::<$heap>(size));
                        }
                    };
                }
                time!(Mimalloc);
                time!(Ours<Slub>);
                time!(OursCache<Slub>);
                time!(Ours<SlubSheaves>);
                time!(OursCache<SlubSheaves>);
                time!(Ours<Dense>);
                time!(OursCache<Dense>);
                time!(Ours<Slab>);
                time!(OursCache<Slab>);
                time!(Ours<Slob>);
                time!(Ours<Slmb>);
                time!(Jemalloc);
                time!(Glibc);
            }
        }
    }
    println!("pattern,size,allocator,ns_median,ns_min,ns_max,vs_mimalloc");
    let median = |all: &[f64]| {
        let mut all = all.to_vec();
        all.sort_by(f64::total_cmp);
        (all[all.len() / 2], all[0], all[all.len() - 1])
    };
    for ((p, size, name), all) in &samples {
        let (mid, min, max) = median(all);
        let base = samples.get(&(*p, *size, "mimalloc")).map_or(f64::NAN, |all| median(all).0);
        let pattern = Pattern::ALL[*p].name();
        println!("{pattern},{size},{name},{mid:.2},{min:.2},{max:.2},{:.2}", mid / base);
    }
}
