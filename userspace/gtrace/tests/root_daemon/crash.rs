//! kill -9 at any moment, and SIGTERM at the first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::harness::*;

/// Rounds; a hundred with GTRACE_TEST_LONG set.
fn rounds() -> u32 {
    if std::env::var_os("GTRACE_TEST_LONG").is_some() {
        100
    } else {
        3
    }
}

#[test]
fn root_killed_under_load_nothing_is_missing_or_doubled_after_a_restart() {
    let Some(_turn) = Turn::take() else { return };
    let dir = tempfile::tempdir().unwrap();
    let gpu = fresh_gpu();
    let stop = AtomicBool::new(false);
    let written = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = KernelLog::open();
            while !stop.load(Ordering::Relaxed) {
                let n = written.load(Ordering::Relaxed);
                // Half of them say the same again and again.
                let text = if n.is_multiple_of(2) {
                    "same".to_owned()
                } else {
                    format!("number {n}")
                };
                log.write(&format!("NVRM: Xid (PCI:{gpu}): 31, {text}"));
                written.store(n + 1, Ordering::Relaxed);
                // What is logged while nobody watches must fit into the kernel's log.
                std::thread::sleep(Duration::from_millis(15));
            }
        });
        for round in 0..rounds() {
            let daemon = Daemon::start_in(dir.path(), &[]);
            // Some time into the load, never the same.
            std::thread::sleep(Duration::from_millis(700 + u64::from(round % 7) * 130));
            daemon.kill9();
            verify(dir.path());
        }
        stop.store(true, Ordering::Relaxed);
    });
    let written = written.load(Ordering::Relaxed);
    let daemon = Daemon::start_in(dir.path(), &[]);
    let events = daemon.wait_events(&["--gpu", &gpu], |events| occurrences(events) >= written);
    assert_eq!(occurrences(&events), written, "{} events", events.len());
    let mut by_text = BTreeMap::new();
    for event in &events {
        *by_text.entry(event.message.as_str()).or_insert(0) += event.repeats + 1;
    }
    for (text, count) in by_text {
        let want = if text.ends_with("same") {
            written.div_ceil(2)
        } else {
            1
        };
        assert_eq!(count, want, "{text}");
    }
    daemon.stop();
    verify(dir.path());
}

/// Each daemon answers for the first time, and is asked to end.
#[test]
fn root_sigterm_ends_a_daemon_in_order_from_its_first_answer_on() {
    let Some(_turn) = Turn::take() else { return };
    for _ in 0..6 {
        Daemon::start(&[]).stop();
    }
}
