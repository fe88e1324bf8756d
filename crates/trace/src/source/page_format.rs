//! The shape of a page of the ring buffer, as tracefs describes it.
//!
//! Linux counterpart: `ring_buffer_print_page_header()` in `kernel/trace/ring_buffer.c` @ 6.18.

use super::format::{EventFormat, Place};

/// The low bits of `commit` are the bytes committed.
pub(super) const COMMIT_MASK: u64 = (1 << 30) - 1;
/// Events were missed before this page when bit 31 of `commit` is set, and if bit 30 is too, their number stands behind
/// the data.
const MISSED_EVENTS: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;

/// The shape of a ring buffer page, from `events/header_page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageFormat {
    pub(crate) timestamp: Place,
    pub(crate) commit: Place,
    pub(crate) data: Place,
}

impl PageFormat {
    /// Reads the texts of `events/header_page` and `events/header_event`; says what is unexpected.
    pub(crate) fn parse(page: &str, event: &str) -> Result<PageFormat, String> {
        let fields = EventFormat::parse(&format!("name: header_page\nID: 0\n{page}"))?;
        let place = |name: &str| {
            let field = fields.field(name).map(|field| field.place);
            field.ok_or_else(|| format!("events/header_page has no field {name}"))
        };
        let words: Vec<&str> = event.split_ascii_whitespace().collect();
        let says = |what: &str| words.join(" ").contains(what);
        if !["type_len : 5 bits", "time_delta : 27 bits", "padding : type == 29"]
            .into_iter()
            .chain(["time_extend : type == 30", "data max type_len == 28"])
            .all(says)
        {
            return Err("events/header_event describes records of an unknown kind".into());
        }
        let format = PageFormat {
            timestamp: place("timestamp")?,
            commit: place("commit")?,
            data: place("data")?,
        };
        let header = [format.timestamp, format.commit];
        if header.iter().any(|p| p.offset + p.bytes > format.data.offset) || format.data.bytes < 8 {
            return Err("events/header_page has its fields in an unknown order".into());
        }
        Ok(format)
    }

    /// Returns the shape of pages of `bytes` bytes: an instance may have others than the top one.
    pub(crate) fn with_bytes(mut self, bytes: usize) -> PageFormat {
        self.data.bytes = bytes.saturating_sub(self.data.offset);
        self
    }

    /// Returns the bytes before the first record.
    pub(crate) fn head_bytes(&self) -> usize {
        self.data.offset
    }

    /// Returns the bytes of a page, header and data.
    pub(crate) fn bytes(&self) -> usize {
        self.data.offset + self.data.bytes
    }
}

/// Returns how many events were missed before a page: 1 when it says "some".
pub(super) fn missed(commit: u64, data: &[u8]) -> u64 {
    if commit & MISSED_EVENTS == 0 {
        return 0;
    }
    let stored = Place { offset: (commit & COMMIT_MASK) as usize, bytes: 8 };
    let stored = stored.unsigned(data).filter(|_| commit & MISSED_STORED != 0);
    stored.unwrap_or(1).max(1)
}
