//! Sizes on the command line: `512`, `64K`, `1.5G`.

/// Returns the bytes that `text` says: a number with K, M, G or T (powers of 1024) behind it, or none.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, String> {
    parse_with_unit(text, 1)
}

/// Returns the KiB that `text` says; a bare number is KiB, as for trace-cmd's and perf's buffers.
pub(crate) fn parse_kib(text: &str) -> Result<u32, String> {
    let bytes = parse_with_unit(text, 1024)?;
    u32::try_from(bytes / 1024).map_err(|_| format!("{text} is more than 4 TiB"))
}

fn parse_with_unit(text: &str, bare: u64) -> Result<u64, String> {
    let error = || format!("{text:?} is not a size; sizes look like 512K, 64M or 1.5G");
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.trim_end_matches("ib").trim_end_matches('b');
    let (digits, unit) = match number.chars().last() {
        Some('k') => (&number[..number.len() - 1], 1u64 << 10),
        Some('m') => (&number[..number.len() - 1], 1 << 20),
        Some('g') => (&number[..number.len() - 1], 1 << 30),
        Some('t') => (&number[..number.len() - 1], 1 << 40),
        _ => (number, bare),
    };
    let value: f64 = digits.trim().parse().map_err(|_| error())?;
    let bytes = value * unit as f64;
    // Beyond 2^53 an f64 no longer counts single bytes, and no machine has that much memory.
    if !(bytes.is_finite() && bytes >= 1.0 && bytes < (1u64 << 53) as f64) {
        return Err(error());
    }
    Ok(bytes as u64)
}

/// Returns what names the memory of a machine among the parameters of a question, whose results are kept.
pub(crate) fn asked_memory(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "usual".to_owned(), |bytes| bytes.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_usual_letters() {
        assert_eq!(parse_bytes("512"), Ok(512));
        assert_eq!(parse_bytes("64K"), Ok(64 << 10));
        assert_eq!(parse_bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse_kib("64M"), Ok(64 << 10));
        assert_eq!(parse_kib("1408"), Ok(1408));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "K", "0", "-1", "nan", "inf", "1X", "9999999T"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert!(parse_kib("5T").is_err());
    }
}
