//! A log: refused, or read to a profile of which the log gives back every row.
#![no_main]

use gtrace_profile::hlog;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(profile) = hlog::read(data) else {
        return;
    };
    let mut out = Vec::new();
    hlog::write(&profile, &mut out).expect("memory takes everything");
    let timed = profile
        .rows
        .values()
        .filter(|counts| !counts.histogram.is_empty());
    let timed = timed.count();
    match hlog::read(out.as_slice()) {
        Ok(back) => assert_eq!(back.rows.len(), timed),
        Err(_) => assert_eq!(timed, 0),
    }
});
