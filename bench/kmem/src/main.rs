//! Times alloc and free of every allocator in one run, interleaved: see README.md.
//!
//! Usage: bench-kmem [--rounds N] [--only PATTERN[:ALLOCATOR[:SIZE]]] > results.csv
//!        bench-kmem --resident [--only ...] > resident.csv

mod heap;
mod pattern;

use std::collections::BTreeMap;

use heap::{Glibc, Heap, Jemalloc, Mimalloc, Ours, OursCache};
use pattern::Pattern;
use slablab_kmem::{Dense, Slab, Slmb, Slob, Slub, SlubSheaves};

const SIZES: [usize; 6] = [16, 64, 192, 512, 1024, 4096];

/// How resident memory is measured: what an allocator keeps shows only in a process that has used no other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resident {
    /// For all of them, each in a child of its own.
    Table,
    /// For one, in this process.
    Here,
}

fn usage() -> ! {
    eprintln!("usage: bench-kmem [--rounds N | --resident] [--only PATTERN[:ALLOCATOR[:SIZE]]]");
    std::process::exit(2);
}

fn resident_in_child(pattern: Pattern, name: &str, size: usize) -> i64 {
    let only = format!("{}:{name}:{size}", pattern.name());
    let program = std::env::current_exe().expect("this program");
    let mut child = std::process::Command::new(program);
    let child = child.args(["--resident-here", "--only", &only]);
    let output = child.output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("{only}: {text}{output:?}"))
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (mut rounds, mut only, mut resident) = (7, String::new(), None);
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| usage());
        match arg.as_str() {
            "--rounds" => rounds = value().parse().unwrap_or_else(|_| usage()),
            "--only" => only = value(),
            "--resident" => resident = Some(Resident::Table),
            "--resident-here" => resident = Some(Resident::Here),
            _ => usage(),
        }
    }
    let mut only = only.split(':');
    let [only_pattern, only_heap, only_size] = [(); 3].map(|()| only.next().unwrap_or(""));
    if resident == Some(Resident::Table) {
        println!("pattern,size,allocator,resident_kib");
    }
    let mut samples: BTreeMap<(usize, usize, &str), Vec<f64>> = BTreeMap::new();
    for _ in 0..if resident.is_some() { 1 } else { rounds } {
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
                macro_rules! measure {
                    ($($heap:ty,)*) => {$(
                        let name = <$heap>::NAME;
                        match resident {
                            // A child finds the one whose whole name this is.
                            Some(Resident::Here) if name == only_heap => {
                                return println!("{}", pattern.resident_kib::<$heap>(size));
                            }
                            Some(Resident::Here) => {}
                            _ if !name.contains(only_heap) => {}
                            Some(Resident::Table) => {
                                let kib = resident_in_child(*pattern, name, size);
                                println!("{},{size},{name},{kib}", pattern.name());
                            }
                            None => enter(name, pattern.run::<$heap>(size)),
                        }
                    )*};
                }
                measure! {
                    Mimalloc,
                    Ours<Slub>,
                    OursCache<Slub>,
                    Ours<SlubSheaves>,
                    OursCache<SlubSheaves>,
                    Ours<Dense>,
                    OursCache<Dense>,
                    Ours<Slab>,
                    OursCache<Slab>,
                    Ours<Slob>,
                    Ours<Slmb>,
                    Jemalloc,
                    Glibc,
                }
            }
        }
    }
    if resident.is_some() {
        return;
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
