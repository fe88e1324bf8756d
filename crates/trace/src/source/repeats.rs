//! Records that are like one before them, but for time, thread and address.
//!
//! # How it works
//! Packed pages tell of each record in which words it differs from an earlier one ([`Told`]). Where these have only its time,
//! its thread and its object, its event is made of the earlier one, and no name is looked up. Where sizes and flags differ
//! beside, as in an interrupt, these are read again.
//!
//! Between fields, and behind the name of a cache, the kernel leaves in a record what stood in the ring buffer before. Words
//! that hold nothing else do not matter.
//!
//! # Invariants
//! What is known of a place is of the last record of that place, or nothing is.

use std::io::{ErrorKind, Read};
use std::ops::Range;

use super::kmem::{Layout, Level, words};
use crate::RawEvent;

/// How a record differs from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    /// The place that it shares with the records that it is compared with
    pub(crate) place: u8,
    /// The words in which it differs from the last record of that place: bits, the first word's lowest
    pub(crate) differs: u32,
}

impl Told {
    /// Everything differs.
    pub(crate) const ALL: u32 = u32::MAX;
}

/// What comes next of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextPage {
    /// Nothing
    End,
    /// Nothing yet, as the recorder has not written it: no event that comes is older than this time
    Later(u64),
    /// A page, of as many bytes
    Whole(usize),
    /// The head of a page, whose records are given one by one
    Head,
    /// A part that is damaged, with all that stood in it
    Damaged(Damage),
}

/// What is known of a part that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Events that were in it, at least
    pub(crate) events: u64,
    /// Whether these are all
    pub(crate) is_counted: bool,
}

/// What comes next of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextRecord<'a> {
    End,
    /// Nothing behind it can be known.
    Damaged,
    /// Two words that tell of time
    Time(u32, u32),
    /// A word of length and time, the record behind it, and what it is like
    Event(u32, &'a [u8], Told),
}

/// Pages of a CPU, one behind the other.
pub(crate) trait PageSource {
    /// Fills `page`, or its head.
    ///
    /// # Errors
    /// If they cannot be read.
    fn next_page(&mut self, page: &mut [u8]) -> std::io::Result<NextPage>;

    /// Returns the next record of a page whose head was given.
    fn next_record(&mut self) -> NextRecord<'_> {
        NextRecord::End
    }
}

impl<R: Read> PageSource for R {
    fn next_page(&mut self, page: &mut [u8]) -> std::io::Result<NextPage> {
        Ok(match fill(self, page)? {
            0 => NextPage::End,
            bytes => NextPage::Whole(bytes),
        })
    }
}

/// Reads until `buffer` is full or the end has come; returns how much was read.
pub(super) fn fill(from: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The last event of a place.
#[derive(Debug, Clone, Copy)]
struct Last {
    event: RawEvent,
    level: Level,
    /// Where the record has its thread and its object
    pid_at: usize,
    ptr_at: usize,
    /// The words in which another record may not differ
    fixed: u32,
    /// Those that are read again where it does; the first has the number of the event, too
    renewed: u32,
    number: [u8; 2],
    name_end: NameEnd,
    layout: Layout,
}

/// The word in which the name of a cache ends, where it has other bytes, too.
#[derive(Debug, Clone, Copy, Default)]
struct NameEnd {
    /// Its bit; 0 where the name ends with a word
    bit: u32,
    at: usize,
    /// Which of its bytes are the name's, and these
    mask: u32,
    bytes: u32,
}

impl NameEnd {
    /// That of a record whose name is at `name`; `None` when the record is too short.
    fn new(record: &[u8], name: &Range<usize>) -> Option<NameEnd> {
        let at = name.end / 4 * 4;
        if name.is_empty() || at == name.end {
            return Some(NameEnd::default());
        }
        let mask = (1 << (8 * (name.end - at))) - 1;
        let end = NameEnd { bit: words(at..name.end), at, mask, bytes: 0 };
        Some(NameEnd { bytes: end.bytes_of(record)?, ..end })
    }

    fn bytes_of(&self, record: &[u8]) -> Option<u32> {
        Some(u32::from_le_bytes(*record.get(self.at..)?.first_chunk()?) & self.mask)
    }
}

impl Last {
    /// Returns the words that matter beside time, thread and object.
    #[inline]
    fn matter(&self) -> u32 {
        self.fixed | self.renewed | self.name_end.bit
    }

    /// Makes it that of a record which differs in these words that matter; `None` where it is of another kind.
    fn renew(&mut self, differs: u32, record: &[u8]) -> Option<()> {
        if differs & self.fixed != 0 {
            return None;
        }
        let end = self.name_end;
        if differs & end.bit != 0 && end.bytes_of(record)? != end.bytes {
            return None;
        }
        if differs & self.renewed != 0 {
            if record.get(..2)? != self.number {
                return None;
            }
            self.level = self.layout.renew(record, &mut self.event)?;
        }
        Some(())
    }

    /// That of a record at which another is looked at; `None` where its fields are elsewhere than usual.
    fn new(layout: &Layout, record: &[u8], event: RawEvent) -> Option<Last> {
        let (pid_at, ptr_at) = layout.who_and_what()?;
        let name = layout.name_at(record)?;
        let read = 1 | words(pid_at..pid_at + 4) | words(ptr_at..ptr_at + 8);
        let renewed = layout.numbers() & !read;
        let whole_name = words(name.start..(name.end / 4 * 4).max(name.start));
        Some(Last {
            event,
            level: layout.maker.level(record),
            pid_at,
            ptr_at,
            fixed: layout.places() | whole_name | words(0..2) & !renewed,
            renewed,
            number: record.first_chunk().copied().unwrap_or_default(),
            name_end: NameEnd::new(record, &name)?,
            layout: *layout,
        })
    }
}

/// The last events of a CPU's places, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: Vec<Option<Last>>,
}

