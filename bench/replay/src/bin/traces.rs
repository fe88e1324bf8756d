//! Writes many synthetic traces, as a fleet of hosts has them: `traces FOLDER FILES EVENTS`.
//!
//! Each is of a host of its own: another seed, 1 to 8 CPUs, 6,000 to 48,000 live objects. The same words give the same files.

use std::path::Path;

use slablab_trace::synth::{SynthOptions, synth};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, files, events] = &words[..] else { return Err("traces FOLDER FILES EVENTS".into()) };
    let (files, events): (u64, u64) = (files.parse()?, events.parse()?);
    for seed in 0..files {
        let folder = Path::new(folder).join(format!("host=h{seed:03}"));
        std::fs::create_dir_all(&folder)?;
        let live = Some(6_000 * (1 + seed as u32 % 8));
        let options = SynthOptions { events, cpus: 1 + (seed % 8) as u16, seed, live };
        synth(folder.join("t.parquet"), &options, &mut |_| ())?;
    }
    Ok(())
}
