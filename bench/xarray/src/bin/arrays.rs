//! Measures the array beside its peers, in one run, and says which promises hold.
//!
//! `run.sh` builds the kernel's own array and starts this. Arguments: `[--rounds N] [--entries N] [--set NAME]
//! [--peer NAME] [--peers DIR] [--csv FILE]`. With `--peer` only the peers with this in their names run, once a round,
//! for a profiler.

use bench_xarray::keys;
use bench_xarray::measure::{Orders, Times, round};
use bench_xarray::peers::{self, Library, Peer};
use bench_xarray::report;

struct Options {
    rounds: usize,
    entries: u64,
    set: Option<String>,
    peer: Option<String>,
    peers: String,
    csv: Option<String>,
}

fn options() -> Options {
    let mut options = Options {
        rounds: 5,
        entries: 1_000_000,
        set: None,
        peer: None,
        peers: "target/peer".into(),
        csv: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| usage(&format!("{word} needs a value")));
        let number =
            || value.parse().unwrap_or_else(|_| usage(&format!("{value} is not a number")));
        match word.as_str() {
            "--rounds" => options.rounds = number() as usize,
            "--entries" => options.entries = number(),
            "--set" => options.set = Some(value),
            "--peer" => options.peer = Some(value),
            "--peers" => options.peers = value,
            "--csv" => options.csv = Some(value),
            _ => usage(&format!("{word} is no option")),
        }
    }
    options
}

fn usage(problem: &str) -> ! {
    eprintln!("arrays: {problem}");
    eprintln!(
        "usage: arrays [--rounds N] [--entries N] [--set NAME] [--peer NAME] [--peers DIR] [--csv FILE]"
    );
    std::process::exit(2)
}

fn main() {
    let options = options();
    let libraries: &'static [Library] = Library::load_all(options.peers.as_ref()).leak();
    if libraries.is_empty() {
        usage(&format!("no libkxa-*.so in {}: run peer/build.sh first", options.peers));
    }
    let mut results = report::Results::default();
    for set in keys::all(options.entries) {
        if options.set.as_ref().is_some_and(|name| *name != set.name) {
            continue;
        }
        let orders = Orders::new(&set);
        let mut peers: Vec<Box<dyn Peer>> = peers::all(libraries);
        if let Some(name) = &options.peer {
            peers.retain(|peer| peer.name().contains(name));
            for peer in &mut peers {
                round(peer.as_mut(), &orders, &mut Times::new());
            }
            continue;
        }
        let mut times: Vec<Times> = peers.iter().map(|_| Times::new()).collect();
        for _ in 0..options.rounds {
            for i in 0..peers.len() {
                // The kernel's builds count as one peer, so we get as many chances as they have.
                if peers[i].name().starts_with("kernel") {
                    round(peers[0].as_mut(), &orders, &mut times[0]);
                }
                round(peers[i].as_mut(), &orders, &mut times[i]);
            }
        }
        results.add(&set, &peers.iter().map(|peer| peer.name()).collect::<Vec<_>>(), times);
    }
    results.print();
    if let Some(file) = options.csv {
        std::fs::write(&file, results.csv())
            .unwrap_or_else(|error| usage(&format!("{file}: {error}")));
    }
}
