//! What a plugin prints.
#![no_main]

use gtrace_plugins::output::{CHECKS_MAX, METRICS_MAX};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let found = gtrace_plugins::parse(data);
    assert!(found.checks.len() <= CHECKS_MAX && found.faults.len() < 10);
    for check in found.checks {
        assert!(check.metrics.len() <= METRICS_MAX && check.reason.chars().count() < 400);
    }
});
