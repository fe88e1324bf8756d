//! Stacks in a ring buffer of tracefs: a record `kernel_stack` behind that of the event whose stack it is.
//!
//! How it works: the kernel writes both in one context (a thread, a soft or hard interrupt, an NMI), and what interrupts it
//! in between writes its own records. So of each context the last event waits for a stack, until the next event of the same
//! context. Events behind the first that waits are given out when that has its stack, which may be on the next page.
//!
//! Linux counterpart: `struct stack_entry` in `kernel/trace/trace_entries.h`, `__ftrace_trace_stack` @ 6.18.

use super::format::{EventFormat, Place};
use super::kmem::{Level, Maker};

/// The name of the event.
pub(crate) const NAME: &str = "kernel_stack";

/// An event without a stack is given up when this number of events waits behind it.
const WAITING_MAX: usize = 4096;

/// Where a record of a stack keeps its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelStack {
    pub(crate) id: u16,
    maker: Maker,
    size: Place,
    callers: usize,
    word_bytes: usize,
}

impl KernelStack {
    /// Returns where the fields are; `None` where a format is another event's, or unusable.
    pub(crate) fn new(format: &EventFormat) -> Option<KernelStack> {
        if format.name != NAME {
            return None;
        }
        let [size, callers] = ["size", "caller"].map(|name| format.field(name));
        let (size, callers) = size.zip(callers)?;
        // It is declared with eight.
        let word_bytes = if callers.place.bytes == 8 * 4 { 4 } else { 8 };
        let (maker, callers) = (Maker::new(format).ok()?, callers.place.offset);
        let id = u16::try_from(format.id).ok()?;
        Some(KernelStack { id, maker, size: size.place, callers, word_bytes })
    }

    /// Returns the context that wrote a record.
    pub(crate) fn level(&self, record: &[u8]) -> Level {
        self.maker.level(record)
    }

    /// Returns the return addresses of a record, nearest first; `None` where it is too short.
    pub(crate) fn addresses<'a>(&self, record: &'a [u8]) -> Option<impl Iterator<Item = u64> + 'a> {
        let size = usize::try_from(self.size.unsigned(record)?).ok()?;
        let words = record.get(self.callers..)?.chunks_exact(self.word_bytes);
        let place = Place { offset: 0, bytes: self.word_bytes };
        // Kernels before 5.3 filled the rest with -1.
        let ends = |address: &u64| *address != 0 && (*address as u32) != u32::MAX;
        Some(words.take(size).map_while(move |word| place.unsigned(word)).take_while(ends))
    }
}

/// Which events of a CPU wait for a stack: of each context the last, by its place among those that are not given out.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    at: [Option<usize>; Level::COUNT],
}

impl Waiting {
    /// Notes that the event at `place` came, of those of a context.
    pub(crate) fn note(&mut self, level: Level, place: usize) {
        self.at[level as usize] = Some(place);
    }

    /// Notes that an event came which is none of ours.
    pub(crate) fn forget(&mut self, level: Level) {
        self.at[level as usize] = None;
    }

    /// Returns the event whose stack has come.
    pub(crate) fn take(&mut self, level: Level) -> Option<usize> {
        self.at[level as usize].take()
    }

    /// Returns how many of `events` can be given out.
    pub(crate) fn settled(&mut self, events: usize) -> usize {
        let first = self.at.iter().flatten().min().copied().unwrap_or(events);
        if events - first <= WAITING_MAX {
            return first;
        }
        *self = Waiting::default();
        events
    }

    /// Notes that the first events were given out.
    pub(crate) fn gave(&mut self, events: usize) {
        for place in &mut self.at {
            *place = place.and_then(|place| place.checked_sub(events));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: kernel_stack\nID: 4\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n";

    #[test]
    fn a_record_has_as_many_frames_as_it_says_and_holds() {
        let stack = KernelStack::new(&EventFormat::parse(FORMAT).unwrap()).unwrap();
        let mut record = vec![4, 0, 0x08, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        for address in [0xffff_ffff_8100_0010u64, 0xffff_ffff_8100_0020, u64::MAX, 7] {
            record.extend(address.to_le_bytes());
        }
        let of = |record: &[u8]| stack.addresses(record).map(Iterator::collect::<Vec<_>>);
        assert_eq!(of(&record), Some(vec![0xffff_ffff_8100_0010, 0xffff_ffff_8100_0020]));
        assert_eq!(of(&record[..30]), Some(vec![0xffff_ffff_8100_0010]));
        assert_eq!((of(&record[..12]), of(&[])), (None, None));
        assert_eq!(stack.level(&record), Level::HardInterrupt);
    }

    #[test]
    fn the_stack_of_an_interrupt_is_not_that_of_whom_it_interrupts() {
        let mut waiting = Waiting::default();
        waiting.note(Level::Thread, 5);
        waiting.note(Level::SoftInterrupt, 6);
        assert_eq!(waiting.settled(8), 5);
        waiting.gave(5);
        assert_eq!(
            (waiting.take(Level::SoftInterrupt), waiting.take(Level::SoftInterrupt)),
            (Some(1), None)
        );
        assert_eq!((waiting.take(Level::Thread), waiting.settled(3)), (Some(0), 3));
        waiting.note(Level::Thread, 0);
        assert_eq!(waiting.settled(WAITING_MAX + 1), WAITING_MAX + 1, "it is given up");
        assert_eq!(waiting.take(Level::Thread), None);
    }
}
