//! Links that use the device again, and lose it again.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::{BREAKS, PATIENCE, Pair};
use crate::link::{Link, LinkKind};

/// A thread of the server that answers for as long as there are requests.
fn answering(mut server: Link) -> thread::JoinHandle<(Link, u32)> {
    thread::spawn(move || {
        let mut number = 0u32;
        while let Ok(asked) = server.rx.peek(4, None) {
            assert_eq!(asked[..4], number.to_le_bytes());
            server.rx.consume(4);
            let body = vec![number as u8; 1 + number as usize * 977 % 100_000];
            server.tx.bulk(&body).unwrap();
            number += 1;
        }
        (server, number)
    })
}

/// Asks, with some that is not awaited, until `done`; the next number.
fn asking(client: &mut Link, mut number: u32, done: impl Fn(&Link) -> bool) -> u32 {
    let began = Instant::now();
    while !done(client) {
        assert!(began.elapsed() < PATIENCE, "in vain: {:?}", client.info);
        client.tx.bulk(&number.to_le_bytes()).unwrap();
        client.tx.poll_completions().unwrap();
        let mut body = vec![0; 1 + number as usize * 977 % 100_000];
        client.rx.read(&mut body).unwrap();
        assert!(body.iter().all(|byte| *byte == number as u8), "{number}");
        number += 1;
    }
    number
}

#[test]
fn the_device_is_used_again_and_fails_again() {
    for how in BREAKS {
        let pair = Pair::new();
        let (mut client, layer) = (pair.client, pair.layer);
        pair.to_server.break_after(3, how);
        layer.absent.store(2, Ordering::Relaxed);
        let server = answering(pair.server);
        let mut number = 0;
        for round in 1..4u64 {
            let changes =
                |link: &Link| (link.info.changes.failovers(), link.info.changes.failbacks());
            number = asking(&mut client, number, |link| changes(link) == (round, round));
            assert_eq!(client.info.kind_now(), LinkKind::Rdma);
            // It is used, in both directions.
            let cables = layer.laid.lock().unwrap().last().unwrap().clone();
            let writes = || cables.each_ref().map(|cable| cable.writes());
            number = asking(&mut client, number, |_| writes().iter().all(|n| *n > 20));
            cables[(round % 2) as usize].break_after(round % 3, how);
        }
        number = asking(&mut client, number, |link| {
            link.info.changes.failbacks() == 4
        });
        let reasons = client.info.changes.reasons().join("; ");
        assert!(reasons.contains("not used again: no device"), "{reasons}");
        drop(client);
        let (server, answered) = server.join().unwrap();
        assert_eq!(answered, number);
        assert_eq!(server.info.changes.failovers(), 4);
    }
}

#[test]
fn a_way_back_that_fails_at_once_loses_nothing() {
    for how in BREAKS {
        for left in 0..3 {
            let pair = Pair::new();
            let (mut client, layer) = (pair.client, pair.layer);
            pair.to_client.break_after(2, how);
            *layer.next.lock().unwrap() = Some((left, how));
            let server = answering(pair.server);
            let number = asking(&mut client, 0, |link| link.info.changes.failbacks() == 2);
            assert_eq!(client.info.changes.failovers(), 2);
            drop(client);
            assert_eq!(server.join().unwrap().1, number);
        }
    }
}

#[test]
fn a_device_that_is_taken_away_is_closed_though_nobody_calls() {
    for round in 0..4 {
        let pair = Pair::new();
        let cables = [pair.to_server, pair.to_client];
        let (mut client, layer) = (pair.client, pair.layer);
        layer.absent.store(1, Ordering::Relaxed);
        let server = answering(pair.server);
        let number = asking(&mut client, 0, |_| cables[1].writes() > 3);
        // The device of either side, or of both; the other learns of it.
        cables
            .iter()
            .skip(round % 2)
            .for_each(|cable| cable.take_away());
        let began = Instant::now();
        while !cables.iter().all(|cable| cable.is_closed()) {
            assert!(began.elapsed() < PATIENCE, "in vain: {:?}", client.info);
            client.tx.poll_completions().unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        let number = asking(&mut client, number, |link| {
            link.info.changes.failbacks() == 1
        });
        let reasons = client.info.changes.reasons().join("; ");
        assert!(
            reasons.contains("is being taken away") || reasons.contains("other side"),
            "{reasons}"
        );
        drop(client);
        assert_eq!(server.join().unwrap().1, number);
    }
}

#[test]
fn a_device_that_is_taken_away_under_load_loses_nothing() {
    let pair = Pair::new();
    let (mut client, layer) = (pair.client, pair.layer);
    let server = answering(pair.server);
    let mut cables = [pair.to_server, pair.to_client];
    let mut number = 0;
    for round in 1..4u64 {
        number = asking(&mut client, number, |_| {
            cables.iter().all(|cable| cable.writes() > 9)
        });
        cables.iter().for_each(|cable| cable.take_away());
        number = asking(&mut client, number, |link| {
            link.info.changes.failbacks() == round
        });
        cables = layer.laid.lock().unwrap().last().unwrap().clone();
    }
    assert_eq!(client.info.changes.failovers(), 3);
    drop(client);
    assert_eq!(server.join().unwrap().1, number);
}
