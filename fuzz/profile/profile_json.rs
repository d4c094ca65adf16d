//! A document: refused, or read to a profile that every form can be made of, and that JSON gives back.
#![no_main]

use gtrace_profile::diff::{Options, compare, text};
use gtrace_profile::table::{self, Order};
use gtrace_profile::{hlog, json, openmetrics, svg};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(profile) = json::read(data) else {
        return;
    };
    let mut out = Vec::new();
    json::write(&profile, &mut out).expect("memory takes everything");
    assert_eq!(json::read(out.as_slice()).expect("own form"), profile);
    openmetrics::write(&profile, &mut Vec::new()).expect("memory takes everything");
    hlog::write(&profile, &mut Vec::new()).expect("memory takes everything");
    table::text(&profile, Order::Time, 0);
    svg::percentiles(&profile);
    svg::heat_map(&profile);
    let mut twice = profile.clone();
    twice.merge(&profile);
    let report = compare(&profile, &twice, Options::default());
    text(&report, 0);
});
