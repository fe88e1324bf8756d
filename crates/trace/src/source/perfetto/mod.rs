//! Traces of Perfetto with kmem events (`ftrace_config { ftrace_events: "kmem/*" }`).
//!
//! # How it works
//! A trace is a list of packets, read one at a time; some of them hold other packets, compressed. The
//! events of a CPU come in bundles, in order; CPUs come one after the other, so all events are sorted.
//!
//! Perfetto drops the names of caches and, but for the `_node` events of old kernels, the nodes. Call sites are
//! addresses, or numbers of names that were sent before.
//!
//! Format: `protos/perfetto/trace/trace_packet.proto` and `ftrace/*.proto` of Perfetto 0.59, by field numbers.

mod wire;

use std::io::{BufReader, Read};
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use self::wire::{Damaged, Fields, Value, varint};
use super::recording::{Facts, Source};
use super::sorter::Sorter;
use crate::{Error, Input, Kind, RawEvent};
use slablab_linux::CPUS_MAX;

/// `Trace.packet`: what every file begins with.
const PACKET: u32 = 1;
const PACKET_KEY: u8 = 0x0a;

/// Fields of `TracePacket`.
mod packet {
    pub(super) const FTRACE_EVENTS: u32 = 1;
    pub(super) const PROCESS_TREE: u32 = 2;
    pub(super) const SEQUENCE_ID: u32 = 10;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const FTRACE_STATS: u32 = 34;
    pub(super) const SYSTEM_INFO: u32 = 45;
    pub(super) const COMPRESSED_PACKETS: u32 = 50;
}

/// `SEQ_INCREMENTAL_STATE_CLEARED`: the names sent before are void.
const SEQUENCE_CLEARED: u64 = 1;

/// The kmem events among the fields of `FtraceEvent`.
const EVENTS: [(u32, Kind); 6] = [
    (298, Kind::Kfree),
    (299, Kind::Kmalloc),
    (300, Kind::Kmalloc),
    (301, Kind::KmemCacheAlloc),
    (302, Kind::KmemCacheAlloc),
    (303, Kind::KmemCacheFree),
];

/// The `_node` events of kernels before 6.1, which have one field more.
const NODE_EVENTS: [u32; 2] = [300, 302];

/// No service writes longer packets; one is damaged.
const PACKET_BYTES_MAX: u64 = 256 << 20;

/// Packets read by one [`Source::read`].
const CHUNK_PACKETS: usize = 64;

/// An open trace of Perfetto.
pub(super) struct Perfetto {
    path: PathBuf,
    /// `None` when all packets were read.
    packets: Option<BufReader<Box<dyn Read + Send>>>,
    offset: u64,
    sorter: Sorter,
    /// Names of call sites by the sequence of packets that sent them, and their numbers.
    symbols: FxHashMap<(u64, u64), u32>,
    /// Losses by CPU: noted in bundles, and by the kernel's counts at the start and the end.
    gaps: Vec<u64>,
    counted: [Vec<u64>; 2],
    facts: Facts,
}

impl std::fmt::Debug for Perfetto {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Perfetto").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Returns whether a file begins as a trace of Perfetto does.
pub(super) fn is_perfetto(head: &[u8]) -> bool {
    let Some((&PACKET_KEY, mut rest)) = head.split_first() else { return false };
    let Some(bytes) = varint(&mut rest) else { return false };
    let packet = &rest[..rest.len().min(usize::try_from(bytes).unwrap_or(usize::MAX))];
    // Of a packet longer than the head, only the last field is cut.
    let is_whole = packet.len() as u64 == bytes;
    let mut fields = Fields(packet);
    fields.next().is_some_and(|field| field.is_ok())
        && (!is_whole || fields.all(|field| field.is_ok()))
}

impl Perfetto {
    pub(super) fn open(input: Input) -> Perfetto {
        let mut facts = Facts { bytes: input.bytes(), ..Facts::default() };
        facts.meta.source = "perfetto".into();
        facts.meta.recorder = "perfetto".into();
        let path = input.path().to_owned();
        Perfetto {
            sorter: Sorter::new(&path),
            path,
            packets: Some(BufReader::with_capacity(1 << 20, input.into_reader())),
            offset: 0,
            symbols: FxHashMap::default(),
            gaps: Vec::new(),
            counted: [Vec::new(), Vec::new()],
            facts,
        }
    }

