//! A saved log, whatever it is: no panic; cut into pieces it says the same; line numbers lie in
//! the log and rise; no message is empty; what is held back stays small.
#![no_main]

use gtrace_decoder::Options;
use gtrace_decoder::saved::SavedLog;
use gtrace_event::Occurrence;
use libfuzzer_sys::fuzz_target;

fn read(pieces: impl Iterator<Item = impl AsRef<[u8]>>) -> (Vec<Occurrence>, u64) {
    let mut log = SavedLog::new(Options::default());
    let mut out = Vec::new();
    for piece in pieces {
        log.feed_bytes(piece.as_ref(), &mut out);
    }
    log.finish(&mut out);
    (out, log.lines())
}

fuzz_target!(|data: &[u8]| {
    let (whole, lines) = read(std::iter::once(data));
    let mut last = 0;
    for occurrence in &whole {
        let [first, end] = occurrence.lines.expect("a saved log has line numbers");
        assert!(1 <= first && first <= end && end <= lines);
        assert!(first >= last, "in the order of first lines");
        last = first;
        assert!(!occurrence.message.is_empty());
        assert!(occurrence.message.len() <= data.len() * 4 + 64);
    }
    assert!(whole.len() as u64 <= 4 * lines + data.len() as u64 / 16);

    let size = usize::from(*data.first().unwrap_or(&1)).max(1);
    assert_eq!(read(data.chunks(size)), (whole.clone(), lines));

    let mut log = SavedLog::new(Options::default());
    let mut out = Vec::new();
    for line in data.split_inclusive(|b| *b == b'\n') {
        log.feed_line(line, &mut out);
    }
    log.finish(&mut out);
    assert_eq!((out, log.lines()), (whole, lines));
});
