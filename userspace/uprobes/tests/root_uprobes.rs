//! The probes on the real kernel, against a program in C that calls the CPU emulator's libcuda and counts
//! by itself what it did. Every test here needs root; without it each is skipped, saying so.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::{Duration, Instant};

use gtrace_abi::ApiCounter;
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{Options, Tracer, Way};
use support::{Caller, Folder, attach_to, libraries, poll_until, watch_of, ways};

#[test]
fn root_counts_and_ledger_of_four_threads_are_exact_however_it_is_attached() {
    let Some(folder) = Folder::new() else { return };
    for way in ways() {
        // More than a million calls where that does not take minutes.
        let rounds = match way {
            Way::Single => "10000",
            _ => "62000",
        };
        let mut caller = Caller::start(&folder.library(), &["many", rounds]);
        caller.until("open");
        let mut options = Options::new(Some(caller.pid()), default_set());
        options.way = Some(way);
        let mut tracer = Tracer::load(options).unwrap();
        assert_eq!(attach_to(&mut tracer, caller.pid()), 1);
        caller.go_on();
        let deeds = caller.deeds();
        let counted = tracer.counted().unwrap();
        deeds.assert_seen(&tracer, &counted, caller.pid());
        for (counter, value) in &counted.counters {
            assert_eq!(*value, 0, "{}", counter.name());
        }
        let calls: u64 = deeds.functions.values().map(|[calls, ..]| calls).sum();
        println!("{}: {calls} calls, trap {:?}", way.name(), tracer.trap());
        assert!(way == Way::Single || calls > 1_000_000);
        let memory = tracer.map_bytes();
        assert!(memory > 1 << 20 && memory < 32 << 20, "{memory}");
        assert_eq!(counted.counter(ApiCounter::Sent), 0);
    }
}

#[test]
fn root_a_library_that_is_opened_late_is_found() {
    let Some(folder) = Folder::new() else { return };
    let mut caller = Caller::start(&folder.library(), &["late", "200"]);
    caller.until("ready");
    let mut watch = watch_of(Some(caller.pid()));
    assert_eq!(libraries(&watch), 0);
    caller.go_on();
    caller.until("open");
    poll_until(&mut watch, "not found", |watch| libraries(watch) == 1);
    caller.go_on();
    let deeds = caller.deeds();
    let counted = watch.tracer().counted().unwrap();
    deeds.assert_seen(watch.tracer(), &counted, caller.pid());
}

#[test]
fn root_a_library_that_was_replaced_on_disk_and_another_version_are_distinguished_and_both_seen() {
    let (Some(one), Some(two)) = (Folder::new(), Folder::new()) else {
        return;
    };
    let path = two.library();
    let mut caller = Caller::start(&one.library(), &["again", "200", path.to_str().unwrap()]);
    caller.until("ready");
    // An upgrade, while the program runs.
    std::fs::remove_file(one.library()).unwrap();
    let mut watch = watch_of(Some(caller.pid()));
    assert_eq!(libraries(&watch), 1);
    let words = watch.take_words().join("\n");
    assert!(words.contains("replaced or deleted"), "{words}");
    caller.go_on();
    caller.until("closed");
    caller.go_on();
    caller.until("open");
    poll_until(&mut watch, "not found", |watch| libraries(watch) == 2);
    caller.go_on();
    let deeds = caller.deeds();
    let counted = watch.tracer().counted().unwrap();
    deeds.assert_seen(watch.tracer(), &counted, caller.pid());
}

#[test]
fn root_a_stripped_library_is_traced_and_what_is_none_is_reported() {
    let Some(folder) = Folder::new() else { return };
    let stripped = std::process::Command::new("strip")
        .arg(folder.library())
        .status();
    if !stripped.is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs strip");
        return;
    }
    let mut caller = Caller::start(&folder.library(), &["many", "100", "1"]);
    caller.until("open");
    let watch = watch_of(Some(caller.pid()));
    caller.go_on();
    let deeds = caller.deeds();
    let counted = watch.tracer().counted().unwrap();
    deeds.assert_seen(watch.tracer(), &counted, caller.pid());

    // The C library under the driver's name has none of its functions.
    let other = Folder::new().unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libc = maps.lines().find(|line| line.contains("/libc.so")).unwrap();
    let libc = libc.split_whitespace().last().unwrap();
    std::fs::copy(libc, other.library()).unwrap();
    let mut caller = std::process::Command::new("sleep")
        .arg("60")
        .env("LD_PRELOAD", other.library())
        .spawn()
        .unwrap();
    let mut watch = watch_of(Some(caller.id()));
    let mut words = String::new();
    poll_until(&mut watch, "not reported", |_| true);
    let deadline = Instant::now() + Duration::from_secs(20);
    while words.is_empty() && Instant::now() < deadline {
        watch.poll().unwrap();
        words = watch.take_words().join("\n");
    }
    caller.kill().unwrap();
    caller.wait().unwrap();
    assert!(words.contains("exports none of the functions"), "{words}");
}

