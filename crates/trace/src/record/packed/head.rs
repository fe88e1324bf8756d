//! The head of a block of packed pages: how much of each kind it has.
//!
//! # How it works
//! A head has two sums. One is of the whole block; the other is of the head's numbers alone, so that a block whose rest is
//! damaged still tells how many events it held.
//!
//! # Differences from Linux
//! The ring buffer's own pages have no sums, and no number of events.

use super::PAGES_MAX;

/// What a block begins with.
pub(super) const MAGIC: [u8; 8] = *b"\xfdslab\x02\r\n";
/// What a block of an older recorder begins with, which does not tell its events and has one sum.
pub(super) const MAGIC_UNCOUNTED: [u8; 8] = *b"\xfdslab\x01\r\n";

/// Bytes of a head: [`MAGIC`], the sum of the block, five numbers, and their sum.
pub(super) const HEAD_BYTES: usize = 36;

/// The head of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) pages: u32,
    pub(super) page_bytes: u32,
    pub(super) says_bytes: u32,
    pub(super) words_bytes: u32,
    /// `None` where an older recorder did not count them
    pub(super) events: Option<u32>,
}

impl Head {
    /// Reads the head that some bytes begin with, and the sum of its block; `None` where it is none of pages of `page_bytes`
    /// bytes.
    pub(super) fn parse(bytes: &[u8], page_bytes: usize) -> Option<(Head, u32)> {
        let is_counted = bytes.starts_with(&MAGIC);
        if !is_counted && !bytes.starts_with(&MAGIC_UNCOUNTED) {
            return None;
        }
        let (words, _) = bytes[MAGIC.len()..].as_chunks::<4>();
        let word = |at: usize| words.get(at).map(|word| u32::from_le_bytes(*word));
        let head = Head {
            pages: word(1)?,
            page_bytes: word(2)?,
            says_bytes: word(3)?,
            words_bytes: word(4)?,
            events: if is_counted { Some(word(5)?) } else { None },
        };
        if !cfg!(fuzzing) && is_counted && word(6)? != crc32fast::hash(&head.numbers()) {
            return None;
        }
        let bytes_max = head.pages.checked_mul(head.page_bytes)?;
        let is_right = head.page_bytes as usize == page_bytes
            && (1..=PAGES_MAX as u32).contains(&head.pages)
            && head.words_bytes <= bytes_max
            && head.says_bytes <= bytes_max.checked_add(4 * head.pages)?;
        is_right.then_some((head, word(0)?))
    }

    /// Writes the block of this head behind `to`: the head, and what is behind it.
    pub(super) fn write(self, says: &[u8], words: &[u8], to: &mut Vec<u8>) {
        let at = to.len() + MAGIC.len();
        let numbers = self.numbers();
        to.extend(MAGIC);
        to.extend([0; 4]);
        to.extend_from_slice(&numbers);
        to.extend(crc32fast::hash(&numbers).to_le_bytes());
        let behind = to.len();
        to.extend_from_slice(says);
        to.extend_from_slice(words);
        let sum = self.sum(&to[behind..]);
        to[at..][..4].copy_from_slice(&sum.to_le_bytes());
    }

    /// Returns how many bytes it has.
    pub(super) fn bytes(self) -> usize {
        if self.events.is_some() { HEAD_BYTES } else { HEAD_BYTES - 8 }
    }

    /// Returns how many bytes are behind it.
    pub(super) fn behind(self) -> usize {
        self.says_bytes as usize + self.words_bytes as usize
    }

    /// Returns the sum of its block, whose other bytes are these.
    pub(super) fn sum(self, behind: &[u8]) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        sum.update(&self.numbers());
        sum.update(behind);
        sum.finalize()
    }

    fn numbers(self) -> Vec<u8> {
        let numbers = [self.pages, self.page_bytes, self.says_bytes, self.words_bytes];
        numbers.into_iter().chain(self.events).flat_map(u32::to_le_bytes).collect()
    }
}
