//! The header of a `perf.data` and its feature sections: what the recording says of itself.
//!
//! Linux counterpart: `tools/perf/Documentation/perf.data-file-format.txt` @ 6.1.

use rustc_hash::FxHashMap;

use super::attr::Attr;
use super::tracing::Tracing;
use crate::Meta;
use crate::source::bytes::{Bytes, text};

/// Numbers of the features that are read.
pub(super) mod feature {
    pub(crate) const TRACING_DATA: u64 = 1;
    pub(crate) const BUILD_ID: u64 = 2;
    pub(crate) const HOSTNAME: u64 = 3;
    pub(crate) const OSRELEASE: u64 = 4;
    pub(crate) const VERSION: u64 = 5;
    pub(crate) const ARCH: u64 = 6;
    pub(crate) const NRCPUS: u64 = 7;
    pub(crate) const CMDLINE: u64 = 11;
    pub(crate) const NUMA_TOPOLOGY: u64 = 14;
}

/// What the header and the features say.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) attrs: Vec<Attr>,
    /// Index into `attrs` by the id that samples begin with.
    pub(super) attr_of: FxHashMap<u64, u32>,
    pub(super) tracing: Option<Tracing>,
    /// Numbers of kmem's tracepoints, once they are known.
    pub(super) kmem: Vec<u64>,
    /// The kernel's build id, in hexadecimal.
    pub(super) build_id: Option<String>,
    pub(super) meta: Meta,
    /// Whether the recorder ended before it wrote what stands behind the records: features, and where these end.
    pub(super) is_unclosed: bool,
}

impl Header {
    /// Adds an event's attributes and the ids of its samples.
    pub(super) fn attr(&mut self, attr: Attr, ids: &[u8]) {
        let index = self.attrs.len() as u32;
        self.attrs.push(attr);
        for id in ids.chunks_exact(8) {
            let id = u64::from_le_bytes(id.try_into().expect("chunks of 8"));
            self.attr_of.insert(id, index);
        }
    }

    /// Returns the attributes of the event that a record other than a sample is of: by the id at its end, or else the first.
    pub(super) fn attr_of_record(&self, body: &[u8]) -> Option<&Attr> {
        let index = trailer_id(body).and_then(|id| self.attr_of.get(&id)).copied().unwrap_or(0);
        self.attrs.get(index as usize)
    }

    /// Returns when a record other than a sample was made; 0 where it does not tell.
    pub(super) fn trailer_time_ns(&self, body: &[u8]) -> u64 {
        self.attr_of_record(body).and_then(|attr| attr.trailer_time_ns(body)).unwrap_or(0)
    }

    /// Returns whether the event of these attributes is none of kmem's, as far as that is known.
    pub(super) fn is_other(&self, index: u32) -> bool {
        let is_kmem = |attr: &Attr| attr.tracepoint && self.kmem.contains(&attr.config);
        !self.kmem.is_empty() && self.attrs.get(index as usize).is_some_and(|attr| !is_kmem(attr))
    }

    /// Returns whether events were recorded that are none of kmem's.
    pub(super) fn has_others(&self) -> bool {
        let mut indices = (0..self.attrs.len()).filter(|index| !self.attrs[*index].is_dummy);
        indices.any(|index| self.is_other(index as u32))
    }

    /// Reads a feature section. One that is damaged tells nothing, except for the tracing data,
    /// without which nothing can be read.
    pub(super) fn feature(&mut self, number: u64, data: &[u8]) -> Result<(), String> {
        let mut bytes = Bytes(data);
        let meta = &mut self.meta;
        match number {
            feature::TRACING_DATA => self.tracing = Some(Tracing::parse(data)?),
            feature::BUILD_ID => self.build_id = self.build_id.take().or(kernel_build_id(bytes)),
            feature::HOSTNAME => meta.hostname = bytes.string().unwrap_or_default(),
            feature::OSRELEASE => meta.kernel_release = bytes.string().unwrap_or_default(),
            feature::VERSION => meta.recorder_version = bytes.string().unwrap_or_default(),
            feature::ARCH => meta.arch = bytes.string().unwrap_or_default(),
            feature::NRCPUS => meta.cpus = bytes.u32().unwrap_or(0),
            feature::CMDLINE => {
                let words = bytes.u32().unwrap_or(0);
                meta.command = (0..words).map_while(|_| bytes.string()).collect();
            }
            feature::NUMA_TOPOLOGY => nodes(bytes, meta).unwrap_or(()),
            _ => {}
        }
        Ok(())
    }
}

/// Returns the kernel's build id from a list of `build_id_event`s.
fn kernel_build_id(mut bytes: Bytes<'_>) -> Option<String> {
    loop {
        let mut head = bytes;
        head.skip(4 + 2)?; // kind and bits of the record
        let mut event = Bytes(bytes.take(usize::from(head.u16()?))?);
        event.skip(8 + 4)?; // head, process
        let id = event.take(24)?;
        if text(event.0).starts_with("[kernel.kallsyms]") {
            // The length is in byte 20 since 5.12; before, ids were of 20 bytes.
            let length = if (1..=20).contains(&id[20]) { usize::from(id[20]) } else { 20 };
            return Some(id[..length].iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
}

fn nodes(mut bytes: Bytes<'_>, meta: &mut Meta) -> Option<()> {
    meta.nodes = bytes.u32()?.min(1 << 10);
    for _ in 0..meta.nodes {
        let node = bytes.u32()?;
        bytes.skip(8 + 8)?;
        for cpu in crate::cpu_list::parse(&bytes.string()?) {
            let len = meta.cpu_nodes.len().max(cpu as usize + 1);
            meta.cpu_nodes.resize(len, 0);
            meta.cpu_nodes[cpu as usize] = node as u16;
        }
    }
    Some(())
}

/// Returns the id at the end of a record.
pub(super) fn trailer_id(body: &[u8]) -> Option<u64> {
    Bytes(body.get(body.len().checked_sub(8)?..)?).u64()
}