#[test]
fn root_what_a_full_ring_loses_is_counted_and_the_histograms_lose_nothing() {
    let Some(folder) = Folder::new() else { return };
    let mut caller = Caller::start(&folder.library(), &["spin", "100000", "2"]);
    caller.until("open");
    let mut options = Options::new(Some(caller.pid()), default_set());
    options.ring_bytes = 4096;
    options.error_events = true;
    let mut tracer = Tracer::load(options).unwrap();
    attach_to(&mut tracer, caller.pid());
    caller.go_on();
    let done = std::thread::spawn(move || (caller.deeds(), caller));
    let mut taken = 0_u64;
    let mut take = |tracer: &Tracer| {
        tracer
            .drain(|record| {
                assert_ne!(record.result, 0);
                assert_eq!(record.why, gtrace_abi::why::ERROR);
                taken += 1;
            })
            .unwrap();
    };
    while !done.is_finished() {
        take(&tracer);
        std::thread::sleep(Duration::from_millis(5));
    }
    let (deeds, caller) = done.join().unwrap();
    take(&tracer);
    let counted = tracer.counted().unwrap();
    deeds.assert_seen(&tracer, &counted, caller.pid());
    let lost = counted.counter(ApiCounter::RingFull);
    let sent = counted.counter(ApiCounter::Sent);
    assert_eq!(sent, taken);
    assert_eq!(sent + lost, 200_000);
    assert!(lost > 0, "the ring was never full");
}

#[test]
fn root_every_call_is_reported_with_its_arguments_however_it_is_attached() {
    let Some(folder) = Folder::new() else { return };
    for way in ways() {
        let mut caller = Caller::start(&folder.library(), &["many", "50"]);
        caller.until("open");
        let mut options = Options::new(Some(caller.pid()), default_set());
        options.way = Some(way);
        options.calls = true;
        options.ring_bytes = 1 << 20;
        for function in &mut options.functions {
            if function.name == "cuMemAlloc_v2" {
                (
                    function.description.given_arg,
                    function.description.given_bytes,
                ) = (1, 8);
            }
        }
        let mut tracer = Tracer::load(options).unwrap();
        assert_eq!(attach_to(&mut tracer, caller.pid()), 1);
        let mut ring = tracer.calls().unwrap();
        caller.go_on();
        let deeds = caller.deeds();
        let mut calls = Vec::new();
        while ring.drain(|call| calls.push(*call)).unwrap() {}
        let counted = tracer.counted().unwrap();
        deeds.assert_seen(&tracer, &counted, caller.pid());
        let counted_calls: u64 = counted.rows.iter().map(|row| row.calls).sum();
        assert_eq!(
            (calls.len() as u64, counted.counter(ApiCounter::RingFull)),
            (counted_calls, 0)
        );
        assert!(tracer.under_way().unwrap().is_empty());
        let of = |name: &str| {
            let functions = tracer.functions();
            let number = functions.iter().position(|function| function.name == name);
            let number = number.unwrap() as u32;
            calls.iter().filter(move |call| call.function == number)
        };
        // (address, words, their bytes)
        assert_eq!(of("cuMemcpyHtoD_v2").count(), 200);
        assert!(
            of("cuMemcpyHtoD_v2").all(|call| call.words[2] == 16 && call.start_ns < call.end_ns)
        );
        let threads: std::collections::BTreeSet<u32> =
            of("cuMemcpyHtoD_v2").map(|call| call.header.tid).collect();
        assert_eq!(threads.len(), 4);
        // What an allocation gave is what copies go to.
        let given: std::collections::BTreeSet<u64> = of("cuMemAlloc_v2")
            .filter(|call| call.result == 0)
            .map(|call| call.given[0])
            .collect();
        assert!(of("cuMemcpyHtoD_v2").all(|call| given.contains(&call.words[0])));
    }
}
