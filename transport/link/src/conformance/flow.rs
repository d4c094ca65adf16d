//! Who does not read stops who writes, after a bounded number of bytes, and loses none of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::ends::{Ends, Kind, kinds_that_go_on};
use super::traffic::Bytes;
use crate::link::{LinkError, Tx};

/// More than a link of that kind takes from a writer whose reader stands still.
fn more(kind: Kind) -> u64 {
    match kind {
        // Its ring has 1 MiB, and the machines that it is tested in are slow.
        Kind::Device => 8 << 20,
        _ => 64 << 20,
    }
}

/// A message of those that are small.
const SMALL: usize = 2_000;
/// Of those that are not.
const LARGE: usize = 1 << 20;

/// Sends `most` bytes in messages of `len`, and counts what was taken.
fn send(tx: &mut dyn Tx, most: u64, len: usize, taken: &AtomicU64) -> Result<(), LinkError> {
    let mut bytes = Bytes::new(5);
    let mut body = vec![0; len];
    while taken.load(Ordering::Relaxed) < most {
        bytes.fill(&mut body);
        match len {
            SMALL => {
                tx.reserve(len)?[..len].copy_from_slice(&body);
                tx.commit(len);
                tx.flush()?;
            }
            _ => tx.bulk(&body)?,
        }
        taken.fetch_add(len as u64, Ordering::Relaxed);
    }
    Ok(())
}

/// Waits until nothing more is taken.
fn at_rest(taken: &AtomicU64) -> u64 {
    let mut before = u64::MAX;
    loop {
        let now = taken.load(Ordering::Relaxed);
        if now == before {
            return now;
        }
        before = now;
        thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn a_reader_that_stops_stops_the_writer_and_misses_nothing() {
    for kind in kinds_that_go_on() {
        // Small ones over two more threads take their time, and differ in nothing from those below.
        let all: &[usize] = match kind {
            Kind::EmulatedDoubled => &[LARGE],
            _ => &[SMALL, LARGE],
        };
        for &len in all {
            let Ends {
                here,
                mut there,
                sockets,
                ..
            } = Ends::of(kind);
            let taken = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&taken);
            let (end, rx, mut tx) = (here.end, here.rx, here.tx);
            let writer = thread::spawn(move || {
                let sent = send(&mut *tx, more(kind), len, &counted);
                (sent, tx)
            });
            let most = at_rest(&taken);
            assert!(
                most < more(kind),
                "{kind}: {most} bytes of {len} each were taken"
            );
            assert!(!writer.is_finished(), "{kind}");
            let mut bytes = Bytes::new(5);
            let (mut wanted, mut read) = (vec![0; len], vec![0; len]);
            let mut left = more(kind);
            while left > 0 {
                bytes.fill(&mut wanted);
                there.rx.read(&mut read).unwrap();
                assert!(read == wanted, "{kind}: {left} bytes before the end");
                left = left.saturating_sub(len as u64);
            }
            let (sent, _tx) = writer.join().unwrap();
            sent.unwrap();
            assert!(end.is_alive(), "{kind}");
            drop((rx, sockets));
        }
    }
}

#[test]
fn who_does_not_read_stops_the_sender_who_can_be_ended() {
    for kind in kinds_that_go_on() {
        let Ends {
            here,
            there: _there,
            ..
        } = Ends::of(kind);
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&taken);
        let (end, mut tx) = (here.end, here.tx);
        let _rx = here.rx;
        let sending =
            thread::spawn(move || send(&mut *tx, more(kind), LARGE, &counted).unwrap_err());
        let most = at_rest(&taken);
        assert!(!sending.is_finished(), "{kind}");
        let began = Instant::now();
        end.end();
        let error = sending.join().unwrap();
        assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        assert!(began.elapsed() < Duration::from_secs(1), "{kind}");
        assert!(most < more(kind), "{kind}: {most} bytes were taken");
    }
}
