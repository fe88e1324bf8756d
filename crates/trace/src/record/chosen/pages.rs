//! Records as pages of the ring buffer: a trace is made of them as of those that tracefs writes.
//!
//! # How it works
//! A page is its time, the bytes in use, and records: a word of length and time step, and the event. The events have
//! formats of our own, which are written into the head of the recording beside those of tracefs. A stack follows the event
//! that it is of.
//!
//! # Invariants
//! Times of a CPU do not fall: a record that an interrupt made while another was on its way has the time of that one.
//!
//! Linux counterpart: `include/linux/ring_buffer.h`, `kernel/trace/trace_entries.h` @ 6.18.

use super::record::{Record, kind};

/// The formats of the events. Their numbers are beyond those that a kernel gives.
pub(crate) const FORMATS: [&str; 5] = [KMALLOC, CACHE_ALLOC, KFREE, CACHE_FREE, STACK];

macro_rules! format {
    ($name:literal, $id:literal, $fields:literal) => {
        concat!(
            "name: ",
            $name,
            "\nID: ",
            $id,
            "\nformat:\n",
            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n",
            "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n",
            "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n",
            $fields
        )
    };
}

macro_rules! sizes {
    ($name:literal, $id:literal) => {
        format!(
            $name,
            $id,
            "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
             \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\
             \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n\
             \tfield:unsigned long gfp_flags;\toffset:28;\tsize:4;\tsigned:0;\n\
             \tfield:size_t bytes_req;\toffset:32;\tsize:8;\tsigned:0;\n\
             \tfield:size_t bytes_alloc;\toffset:40;\tsize:8;\tsigned:0;\n\
             \tfield:int node;\toffset:48;\tsize:4;\tsigned:1;\n\
             \tfield:bool accounted;\toffset:52;\tsize:1;\tsigned:0;\n"
        )
    };
}

macro_rules! free {
    ($name:literal, $id:literal) => {
        format!(
            $name,
            $id,
            "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
             \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\
             \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"
        )
    };
}

const KMALLOC: &str = sizes!("kmalloc", "65401");
const CACHE_ALLOC: &str = sizes!("kmem_cache_alloc", "65402");
const KFREE: &str = free!("kfree", "65403");
const CACHE_FREE: &str = free!("kmem_cache_free", "65404");
const STACK: &str = format!(
    "kernel_stack",
    "65405",
    "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\
     \tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"
);
const ID_BEFORE_KINDS: u32 = 65400;
const STACK_ID: u16 = 65405;

/// Bytes of a page's head, of an allocation's fixed fields, and of a free's.
const HEAD_BYTES: usize = 16;
const ALLOC_BYTES: usize = 53;
const FREE_BYTES: usize = 28;
const NAME_AT: usize = 24;
/// A time step has 27 bits.
const STEP_BITS: u32 = 27;
const TIME_EXTEND: u32 = 30;

/// The page of a CPU that is being filled.
#[derive(Debug)]
pub(super) struct Pages {
    page: Vec<u8>,
    page_bytes: usize,
    time_ns: u64,
}

impl Pages {
    pub(super) fn new(page_bytes: usize) -> Pages {
        Pages { page: Vec::with_capacity(page_bytes), page_bytes, time_ns: 0 }
    }

    /// Adds a record; gives pages that are full to `done`.
    pub(super) fn add(&mut self, record: &Record, cache: &[u8], done: &mut Vec<u8>) {
        self.put(record.time_ns, &event(record, cache), done);
        if !record.frames.is_empty() {
            self.put(record.time_ns, &stack(record), done);
        }
    }

    fn put(&mut self, time_ns: u64, event: &[u8], done: &mut Vec<u8>) {
        let time_ns = time_ns.max(self.time_ns);
        let step = time_ns - self.time_ns;
        let bytes = 8 + 8 + event.len().next_multiple_of(4);
        let begins = self.page.is_empty() || self.page.len() + bytes > self.page_bytes;
        if begins {
            self.flush(done);
            self.page.extend(time_ns.to_le_bytes());
            self.page.extend(0u64.to_le_bytes());
        }
        let step = if begins { 0 } else { step };
        self.time_ns = time_ns;
        let low = (step & ((1 << STEP_BITS) - 1)) as u32;
        let high = (step >> STEP_BITS) as u32;
        let mut step = low << 5;
        if high > 0 {
            self.page.extend((TIME_EXTEND | step).to_le_bytes());
            self.page.extend(high.to_le_bytes());
            step = 0;
        }
        self.page.extend(step.to_le_bytes());
        self.page.extend((event.len() as u32 + 4).to_le_bytes());
        self.page.extend(event);
        self.page.resize(self.page.len().next_multiple_of(4), 0);
    }

