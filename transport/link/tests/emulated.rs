//! The emulated network: delay, not serialisation; bandwidth; breaks. What it has in common with other
//! links is tested with them (`conformance`).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::link_of;
use gtrace_link::{Emulation, Link, LinkError, LinkKind, emulate};

fn slow(settings: &str) -> (Link, Link) {
    let (here, there) = link_of(LinkKind::Unix);
    let emulation: Emulation = settings.parse().unwrap();
    (emulate(here, emulation).unwrap(), there)
}

/// Answers `count` messages of 8 bytes.
fn echo(mut link: Link, count: usize) -> thread::JoinHandle<Link> {
    thread::spawn(move || {
        for _ in 0..count {
            let message = link.rx.peek(8, None).unwrap().to_vec();
            link.rx.consume(8);
            link.tx.bulk(&message).unwrap();
        }
        link
    })
}

#[test]
fn a_round_trip_takes_its_time_and_many_at_once_no_longer() {
    let (mut here, there) = slow("rtt=40ms,jitter=2ms");
    let server = echo(there, 102);
    for _ in 0..2 {
        let began = Instant::now();
        here.tx.bulk(&7u64.to_le_bytes()).unwrap();
        assert_eq!(here.rx.peek(8, None).unwrap(), 7u64.to_le_bytes());
        here.rx.consume(8);
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(35), "{took:?}");
        assert!(took < Duration::from_millis(400), "{took:?}");
    }
    let began = Instant::now();
    for number in 0..100u64 {
        here.tx.bulk(&number.to_le_bytes()).unwrap();
        thread::sleep(Duration::from_micros(100));
    }
    for number in 0..100u64 {
        assert_eq!(here.rx.peek(8, None).unwrap(), number.to_le_bytes());
        here.rx.consume(8);
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(35), "{took:?}");
    assert!(took < Duration::from_secs(2), "serialised: {took:?}");
    server.join().unwrap();
}

#[test]
fn bandwidth_is_a_limit_both_ways() {
    let (mut here, mut there) = slow("bandwidth=20MB/s");
    let body = vec![3; 4 << 20];
    let server = thread::spawn(move || {
        let mut read = vec![0; 4 << 20];
        there.rx.read(&mut read).unwrap();
        there.tx.bulk(&read).unwrap();
    });
    let began = Instant::now();
    here.tx.bulk(&body).unwrap();
    let mut read = vec![0; 4 << 20];
    here.rx.read(&mut read).unwrap();
    let took = began.elapsed();
    assert!(read == body);
    // 8 MiB at 20 MB/s.
    assert!(took >= Duration::from_millis(400), "{took:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    server.join().unwrap();
}

#[test]
fn a_deadline_is_kept_and_what_is_under_way_still_comes() {
    let (mut here, mut there) = slow("rtt=300ms");
    there.tx.bulk(b"late").unwrap();
    let deadline = Instant::now() + Duration::from_millis(30);
    let error = here.rx.peek(4, Some(deadline)).unwrap_err();
    assert!(matches!(error, LinkError::TimedOut(_)), "{error}");
    assert!(!here.rx.ready(4).unwrap());
    assert_eq!(here.rx.peek(4, None).unwrap(), b"late");
}

#[test]
fn it_breaks_when_it_should() {
    let (mut here, _there) = slow("break=200ms");
    let began = Instant::now();
    let error = here.rx.peek(1, None).unwrap_err();
    assert!(matches!(error, LinkError::Closed(_)), "{error}");
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(190), "{took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(here.tx.bulk(b"more").is_err());

    let (mut here, mut there) = slow("break=1MB");
    let mut sent = 0;
    while here.tx.bulk(&[0; 100_000]).is_ok() {
        sent += 1;
        assert!(sent < 20);
    }
    let mut rest = vec![0; 2_000_000];
    assert!(matches!(
        there.rx.read(&mut rest),
        Err(LinkError::Closed(_))
    ));
}

#[test]
fn the_last_words_still_travel() {
    let (mut here, mut there) = slow("rtt=100ms");
    here.tx.bulk(b"goodbye").unwrap();
    drop(here);
    assert_eq!(there.rx.peek(7, None).unwrap(), b"goodbye");
    there.rx.consume(7);
    let error = there.rx.peek(1, None).unwrap_err();
    assert!(matches!(error, LinkError::Closed(_)), "{error}");
}
