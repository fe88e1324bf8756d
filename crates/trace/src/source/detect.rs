//! Which format an input is in, by its first bytes.

use super::recording::Format;
use super::{perf_data, perfetto, text, trace_dat};
use crate::error::At;
use crate::{Error, Input};

/// Formats that are known but not read: how they begin, what they are, and what to do.
const FOREIGN: [(&[u8], &str, &str); 8] = [
    (b"PERFFILE", "is a perf.data of before 2012", "record again with a newer perf"),
    (b"\xfd7zXZ", "is compressed by xz", "unxz it first"),
    (b"BZh", "is compressed by bzip2", "bunzip2 it first"),
    (b"PK\x03\x04", "is a zip archive", "unzip it first"),
    (b"%PDF", "is a PDF", "give its text"),
    (b"\x89PNG", "is a picture", "give the text that it shows"),
    (b"\xff\xfe", "is text in UTF-16", "convert it first with iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "is text in UTF-16", "convert it first with iconv -f UTF-16 -t UTF-8"),
];

/// Finds out the format of `input`.
pub(super) fn format(input: &Input) -> Result<Format, Error> {
    let bad = |what: &str, remedy: &str| Error::bad(input.path(), At::File, what, remedy);
    let head = input.head();
    if input.is_parquet() {
        return Ok(Format::Parquet);
    }
    if head.starts_with(perf_data::MAGIC) || head.starts_with(perf_data::MAGIC_SWAPPED) {
        return Ok(Format::PerfData);
    }
    if head.starts_with(trace_dat::MAGIC) {
        return Ok(Format::TraceDat);
    }
    if let Some((_, what, remedy)) = FOREIGN.iter().find(|(magic, _, _)| head.starts_with(magic)) {
        return Err(bad(what, remedy));
    }
    if head.get(257..262) == Some(b"ustar") {
        return Err(bad("is a tar archive", "unpack it first"));
    }
    if perfetto::is_perfetto(head) {
        return Ok(Format::Perfetto);
    }
    text(&String::from_utf8_lossy(head)).ok_or_else(|| {
        bad(
            "is in no format that can be read",
            "what can: a trace of slablab, perf.data, trace.dat, a trace of Perfetto, and the text \
             of perf script, trace-cmd report and tracefs trace; `slablab info` also reads text with \
             tables such as /proc/slabinfo",
        )
    })
}

/// Returns whether an input is a text, and in no format of recordings that is known by its begin.
pub fn is_text_of_no_recording(input: &Input) -> bool {
    input.head_text().is_some() && format(input).is_err()
}

/// Finds out the dialect of a text: by its heading, else by how it writes the events' names.
fn text(head: &str) -> Option<Format> {
    if head.starts_with(text::machine::MARK)
        || head.starts_with("# tracer:")
        || head.contains("\n# tracer:")
    {
        return Some(Format::Trace);
    }
    if head.starts_with("cpus=") {
        return Some(Format::TraceCmdReport);
    }
    // perf script may print what else is in a perf.data, hundreds of lines of it before the first event.
    if head.contains(": PERF_RECORD_") {
        return Some(Format::PerfScript);
    }
    let of_pages = text::PAGE_NAMES;
    let is_event =
        |line: &&str| ["call_site=", ": k"].iter().chain(&of_pages).any(|part| line.contains(part));
    let event = head.lines().find(is_event)?;
    let names = ["kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"];
    if ["kmem:", "vmscan:mm_", "compaction:mm_"].iter().any(|folder| event.contains(folder)) {
        Some(Format::PerfScript)
    } else {
        names.iter().chain(&of_pages).any(|name| event.contains(name)).then_some(Format::Trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_begins_with_events_of_pages_is_known_by_them() {
        let padded = "perf 16188 [001] 59953.511971:             kmem:mm_page_alloc: page=0x1 pfn=0x1 order=0";
        let waits = "tar 7 [000] 1.5: vmscan:mm_vmscan_direct_reclaim_end: nr_reclaimed=64";
        let of_tracefs = "tar-7 [000] ..... 1.5: mm_compaction_begin: zone_start=0x1";
        assert_eq!(text(padded), Some(Format::PerfScript));
        assert_eq!(text(waits), Some(Format::PerfScript));
        assert_eq!(text(of_tracefs), Some(Format::Trace));
        assert_eq!(text("a letter about mm_"), None);
    }
}
