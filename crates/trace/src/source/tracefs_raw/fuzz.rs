//! What must hold of any bytes that are read as pages of the ring buffer.

use super::TracefsRaw;
use crate::source::format::{EventFormat, Place};
use crate::source::page_format::PageFormat;
use crate::source::{Facts, Source};

/// Decodes any bytes as the pages of two CPUs, half each.
pub fn fuzz_pages(data: &[u8]) {
    const PTR: &str = "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
    let format = EventFormat::parse(&format!("name: kmem_cache_free\nID: 7\n{PTR}"));
    let place = |offset, bytes| Place { offset, bytes };
    let page = PageFormat { timestamp: place(0, 8), commit: place(8, 8), data: place(16, 112) };
    let (low, high) = data.split_at(data.len() / 2);
    let stack = EventFormat::parse(
        "name: kernel_stack\nID: 8\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
         \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
         \tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\
         \tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
    );
    let page_alloc = EventFormat::parse(
        "name: mm_page_alloc\nID: 9\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
         \tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n\
         \tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n\
         \tfield:unsigned long gfp_flags;\toffset:20;\tsize:8;\tsigned:0;\n\
         \tfield:int migratetype;\toffset:28;\tsize:4;\tsigned:1;\n",
    );
    let formats = [format, stack, page_alloc].map(|format| format.expect("a good format"));
    let mut source = TracefsRaw::new(page, &formats, vec![(0, low), (1, high)], Facts::default())
        .expect("a good format");
    let mut events = Vec::new();
    while source.read(&mut events).expect("nothing to read from but memory") {
        for event in events.drain(..) {
            let sites = source.facts().names.sites.len();
            assert!(event.site == crate::NONE || (event.site as usize) < sites);
        }
    }
}
