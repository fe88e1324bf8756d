//! What the targets of the readers share: the promises that a trace keeps, whatever it was read from.

use slablab_trace::{Event, Format, Meta, NONE, PageEvent, TraceReader, load, open_raw};

/// Asserts that a row names nothing that the metadata does not have.
pub fn check_row(row: &Event, meta: &Meta) {
    assert!(row.object == NONE || row.object < meta.object_slots);
    assert!(row.site == NONE || (row.site as usize) < meta.sites.len());
    assert!(row.cache == NONE || (row.cache as usize) < meta.caches.len());
    assert!(u32::from(row.cpu) < meta.cpus);
}

/// Asserts that a page row names nothing that the metadata does not have.
pub fn check_page_row(row: &PageEvent, meta: &Meta) {
    let pages = meta.pages.as_ref().expect("a trace with page rows counts them");
    assert!(row.object == NONE || row.object < pages.slots);
    assert!(row.stack == NONE || (row.stack as usize) < meta.stacks.len());
    assert!(u32::from(row.cpu) < meta.cpus);
}

/// Checks page rows up to the first error; returns how many there are.
pub fn check_page_rows(reader: &TraceReader) -> u64 {
    let (mut rows, mut time_ns) = (0, 0);
    for batch in reader.page_batches().map_while(Result::ok) {
        for row in batch.iter() {
            check_page_row(row, reader.meta());
            assert!(row.time_ns >= time_ns);
            (rows, time_ns) = (rows + 1, row.time_ns);
        }
    }
    rows
}

/// Puts `data` into a file of this process, and returns its path.
pub fn file_of(data: &[u8], name: &str) -> String {
    let path = format!("/dev/shm/slablab-fuzz-{name}-{}", std::process::id());
    std::fs::write(&path, data).unwrap();
    path
}

/// Reads `data` as a recording of `format`: an error, or a trace in order that keeps its promises.
pub fn check_import(data: &[u8], name: &str, format: Format) {
    let path = file_of(data, name);
    let Ok(source) = open_raw(&path, Some(format)) else { return };
    let Ok(reader) = load(source, path.as_ref(), &mut |_| {}) else { return };
    let meta = reader.meta();
    let (mut rows, mut time_ns) = (0, 0);
    for row in reader.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>()) {
        check_row(&row, meta);
        assert!(row.time_ns >= time_ns);
        (rows, time_ns) = (rows + 1, row.time_ns);
    }
    assert_eq!(rows, meta.events);
    assert_eq!(check_page_rows(&reader), meta.pages.as_ref().map_or(0, |pages| pages.events));
}
