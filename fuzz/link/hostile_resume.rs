//! A client that sends any bytes on a lane, breaks its connection and comes back with any claims: what it sends is read
//! once and in order, and what cannot be ends the lane.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| gtrace_link::fuzzing::hostile_resume(data));
