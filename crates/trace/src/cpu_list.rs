//! Lists of CPUs and nodes as Linux writes them: `0-3,8`.

use std::path::Path;

use slablab_linux::CPUS_MAX;

/// Reads a file with a list; empty when it cannot be read.
pub(crate) fn read(path: impl AsRef<Path>) -> Vec<u32> {
    parse(&std::fs::read_to_string(path).unwrap_or_default())
}

/// Returns the CPUs of this machine with the NUMA node of each, node by node.
pub fn cpu_nodes() -> impl Iterator<Item = (u32, u32)> {
    read("/sys/devices/system/node/online").into_iter().flat_map(|node| {
        let cpus = read(format!("/sys/devices/system/node/node{node}/cpulist"));
        cpus.into_iter().map(move |cpu| (cpu, node))
    })
}

/// Returns the numbers of a list; words that are not numbers are passed over.
pub(crate) fn parse(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            numbers.extend(first..=last.min(CPUS_MAX));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::CPUS_MAX;

    #[test]
    fn lists_of_ranges_are_spelled_out() {
        assert_eq!(super::parse("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(super::parse("\n"), [0u32; 0]);
        assert_eq!(super::parse("5-4294967295").len(), CPUS_MAX as usize - 4);
    }
}
