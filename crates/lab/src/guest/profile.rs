//! Where a guest's kernel spends its time: samples of `perf`, as folded stacks.
//!
//! The event is `cpu-clock`, a timer of the guest's own, since an emulated processor has no counters; the
//! stacks are the kernel's (`UNWINDER_ORC`), the symbols those of the guest that ran.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Samples in a second on each CPU; a prime, so that it does not beat with the kernel's 250 ticks.
const SAMPLES_PER_SECOND: u32 = 499;

/// The file in which a guest sends its samples.
pub const STACKS: &str = "stacks.txt";

/// Returns a guest's script that samples the kernel while `load`, a snippet for its shell, runs, and sends the stacks. The
/// guest needs the program `perf`.
#[must_use]
pub fn profiled_job(load: &str) -> String {
    // The shell does not touch text between the quotation marks of a here-document.
    format!(
        "cat > /tmp/load <<'END OF LOAD'\n\
         for lib in /lib/*.sh; do . \"$lib\"; done\n\
         {load}\nEND OF LOAD\n\
         perf record -q -F {SAMPLES_PER_SECOND} -e cpu-clock:k -a -g -o /tmp/perf.data -- sh -eu /tmp/load\n\
         perf script -i /tmp/perf.data -F comm,ip,sym > /tmp/stacks\n\
         send {STACKS} /tmp/stacks\n"
    )
}

/// Folds the output of `perf script -F comm,ip,sym`. A sample has a line with the task's name, an indented line for each
/// frame, innermost first, and an empty line. Returns a sorted line `comm;outermost;..;innermost count` for each stack,
/// and the number of samples.
#[must_use]
pub fn fold(text: &str) -> (String, u64) {
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
