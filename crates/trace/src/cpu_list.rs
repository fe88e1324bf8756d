//! Lists of CPUs as Linux writes them: `0-3,8`.

/// No machine has more; a longer range is a damaged file.
const CPUS_MAX: u32 = 1 << 16;

/// Returns the numbers of a list; what is no number is passed over.
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
    #[test]
    fn lists_of_ranges_are_spelled_out() {
        assert_eq!(super::parse("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(super::parse("\n"), [0u32; 0]);
        assert_eq!(super::parse("5-4294967295").len(), 65_532);
    }
}
