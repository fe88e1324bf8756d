//! Reads any bytes as a trace: an error, or rows that keep the promises of the metadata.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slablab_fuzz::{check_page_rows, check_row, file_of};

fuzz_target!(|data: &[u8]| {
    let path = file_of(data, "parquet");
    // Also what is no trace as it is: its rows are imported.
    let Ok(reader) = slablab_trace::open(&path, &mut |_| {}) else { return };
    let meta = reader.meta();
    check_page_rows(&reader);
    for batch in reader.batches() {
        let Ok(batch) = batch else { return };
        batch.events().for_each(|row| check_row(&row, meta));
    }
});
