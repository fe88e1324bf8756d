//! Reads any bytes as a trace: an error, or rows that keep the promises of the metadata.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slablab_trace::{NONE, TraceReader};

fuzz_target!(|data: &[u8]| {
    let path = format!("/dev/shm/slablab-fuzz-parquet-{}", std::process::id());
    std::fs::write(&path, data).unwrap();
    let Ok(reader) = TraceReader::open(&path) else { return };
    let meta = reader.meta();
    for batch in reader.batches() {
        let Ok(batch) = batch else { return };
        for row in batch.events() {
            assert!(row.object == NONE || row.object < meta.object_slots);
            assert!(row.site == NONE || (row.site as usize) < meta.sites.len());
            assert!(row.cache == NONE || (row.cache as usize) < meta.caches.len());
            assert!(u32::from(row.cpu) < meta.cpus);
        }
    }
});
