//! Pages of the ring buffer in a quarter of their bytes: a record is told by how it differs from another of its call site.
//!
//! # How it works
//! Records of one event, call site and length have the same sizes, flags and name of a cache. The last one of each is kept,
//! at one of two places by a hash of these. A record is the number of that place, one bit for each of its words, and the
//! words that differ: time and address, most often. The word that holds the thread is compared with that of the record
//! before. All else is kept as it is, so that any bytes come back as they were.
//!
//! Of most pages all records are packed so. The reader gives these one by one, and never makes the page: what a record is
//! like ([`Told`]) is worth more than its bytes.
//!
//! There are two streams, bytes that say what comes and words that are taken over, so that both are appended without shifts.
//! LZ4 makes pages of hackbench 0.19 of their size instead of 0.26, and takes three times the processor time.
//!
//! # Invariants
//! A block of pages is told without any other. The bytes behind the last word of a page that is not 0 are 0.
//!
//! Linux counterpart: `kernel/trace/ring_buffer.c`, for where records begin. Where a page is made otherwise, it is packed
//! badly and still right.

use crate::source::repeats::{NextRecord, Told};

/// Places of last records.
const PLACES: usize = 127;
/// The most words of a record that is told by another.
const WORDS_MAX: usize = 32;

/// Set in a byte beside the place: the record comes whole, and is kept there.
const WHOLE: u8 = 0x80;
/// Words follow as they are, outside of records; the byte behind says how many.
const LOOSE: u8 = 0xff;

/// Words of a page before the first record: time, and the bytes of all records.
const HEAD_WORDS: usize = 4;
/// Which of them has the bytes, whose high bits say that something was lost.
const COMMIT: usize = 2;
/// Set beside the words of a page: all of them are records, or tell of time.
const REGULAR: u32 = 1 << 31;
/// Where in a record the event, the thread and the call site are (its first word has length and time).
const EVENT: usize = 1;
const THREAD: usize = 2;
const SITE: usize = 3;
/// The number of the event that has the stack of one before it: `TRACE_STACK` in `kernel/trace/trace.h` @ 6.18.
const STACK: u32 = 4;

/// The last records, by place.
#[derive(Debug)]
struct Last {
    words: Vec<[[u8; 4]; WORDS_MAX]>,
    /// How many words each has, 0 for none
    lengths: [u8; PLACES],
    thread: [u8; 4],
}

/// Pages, packed.
#[derive(Debug)]
pub(super) struct Packed {
    last: Last,
    pub(super) says: Vec<u8>,
    pub(super) words: Vec<[u8; 4]>,
    /// Events of the block, without their stacks
    pub(super) events: u32,
}

impl Last {
    fn new() -> Last {
        Last { words: vec![[[0; 4]; WORDS_MAX]; PLACES], lengths: [0; PLACES], thread: [0; 4] }
    }

    #[inline]
    fn length(&self, place: usize) -> usize {
        usize::from(self.lengths[place])
    }

    /// Returns the place of a record: the first of two, unless another event, call site or length has it. (With one place,
    /// and one for all lengths, a record in ten came whole.)
    #[inline]
    fn place(&self, record: &[[u8; 4]]) -> usize {
        let number = |place: &[[u8; 4]]| u32::from_le_bytes(place[EVENT]) & 0xffff;
        let (event, site) = (number(record), u32::from_le_bytes(record[SITE]));
        let hash = ((event << 16) ^ site).wrapping_add((record.len() as u32) << 8);
        let place = |hash: u32| ((u64::from(hash) * PLACES as u64) >> 32) as usize;
        let first = place(hash.wrapping_mul(0x9e37_79b9));
        let known = &self.words[first];
        match self.length(first) {
            0 => first,
            length if length != record.len() => place(hash.wrapping_mul(0x85eb_ca6b)),
            _ if number(known) == event && known[SITE] == record[SITE] => first,
            _ => place(hash.wrapping_mul(0x85eb_ca6b)),
        }
    }

    fn clear(&mut self) {
        self.lengths = [0; PLACES];
        self.thread = [0; 4];
    }
}

/// Returns how many words the record has whose first two are these; 0 for what is none.
#[inline]
fn length(first: u32, second: u32) -> usize {
    match first & 31 {
        // A long record, and one that was discarded, say their bytes behind the first word.
        0 => 1 + (second as usize).div_ceil(4),
        29 if first >> 5 != 0 => 1 + (second as usize).div_ceil(4),
        29 => 0,
        30 | 31 => 2,
        words => 1 + words as usize,
    }
}

/// Returns whether the record that begins here, with this word, is an event, and no stack of one.
#[inline]
fn is_event(first: u32, record: &[[u8; 4]]) -> bool {
    let at = match first & 31 {
        0 => EVENT + 1,
        1..=28 => EVENT,
        _ => return false,
    };
    record.get(at).is_some_and(|word| u32::from_le_bytes(*word) & 0xffff != STACK)
}

