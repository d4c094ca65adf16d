//! The other host vanishes without a word: nothing comes from it any more, no end of the connection
//! either.
//!
//! TCP asks an idle host after 5 s and then every 2 s; a waiting thread checks once a second whether three of
//! these questions, or bytes that were sent again, found no answer for 10 s. So it is seen within some
//! 12 s. Links of one host have no such state: the kernel that has both ends closes that of a process
//! which is gone.

#![allow(unsafe_code)]

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::ends::{Ends, Kind, kinds};
use crate::link::{Link, LinkError};
use crate::rdma::double::Break;

/// Longer than any of these waits takes, on a slow machine too.
const PATIENCE: Duration = Duration::from_secs(300);
/// A link finds out sooner than TCP does by itself: after 39 s, and on kernels before 6.15 after minutes.
const SEEN: Duration = Duration::from_secs(30);

/// From now on the socket receives nothing, as if all packets to it were lost on their way.
fn deafen(socket: &TcpStream) {
    // Classic BPF (linux/filter.h): keep 0 bytes of each packet.
    let mut nothing = libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let program = libc::sock_fprog {
        len: 1,
        filter: &raw mut nothing,
    };
    // SAFETY: the kernel reads the program, whose size is given, and its one instruction.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of_val(&program) as libc::socklen_t,
        )
    };
    assert_eq!(status, 0, "{}", io::Error::last_os_error());
}

/// What a thread of this end does when the other one vanishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// For an answer, with all acknowledged that it sent.
    Idle,
    /// For an answer to what nobody acknowledges.
    Asked,
    /// For room.
    Sending,
}

fn wait(link: &mut Link, what: Waits) -> LinkError {
    match what {
        Waits::Idle => link.rx.peek(1, None).unwrap_err(),
        Waits::Asked => match link.tx.bulk(b"is there anybody?") {
            Ok(()) => link.rx.peek(1, None).unwrap_err(),
            Err(error) => error,
        },
        Waits::Sending => loop {
            if let Err(error) = link.tx.bulk(&[5; 1 << 20]) {
                return error;
            }
        },
    }
}

fn vanishes(kind: Kind, what: Waits) {
    let Ends {
        mut here,
        mut there,
        sockets,
        cables,
    } = Ends::of(kind);
    // It works, and nothing is under way.
    here.tx.bulk(b"ask").unwrap();
    assert_eq!(there.rx.peek(3, None).unwrap(), b"ask");
    there.tx.bulk(b"answer").unwrap();
    assert_eq!(here.rx.peek(6, None).unwrap(), b"answer");
    here.rx.consume(6);
    sockets.iter().flatten().for_each(deafen);
    // The device of a host that is gone acknowledges nothing, which its requests find out.
    for cable in cables.iter().flatten() {
        cable.break_after(0, Break::Lost);
    }
    let (acknowledged, seen) = channel();
    let began = Instant::now();
    thread::spawn(move || {
        let error = wait(&mut here, what);
        acknowledged.send((error, here)).unwrap();
    });
    let (error, _here) = seen
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|_| panic!("{kind}, {what:?}: not seen"));
    assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
    let after = began.elapsed();
    eprintln!("{kind}, {what:?}: seen after {after:.1?}");
    assert!(after < SEEN, "{kind}, {what:?}: seen after {after:.1?}");
}

#[test]
fn a_host_that_vanishes_is_seen_by_whoever_waits() {
    let over_tcp = kinds().into_iter();
    // A device has its own packets, which this does not hold up.
    let over_tcp: Vec<Kind> = over_tcp
        .filter(|kind| kind.is_over_tcp() && *kind != Kind::Device)
        .collect();
    thread::scope(|scope| {
        for kind in over_tcp {
            for what in [Waits::Idle, Waits::Asked, Waits::Sending] {
                scope.spawn(move || vanishes(kind, what));
            }
        }
    });
}
