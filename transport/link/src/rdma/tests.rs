//! Links whose queue pairs fail: who waits, who tends, and what a peer may say then. That what was sent
//! comes, once and in order, is for all kinds of links: `conformance`.

mod back;
mod lent;

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_protocol::{SEGMENT_LEN, Segment};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};

use super::double::{Break, Pair};
use crate::conformance::traffic::converse;
use crate::link::{Link, LinkError, LinkKind};

const BREAKS: [Break; 5] = [
    Break::Lost,
    Break::Unnoticed,
    Break::Unacknowledged,
    Break::Refused,
    Break::Torn,
];
/// Longer than any of these waits takes, on a slow machine too.
const PATIENCE: Duration = Duration::from_secs(60);

fn has_moved(link: &Link) {
    let changes = &link.info.changes;
    assert_eq!(changes.failovers(), 1);
    let now = match changes.failbacks() {
        0 => LinkKind::Tcp,
        _ => LinkKind::Rdma,
    };
    assert_eq!(link.info.kind_now(), now);
}

#[test]
fn nothing_moves_while_all_is_well() {
    let Pair {
        mut client,
        mut server,
        ..
    } = Pair::new();
    converse(&mut client, &mut server, 4, 60);
    assert_eq!(
        client.info.changes.failovers() + server.info.changes.failovers(),
        0
    );
    assert_eq!(client.info.kind_now(), LinkKind::Rdma);
}

/// Requests of one thread, each answered by one.
fn answer(server: &mut Link, count: u32) {
    for number in 0..count {
        assert_eq!(server.rx.peek(4, None).unwrap()[..4], number.to_le_bytes());
        server.rx.consume(4);
        server.tx.bulk(&number.to_be_bytes()).unwrap();
    }
    // What was answered may still be lost: who has answered waits for the next request.
    let end = server.rx.peek(1, None).unwrap_err();
    assert!(matches!(end, LinkError::Closed(_)), "{end}");
}

fn asked(client: &mut Link, count: u32) {
    for number in 0..count {
        client.tx.bulk(&number.to_le_bytes()).unwrap();
        assert_eq!(client.rx.peek(4, None).unwrap()[..4], number.to_be_bytes());
        client.rx.consume(4);
    }
}

#[test]
fn a_lost_request_and_a_lost_answer_reach_who_waits() {
    for how in BREAKS {
        for left in [0, 1, 7] {
            for request in [true, false] {
                let pair = Pair::new();
                match request {
                    true => pair.to_server.break_after(left, how),
                    false => pair.to_client.break_after(left, how),
                }
                let (mut client, mut server) = (pair.client, pair.server);
                let server = thread::spawn(move || {
                    answer(&mut server, 10);
                    server
                });
                asked(&mut client, 10);
                has_moved(&client);
                drop(client);
                has_moved(&server.join().unwrap());
            }
        }
    }
}

/// Each side has more to send again than its connection holds, and nobody who writes.
#[test]
fn both_readers_send_again_at_the_same_time() {
    // Half a ring; each socket holds a fifth of it.
    const MUCH: usize = 120 << 10;
    const SOCKET: usize = 12 << 10;
    let wanted: Vec<u8> = (0..MUCH).map(|at| (at % 251) as u8).collect();
    // Who writes sees one that is refused.
    for how in BREAKS.into_iter().filter(|how| *how != Break::Refused) {
        let pair = Pair::new();
        for socket in &pair.sockets {
            set_socket_send_buffer_size(socket, SOCKET).unwrap();
            set_socket_recv_buffer_size(socket, SOCKET).unwrap();
        }
        pair.to_server.break_after(0, how);
        pair.to_client.break_after(0, how);
        let have_read = Arc::new(AtomicU32::new(0));
        let threads = [pair.client, pair.server].map(|mut link| {
            link.tx.bulk(&wanted).unwrap();
            let have_read = Arc::clone(&have_read);
            thread::spawn(move || {
                let mut got = vec![0; MUCH];
                let read = link.rx.read(&mut got);
                have_read.fetch_add(1, Ordering::Relaxed);
                // Who has all waits for what comes next.
                while have_read.load(Ordering::Relaxed) < 2 {
                    let soon = Instant::now() + Duration::from_millis(5);
                    let _ = link.rx.peek(1, Some(soon));
                }
                read.map(|()| got)
            })
        });
        let began = Instant::now();
        while !threads.iter().all(thread::JoinHandle::is_finished) {
            assert!(began.elapsed() < PATIENCE, "{how:?}: both wait");
            thread::sleep(Duration::from_millis(1));
        }
        for thread in threads {
            let got = thread.join().unwrap().unwrap();
            assert!(got == wanted, "{how:?}: other bytes");
        }
    }
}

