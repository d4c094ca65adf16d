//! A client that has the keys of its TLS connection and sends any records: the server reads what is data, and ends.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gtrace_link::fuzzing::hostile_records(data));
