//! Reads any bytes as a trace.dat: an error or a trace that keeps its promises, no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slablab_fuzz::check_import;
use slablab_trace::Format;

fuzz_target!(|data: &[u8]| check_import(data, "trace_dat", Format::TraceDat));
