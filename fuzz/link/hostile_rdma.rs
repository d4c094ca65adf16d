//! RDMA whose other side says anything by its queue pairs and on the connection: nothing outside the ring
//! is touched, and nothing is read that was not written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gtrace_link::fuzzing::hostile_peer(data));
