//! What must hold of any bytes that are read as packed pages, and of any pages that are packed.

use std::sync::Arc;

use super::{Reader, Writer};
use crate::meta::Quality;
use crate::source::format::{EventFormat, Place};
use crate::source::page_format::PageFormat;
use crate::source::repeats::{NextPage, PageSource};
use crate::source::tracefs_raw::TracefsRaw;
use crate::source::{Facts, Source};
use crate::{RawEvent, Site};

const PAGE_BYTES: usize = 128;
const HEAD_BYTES: usize = 16;

/// Reads any bytes as packed pages. Packs them as pages, and reads them back: they are the same, and so are the events, whose
/// records come one by one then.
pub fn fuzz_packed(data: &[u8]) {
    // A block whose sum is right is one that was packed; others may lie, and are read without a panic.
    pages_in(data);
    events_of(Reader::new(data, PAGE_BYTES, HEAD_BYTES));
    let mut whole = data.to_vec();
    whole.resize(data.len().next_multiple_of(PAGE_BYTES), 0);
    let file = tempfile::tempfile_in("/dev/shm").expect("room in memory");
    let again = file.try_clone().expect("a file");
    let writer = Writer::new(file, PAGE_BYTES, Arc::default());
    writer.and_then(|mut writer| writer.write(&whole)).expect("room in memory");
    let mut packed = vec![0; again.metadata().expect("a file").len() as usize];
    std::os::unix::fs::FileExt::read_exact_at(&again, &mut packed, 0).expect("a file");
    assert_eq!(pages_in(&packed), whole);
    assert_eq!(
        events_of(Reader::new(packed.as_slice(), PAGE_BYTES, HEAD_BYTES)),
        events_of(whole.as_slice())
    );
}

fn pages_in(packed: &[u8]) -> Vec<u8> {
    let (mut pages, mut page) = (Vec::new(), vec![0; PAGE_BYTES]);
    // With another head no records are given.
    let mut reader = Reader::new(packed, PAGE_BYTES, 12);
    while reader.next_page(&mut page).expect("memory can be read") != NextPage::End {
        pages.extend_from_slice(&page);
    }
    pages
}

/// Returns the events on pages, the names that they use, and what could not be read.
fn events_of(
    pages: impl PageSource + std::fmt::Debug,
) -> (Vec<RawEvent>, Vec<Site>, Vec<String>, Quality) {
    const FIELDS: &str = "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n";
    let format = |text: String| EventFormat::parse(&text).expect("a good format");
    let free = format(format!("name: kfree\nID: 7\n{FIELDS}"));
    let named = "\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n";
    let cache_free = format(format!("name: kmem_cache_free\nID: 8\n{FIELDS}{named}"));
    let sizes = "\tfield:unsigned int bytes_req;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned int bytes_alloc;\toffset:28;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned int gfp_flags;\toffset:32;\tsize:4;\tsigned:0;\n";
    let alloc = format(format!("name: kmalloc\nID: 9\n{FIELDS}{sizes}"));
    let place = |offset, bytes| Place { offset, bytes };
    let page = PageFormat { timestamp: place(0, 8), commit: place(8, 8), data: place(16, 112) };
    let streams = vec![(0, pages)];
    let source = TracefsRaw::new(page, &[free, cache_free, alloc], streams, Facts::default());
    let mut source = source.expect("good formats").mark(vec![3, 0x0300_0000]);
    let mut events = Vec::new();
    while source.read(&mut events).expect("memory can be read") {}
    let Facts { names, meta, .. } = source.facts().clone();
    (events, names.sites, names.caches, meta.quality)
}
