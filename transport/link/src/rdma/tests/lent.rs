//! Bytes that the device takes from the program's memory.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::{BREAKS, Break, PATIENCE, Pair};
use crate::conformance::traffic::{Bytes, Kept};
use crate::link::Link;
use crate::pinned::PinnedRegion;

/// More than a ring has.
const MUCH: usize = 700_001;
/// Fewer are copied.
const LEAST: usize = 32 << 10;

fn body(seed: u64, len: usize) -> Vec<u8> {
    let mut body = vec![0; len];
    Bytes::new(seed).fill(&mut body);
    body
}

/// Tends the link until a thread has ended; what that gives.
fn tended<T>(link: &mut Link, other: thread::JoinHandle<T>) -> T {
    while !other.is_finished() {
        link.tx.poll_completions().unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    other.join().unwrap()
}

#[test]
fn the_device_takes_them_from_where_they_lie() {
    let pair = Pair::new();
    let (mut client, mut server) = (pair.client, pair.server);
    let mut kept = Kept::default();
    let server = thread::spawn(move || {
        let mut got = vec![0; 2 * MUCH + 5];
        server.rx.read(&mut got).unwrap();
        (got, server)
    });
    kept.send(&mut *client.tx, body(1, MUCH)).unwrap();
    client.tx.bulk(b"small").unwrap();
    kept.send(&mut *client.tx, body(2, MUCH)).unwrap();
    let (got, _server) = server.join().unwrap();
    assert!(got == [&body(1, MUCH)[..], b"small", &body(2, MUCH)].concat());
    assert_eq!(client.info.changes.lent(), 2 * MUCH as u64);
    assert_eq!(client.info.changes.failovers(), 0);
    // Known until it is given back.
    assert_eq!(pair.to_server.known().len(), 2);
    kept.release(&mut *client.tx).unwrap();
    assert!(pair.to_server.known().is_empty());
}

#[test]
fn few_bytes_are_copied() {
    let pair = Pair::new();
    let (mut client, mut server) = (pair.client, pair.server);
    let mut kept = Kept::default();
    kept.send(&mut *client.tx, body(1, 1000)).unwrap();
    assert_eq!(client.info.changes.lent(), 0);
    kept.release(&mut *client.tx).unwrap();
    assert!(server.rx.peek(1000, None).unwrap() == body(1, 1000));
}

#[test]
fn they_come_by_the_connection_when_the_device_fails() {
    for how in BREAKS {
        for left in [0, 1, 2, 3, 7] {
            let pair = Pair::new();
            pair.to_server.break_after(left, how);
            let (mut client, mut server) = (pair.client, pair.server);
            let sender = thread::spawn(move || {
                let mut kept = Kept::default();
                client.tx.bulk(&[1; 300]).unwrap();
                kept.send(&mut *client.tx, body(3, MUCH)).unwrap();
                client.tx.bulk(&[2; 300]).unwrap();
                assert_eq!(client.rx.peek(4, None).unwrap(), b"done");
                kept.release(&mut *client.tx).unwrap();
                client.info.changes.failovers()
            });
            let mut got = vec![0; 300 + MUCH + 300];
            server.rx.read(&mut got).unwrap();
            let wanted = [&[1; 300][..], &body(3, MUCH), &[2; 300]].concat();
            assert!(got == wanted, "{how:?} after {left}");
            server.tx.bulk(b"done").unwrap();
            assert_eq!(sender.join().unwrap(), 1, "{how:?} after {left}");
        }
    }
}

/// The program changes its memory as soon as it has it back, and only then the other side finds that not all of it
/// has come.
#[test]
fn what_is_given_back_is_sent_again_as_it_was() {
    const FITS: usize = 100_000;
    for left in 0..4 {
        let pair = Pair::new();
        pair.to_server.break_after(left, Break::Torn);
        let (mut client, mut server) = (pair.client, pair.server);
        let mut kept = Kept::default();
        kept.send(&mut *client.tx, body(4, FITS)).unwrap();
        kept.release(&mut *client.tx).unwrap();
        client.tx.bulk(b"end").unwrap();
        assert_eq!(client.info.changes.lent(), FITS as u64);
        let reader = thread::spawn(move || {
            let mut got = vec![0; FITS + 3];
            server.rx.read(&mut got).unwrap();
            got
        });
        let wanted = [&body(4, FITS)[..], b"end"].concat();
        assert!(tended(&mut client, reader) == wanted, "after {left}");
        assert_eq!(client.info.changes.failovers(), 1);
    }
}

/// The other side has read half a piece, and acknowledged it; newer bytes lie where that half would, which the writer has
/// committed, or given to a device that loses them.
#[test]
fn newer_bytes_in_the_place_of_what_was_read_stay() {
    const FIRST: usize = 1000;
    const LENT: usize = 200_000;
    const NEWER: usize = 20_000;
    for lost in [true, false] {
        let pair = Pair::new();
        let (mut client, mut server) = (pair.client, pair.server);
        let mut kept = Kept::default();
        let (ring, piece) = (256 << 10, 32 << 10);
        let read = 2 * piece;
        client.tx.bulk(&[1; FIRST]).unwrap();
        kept.send(&mut *client.tx, body(4, LENT)).unwrap();
        assert_eq!(client.info.changes.lent(), LENT as u64);
        let mut got = vec![0; read];
        server.rx.read(&mut got).unwrap();
        // To the end of the ring, and into the place of the second piece.
        let rest = vec![2; ring - FIRST - LENT + FIRST + piece];
        client.tx.bulk(&rest).unwrap();
        client.tx.reserve(NEWER).unwrap()[..NEWER].copy_from_slice(&body(5, NEWER));
        client.tx.commit(NEWER);
        if lost {
            pair.to_server.break_after(0, Break::Lost);
            client.tx.flush().unwrap();
        } else {
            kept.release(&mut *client.tx).unwrap();
            client.tx.flush().unwrap();
        }
        let wanted = [&[1; FIRST][..], &body(4, LENT), &rest, &body(5, NEWER)].concat();
        let reader = thread::spawn(move || {
            got.resize(wanted.len(), 0);
            server.rx.read(&mut got[read..]).unwrap();
            assert!(got == wanted, "lost: {lost}");
        });
        tended(&mut client, reader);
        assert_eq!(client.info.changes.failovers(), u64::from(lost));
        kept.release(&mut *client.tx).unwrap();
    }
}

/// Bytes of all kinds in any order, memory that is given back at any time, a reader that stops anywhere, and a device
/// that fails, or not.
#[test]
fn whatever_is_given_back_or_lost_all_comes_in_order() {
    const STEPS: usize = 60;
    let (mut lent, mut failovers) = (0, 0);
    for seed in 1..=75u64 {
        let pair = Pair::new();
        let (mut client, mut server) = (pair.client, pair.server);
        let mut random = Bytes::new(seed);
        let mut pick = move |most: usize| random.next() as usize % most;
        if seed % 3 > 0 {
            let how = BREAKS[seed as usize % BREAKS.len()];
            pair.to_server.break_after(pick(60) as u64, how);
        }
        let (send_imm, acknowledged) = mpsc::channel::<Vec<u8>>();
        let reader = thread::spawn(move || {
            let mut sizes = Bytes::new(seed + 1);
            let (mut wanted, mut checked) = (VecDeque::new(), 0usize);
            loop {
                while let Ok(more) = acknowledged.try_recv() {
                    wanted.extend(more);
                }
                if wanted.is_empty() {
                    match acknowledged.recv() {
                        Ok(more) => wanted.extend(more),
                        Err(_) => return checked,
                    }
                }
                let len = wanted.len().min(1 + sizes.next() as usize % (90 << 10));
                let mut got = vec![0; len];
                server.rx.read(&mut got).unwrap();
                assert!(wanted.drain(..len).eq(got), "seed {seed}, after {checked}");
                checked += len;
                if sizes.next().is_multiple_of(4) {
                    thread::sleep(Duration::from_micros(500));
                }
            }
        });
        let mut kept: Vec<Kept> = Vec::new();
        let mut sent = 0;
        for step in 0..STEPS {
            let bytes = match pick(8) {
                0..3 => body(step as u64, LEAST + pick(150_000)),
                3 => body(step as u64, 1 + pick(100_000)),
                4..6 => body(step as u64, 1 + pick(60_000)),
                6 if !kept.is_empty() => {
                    let mut given_back = kept.swap_remove(pick(kept.len()));
                    given_back.release(&mut *client.tx).unwrap();
                    continue;
                }
                _ => {
                    client.tx.flush().unwrap();
                    continue;
                }
            };
            sent += bytes.len();
            send_imm.send(bytes.clone()).unwrap();
            match step % 3 {
                0 => {
                    client.tx.reserve(bytes.len()).unwrap()[..bytes.len()].copy_from_slice(&bytes);
                    client.tx.commit(bytes.len());
                }
                1 if bytes.len() < LEAST => client.tx.bulk(&bytes).unwrap(),
                _ => {
                    let mut one = Kept::default();
                    one.send(&mut *client.tx, bytes).unwrap();
                    kept.push(one);
                }
            }
        }
        client.tx.flush().unwrap();
        drop(send_imm);
        assert_eq!(tended(&mut client, reader), sent, "seed {seed}");
        for mut one in kept {
            one.release(&mut *client.tx).unwrap();
        }
        lent += client.info.changes.lent();
        failovers += client.info.changes.failovers();
    }
    // Else nothing was tried.
    assert!(
        lent > 25 << 20 && failovers > 25,
        "{lent} bytes, {failovers} failures"
    );
}

#[test]
fn memory_that_the_device_does_not_take_is_copied() {
    let pair = Pair::new();
    pair.to_server.know_at_most(0);
    let (mut client, mut server) = (pair.client, pair.server);
    let reader = thread::spawn(move || {
        let mut got = vec![0; MUCH];
        server.rx.read(&mut got).unwrap();
        got
    });
    let mut kept = Kept::default();
    kept.send(&mut *client.tx, body(5, MUCH)).unwrap();
    assert!(reader.join().unwrap() == body(5, MUCH));
    assert_eq!(client.info.changes.lent(), 0);
    assert_eq!(client.info.changes.failovers(), 0);
    let reasons = client.info.changes.reasons();
    assert!(
        reasons[0].contains("page-locked memory is copied"),
        "{reasons:?}"
    );
    kept.release(&mut *client.tx).unwrap();
}

#[test]
fn one_memory_makes_room_for_another() {
    let pair = Pair::new();
    pair.to_server.know_at_most(1);
    let (mut client, mut server) = (pair.client, pair.server);
    let reader = thread::spawn(move || {
        for seed in 6..9 {
            let mut got = vec![0; MUCH];
            server.rx.read(&mut got).unwrap();
            assert!(got == body(seed, MUCH));
        }
    });
    let mut kept = Kept::default();
    for seed in 6..9 {
        kept.send(&mut *client.tx, body(seed, MUCH)).unwrap();
        assert_eq!(pair.to_server.known().len(), 1);
    }
    reader.join().unwrap();
    assert_eq!(client.info.changes.lent(), 3 * MUCH as u64);
    kept.release(&mut *client.tx).unwrap();
}

/// A device that fails and comes back knows nothing of what its predecessor knew.
#[test]
fn a_device_that_is_back_is_reported_again() {
    const FITS: usize = 100_000;
    let pair = Pair::new();
    pair.to_server.break_after(7, Break::Lost);
    let (mut client, mut server) = (pair.client, pair.server);
    let server = thread::spawn(move || {
        let mut got = vec![0; FITS];
        while server.rx.read(&mut got).is_ok() {
            assert!(got == body(9, FITS));
            server.tx.bulk(b"next").unwrap();
        }
    });
    let mut kept = Kept::default();
    let began = Instant::now();
    let mut before = None;
    while before.is_none_or(|before| client.info.changes.lent() == before) {
        assert!(began.elapsed() < PATIENCE, "in vain: {:?}", client.info);
        kept.send(&mut *client.tx, body(9, FITS)).unwrap();
        client.tx.poll_completions().unwrap();
        assert_eq!(client.rx.peek(4, None).unwrap(), b"next");
        client.rx.consume(4);
        kept.release(&mut *client.tx).unwrap();
        if before.is_none() && client.info.changes.failbacks() == 1 {
            before = Some(client.info.changes.lent());
        }
    }
    assert_eq!(client.info.changes.failovers(), 1);
    drop(client);
    server.join().unwrap();
}

/// A program that frees its memory once its copies are done, and does not say so.
#[test]
fn memory_that_is_gone_after_its_bytes_were_read_is_missed_by_nobody() {
    const FITS: usize = 100_000;
    let pair = Pair::new();
    let (mut client, mut server) = (pair.client, pair.server);
    let page = Page::new(FITS);
    client.tx.bulk_from(page.bytes(), &page.pinned()).unwrap();
    let mut got = vec![0; FITS];
    server.rx.read(&mut got).unwrap();
    assert!(got.iter().all(|byte| *byte == 7));
    drop(page);
    // All that was not acknowledged is polled from here on.
    pair.to_server.break_after(0, Break::Lost);
    client.tx.bulk(b"then").unwrap();
    let server = thread::spawn(move || server.rx.peek(4, None).unwrap().to_vec());
    assert_eq!(tended(&mut client, server), b"then");
    assert_eq!(client.info.changes.failovers(), 1);
}

/// Memory that is unmapped when it is dropped.
struct Page(NonNull<u8>, usize);

#[allow(unsafe_code)]
impl Page {
    fn new(len: usize) -> Self {
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: new memory anywhere.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, prot, flags) }.unwrap();
        // SAFETY: as long as that.
        unsafe { start.cast::<u8>().write_bytes(7, len) };
        Self(NonNull::new(start.cast()).unwrap(), len)
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped until this is dropped.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.1) }
    }

    fn pinned(&self) -> PinnedRegion {
        // SAFETY: it is not, which is what is tested: all that was sent is read before it is dropped.
        unsafe { PinnedRegion::new(self.0, self.1) }
    }
}

#[allow(unsafe_code)]
impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: mapped by this, and nobody has references.
        unsafe { munmap(self.0.as_ptr().cast(), self.1) }.unwrap();
    }
}
