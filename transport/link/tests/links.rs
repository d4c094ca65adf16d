//! What every link promises, on each kind of link.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::{Bytes, link_of};
use gtrace_link::{Link, LinkError, LinkKind};
use gtrace_protocol::{HEADER_LEN, SMALL_MAX};

const KINDS: [LinkKind; 4] = [
    LinkKind::Tcp,
    LinkKind::Tls,
    LinkKind::Unix,
    LinkKind::SharedMemory,
];

/// Sends pieces of random sizes, some committed and some as bulk.
fn send(link: &mut Link, seed: u64, pieces: usize) {
    let (mut sizes, mut bytes) = (Bytes::new(seed), Bytes::new(seed + 2));
    for piece in sizes_of(&mut sizes, pieces) {
        match piece {
            Piece::Small(len) => {
                let room = link.tx.reserve(len + 7).unwrap();
                assert!(room.len() >= len + 7, "{} of {}", room.len(), len + 7);
                bytes.fill(&mut room[..len]);
                link.tx.commit(len);
                assert!(link.tx.pending() >= len);
            }
            Piece::Bulk(len) => {
                let mut body = vec![0; len];
                bytes.fill(&mut body);
                link.tx.bulk(&body).unwrap();
            }
            Piece::Flush => link.tx.flush().unwrap(),
        }
    }
    link.tx.flush().unwrap();
    assert_eq!(link.tx.pending(), 0);
}

enum Piece {
    Small(usize),
    Bulk(usize),
    Flush,
}

fn sizes_of(sizes: &mut Bytes, pieces: usize) -> Vec<Piece> {
    (0..pieces)
        .map(|_| {
            let (choice, size) = (sizes.next(), sizes.next() as usize);
            match choice % 16 {
                0..8 => Piece::Small(1 + size % 300),
                8..10 => Piece::Small(1 + size % (70 << 10)),
                10 => Piece::Small(1 + size % (900 << 10)),
                11..13 => Piece::Bulk(1 + size % 5000),
                13 => Piece::Bulk(1 + size % (3 << 20)),
                _ => Piece::Flush,
            }
        })
        .collect()
}

/// Receives what [`send`] sends with the same seed, by a way of reading that changes.
fn receive(link: &mut Link, seed: u64, pieces: usize) {
    let (mut sizes, mut bytes) = (Bytes::new(seed), Bytes::new(seed + 2));
    let mut ways = Bytes::new(seed + 4);
    for piece in sizes_of(&mut sizes, pieces) {
        let (Piece::Small(len) | Piece::Bulk(len)) = piece else {
            continue;
        };
        let mut wanted = vec![0; len];
        bytes.fill(&mut wanted);
        match ways.next() % 3 {
            0 if len <= SMALL_MAX => {
                let head = len.min(3);
                assert_eq!(link.rx.peek(head, None).unwrap(), &wanted[..head]);
                assert!(link.rx.ready(head).unwrap());
                assert_eq!(link.rx.peek(len, None).unwrap(), wanted);
                link.rx.consume(len);
            }
            1 => {
                let mut read = vec![0; len];
                link.rx.read(&mut read).unwrap();
                assert!(read == wanted);
            }
            _ => {
                let mut at = 0;
                while at < len {
                    let some = link.rx.some(len - at).unwrap();
                    assert!(!some.is_empty() && some.len() <= len - at);
                    assert!(*some == wanted[at..at + some.len()]);
                    let read = some.len();
                    link.rx.consume(read);
                    at += read;
                }
            }
        }
    }
}

fn both_ways((mut here, mut there): (Link, Link), pieces: usize) {
    let other = thread::spawn(move || {
        receive(&mut there, 11, pieces);
        send(&mut there, 23, pieces);
        there
    });
    send(&mut here, 11, pieces);
    receive(&mut here, 23, pieces);
    other.join().unwrap();
}

#[test]
fn bytes_come_in_order_whatever_their_sizes() {
    for kind in KINDS {
        both_ways(link_of(kind), 400);
    }
}

