//! Where a guest's kernel spends its time under hackbench: samples of `perf`, as folded stacks.
//!
//! The event is `cpu-clock`, a timer of the guest's own, since an emulated processor has no counters; the
//! stacks are the kernel's (`UNWINDER_ORC`), the symbols those of the guest that ran.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use slablab_vm::{Accel, Kernel, KernelBuilder, Machine};

use crate::error::{Error, Result};

/// Samples a second and CPU; a prime, so that it does not beat with the kernel's 250 ticks.
const SAMPLES_PER_SECOND: u32 = 499;

/// A load to take a profile of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileLoad {
    /// Groups of hackbench
    pub groups: u32,
    /// Messages of each sender to each receiver
    pub loops: u32,
}

/// What a profile found.
#[derive(Debug, Clone)]
pub struct Profile {
    /// `comm;outermost;..;innermost count`, a line each, sorted
    pub folded: String,
    /// Samples in all
    pub samples: u64,
    /// The console
    pub console: PathBuf,
}

/// Boots `kernel` with `cpus`, with its files in `folder`, and samples it while `load` runs.
///
/// # Errors
///
/// When perf is missing, the guest gets into trouble, or no sample came.
pub fn profile(
    builder: &KernelBuilder,
    kernel: &Kernel,
    cpus: u32,
    load: ProfileLoad,
    accel: Accel,
    folder: &Path,
) -> Result<Profile> {
    let ProfileLoad { groups, loops } = load;
    let job = format!(
        "hackbench -g 1 -l 10 > /tmp/warm-up\n\
         perf record -q -F {SAMPLES_PER_SECOND} -e cpu-clock:k -a -g -o /tmp/perf.data -- \
         hackbench -g {groups} -l {loops} -s 100\n\
         perf script -i /tmp/perf.data -F comm,ip,sym > /tmp/stacks\n\
         send stacks.txt /tmp/stacks\n"
    );
    let mut initramfs = builder.initramfs(kernel, &job, &mut |_| ())?;
    initramfs.tool("hackbench")?;
    initramfs.tool("perf")?;
    let machine = Machine::new(kernel.clone(), cpus, initramfs);
    let boot = machine.boot(accel, folder, &builder.interrupt)?;
    let stacks = boot.files.iter().find(|(name, _)| name == "stacks.txt");
    let empty = || Error::Request(format!("guest {}: perf took no sample", machine.name()));
    let (_, path) = stacks.ok_or_else(empty)?;
    let text = fs::read_to_string(path).map_err(Error::io(path, "read the stacks"))?;
    let (folded, samples) = fold(&text);
    if samples == 0 {
        return Err(empty());
    }
    Ok(Profile { folded, samples, console: boot.console })
}

/// Folds what `perf script -F comm,ip,sym` prints: a line with the task's name, a line for each frame,
/// innermost first, indented, and an empty line.
fn fold(text: &str) -> (String, u64) {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    let mut samples = 0;
    let (mut task, mut frames): (&str, Vec<&str>) = ("", Vec::new());
    // One more empty line ends the last sample.
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            if !frames.is_empty() {
                frames.push(task);
                frames.reverse();
                *stacks.entry(frames.join(";")).or_default() += 1;
                samples += 1;
                frames.clear();
            }
        } else if line.starts_with([' ', '\t']) {
            frames.push(line.trim().split_once(' ').map_or("?", |(_, symbol)| symbol.trim()));
        } else {
            task = line.trim();
        }
    }
    let folded = stacks.iter().fold(String::new(), |mut text, (stack, count)| {
        let _ = writeln!(text, "{stack} {count}");
        text
    });
    (folded, samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_folded_outermost_first() {
        let text = "hackbench \n\tffffffff81 kfree\n\tffffffff82 skb_free\n\n\
                    swapper \n\tffffffff83 do_idle\n\n\
                    hackbench \n\tffffffff81 kfree\n\tffffffff82 skb_free\n";
        let (folded, samples) = fold(text);
        assert_eq!(folded, "hackbench;skb_free;kfree 2\nswapper;do_idle 1\n");
        assert_eq!(samples, 3);
        assert_eq!(fold(""), (String::new(), 0));
    }
}
