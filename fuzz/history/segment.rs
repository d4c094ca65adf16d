//! A segment of the history of samples: refused, or read to points that are finite in number.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(contents) = gtrace_history::decode_segment(data) {
        assert!(contents.resolution_ms > 0);
        for (key, points) in contents.blocks.iter().flatten() {
            for point in points {
                assert_eq!(point.value.kind(), key.kind);
            }
        }
    }
});