impl Packed {
    pub(super) fn new() -> Packed {
        Packed { last: Last::new(), says: Vec::new(), words: Vec::new(), events: 0 }
    }

    /// Begins a block.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.says.clear();
        self.words.clear();
        self.events = 0;
    }

    /// Adds a page, whose bytes are whole words.
    pub(super) fn add(&mut self, page: &[u8]) {
        let (page, _) = page.as_chunks::<4>();
        let mut used = page.iter().rposition(|word| *word != [0; 4]).map_or(0, |last| last + 1);
        let committed =
            page.get(COMMIT..HEAD_WORDS).and_then(committed_words).map(|of| of + HEAD_WORDS);
        let mut is_regular = committed.is_some_and(|end| end >= used && end <= page.len());
        if is_regular {
            used = committed.unwrap_or(used);
        }
        let at = self.says.len();
        self.says.extend([0; 4]);
        let (head, mut rest) = page[..used].split_at(used.min(HEAD_WORDS));
        self.words.extend_from_slice(head);
        while let [first, ..] = rest {
            let second = rest.get(1).map_or(0, |word| u32::from_le_bytes(*word));
            let first = u32::from_le_bytes(*first);
            let words = length(first, second);
            self.events += u32::from(is_event(first, rest));
            if words > SITE
                && words <= WORDS_MAX
                && let Some((record, behind)) = rest.split_at_checked(words)
            {
                is_regular &= first & 31 != 0 || second as usize > SITE * 4;
                add_record(&mut self.last, record, &mut self.says, &mut self.words);
                rest = behind;
            } else {
                let words = if words == 0 { rest.len() } else { words };
                let (loose, behind) = rest.split_at(words.min(rest.len()).min(usize::from(LOOSE)));
                is_regular &= first & 31 >= 30 && loose.len() == 2;
                self.says.extend([LOOSE, loose.len() as u8]);
                self.words.extend_from_slice(loose);
                rest = behind;
            }
        }
        let used = used as u32 | if is_regular { REGULAR } else { 0 };
        self.says[at..][..4].copy_from_slice(&used.to_le_bytes());
    }
}

/// Returns how many words all records of a page have; `None` where something else is said, too.
fn committed_words(words: &[[u8; 4]]) -> Option<usize> {
    let [low, high] = words else { return None };
    let bytes = u32::from_le_bytes(*low) as usize;
    (*high == [0; 4] && bytes.is_multiple_of(4)).then_some(bytes / 4)
}

#[inline]
fn add_record(last: &mut Last, record: &[[u8; 4]], says: &mut Vec<u8>, words: &mut Vec<[u8; 4]>) {
    let place = last.place(record);
    let length = record.len();
    let known = &mut last.words[place][..length];
    let thread = std::mem::replace(&mut last.thread, record[THREAD]);
    if usize::from(last.lengths[place]) != length {
        last.lengths[place] = length as u8;
        known.copy_from_slice(record);
        says.extend([WHOLE | place as u8, length as u8]);
        words.extend_from_slice(record);
        return;
    }
    known[THREAD] = thread;
    let (mut changed, mut count, mut bits) = ([[0; 4]; WORDS_MAX], 0, 0u32);
    for (at, (word, known)) in record.iter().zip(known).enumerate() {
        changed[count % WORDS_MAX] = *word;
        let differs = *word != *known;
        count += usize::from(differs);
        bits |= u32::from(differs) << at;
        *known = *word;
    }
    words.extend_from_slice(&changed[..count]);
    let bits = bits.to_le_bytes();
    let mut told = [0; 5];
    told[0] = place as u8;
    told[1..].copy_from_slice(&bits);
    says.extend_from_slice(&told[..1 + length.div_ceil(8)]);
}

/// Gives packed pages back.
#[derive(Debug)]
pub(super) struct Unpacking {
    last: Last,
    /// Words of the page that were not given yet
    page_words: usize,
    /// Whether records begin where they are looked for
    has_usual_head: bool,
}

/// What is left of a block.
#[derive(Debug)]
pub(super) struct Left<'a> {
    pub(super) says: &'a [u8],
    pub(super) words: &'a [[u8; 4]],
}

/// What a byte tells of.
enum Next<'a> {
    /// Words outside of records
    Loose(&'a [[u8; 4]]),
    /// The record that is the last one of a place now, and how it differs from that before
    Record(usize, u32),
}

impl Unpacking {
    /// The first record of a page begins behind `head_bytes`.
    pub(super) fn new(head_bytes: usize) -> Unpacking {
        let has_usual_head = head_bytes == HEAD_WORDS * 4;
        Unpacking { last: Last::new(), page_words: 0, has_usual_head }
    }

