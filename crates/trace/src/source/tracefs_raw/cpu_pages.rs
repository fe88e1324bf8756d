//! One CPU's pages, and the events of the last one that was read.

use crate::RawEvent;
use crate::source::kernel_stack::Waiting;
use crate::source::page_format::PageFormat;
use crate::source::repeats::{Damage, NextPage, PageSource, Repeats};

/// When an event is merged with those of other CPUs: its time and its CPU.
pub(super) type Key = (u64, u32);

/// What turns the pages of all CPUs into events.
pub(super) trait Decode {
    /// Decodes the page in `pages.buffer`.
    fn page<R>(&mut self, pages: &mut CpuPages<R>);

    /// Decodes the records of the page whose head is in `pages.buffer`.
    fn records<R: PageSource>(&mut self, pages: &mut CpuPages<R>);

    /// Counts what was lost with a part that is damaged.
    fn damage<R>(&mut self, pages: &mut CpuPages<R>, damage: Damage);

    /// Counts what cannot be decoded.
    fn skip(&mut self, reason: &str, place: impl FnOnce() -> String);
}

/// One CPU's pages.
#[derive(Debug)]
pub(super) struct CpuPages<R> {
    pub(super) cpu: u32,
    pub(super) page: PageFormat,
    pub(super) pages: R,
    /// Numbers of events that another buffer of the recording has, and that do not count here.
    pub(super) left_out: Vec<u16>,
    pub(super) buffer: Vec<u8>,
    pub(super) decoded: Decoded,
    /// The next of the decoded events.
    next: usize,
    /// How many of them can be given out: those behind may yet get a stack.
    settled: usize,
    pub(super) pages_read: u64,
    /// The time of the last record, whose top bits absolute time stamps need.
    pub(super) time_ns: u64,
    pub(super) missed: u64,
    /// Events in parts that are damaged
    pub(super) damaged: u64,
    /// Whether nothing more can be read.
    ended: bool,
    /// The time of the last event, as far as it was needed.
    last_ns: u64,
    /// Where more can only be read later: the time before which nothing comes.
    pub(super) waits_ns: Option<u64>,
}

/// What a CPU's pages became.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) cpu: u32,
    /// The events of the current page
    pub(super) events: Vec<RawEvent>,
    pub(super) waiting: Waiting,
    pub(super) repeats: Repeats,
}

impl<R: PageSource> CpuPages<R> {
    pub(super) fn new(cpu: u32, page: PageFormat, pages: R, left_out: Vec<u16>) -> CpuPages<R> {
        CpuPages {
            cpu,
            page,
            pages,
            left_out,
            buffer: vec![0; page.bytes()],
            decoded: Decoded { cpu, ..Decoded::default() },
            next: 0,
            settled: 0,
            pages_read: 0,
            time_ns: 0,
            missed: 0,
            damaged: 0,
            ended: false,
            last_ns: 0,
            waits_ns: None,
        }
    }

    /// Returns the key in merge order of the next event, `None` at the end, and where more can only be read later.
    pub(super) fn peek(&mut self, decoder: &mut impl Decode) -> Option<Key> {
        while self.next == self.settled {
            if self.ended {
                return None;
            }
            let last_ns = self.decoded.events.last().map_or(0, |event| event.time_ns);
            self.last_ns = self.last_ns.max(last_ns);
            self.decoded.events.drain(..self.next);
            self.decoded.waiting.gave(self.next);
            self.next = 0;
            match self.pages.next_page(&mut self.buffer) {
                Ok(NextPage::End) => self.ended = true,
                // The ring buffer gives the events of a CPU in their order.
                Ok(NextPage::Later(complete_ns)) => {
                    self.settled = 0;
                    self.waits_ns = Some(complete_ns.max(self.last_ns));
                    return None;
                }
                Ok(NextPage::Head) => {
                    self.pages_read += 1;
                    decoder.records(self);
                }
                Ok(NextPage::Damaged(damage)) => {
                    self.pages_read += 1;
                    decoder.damage(self, damage);
                }
                Ok(NextPage::Whole(bytes)) if bytes == self.buffer.len() => {
                    self.pages_read += 1;
                    decoder.page(self);
                }
                Ok(_) => self.end("page that is cut short", decoder),
                Err(error) => self.end(&format!("pages that cannot be read ({error})"), decoder),
            }
            self.settled = match self.ended {
                true => self.decoded.events.len(),
                false => self.decoded.waiting.settled(self.decoded.events.len()),
            };
        }
        Some((self.decoded.events[self.next].time_ns, self.cpu))
    }

    /// Counts what ends this CPU's pages too early.
    fn end(&mut self, reason: &str, decoder: &mut impl Decode) {
        let (page, cpu) = (self.pages_read + 1, self.cpu);
        decoder.skip(reason, || format!("page {page} of CPU {cpu}"));
        self.ended = true;
    }

    pub(super) fn take_until(&mut self, until: Key, to: &mut Vec<RawEvent>) {
        let rest = &self.decoded.events[self.next..self.settled];
        // Those whose keys are less are not behind this time.
        let last_ns = if self.cpu < until.1 { Some(until.0) } else { until.0.checked_sub(1) };
        let Some(last_ns) = last_ns else { return };
        let end = rest.iter().position(|event| event.time_ns > last_ns).unwrap_or(rest.len());
        to.extend_from_slice(&rest[..end]);
        self.next += end;
    }
}
