//! An encoded histogram: refused, or read to one whose counts add up.
#![no_main]

use base64::Engine as _;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = base64::engine::general_purpose::STANDARD.encode(data);
    if let Ok(histogram) = gtrace_profile::hlog::decode(&text) {
        assert!(histogram.quantile(1.0) <= histogram.max_ns());
        assert_eq!(histogram.is_empty(), histogram.count() == 0);
    }
});
