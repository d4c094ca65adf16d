//! Frames of a profiling session as an agent, or somebody with its credential, may send them; and answers for the clock, as a hostile
//! head may give them: refused, or read to what is written the same again, with no time that overflows.
#![no_main]

use gtrace_fleet::{ClockFilter, Exchange, FRAMES_MAX, Frames, GapFinder, slots_within};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(frames) = Frames::parse(data) {
        assert!(frames.frames.len() <= FRAMES_MAX);
        let mut finder = GapFinder::new(slots_within(0, i64::MAX, 200));
        for frame in &frames.frames {
            let _ = finder.frame(frame.slot);
        }
        let again = serde_json::to_vec(&frames).expect("what was read is written");
        let read = Frames::parse(&again).expect("what was written is read");
        assert_eq!(read.frames.len(), frames.frames.len());
    }
    let mut filter = ClockFilter::default();
    let numbers: Vec<i64> = data
        .chunks_exact(8)
        .filter_map(|bytes| Some(i64::from_le_bytes(bytes.try_into().ok()?)))
        .collect();
    for four in numbers.chunks_exact(4) {
        filter.add(Exchange {
            asked: four[0],
            taken: four[1],
            answered: four[2],
            got: four[3],
        });
        let _ = filter.at(four[0]);
    }
});