    /// Gives the page to `done`, however little it has.
    pub(super) fn flush(&mut self, done: &mut Vec<u8>) {
        if self.page.is_empty() {
            return;
        }
        let committed = (self.page.len() - HEAD_BYTES) as u64;
        self.page[8..16].copy_from_slice(&committed.to_le_bytes());
        self.page.resize(self.page_bytes, 0);
        done.append(&mut self.page);
    }
}

/// Returns the fields that each event begins with.
fn common(id: u16, thread: u32) -> Vec<u8> {
    let mut event = Vec::with_capacity(128);
    event.extend(id.to_le_bytes());
    event.extend([0, 0]);
    event.extend(thread.to_le_bytes());
    event
}

fn event(record: &Record, cache: &[u8]) -> Vec<u8> {
    let mut event = common((ID_BEFORE_KINDS + record.kind) as u16, record.thread);
    event.extend(record.site.to_le_bytes());
    event.extend(record.object.to_le_bytes());
    let is_alloc = matches!(record.kind, kind::KMALLOC | kind::CACHE_ALLOC);
    let fixed = if is_alloc { ALLOC_BYTES } else { FREE_BYTES };
    debug_assert_eq!(event.len(), NAME_AT);
    event.extend((fixed as u32 | (cache.len() as u32) << 16).to_le_bytes());
    if is_alloc {
        event.extend(record.gfp.to_le_bytes());
        event.extend(record.requested_bytes.to_le_bytes());
        event.extend(record.allocated_bytes.to_le_bytes());
        event.extend(record.node.to_le_bytes());
        event.push(u8::from(record.is_accounted));
    }
    event.extend(cache);
    event
}

fn stack(record: &Record) -> Vec<u8> {
    let mut event = common(STACK_ID, record.thread);
    event.extend((record.frames.len() as u32).to_le_bytes());
    event.extend([0; 4]);
    event.extend(record.frames.iter().flat_map(|frame| frame.to_le_bytes()));
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::format::EventFormat;
    use crate::source::page_format::PageFormat;
    use crate::source::tracefs_raw::TracefsRaw;
    use crate::source::{Facts, Source};
    use crate::{Kind, NONE};

    #[test]
    fn a_reader_of_the_ring_buffer_reads_what_was_put_together() {
        let alloc = Record {
            kind: kind::CACHE_ALLOC,
            time_ns: 1 << 50,
            thread: 7,
            site: 0x1010,
            object: 0x8000,
            requested_bytes: 184,
            allocated_bytes: 192,
            gfp: 0xcc0,
            node: -1,
            frames: vec![0x1010, 0x2020],
            ..Record::default()
        };
        let free = |time_ns, kind| Record { kind, time_ns, frames: Vec::new(), ..alloc.clone() };
        // An hour passes, and then an interrupt pushes its record before that of whom it interrupts.
        let hour = (1 << 50) + 3_600_000_000_000;
        let records = [
            (alloc.clone(), &b"filp"[..]),
            (free(hour, kind::CACHE_FREE), b"filp"),
            (Record { kind: kind::KMALLOC, time_ns: hour - 5, ..alloc.clone() }, b""),
            (free(hour + 9, kind::KFREE), b""),
        ];
        let (mut pages, mut done) = (Pages::new(256), Vec::new());
        for (record, cache) in &records {
            pages.add(record, cache, &mut done);
        }
        pages.flush(&mut done);
        assert_eq!(done.len(), 2 * 256);
        let shape = PageFormat::parse(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
             \tfield: char data;\toffset:16;\tsize:240;\tsigned:0;\n",
            "type_len : 5 bits\ntime_delta : 27 bits\npadding : type == 29\n\
             time_extend : type == 30\ndata max type_len == 28\n",
        )
        .unwrap();
        let formats = FORMATS.map(|text| EventFormat::parse(text).unwrap());
        let streams = vec![(1, done.as_slice())];
        let mut source = TracefsRaw::new(shape, &formats, streams, Facts::default()).unwrap();
        let mut events = Vec::new();
        while source.read(&mut events).unwrap() {}
        let told: Vec<_> = events.iter().map(|event| (event.kind, event.time_ns)).collect();
        let kinds = [Kind::KmemCacheAlloc, Kind::KmemCacheFree, Kind::Kmalloc, Kind::Kfree];
        let times = [1 << 50, hour, hour, hour + 9];
        assert_eq!(told, kinds.into_iter().zip(times).collect::<Vec<_>>());
        let first = &events[0];
        assert_eq!((first.pid, first.cpu, first.ptr, first.node), (7, 1, 0x8000, -1));
        assert_eq!((first.bytes_req, first.bytes_alloc, first.gfp), (184, 192, 0xcc0));
        let names = &source.facts().names;
        assert_eq!(names.caches[first.cache as usize], "filp");
        assert_eq!(names.stack_addresses(first.stack), [0x1010, 0x2020]);
        assert_eq!((events[1].stack, events[3].cache), (NONE, NONE));
        assert_eq!(names.stack_addresses(events[2].stack), [0x1010, 0x2020]);
    }
}
