//! Imports any bytes as a perf.data: an error or a trace, no panic, and the trace reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slablab_trace::{Format, ImportOptions, TraceReader, import};

fuzz_target!(|data: &[u8]| {
    let directory = std::path::Path::new("/dev/shm");
    let input = directory.join(format!("slablab-fuzz-perf_data-{}", std::process::id()));
    let output = input.with_extension("parquet");
    std::fs::write(&input, data).unwrap();
    let options = ImportOptions {
        input,
        format: Some(Format::PerfData),
        output: output.clone(),
        slabinfo: None,
    };
    if let Ok(meta) = import(&options, &mut |_| {}) {
        let reader = TraceReader::open(&output).unwrap();
        assert_eq!(reader.meta(), &meta);
        let rows: usize = reader.batches().map(|batch| batch.unwrap().len()).sum();
        assert_eq!(rows as u64, meta.events);
    }
});
