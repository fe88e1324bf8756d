//! The records of a page of the ring buffer, whichever events they are of.
//!
//! How it works: a record is a 32-bit word of length and time step, then the event. Steps are added up from the page's start
//! time.
//!
//! Linux counterpart: `kernel/trace/ring_buffer.c`, `include/linux/ring_buffer.h` @ 6.18.

use std::io::Read;

use rustc_hash::FxHashSet;

use super::page_format::{COMMIT_MASK, PageFormat};
use super::repeats::fill;

/// The records of a page: time and bytes of each, or an error where the page makes no sense.
pub(super) struct Records<'a> {
    /// What is left
    pub(super) data: &'a [u8],
    pub(super) time_ns: u64,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, &'a [u8]), ()>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while let Some((head, rest)) = self.data.split_first_chunk::<4>() {
            let head = u32::from_le_bytes(*head);
            let (type_len, delta) = (head & 31, u64::from(head >> 5));
            let word = rest.first_chunk::<4>().map(|word| u32::from_le_bytes(*word));
            // Bytes behind the head, and where among them the event begins.
            let (bytes, start) = match (type_len, word) {
                (29, _) if delta == 0 => return None, // the rest of the page is unused
                (0 | 29, Some(bytes)) => (bytes as usize, 4),
                (30 | 31, Some(high)) => {
                    self.time_ns = extended(self.time_ns, head, high).wrapping_sub(delta);
                    (4, 4)
                }
                (1..=28, _) => (type_len as usize * 4, 0),
                _ => return self.damaged(),
            };
            self.time_ns = self.time_ns.wrapping_add(delta);
            let whole = bytes.next_multiple_of(4);
            let Some((record, rest)) = rest.split_at_checked(whole) else {
                return self.damaged();
            };
            self.data = rest;
            if type_len < 29 {
                return match record.get(start..bytes) {
                    Some(event) => Some(Ok((self.time_ns, event))),
                    None => self.damaged(),
                };
            }
        }
        None
    }
}

/// Returns the time behind a record of these two words, which only tells of time; `time_ns` is that before it.
#[inline]
pub(super) fn extended(time_ns: u64, head: u32, high: u32) -> u64 {
    const TIME_STAMP_BITS: u32 = 59;
    let step = (u64::from(high) << 27) + u64::from(head >> 5);
    match head & 31 {
        30 => time_ns.wrapping_add(step),
        _ => time_ns >> TIME_STAMP_BITS << TIME_STAMP_BITS | step,
    }
}

impl<'a> Records<'a> {
    /// Nothing behind a record of unknown length can be found.
    fn damaged(&mut self) -> Option<Result<(u64, &'a [u8]), ()>> {
        self.data = &[];
        Some(Err(()))
    }
}

/// Returns the numbers of the events on a CPU's pages.
pub(crate) fn events_on(page: PageFormat, mut pages: impl Read) -> FxHashSet<u16> {
    let mut numbers = FxHashSet::default();
    let mut buffer = vec![0; page.bytes()];
    while fill(&mut pages, &mut buffer).is_ok_and(|bytes| bytes == buffer.len()) {
        let committed = (page.commit.unsigned(&buffer).unwrap_or(0) & COMMIT_MASK) as usize;
        let data = buffer[page.data.offset..].get(..committed).unwrap_or_default();
        let records = Records { data, time_ns: 0 }.map_while(Result::ok);
        let number = |(_, record): (u64, &[u8])| Some(u16::from_le_bytes(*record.first_chunk()?));
        numbers.extend(records.filter_map(number));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(words: &[u32], time_ns: u64) -> Vec<Result<(u64, Vec<u8>), ()>> {
        let data: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let records = Records { data: &data, time_ns };
        records.map(|r| r.map(|(time, bytes)| (time, bytes.to_vec()))).collect()
    }

    #[test]
    fn time_steps_add_up_over_all_kinds_of_records() {
        let words = [
            1 | 5 << 5, // one word of data, 5 ns later
            0xaaaa,
            30 | 3 << 5, // 3 + (2 << 27) ns later
            2,
            29 | 7 << 5, // discarded, its 4 + 4 bytes passed over
            4,
            5 << 5, // long record: 4 + 4 bytes
            8,
            0xbbbb,
            31 | 9 << 5, // absolute: 9 + (1 << 27)
            1,
            1 | 1 << 5,
            0xcccc,
            29, // end
            77,
        ];
        let base = 1 << 60;
        let after = base + 5 + 3 + (2 << 27) + 7;
        let event = |time, word: u32| Ok((time, word.to_le_bytes().to_vec()));
        assert_eq!(
            records(&words, base),
            [
                event(base + 5, 0xaaaa),
                event(after + 5, 0xbbbb),
                event(base + 10 + (1 << 27), 0xcccc)
            ]
        );
    }

    #[test]
    fn a_record_beyond_the_page_is_an_error() {
        assert_eq!(records(&[28 | 1 << 5, 0], 0), [Err(())]);
        assert_eq!(records(&[1 << 5, u32::MAX - 3], 0), [Err(())]);
        assert_eq!(records(&[1 << 5, 2, 0], 0), [Err(())]);
        assert_eq!(records(&[30 | 1 << 5], 0), [Err(())]);
    }
}
