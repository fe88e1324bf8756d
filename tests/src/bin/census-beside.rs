//! The census of a guest between two counts of the module `slabcensus`.
//!
//! # How it works
//! `census-beside ROUNDS` reads `/proc/slabcensus`, takes a census by BPF, and reads the file again, as often as is wanted. It
//! prints the rounds when the last is over, a line of JSON each: `before`, `census` and `after`.
//!
//! # Invariants
//! Files, programs and memory are there before the first round, so that a round takes hardly an object itself.

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;

use slablab_census::{Census, Running};

const MODULE: &str = "/proc/slabcensus";
/// Room for the module's text; it has about 150 bytes for each cache.
const TEXT_BYTES: usize = 1 << 20;

/// Memory for one round.
struct Round {
    before: Vec<u8>,
    after: Vec<u8>,
    census: Option<Census>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args().nth(1).ok_or("write: census-beside ROUNDS")?.parse()?;
    let module = File::open(MODULE)?;
    let running = Running::open()?;
    // Memory that was written to is there.
    let text = || vec![b'\n'; TEXT_BYTES];
    let mut all = Vec::new();
    all.resize_with(rounds, || Round { before: text(), after: text(), census: None });
    for round in &mut all {
        read(&module, &mut round.before)?;
        round.census = Some(running.census()?);
        read(&module, &mut round.after)?;
    }
    for Round { before, after, census } in all {
        let [before, after] = [before, after].map(String::from_utf8);
        println!("{}", serde_json::json!({ "before": before?, "census": census, "after": after? }));
    }
    Ok(())
}

/// Reads a new count of the module.
fn read(module: &File, text: &mut Vec<u8>) -> Result<(), Box<dyn Error>> {
    let bytes = module.read_at(text, 0)?;
    text.truncate(bytes);
    Ok(())
}