#[test]
fn the_largest_arguments_fit() {
    for kind in KINDS {
        let (mut here, mut there) = link_of(kind);
        let len = SMALL_MAX + HEADER_LEN;
        let other = thread::spawn(move || {
            let seen = there.rx.peek(len, None).unwrap();
            assert!(seen.iter().all(|byte| *byte == 7));
            there.rx.consume(len);
            assert_eq!(there.rx.peek(3, None).unwrap(), b"end");
        });
        here.tx.reserve(len).unwrap().fill(7);
        here.tx.commit(len);
        here.tx.reserve(3).unwrap().copy_from_slice(b"end");
        here.tx.commit(3);
        here.tx.flush().unwrap();
        other.join().unwrap();
    }
}

#[test]
fn a_deadline_ends_a_wait_and_loses_nothing() {
    for kind in KINDS {
        let (mut here, mut there) = link_of(kind);
        there.tx.reserve(2).unwrap().copy_from_slice(b"ab");
        there.tx.commit(2);
        there.tx.flush().unwrap();
        let began = Instant::now();
        let deadline = began + Duration::from_millis(150);
        let error = here.rx.peek(4, Some(deadline)).unwrap_err();
        let waited = began.elapsed();
        assert!(matches!(error, LinkError::TimedOut(_)), "{error}");
        assert!(waited >= Duration::from_millis(150), "{kind}: {waited:?}");
        assert!(waited < Duration::from_secs(2), "{kind}: {waited:?}");
        assert!(!here.rx.ready(4).unwrap());
        there.tx.reserve(2).unwrap().copy_from_slice(b"cd");
        there.tx.commit(2);
        there.tx.flush().unwrap();
        assert_eq!(here.rx.peek(4, None).unwrap(), b"abcd");
    }
}

#[test]
fn nothing_comes_before_it_is_flushed() {
    for kind in KINDS {
        let (mut here, mut there) = link_of(kind);
        here.tx.reserve(8).unwrap().fill(1);
        here.tx.commit(8);
        assert_eq!(here.tx.pending(), 8);
        thread::sleep(Duration::from_millis(20));
        assert!(!there.rx.ready(1).unwrap(), "{kind}");
        here.tx.flush().unwrap();
        assert_eq!(there.rx.peek(8, None).unwrap(), [1; 8]);
    }
}

#[test]
fn what_was_sent_before_the_end_is_read_and_then_the_end() {
    for kind in KINDS {
        let (mut here, mut there) = link_of(kind);
        there.tx.bulk(b"last words").unwrap();
        drop(there);
        assert_eq!(here.rx.peek(10, None).unwrap(), b"last words");
        here.rx.consume(10);
        let began = Instant::now();
        let error = here.rx.peek(1, None).unwrap_err();
        assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        assert!(began.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn an_ender_ends_both_waits_of_both_sides() {
    for kind in KINDS {
        let (here, mut there) = link_of(kind);
        let (end, mut tx, mut rx) = (here.end, here.tx, here.rx);
        let theirs = thread::spawn(move || there.rx.peek(1, None).map(<[u8]>::len));
        let reading = thread::spawn(move || rx.peek(1, None).map(<[u8]>::len));
        thread::sleep(Duration::from_millis(50));
        let began = Instant::now();
        end.end();
        for waiting in [theirs, reading] {
            let error = waiting.join().unwrap().unwrap_err();
            assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        }
        assert!(began.elapsed() < Duration::from_secs(1), "{kind}");
        tx.reserve(1).unwrap();
        drop(tx);
        end.end();
    }
}

#[test]
fn who_does_not_read_stops_the_sender_who_can_be_ended() {
    for kind in KINDS {
        let (here, _there) = link_of(kind);
        let (end, mut tx) = (here.end, here.tx);
        let _rx = here.rx;
        let sending = thread::spawn(move || {
            let body = vec![5; 1 << 20];
            let mut sent = 0u64;
            loop {
                match tx.bulk(&body) {
                    Ok(()) => sent += 1,
                    Err(error) => return (sent, error),
                }
            }
        });
        thread::sleep(Duration::from_millis(500));
        assert!(!sending.is_finished(), "{kind}");
        let began = Instant::now();
        end.end();
        let (sent, error) = sending.join().unwrap();
        assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        assert!(began.elapsed() < Duration::from_secs(1), "{kind}");
        assert!(sent < 64, "{kind}: {sent} MiB were taken");
    }
}
