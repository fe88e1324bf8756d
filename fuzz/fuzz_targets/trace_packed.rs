//! Reads any bytes as packed pages of the ring buffer, and packs any pages: no panic, nothing changed, no event another.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| slablab_trace::fuzz_packed(data));
