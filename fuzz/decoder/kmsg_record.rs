//! One read of /dev/kmsg: no panic, and the text never grows by reading.
#![no_main]

use gtrace_decoder::{Decoder, Options, kmsg};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(record) = kmsg::parse(data) else {
        return;
    };
    assert!(record.level <= 7);
    // A byte that is no UTF-8 becomes three.
    assert!(record.text.len() <= data.len() * 3);
    let mut decoder = Decoder::new(Options::default());
    let mut out = Vec::new();
    decoder.feed(&record.log_record(), &mut out);
    decoder.flush(&mut out);
    assert!(!decoder.has_pending());
    for occurrence in &out {
        assert_eq!(occurrence.lines, Some([record.seq, record.seq]));
        assert!(!occurrence.message.is_empty());
    }
});
