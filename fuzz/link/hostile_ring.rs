//! Shared memory whose other side writes any counters: nothing outside the ring is touched.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gtrace_link::fuzzing::hostile_ring(data));
