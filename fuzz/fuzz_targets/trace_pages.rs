//! Decodes any bytes as pages of the ring buffer: no panic, and every CPU's events in order.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| slablab_trace::fuzz_pages(data));
