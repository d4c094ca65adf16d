//! Live records, separated by zero bytes; the first byte of each chooses facility and clock: no
//! panic, numbers in range, nothing held after a flush or after enough silence.
#![no_main]

use gtrace_decoder::{Decoder, LogRecord, Options};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut decoder = Decoder::new(Options::default());
    let mut out = Vec::new();
    let mut number = 0;
    let mut clock = 0u64;
    for record in data.split(|b| *b == 0) {
        let Some((&choice, text)) = record.split_first() else {
            continue;
        };
        number += 1;
        clock = clock.wrapping_add(u64::from(choice >> 4) * 1_000);
        let text = String::from_utf8_lossy(text);
        let record = LogRecord {
            text: &text,
            facility: match choice & 3 {
                0 => None,
                n => Some(n - 1),
            },
            level: None,
            timestamp_us: (choice & 4 == 0).then_some(clock),
            time: None,
            number,
            device: (choice & 8 != 0).then_some("+pci:0000:3b:00.0"),
        };
        decoder.feed(&record, &mut out);
    }
    for occurrence in &out {
        let [first, last] = occurrence.lines.expect("numbered");
        assert!(1 <= first && first <= last && last <= number);
        assert!(!occurrence.message.is_empty());
    }
    let quiet = LogRecord {
        text: "usb 1-1: quiet",
        ..LogRecord::default()
    };
    for _ in 0..40 {
        decoder.feed(&quiet, &mut out);
    }
    assert!(!decoder.has_pending(), "groups close by themselves");
});