impl Repeats {
    /// Forgets all: a page was passed over.
    pub(super) fn clear(&mut self) {
        self.last.clear();
    }

    /// Forgets what is known of a place.
    #[inline]
    pub(super) fn forget(&mut self, told: Told) {
        if let Some(last) = self.last.get_mut(usize::from(told.place)) {
            *last = None;
        }
    }

    /// Returns the event of a record, and who made it, where it is like the last one of its place.
    #[inline]
    pub(super) fn event(
        &mut self,
        told: Told,
        record: &[u8],
        time_ns: u64,
    ) -> Option<(RawEvent, Level)> {
        let last = self.last.get_mut(usize::from(told.place))?.as_mut()?;
        let differs = told.differs & last.matter();
        if differs != 0 {
            last.renew(differs, record)?;
        }
        let pid = u32::from_le_bytes(*record.get(last.pid_at..)?.first_chunk()?);
        let ptr = u64::from_le_bytes(*record.get(last.ptr_at..)?.first_chunk()?);
        Some((RawEvent { time_ns, pid, ptr, ..last.event }, last.level))
    }

    /// Notes the event of a record.
    #[cold]
    pub(super) fn note(&mut self, told: Told, layout: &Layout, record: &[u8], event: RawEvent) {
        let place = usize::from(told.place);
        if place >= self.last.len() {
            self.last.resize(place + 1, None);
        }
        self.last[place] = Last::new(layout, record, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::format::{EventFormat, KFREE};
    use crate::source::kmem::kind_of;
    use crate::source::names::Names;

    #[test]
    fn only_time_thread_and_address_may_differ() {
        let layout = Layout::new(kind_of("kfree").unwrap(), &EventFormat::parse(KFREE).unwrap());
        let layout = layout.unwrap();
        let record = |pid: u32, ptr: u64| {
            let fields = [7u32.to_le_bytes(), pid.to_le_bytes()].concat();
            [fields, 0x1000u64.to_le_bytes().to_vec(), ptr.to_le_bytes().to_vec()].concat()
        };
        let told = |differs| Told { place: 3, differs };
        let (mut repeats, first) = (Repeats::default(), record(1, 0x8000));
        assert_eq!(repeats.event(told(0), &first, 5), None);
        let event = layout.decode(&first, 5, 2, &mut Names::default()).unwrap();
        repeats.note(told(Told::ALL), &layout, &first, event);
        // Words of the record: length and time, the event and its flags, thread, two of the call site, two of the object.
        for (differs, is_like) in [(1, true), (2, true), (4, true), (8, false), (16, false)]
            .into_iter()
            // Behind them is nothing that is read.
            .chain([(32, true), (64, true), (0x67, true), (0x80, true), (Told::ALL, false)])
        {
            let like = repeats.event(told(differs), &record(9, 0x9000), 6);
            let expected = RawEvent { time_ns: 6, pid: 9, ptr: 0x9000, ..event };
            assert_eq!(like, is_like.then_some((expected, Level::Thread)), "{differs:#x}");
        }
        repeats.forget(told(0));
        assert_eq!(repeats.event(told(0), &first, 5), None);
    }

    /// Half of the records of a load were decoded as if none were like them, as the kernel leaves old bytes between fields.
    #[test]
    fn what_stands_between_fields_and_behind_a_name_does_not_matter() {
        const FREE: &str = "name: kmem_cache_free\nID: 9\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
            \tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
            \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\
            \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n";
        let format = EventFormat::parse(FREE).unwrap();
        let layout = Layout::new(kind_of("kmem_cache_free").unwrap(), &format).unwrap();
        // The name begins behind a word that no field has, and ends in the middle of one.
        let record = |between: u32, name: &[u8; 12]| {
            let fields = [[9, 0, 0, 0], 7u32.to_le_bytes()].concat();
            let numbers = [0x1000u64, 0x8000].map(u64::to_le_bytes).concat();
            let location = (32u32 | 6 << 16).to_le_bytes();
            [&fields[..], &numbers, &location, &between.to_le_bytes(), name].concat()
        };
        let (mut repeats, mut names) = (Repeats::default(), Names::default());
        let first = record(0, b"names\0abcdef");
        let event = layout.decode(&first, 5, 2, &mut names).unwrap();
        repeats.note(Told { place: 3, differs: Told::ALL }, &layout, &first, event);
        let mut is_like =
            |differs, record: &[u8]| repeats.event(Told { place: 3, differs }, record, 5).is_some();
        let [location, between, name, end, behind] = [7, 8, 9, 10, 11].map(|word| 1u32 << word);
        assert!(is_like(between | end | behind, &record(5, b"names\0ghijkl")));
        assert!(is_like(1, &first));
        assert!(!is_like(end, &record(0, b"nameX\0abcdef")));
        assert!(!is_like(end, &record(0, b"namesXabcdef")));
        assert!(!is_like(name, &record(0, b"Xames\0abcdef")));
        assert!(!is_like(location, &first));
    }

    /// What an interrupt allocates has other flags; each such record used to be decoded as if none were like it.
    #[test]
    fn sizes_and_flags_that_differ_are_read_again_and_stay() {
        const KMALLOC: &str = "name: kmalloc\nID: 8\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
            \tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
            \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\
            \tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n\
            \tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;\n\
            \tfield:unsigned int gfp_flags;\toffset:40;\tsize:4;\tsigned:0;\n";
        let format = EventFormat::parse(KMALLOC).unwrap();
        let layout = Layout::new(kind_of("kmalloc").unwrap(), &format).unwrap();
        let record = |number: u8, flags: u8, bytes: u64, gfp: u32| {
            let fields = [[number, 0, flags, 0], 7u32.to_le_bytes()].concat();
            let numbers = [0x1000, 0x8000, bytes, 64].map(u64::to_le_bytes).concat();
            [fields, numbers, gfp.to_le_bytes().to_vec()].concat()
        };
        let (mut repeats, mut names) = (Repeats::default(), Names::default());
        let first = record(8, 0, 60, 0xcc0);
        let event = layout.decode(&first, 5, 2, &mut names).unwrap();
        repeats.note(Told { place: 3, differs: Told::ALL }, &layout, &first, event);
        let mut like =
            |differs, record: &[u8]| repeats.event(Told { place: 3, differs }, record, 5);
        let flags_and_sizes = 1 << 1 | 1 << 7 | 1 << 11;
        let other = record(8, 0x10, 50, 0x820);
        let expected = layout.decode(&other, 5, 2, &mut names).unwrap();
        assert_ne!(expected, event);
        assert_eq!(like(flags_and_sizes, &other), Some((expected, Level::SoftInterrupt)));
        assert_eq!(like(1, &other), Some((expected, Level::SoftInterrupt)), "it is the last one");
        assert_eq!(like(flags_and_sizes, &first), Some((event, Level::Thread)));
        assert_eq!(like(1 << 1, &record(9, 0, 60, 0xcc0)), None, "another event");
        assert_eq!(like(1 << 3, &first), None, "another call site");
    }
}
