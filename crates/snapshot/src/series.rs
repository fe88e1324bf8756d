//! A file of moments that grows for days: each moment whole or not there, and fewer of them the older they are.
//!
//! # How it works
//! A moment is a text that [`Paste::read`](crate::Paste::read) reads, behind a line with its length and its CRC-32. What a
//! power cut left of the last one, or zeros of blocks that were never written, is not whole. [`thinned`] leaves out
//! every second moment of the older half: after the k-th time the oldest are 2^k times as far apart as the newest.
//!
//! # Invariants
//! What [`whole_bytes`] counts is read in full by any later version that knows the head line. The oldest and the newest
//! moment stay.

use std::ops::Range;

/// How a moment's first line begins.
pub(crate) const HEAD: &str = "# slablab watch 1: ";
/// Bytes of a moment at most.
pub(crate) const MOMENT_BYTES_MAX: usize = 64 << 20;
/// With fewer moments than these there is nothing to leave out.
const MOMENTS_MIN: usize = 4;

/// Returns a moment with its first line.
#[must_use]
pub fn framed(text: &str) -> String {
    let sum = crc32fast::hash(text.as_bytes());
    format!("{HEAD}{} bytes, crc32 {sum:08x}\n{text}", text.len())
}

/// Returns how many bytes of a file have whole moments, from its begin on; `None` if it begins with none.
#[must_use]
pub fn whole_bytes(bytes: &[u8]) -> Option<usize> {
    moments(bytes).last().map(|moment| moment.end)
}

/// Returns a file without every second moment of its older half.
#[must_use]
pub fn thinned(bytes: &[u8]) -> Vec<u8> {
    let moments = moments(bytes);
    let old = if moments.len() < MOMENTS_MIN { 0 } else { moments.len() / 2 };
    let kept = moments.into_iter().enumerate().filter(|(at, _)| *at >= old || at % 2 == 0);
    kept.flat_map(|(_, moment)| &bytes[moment]).copied().collect()
}

/// Returns where the whole moments lie, from the begin on.
fn moments(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some((length, sum, head)) = head(&bytes[start..]) {
        let body = start + head..start + head + length;
        match bytes.get(body.clone()) {
            Some(text) if crc32fast::hash(text) == sum => found.push(start..body.end),
            _ => break,
        }
        start = body.end;
    }
    found
}

/// Reads a moment's first line: its length, its sum, and the bytes of the line.
pub(crate) fn head(bytes: &[u8]) -> Option<(usize, u32, usize)> {
    /// Bytes of such a line at most.
    const LINE_BYTES_MAX: usize = 80;
    let start = &bytes[..bytes.len().min(LINE_BYTES_MAX)];
    let end = start.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&start[..end]).ok()?.strip_prefix(HEAD)?;
    let (length, sum) = line.split_once(" bytes, crc32 ")?;
    let length: usize = length.parse().ok().filter(|length| *length <= MOMENT_BYTES_MAX)?;
    Some((length, u32::from_str_radix(sum, 16).ok()?, end + 1))
}

/// Returns whether a last line is the begin of a moment's first line, or a damaged one.
pub(crate) fn is_cut_head(line: &[u8]) -> bool {
    const BEGIN: usize = "# slablab".len();
    let head = HEAD.as_bytes();
    line.starts_with(head) || line.len() >= BEGIN && head.starts_with(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paste;

    fn row(objects: u64) -> String {
        format!("bio-2 {objects} {objects} 128 32 1 : tunables 0 0 0 : slabdata 40 40 0\n")
    }

    fn series(moments: u64) -> Vec<u8> {
        let moment = |at: u64| {
            let time = crate::stamp::iso_time(at * 60);
            framed(&format!("{time}\nslabinfo - version: 2.1\n{}", row(at)))
        };
        (0..moments).map(moment).collect::<String>().into_bytes()
    }

    #[test]
    fn a_moment_that_was_cut_anywhere_is_not_there_and_the_others_are() {
        let two = series(2);
        let one = series(1).len();
        for end in one..two.len() {
            assert_eq!(whole_bytes(&two[..end]), Some(one), "{end}");
            let paste = Paste::read(&two[..end]).unwrap();
            assert_eq!(paste.tables[0].moments.len(), 1, "{end}");
            assert_eq!(paste.is_torn, end > one, "{end}");
        }
        let mut zeros = two.clone();
        let last = zeros.len() - 20;
        zeros[last..].fill(0);
        assert_eq!(whole_bytes(&zeros), Some(one));
        assert_eq!(whole_bytes(&two), Some(two.len()));
        assert_eq!(whole_bytes(b"slabinfo - version: 2.1\n"), None);
    }

    #[test]
    fn older_moments_become_rarer_and_the_first_and_the_newest_stay() {
        let mut file = series(64);
        for _ in 0..4 {
            file = thinned(&file);
        }
        let paste = Paste::read(&file[..]).unwrap();
        let times: Vec<f64> =
            paste.tables[0].moments.iter().map(|moment| moment.time_seconds.unwrap()).collect();
        assert_eq!((times[0], times[times.len() - 1]), (0.0, 63.0 * 60.0));
        let apart: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(apart[apart.len() - 1], 60.0);
        assert!(apart[0] >= 4.0 * 60.0, "{apart:?}");
        assert!(apart.windows(2).all(|pair| pair[0] >= pair[1]), "{apart:?}");
        assert_eq!(thinned(&series(3)), series(3));
    }
}