#[test]
fn asynchronous_work_is_sent_again_by_who_tends() {
    let pair = Pair::new();
    pair.to_server.break_after(0, Break::Lost);
    let (mut client, mut server) = (pair.client, pair.server);
    client.tx.bulk(b"one way").unwrap();
    let server = thread::spawn(move || server.rx.peek(7, None).unwrap().to_vec());
    let began = Instant::now();
    while !server.is_finished() && began.elapsed() < PATIENCE {
        client.tx.poll_completions().unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(server.join().unwrap(), b"one way");
}

/// Unless their bytes are torn, which shows only when nobody is there any more to send them again.
#[test]
fn the_last_words_come_though_the_device_failed() {
    for how in BREAKS.into_iter().filter(|how| *how != Break::Torn) {
        let pair = Pair::new();
        pair.to_server.break_after(2, how);
        let (mut client, mut server) = (pair.client, pair.server);
        let server = thread::spawn(move || {
            let peer_state = server.rx.peek(12, None).unwrap().to_vec();
            server.rx.consume(12);
            let end = server.rx.peek(1, None).unwrap_err();
            assert!(matches!(end, LinkError::Closed(_)), "{end}");
            peer_state
        });
        for word in [b"and", b"so ", b"to ", b"end"] {
            client.tx.bulk(word).unwrap();
        }
        drop(client);
        assert_eq!(server.join().unwrap(), b"andso to end");
    }
}

#[test]
fn the_end_of_the_other_side_is_no_failure_of_the_device() {
    let Pair {
        mut client,
        mut server,
        ..
    } = Pair::new();
    client.tx.bulk(b"bye").unwrap();
    drop(client);
    assert_eq!(server.rx.peek(3, None).unwrap(), b"bye");
    server.rx.consume(3);
    let error = server.rx.peek(1, None).unwrap_err();
    assert!(matches!(error, LinkError::Closed(_)), "{error}");
    assert_eq!(server.info.changes.failovers(), 0);
}

#[test]
fn a_link_can_be_ended_after_it_moved() {
    let pair = Pair::new();
    pair.to_server.break_after(0, Break::Lost);
    let (mut client, mut server) = (pair.client, pair.server);
    let server = thread::spawn(move || {
        answer(&mut server, 1);
    });
    asked(&mut client, 1);
    let end = client.end.clone();
    assert!(end.is_alive());
    let waits = thread::spawn(move || client.rx.peek(1, None).unwrap_err());
    end.end();
    let error = waits.join().unwrap();
    assert!(matches!(error, LinkError::Closed(_)), "{error}");
    server.join().unwrap();
}

#[test]
fn a_deadline_holds_after_the_move() {
    let pair = Pair::new();
    pair.to_client.break_after(0, Break::Lost);
    let (mut client, mut server) = (pair.client, pair.server);
    client.tx.bulk(&0u32.to_le_bytes()).unwrap();
    let server = thread::spawn(move || answer(&mut server, 1));
    assert_eq!(client.rx.peek(4, None).unwrap(), 0u32.to_be_bytes());
    client.rx.consume(4);
    let soon = Instant::now() + Duration::from_millis(30);
    let error = client.rx.peek(1, Some(soon)).unwrap_err();
    assert!(matches!(error, LinkError::TimedOut(_)), "{error}");
    drop(client);
    server.join().unwrap();
}

/// A peer that says what it likes on the connection.
fn reported(segments: &[Segment]) -> LinkError {
    let (mut client, mut peer) = Pair::client_alone();
    client.tx.bulk(&[1; 100]).unwrap();
    for segment in segments {
        peer.write_all(&segment.to_bytes()).unwrap();
    }
    peer.write_all(b"abc").unwrap();
    let mut failed = None;
    let began = Instant::now();
    while failed.is_none() && began.elapsed() < PATIENCE {
        let soon = Instant::now() + Duration::from_millis(20);
        failed = match client.rx.peek(1, Some(soon)) {
            Err(LinkError::TimedOut(_)) | Ok(_) => client.tx.bulk(&[2; 100]).err(),
            Err(error) => Some(error),
        };
    }
    failed.expect("no error")
}

#[test]
fn positions_that_cannot_be_are_refused() {
    for received in [0, 5, 1 << 50, u64::MAX] {
        let generation = 1;
        let error = reported(&[Segment::Move {
            generation,
            received,
        }]);
        assert!(matches!(error, LinkError::Ring(_)), "{received}: {error}");
    }
}

#[test]
fn what_the_other_side_may_not_say_is_refused() {
    let generation = 9;
    let ask = Segment::Ask(3);
    let switch = Segment::Switch {
        generation,
        position: 0,
    };
    for segment in [ask, switch] {
        let error = reported(&[segment]);
        assert!(matches!(error, LinkError::Decode(_)), "{error}");
    }
}

#[test]
fn what_was_not_received_is_sent_as_it_was() {
    let (mut client, mut peer) = Pair::client_alone();
    client.tx.bulk(b"0123456789").unwrap();
    // The first byte of a lane is that behind a ring.
    let start = (256 << 10) as u64;
    let peer_state = Segment::Move {
        generation: 1,
        received: start + 4,
    };
    peer.write_all(&peer_state.to_bytes()).unwrap();
    let soon = Instant::now() + Duration::from_millis(20);
    let _ = client.rx.peek(1, Some(soon));
    client.tx.poll_completions().unwrap();
    client.tx.bulk(b"ab").unwrap();
    let mut got = vec![0; 3 * SEGMENT_LEN + 8];
    peer.read_exact(&mut got).unwrap();
    let moved = Segment::Move {
        generation: 1,
        received: start,
    };
    let wanted = [
        &moved.to_bytes()[..],
        &Segment::Data(6).to_bytes(),
        b"456789",
        &Segment::Data(2).to_bytes(),
        b"ab",
    ];
    assert_eq!(got, wanted.concat());
}
