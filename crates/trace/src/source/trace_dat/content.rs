//! What a `trace.dat` says before its pages, whichever version it has.

use super::part::Part;
use crate::Meta;
use crate::source::format::EventFormat;
use crate::source::tracing::Events;
use crate::source::tsc::Tsc;
use crate::symbols::Symbols;

/// Numbers of the options that are read, in both versions.
mod option {
    pub(super) const CPU_STAT: u16 = 2;
    pub(super) const TRACE_CLOCK: u16 = 4;
    pub(super) const UNAME: u16 = 5;
    pub(super) const CPU_COUNT: u16 = 8;
    pub(super) const VERSION: u16 = 9;
    pub(super) const TSC2NSEC: u16 = 14;
}

/// Instances' pages, in both versions an option.
pub(super) const OPTION_BUFFER: u16 = 3;

/// Everything but the pages.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) meta: Meta,
    /// The texts of `events/header_page` and `events/header_event`.
    pub(super) headers: [String; 2],
    /// The recorded events.
    pub(super) events: Events,
    /// The format of their stacks, where it is there
    pub(super) stacks: Vec<EventFormat>,
    pub(super) symbols: Symbols,
    pub(super) clock: String,
    /// How the processor's own counter becomes nanoseconds, where that is the clock.
    pub(super) tsc: Option<Tsc>,
    /// What was recorded in the top instance of tracefs, and in others.
    pub(super) buffers: Vec<Buffer>,
    /// The instances' losses by CPU, in the order that they are in.
    lost: Vec<(String, Vec<u64>)>,
}

/// What was recorded in one instance of tracefs.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    /// "" for the top one
    pub(super) name: String,
    /// Of its pages; 0 where that is as `header_page` says.
    pub(super) page_bytes: u32,
    /// Whether its pages are compressed, where others are.
    pub(super) is_packed: bool,
    /// The pages of each CPU
    pub(super) cpus: Vec<(u32, Part)>,
}

impl Buffer {
    /// Returns how many bytes its pages have in the file.
    pub(super) fn bytes(&self) -> u64 {
        self.cpus.iter().map(|(_, part)| part.left()).sum()
    }
}

impl Content {
    /// Takes an option; one that is damaged or unknown tells nothing.
    pub(super) fn option(&mut self, number: u16, data: &[u8]) {
        let word = |at: usize| {
            let bytes = data.get(at..)?.first_chunk()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let text = crate::source::bytes::text(data);
        match number {
            option::CPU_STAT => self.stat(&text),
            option::TRACE_CLOCK => self.clock = chosen(&text).to_owned(),
            option::UNAME => self.uname(&text),
            option::CPU_COUNT => self.meta.cpus = word(0).unwrap_or(0),
            option::VERSION => self.meta.recorder_version = text.trim().to_owned(),
            option::TSC2NSEC => {
                let offset = data.get(8..).and_then(|rest| rest.first_chunk());
                let parts = word(0).zip(word(4)).zip(offset);
                self.tsc = parts.map(|((mult, shift), offset)| Tsc {
                    mult,
                    shift: shift.min(63),
                    offset_ns: u64::from_le_bytes(*offset),
                });
            }
            _ => {}
        }
    }

    /// Takes the text of `saved_cmdlines`.
    pub(super) fn comms(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let comms = lines.filter_map(|(pid, comm)| Some((pid.parse().ok()?, comm.to_owned())));
        self.meta.comms.extend(comms);
    }

    /// Reads `Linux HOST RELEASE MACHINE`.
    fn uname(&mut self, text: &str) {
        let mut words = text.split_ascii_whitespace().skip(1).map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        (self.meta.hostname, self.meta.kernel_release, self.meta.arch) = (word(), word(), word());
    }

    /// Reads a CPU's `stats` file, or the heading `Buffer: NAME` of those of an instance.
    fn stat(&mut self, text: &str) {
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        if let Some(name) = value("Buffer: ") {
            self.lost.push((name.to_owned(), Vec::new()));
        }
        let cpu = value("CPU: ").and_then(|cpu| cpu.trim().parse::<usize>().ok());
        let Some(cpu) = cpu.filter(|cpu| *cpu < slablab_linux::CPUS_MAX as usize) else { return };
        if self.lost.is_empty() {
            self.lost.push((String::new(), Vec::new()));
        }
        let (_, lost) = self.lost.last_mut().expect("one is there");
        lost.resize(lost.len().max(cpu + 1), 0);
        lost[cpu] += crate::source::tracefs_raw::lost(text);
    }

    /// Returns what was recorded, instance by instance: the top one first, then those with more pages.
    pub(super) fn take_buffers(&mut self) -> Vec<Buffer> {
        let mut buffers = std::mem::take(&mut self.buffers);
        buffers.retain(|buffer| buffer.bytes() > 0);
        buffers.sort_by_key(|buffer| (!buffer.name.is_empty(), std::cmp::Reverse(buffer.bytes())));
        buffers
    }

    /// Returns what an instance lost, by CPU.
    pub(super) fn lost(&self, buffer: &Buffer) -> &[u64] {
        let lost = self.lost.iter().find(|(name, _)| *name == buffer.name);
        lost.map_or(&[], |(_, lost)| lost)
    }
}

/// Returns the word in brackets.
fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(word, _)| word)
}