    /// Reads the next packets; returns whether there may be more.
    fn read_packets(&mut self, packets: &mut impl Read) -> Result<bool, Error> {
        let mut packet = Vec::new();
        for _ in 0..CHUNK_PACKETS {
            let start = self.offset;
            let io = |error| Error::io(&self.path, "cannot read", error);
            let Some(key) = byte(packets).map_err(io)? else { return Ok(false) };
            let length = if key == PACKET_KEY { length(packets).map_err(io)? } else { None };
            let Some((bytes, head_bytes)) = length.filter(|(bytes, _)| *bytes <= PACKET_BYTES_MAX)
            else {
                self.skip("what is not a packet; nothing behind it was read", start);
                return Ok(false);
            };
            packet.clear();
            packets.take(bytes).read_to_end(&mut packet).map_err(io)?;
            self.offset += 1 + head_bytes + packet.len() as u64;
            self.facts.bytes_read = self.offset;
            if (packet.len() as u64) < bytes {
                self.skip("packet that is cut short", start);
                return Ok(false);
            }
            self.packet(&packet, start)?;
        }
        Ok(true)
    }

    fn skip(&mut self, reason: &str, offset: u64) {
        self.facts.meta.quality.skip(reason, || format!("byte {offset}"));
    }

    /// Takes a packet, or counts it as damaged.
    fn packet(&mut self, packet: &[u8], offset: u64) -> Result<(), Error> {
        let (mut sequence, mut flags) = (0, 0);
        for (number, value) in Fields(packet).flatten() {
            match number {
                packet::SEQUENCE_ID => sequence = value.number(),
                packet::SEQUENCE_FLAGS => flags = value.number(),
                _ => {}
            }
        }
        if flags & SEQUENCE_CLEARED != 0 {
            self.symbols.retain(|(of, _), _| *of != sequence);
        }
        // A packet's names may stand behind its events.
        let interned =
            Fields(packet).flatten().filter(|(number, _)| *number == packet::INTERNED_DATA);
        interned.for_each(|(_, value)| self.interned(value.bytes(), sequence));
        for field in Fields(packet) {
            let Ok((number, value)) = field else {
                self.skip("damaged packet", offset);
                return Ok(());
            };
            match number {
                packet::FTRACE_EVENTS => self.bundle(value.bytes(), sequence, offset)?,
                packet::PROCESS_TREE => self.process_tree(value.bytes()),
                packet::FTRACE_STATS => self.stats(value.bytes()),
                packet::SYSTEM_INFO => self.system(value.bytes()),
                packet::COMPRESSED_PACKETS => self.compressed(value.bytes(), offset)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes packets that were compressed together.
    fn compressed(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let mut packets = Vec::new();
        let unpacked = flate2::bufread::ZlibDecoder::new(bytes);
        if unpacked.take(PACKET_BYTES_MAX).read_to_end(&mut packets).is_err() {
            self.skip("compressed packets that cannot be unpacked", offset);
        }
        for field in Fields(&packets) {
            match field {
                Ok((PACKET, Value::Bytes(packet))) if !is_compressed(packet) => {
                    self.packet(packet, offset)?;
                }
                _ => self.skip("damaged packet", offset),
            }
        }
        Ok(())
    }

    fn interned(&mut self, data: &[u8], sequence: u64) {
        const KERNEL_SYMBOLS: u32 = 26;
        for (_, symbol) in Fields(data).flatten().filter(|(number, _)| *number == KERNEL_SYMBOLS) {
            let (mut iid, mut name) = (0, String::new());
            for (number, value) in Fields(symbol.bytes()).flatten() {
                match number {
                    1 => iid = value.number(),
                    2 => name = value.text(),
                    _ => {}
                }
            }
            let site = self.facts.names.symbol(&name);
            self.symbols.insert((sequence, iid), site);
        }
    }

    /// Takes the events of a CPU.
    fn bundle(&mut self, bundle: &[u8], sequence: u64, offset: u64) -> Result<(), Error> {
        let cpu = Fields(bundle).flatten().find(|(number, _)| *number == 1);
        let cpu = cpu.map_or(0, |(_, value)| value.number());
        if cpu >= u64::from(CPUS_MAX) {
            self.skip("CPU number beyond the machine", offset);
            return Ok(());
        }
        for field in Fields(bundle) {
            match field {
                Ok((2, Value::Bytes(event))) => match self.event(event, cpu as u32, sequence) {
                    Ok(Some(event)) => {
                        self.sorter.push(event)?;
                    }
                    Ok(None) => {}
                    Err(Damaged) => self.skip("damaged event", offset),
                },
                // "Some" were lost before this bundle.
                Ok((3, Value::Number(1..))) => {
                    *at(&mut self.gaps, cpu) += 1;
                }
                Ok(_) => {}
                Err(Damaged) => self.skip("damaged bundle of events", offset),
            }
        }
        Ok(())
    }

    /// Reads an event; `None` for one that is not kmem's.
    fn event(
        &mut self,
        event: &[u8],
        cpu: u32,
        sequence: u64,
    ) -> Result<Option<RawEvent>, Damaged> {
        let mut raw = RawEvent { cpu, ..RawEvent::EMPTY };
        let mut found = None;
        for field in Fields(event) {
            let (number, value) = field?;
            match number {
                1 => raw.time_ns = value.number(),
                2 => raw.pid = value.number() as u32,
                _ => {
                    let event = EVENTS.iter().find(|(of, _)| *of == number);
                    found = event.map(|event| (event, value)).or(found);
                }
            }
        }
        let Some((&(number, kind), Value::Bytes(fields))) = found else { return Ok(None) };
        raw.kind = kind;
        let mut call_site = 0;
        // A free has its call site and pointer; an allocation the sizes before them, and maybe a node between.
        for field in Fields(fields) {
            let (field, value) = field?;
            let value = value.number();
            match (kind.is_alloc(), field) {
                (true, 1) => raw.bytes_alloc = value,
                (true, 2) => raw.bytes_req = value,
                (true, 3) | (false, 1) => call_site = value,
                (true, 4) => raw.gfp = value as u32,
                (true, 5) if NODE_EVENTS.contains(&number) => raw.node = value as i32,
                (true, 5 | 6) | (false, 2) => raw.ptr = value,
                _ => {}
            }
        }
        raw.site = match self.symbols.get(&(sequence, call_site)) {
            Some(site) => *site,
            None => self.facts.names.address(call_site),
        };
        Ok(Some(raw))
    }

    /// Notes what threads are called.
    fn process_tree(&mut self, tree: &[u8]) {
        const PROCESS: u32 = 1;
        const THREAD: u32 = 2;
        for (number, value) in Fields(tree).flatten() {
            let (mut id, mut name) = (0, String::new());
            for (field, value) in Fields(value.bytes()).flatten() {
                match (number, field) {
                    (PROCESS | THREAD, 1) => id = value.number() as u32,
                    (THREAD, 2) => name = value.text(),
                    // The command line: its first word without the folders.
                    (PROCESS, 3) if name.is_empty() => {
                        let path = value.text();
                        path.rsplit('/').next().unwrap_or_default().clone_into(&mut name);
                    }
                    _ => {}
                }
            }
            if !name.is_empty() {
                self.facts.meta.comms.insert(id, name);
            }
        }
    }

    /// Takes the kernel's counts of losses.
    fn stats(&mut self, stats: &[u8]) {
        const END_OF_TRACE: u64 = 2;
        let phase = Fields(stats).flatten().find(|(number, _)| *number == 1);
        let is_end = phase.is_some_and(|(_, value)| value.number() == END_OF_TRACE);
        for (_, cpu_stats) in Fields(stats).flatten().filter(|(number, _)| *number == 2) {
            let (mut cpu, mut lost) = (0, 0u64);
            for (number, value) in Fields(cpu_stats.bytes()).flatten() {
                match number {
                    1 => cpu = value.number(),
                    // Overrun, overrun of a commit, dropped.
                    3 | 4 | 8 => lost = lost.saturating_add(value.number()),
                    _ => {}
                }
            }
            if cpu < u64::from(CPUS_MAX) {
                *at(&mut self.counted[usize::from(is_end)], cpu) = lost;
            }
        }
    }

    fn system(&mut self, system: &[u8]) {
        let meta = &mut self.facts.meta;
        for (number, value) in Fields(system).flatten() {
            match number {
                1 => {
                    for (number, value) in Fields(value.bytes()).flatten() {
                        match number {
                            3 => meta.kernel_release = value.text(),
                            4 => meta.arch = value.text(),
                            _ => {}
                        }
                    }
                }
                4 => meta.recorder_version = value.text(),
                6 => meta.page_bytes = value.number() as u32,
                8 => meta.cpus = value.number() as u32,
                17 => meta.hostname = value.text(),
                _ => {}
            }
        }
    }

    /// Returns what was lost by CPU: the kernel's counts, or the gaps where those are more.
    fn lost(&self) -> Vec<u64> {
        let [start, end] = &self.counted;
        let of = |list: &[u64], cpu: usize| list.get(cpu).copied().unwrap_or(0);
        let cpus = end.len().max(self.gaps.len());
        let lost = |cpu| of(end, cpu).saturating_sub(of(start, cpu)).max(of(&self.gaps, cpu));
        let lost: Vec<u64> = (0..cpus).map(lost).collect();
        if lost.iter().all(|lost| *lost == 0) { Vec::new() } else { lost }
    }
}

/// Returns the count of `cpu`, which is below [`CPUS_MAX`].
fn at(counts: &mut Vec<u64>, cpu: u64) -> &mut u64 {
    let cpu = cpu as usize;
    counts.resize(counts.len().max(cpu + 1), 0);
    &mut counts[cpu]
}

/// Returns whether a packet holds others. One in another is none of Perfetto's, and a ring without end.
fn is_compressed(packet: &[u8]) -> bool {
    Fields(packet).flatten().any(|(number, _)| number == packet::COMPRESSED_PACKETS)
}

fn byte(from: &mut impl Read) -> std::io::Result<Option<u8>> {
    let mut byte = Vec::new();
    from.take(1).read_to_end(&mut byte)?;
    Ok(byte.first().copied())
}

/// Reads the length of a packet; returns it and how many bytes it took, `None` where it is none.
fn length(from: &mut impl Read) -> std::io::Result<Option<(u64, u64)>> {
    let mut bytes = Vec::new();
    while let Some(next) = byte(from)? {
        bytes.push(next);
        if next & 0x80 == 0 {
            return Ok(varint(&mut bytes.as_slice()).map(|length| (length, bytes.len() as u64)));
        }
        if bytes.len() == 10 {
            break;
        }
    }
    Ok(None)
}

impl Source for Perfetto {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let Some(mut packets) = self.packets.take() else { return self.sorter.take(to) };
        if self.read_packets(&mut packets)? {
            self.packets = Some(packets);
        } else {
            self.sorter.finish();
            self.facts.meta.quality.disordered += self.sorter.disordered;
            self.facts.meta.quality.lost = self.lost();
        }
        Ok(true)
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }
}
