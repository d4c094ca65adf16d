//! A report that somebody changed, or bytes that claim to be one: never taken for intact.
#![no_main]

use std::sync::LazyLock;

use gtrace_event::Timestamp;
use gtrace_report::{Material, Report, Window, verify};
use libfuzzer_sys::fuzz_target;

/// A page and a bundle, whole.
static WHOLE: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let time = |second| Timestamp::from_second(second).unwrap();
    let window = Window {
        from: time(0),
        to: time(600),
    };
    let report = Report::new(Material::new(time(700), "fuzz", window));
    [report.html().unwrap(), report.bundle().unwrap()]
});

fuzz_target!(|data: &[u8]| {
    let _ = verify(data);
    for whole in &*WHOLE {
        let mut changed = whole.clone();
        for edit in data.chunks_exact(5) {
            let [offset @ .., value] = edit else {
                continue;
            };
            let offset = offset.iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
            let length = changed.len();
            changed[offset % length] = *value;
        }
        assert_eq!(verify(&changed).is_intact(), changed == *whole);
        let cut = whole.len() * data.len().min(255) / 256;
        assert!(!verify(&whole[..cut]).is_intact());
    }
});