    /// Begins a block.
    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.page_words = 0;
    }

    /// Begins the next page of a block: fills the page, or its head where [`Unpacking::record`] gives the rest, and returns
    /// whether it does. `None` where it makes no sense.
    pub(super) fn page(&mut self, left: &mut Left<'_>, page: &mut [u8]) -> Option<bool> {
        let (used, rest) = left.says.split_first_chunk::<4>()?;
        left.says = rest;
        let used = u32::from_le_bytes(*used);
        let is_regular = used & REGULAR != 0;
        let (page, _) = page.as_chunks_mut::<4>();
        let (used, unused) = page.split_at_mut_checked((used & !REGULAR) as usize)?;
        let (head, mut rest) = used.split_at_mut(used.len().min(HEAD_WORDS));
        take(&mut left.words, head)?;
        self.page_words = rest.len();
        if is_regular && self.has_usual_head {
            return Some(true);
        }
        unused.fill([0; 4]);
        while !rest.is_empty() {
            let words = match self.next(left)? {
                Next::Loose(words) => words,
                Next::Record(place, _) => &self.last.words[place][..self.last.length(place)],
            };
            let (to, behind) = rest.split_at_mut_checked(words.len())?;
            to.copy_from_slice(words);
            rest = behind;
        }
        Some(false)
    }

    /// Returns the next record of a page.
    #[inline]
    pub(super) fn record<'a>(&'a mut self, left: &mut Left<'_>) -> NextRecord<'a> {
        if self.page_words == 0 {
            return NextRecord::End;
        }
        self.known_record(left).unwrap_or(NextRecord::Damaged)
    }

    #[inline]
    fn known_record<'a>(&'a mut self, left: &mut Left<'_>) -> Option<NextRecord<'a>> {
        match self.next(left)? {
            Next::Loose([first, second]) => {
                self.page_words = self.page_words.checked_sub(2)?;
                let (first, second) = (u32::from_le_bytes(*first), u32::from_le_bytes(*second));
                (first & 31 >= 30).then_some(NextRecord::Time(first, second))
            }
            Next::Loose(_) => None,
            Next::Record(place, differs) => {
                let length = self.last.length(place);
                self.page_words = self.page_words.checked_sub(length)?;
                let words = self.last.words[place].get(..length)?;
                let first = u32::from_le_bytes(words[0]);
                let bytes = words[1..].as_flattened();
                let told = Told { place: place as u8, differs };
                Some(match first & 31 {
                    // A long record says its length itself, and has its fields behind.
                    0 => {
                        let length = u32::from_le_bytes(*words.get(1)?) as usize;
                        let told = Told { differs: Told::ALL, ..told };
                        NextRecord::Event(first, bytes.get(4..length)?, told)
                    }
                    1..=28 => NextRecord::Event(first, bytes, told),
                    // One that was discarded takes its time.
                    _ => NextRecord::Time(first & !31 | 30, 0),
                })
            }
        }
    }

    /// Takes what the next byte tells of.
    #[inline]
    fn next<'a>(&mut self, left: &mut Left<'a>) -> Option<Next<'a>> {
        let (&told, rest) = left.says.split_first()?;
        if told & WHOLE != 0 {
            let (&length, rest) = rest.split_first()?;
            left.says = rest;
            let (words, rest) = left.words.split_at_checked(usize::from(length))?;
            left.words = rest;
            if told == LOOSE {
                return (length > 0).then_some(Next::Loose(words));
            }
            let place = usize::from(told & !WHOLE);
            self.last.words[place].get_mut(..words.len())?.copy_from_slice(words);
            self.last.lengths[place] = length;
            self.last.thread = *words.get(THREAD)?;
            return Some(Next::Record(place, Told::ALL));
        }
        let place = usize::from(told);
        let length = usize::from(*self.last.lengths.get(place)?);
        let (bits, rest) = rest.split_at_checked(length.div_ceil(8))?;
        left.says = rest;
        let mut bits = bits.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        if length <= THREAD || bits.checked_shr(length as u32).unwrap_or(0) != 0 {
            return None;
        }
        let known = &mut self.last.words[place];
        // The thread is that of the record before, which may be of another place.
        let differs = bits | 1 << THREAD;
        known[THREAD] = self.last.thread;
        let (changed, rest) = left.words.split_at_checked(bits.count_ones() as usize)?;
        left.words = rest;
        let first = known[0][0];
        for word in changed {
            known[bits.trailing_zeros() as usize] = *word;
            bits &= bits - 1;
        }
        self.last.thread = known[THREAD];
        let is_as_long = (first ^ known[0][0]) & 31 == 0;
        Some(Next::Record(place, if is_as_long { differs } else { Told::ALL }))
    }
}

/// Takes words over.
#[inline]
fn take(words: &mut &[[u8; 4]], to: &mut [[u8; 4]]) -> Option<()> {
    let (taken, rest) = words.split_at_checked(to.len())?;
    to.copy_from_slice(taken);
    *words = rest;
    Some(())
}
