//! A batch of records as an agent, or somebody with its credential, may send it: refused, or read to what is written the
//! same again.
#![no_main]

use gtrace_fleet::{RECORDS_MAX, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = decode(data);
    // What is behind the compression too, which a mutated frame rarely reaches.
    let Ok(packed) = zstd::bulk::compress(data, 1) else {
        return;
    };
    if let Ok(batch) = decode(&packed) {
        assert!(batch.records.len() <= RECORDS_MAX);
        assert!(batch.records.is_sorted_by(|a, b| a.seq < b.seq));
        if let Ok(again) = encode(&batch) {
            assert_eq!(decode(&again), Ok(batch));
        }
    }
});
