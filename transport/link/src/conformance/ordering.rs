//! Bytes come as they were sent, in order, whatever their sizes and whoever waits.

use std::thread;
use std::time::{Duration, Instant};

use gtrace_protocol::{HEADER_LEN, SMALL_MAX};

use super::ends::{Ends, kinds_that_go_on};
use super::traffic::{converse, receive, send};
use crate::link::LinkError;

#[test]
fn bytes_come_in_order_whatever_their_sizes() {
    for kind in kinds_that_go_on() {
        let Ends {
            mut here, there, ..
        } = Ends::of(kind);
        let mut other_end = there;
        let other = thread::spawn(move || {
            receive(&mut *other_end.rx, 11, 400);
            send(&mut *other_end.tx, 23, 400).unwrap();
            other_end
        });
        send(&mut *here.tx, 11, 400).unwrap();
        receive(&mut *here.rx, 23, 400);
        other.join().unwrap();
    }
}

#[test]
fn both_directions_are_used_at_once() {
    for kind in kinds_that_go_on() {
        let mut ends = Ends::of(kind);
        converse(&mut ends.here, &mut ends.there, 71, 60);
    }
}

#[test]
fn the_largest_arguments_fit() {
    for kind in kinds_that_go_on() {
        let mut ends = Ends::of(kind);
        let mut there = ends.there;
        let len = SMALL_MAX + HEADER_LEN;
        let other = thread::spawn(move || {
            let seen = there.rx.peek(len, None).unwrap();
            assert!(seen.iter().all(|byte| *byte == 7));
            there.rx.consume(len);
            assert_eq!(there.rx.peek(3, None).unwrap(), b"end");
        });
        let tx = &mut ends.here.tx;
        tx.reserve(len).unwrap().fill(7);
        tx.commit(len);
        tx.reserve(3).unwrap().copy_from_slice(b"end");
        tx.commit(3);
        tx.flush().unwrap();
        other.join().unwrap();
    }
}

#[test]
fn bulk_of_any_size_arrives_whole() {
    const MOST: usize = 12 << 20;
    for kind in kinds_that_go_on() {
        let mut ends = Ends::of(kind);
        let mut there = ends.there;
        let sizes = [0, 1, 4095, 64 << 10, (256 << 10) + 1, MOST];
        let body = |at: usize, len: usize| -> Vec<u8> {
            let mut bytes = vec![0; len];
            super::traffic::Bytes::new(at as u64 + 9).fill(&mut bytes);
            bytes
        };
        let other = thread::spawn(move || {
            for (at, len) in sizes.into_iter().enumerate() {
                let mut read = vec![0; len];
                there.rx.read(&mut read).unwrap();
                assert!(read == body(at, len), "{kind}: {len} bytes");
            }
            there
        });
        for (at, len) in sizes.into_iter().enumerate() {
            ends.here.tx.bulk(&body(at, len)).unwrap();
        }
        other.join().unwrap();
    }
}

#[test]
fn a_deadline_ends_a_wait_and_loses_nothing() {
    for kind in kinds_that_go_on() {
        let Ends {
            mut here,
            mut there,
            ..
        } = Ends::of(kind);
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
    for kind in kinds_that_go_on() {
        let Ends {
            mut here,
            mut there,
            ..
        } = Ends::of(kind);
        here.tx.reserve(8).unwrap().fill(1);
        here.tx.commit(8);
        assert_eq!(here.tx.pending(), 8);
        thread::sleep(Duration::from_millis(20));
        assert!(!there.rx.ready(1).unwrap(), "{kind}");
        here.tx.flush().unwrap();
        assert_eq!(there.rx.peek(8, None).unwrap(), [1; 8]);
    }
}
