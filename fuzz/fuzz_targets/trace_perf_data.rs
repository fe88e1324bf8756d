//! Reads any bytes as a perf.data: an error or a trace that keeps its promises, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slablab_trace::{Format, NONE, load, open_raw};

fuzz_target!(|data: &[u8]| {
    let path = format!("/dev/shm/slablab-fuzz-perf_data-{}", std::process::id());
    std::fs::write(&path, data).unwrap();
    let Ok(source) = open_raw(&path, Some(Format::PerfData)) else { return };
    let Ok(reader) = load(source, path.as_ref(), &mut |_| {}) else { return };
    let meta = reader.meta();
    let (mut rows, mut time_ns) = (0, 0);
    for row in reader.batches().flat_map(|batch| batch.unwrap().events().collect::<Vec<_>>()) {
        assert!(row.object == NONE || row.object < meta.object_slots);
        assert!(row.site == NONE || (row.site as usize) < meta.sites.len());
        assert!(row.cache == NONE || (row.cache as usize) < meta.caches.len());
        assert!(u32::from(row.cpu) < meta.cpus && row.time_ns >= time_ns);
        (rows, time_ns) = (rows + 1, row.time_ns);
    }
    assert_eq!(rows, meta.events);
});
