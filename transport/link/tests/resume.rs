//! Links that go on by another connection when theirs breaks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_debug_implementations
)]

mod common;
#[path = "../../e2e/src/faults.rs"]
#[allow(dead_code, unreachable_pub)]
mod faults;

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use common::{Bytes, Certificates, lane_server, serve_lanes, terms, terms_with, trust_of};
use faults::{Faults, Plan};
use gtrace_link::{
    Ended, Link, LinkError, Preference, Rx, ServerTerms, Stream, Target, Tx, connect, hello,
};

fn resuming(mut terms: ServerTerms) -> ServerTerms {
    terms.resume = Duration::from_secs(20);
    terms.ring = 0;
    terms
}

fn target(address: &str) -> Target {
    let mut target = Target::parse(address).unwrap();
    target.resume = Duration::from_secs(20);
    target
}

/// Bytes of a piece, of which `left` are left; few are large.
fn length(size: u64, left: usize) -> usize {
    let len = match size % 8 {
        0 => size as usize >> 8 & 0xf_ffff,
        1 | 2 => size as usize >> 8 & 0x3fff,
        _ => size as usize >> 8 & 0xff,
    };
    len.clamp(1, left)
}

/// Memory that a link may send itself. It is written to as soon as the link says that the other side has read it, and never
/// given back.
#[derive(Default)]
struct Stable(Vec<(&'static mut [u8], bool)>);

impl Stable {
    /// Some that is not lent; by now it is.
    fn next(&mut self, tx: &mut dyn Tx) -> &mut [u8] {
        for (memory, lent) in &mut self.0 {
            if *lent && !tx.is_lent(memory) {
                memory.fill(0xee);
                *lent = false;
            }
        }
        let free = self.0.iter().position(|(_, lent)| !lent);
        let free = free.unwrap_or_else(|| {
            self.0.push((vec![0; 1 << 20].leak(), false));
            self.0.len() - 1
        });
        self.0[free].1 = true;
        self.0[free].0
    }
}

/// Sends `bytes` of a stream in pieces of all sizes, with and without a flush behind each, and some from memory that is
/// lent to the link and used again as soon as the link gives it back.
#[allow(unsafe_code)]
fn send(tx: &mut dyn Tx, seed: u64, bytes: usize) {
    let (mut stream, mut sizes) = (Bytes::new(seed), Bytes::new(seed ^ 77));
    let mut sent = 0;
    let mut ways = Bytes::new(seed ^ 99);
    let mut memory: [Vec<u8>; 4] = std::array::from_fn(|_| vec![0; 1 << 20]);
    let mut next = 0;
    let mut stable = Stable::default();
    while sent < bytes {
        next = (next + 1) % memory.len();
        let body = &mut memory[next];
        let way = ways.next();
        match way % 4 {
            // The other side does not say of every byte that it has read it.
            0 if (0..100).any(|_| !tx.is_lent(body)) => {}
            1 => tx.take_back(None),
            _ => tx.take_back(Some(body)),
        }
        assert!(!tx.is_lent(body));
        let size = sizes.next();
        let len = length(size, bytes - sent);
        if len > 64 << 10 && way & 8 != 0 {
            let body = &mut stable.next(tx)[..len];
            stream.fill(body);
            // SAFETY: it is written to only when it is not lent any more.
            unsafe { tx.bulk_stable(body).unwrap() };
            sent += len;
            continue;
        }
        let body = &mut body[..len];
        stream.fill(body);
        if way & 4 != 0 {
            // SAFETY: it is not written to before it is taken back, and goes after the link.
            unsafe { tx.bulk_lent(body).unwrap() };
        } else if body.len() > 8 << 10 {
            tx.bulk(body).unwrap();
        } else {
            tx.reserve(body.len()).unwrap().copy_from_slice(body);
            tx.commit(body.len());
            if size & 0x80 != 0 {
                tx.flush().unwrap();
            }
        }
        sent += body.len();
    }
    tx.take_back(None);
    tx.flush().unwrap();
}

/// Receives and compares them, in every way of reading.
fn receive(rx: &mut dyn Rx, seed: u64, bytes: usize) {
    let (mut stream, mut sizes) = (Bytes::new(seed), Bytes::new(seed ^ 77));
    let (mut read, mut way) = (0, 0);
    let mut body = vec![0; 1 << 20];
    let mut into = vec![0; 1 << 20];
    while read < bytes {
        let size = sizes.next();
        let len = length(size, bytes - read);
        stream.fill(&mut body[..len]);
        let into = &mut into[..len];
        way += 1;
        match way % 3 {
            0 if len < 64 << 10 => {
                into.copy_from_slice(&rx.peek(len, None).unwrap()[..len]);
                rx.consume(len);
            }
            1 => {
                let mut at = 0;
                while at < len {
                    let some = rx.some(len - at).unwrap();
                    let count = some.len();
                    into[at..at + count].copy_from_slice(some);
                    rx.consume(count);
                    at += count;
                }
            }
            _ => rx.read(into).unwrap(),
        }
        assert!(*into == body[..len], "bytes {read} to {}", read + len);
        read += len;
    }
}

/// Both directions at once, each with its own bytes.
fn exchange(here: &mut Link, there: &mut Link, bytes: usize) {
    let (end, done) = (here.end.clone(), AtomicUsize::new(0));
    thread::scope(|scope| {
        let (Link { tx, rx, .. }, theirs) = (here, there);
        // As a client's library does, which finds out also where it sends and reads nothing.
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) == 0 && end.is_alive() {
                thread::sleep(Duration::from_millis(2));
            }
        });
        scope.spawn(|| send(&mut **tx, 3, bytes));
        scope.spawn(|| receive(&mut **rx, 5, bytes));
        scope.spawn(|| send(&mut *theirs.tx, 5, bytes));
        receive(&mut *theirs.rx, 3, bytes);
        done.store(1, Ordering::Relaxed);
    });
}

/// A lane as `target` wants it, and the server's end.
fn lane(target: &Target, lanes: &Receiver<Link>) -> (Link, Link) {
    let (here, _, _) = connect(target, &hello(false), None).unwrap();
    let there = lanes.recv_timeout(Duration::from_secs(60)).unwrap();
    (here, there)
}

fn breaks(tls: bool, seed: u64) {
    let certificates = tls.then(Certificates::new);
    let terms = resuming(terms_with(certificates.as_ref()));
    let (address, lanes) = lane_server(terms);
    let plan = Plan {
        seed,
        breaks: 40,
        most_bytes: 600_000,
        stall: Duration::from_millis(5),
        whole: 0,
    };
    let faults = Faults::to(&address, plan).unwrap();
    let mut target = target(faults.address());
    target.link = Preference::Tcp;
    target.tls = trust_of(certificates.as_ref());
    let (mut here, mut there) = lane(&target, &lanes);
    faults.arm();
    exchange(&mut here, &mut there, 12 << 20);
    let resumed = here.info.changes.resumptions();
    assert!(resumed > 10, "{resumed} of {:?}", faults.by_kind());
}

#[test]
fn tcp_goes_on_whatever_breaks() {
    breaks(false, 11);
}

#[test]
fn tls_goes_on_whatever_breaks() {
    breaks(true, 12);
}

/// Ends the connections that a process has to `peer`, as whoever has them would not.
fn cut(link: &Link) {
    link.break_connection();
}

/// A lane over a Unix socket in `dir`, and the server's end.
fn unix_lane(dir: &Path) -> (Link, Link) {
    let path = dir.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let lanes = serve_lanes(
        move || listener.accept().map(|(stream, _)| Stream::from(stream)),
        resuming(terms()),
    );
    let mut target = target(&format!("unix:{}", path.display()));
    target.link = Preference::Unix;
    lane(&target, &lanes)
}

#[test]
fn a_unix_socket_is_connected_to_again() {
    let dir = tempfile::tempdir().unwrap();
    let (mut here, mut there) = unix_lane(dir.path());
    for round in 1..20 {
        cut(if round % 2 == 0 { &here } else { &there });
        exchange(&mut here, &mut there, 100_000);
        assert_eq!(here.info.changes.resumptions(), round);
    }
}

/// What a socket has that nobody reads any more is memory that is in use again meanwhile.
#[test]
fn a_unix_socket_breaks_while_memory_is_left_to_it() {
    const BYTES: usize = 24 << 20;
    let dir = tempfile::tempdir().unwrap();
    let (mut here, mut there) = unix_lane(dir.path());
    let sender = thread::spawn(move || {
        send(&mut *there.tx, 3, BYTES);
        there
    });
    let (mut stream, mut sizes) = (Bytes::new(3), Bytes::new(3 ^ 77));
    let (mut wanted, mut got) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut read = 0;
    while read < BYTES {
        let len = length(sizes.next(), BYTES - read);
        stream.fill(&mut wanted[..len]);
        here.rx.read(&mut got[..len]).unwrap();
        assert!(
            got[..len] == wanted[..len],
            "bytes {read} to {}",
            read + len
        );
        read += len;
        if len > 64 << 10 {
            cut(&here);
        }
    }
    let resumed = here.info.changes.resumptions();
    assert!(resumed > 10, "{resumed}");
    drop(sender.join().unwrap());
}

/// Both have more to send than the socket holds, and one thread each, which reads when it has sent all.
#[test]
fn two_sides_that_send_at_the_same_time_do_not_wait_for_each_other() {
    const BYTES: usize = 8 << 20;
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = unix_lane(dir.path());
    let (sender, done) = channel();
    for (mut link, sends, receives) in [(here, 3, 5), (there, 5, 3)] {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = vec![0; BYTES];
            Bytes::new(sends).fill(&mut bytes);
            link.tx.bulk(&bytes).unwrap();
            Bytes::new(receives).fill(&mut bytes);
            let mut received = vec![0; BYTES];
            link.rx.read(&mut received).unwrap();
            assert!(received == bytes);
            sender.send(link).unwrap();
        });
    }
    drop(sender);
    let wait = Duration::from_secs(60);
    let _links = [(); 2].map(|()| done.recv_timeout(wait).expect("each waits for the other"));
}

#[test]
fn a_server_that_is_not_there_in_time_is_lost_with_the_reason() {
    let (address, lanes) = lane_server(resuming(terms()));
    let plan = Plan {
        seed: 1,
        breaks: 1,
        most_bytes: 1,
        stall: Duration::ZERO,
        whole: 0,
    };
    let faults = Faults::to(&address, plan).unwrap();
    let mut target = target(faults.address());
    target.link = Preference::Tcp;
    target.resume = Duration::from_millis(300);
    let (mut here, mut there) = lane(&target, &lanes);
    // The system reports that to another process; here the lane that it had is gone.
    there.end.end();
    let began = Instant::now();
    let error = here.rx.peek(1, None).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, LinkError::Closed(Ended { .. })), "{text}");
    assert!(
        text.contains("could not be resumed: ") && text.contains("has ended"),
        "{text}"
    );
    assert!(began.elapsed() < Duration::from_secs(10));
    assert!(there.rx.peek(1, None).is_err());
    // It stays so.
    assert!(here.rx.peek(1, None).is_err() && here.tx.bulk(&[1]).is_err());
    // Nor does who never waits take it for one that is silent.
    assert!(here.rx.ready(1).is_err() && there.rx.ready(1).is_err());
}

/// The session's secret is what a lane is resumed by: who knows its name, its lanes and all that was ever sent is turned
/// away, and the lane goes on undisturbed.
#[test]
fn nobody_else_takes_a_lane_over() {
    use std::io::{Read as _, Write as _};
    let (address, lanes) = lane_server(resuming(terms()));
    let mut target = target(&address);
    target.link = Preference::Tcp;
    let (mut here, _, session) = connect(&target, &hello(false), None).unwrap();
    let mut there = lanes.recv_timeout(Duration::from_secs(60)).unwrap();
    let mut forged = session;
    forged.secret[31] ^= 1;
    let error = connect(&target, &hello(false), Some(&forged)).unwrap_err();
    assert!(error.to_string().contains("session has ended"), "{error}");
    // A new session's connection that asks for a lane of another.
    let mut other = std::net::TcpStream::connect(&address).unwrap();
    let mut greeting = [0; gtrace_protocol::GREETING_LEN];
    other.read_exact(&mut greeting).unwrap();
    let mut bytes = gtrace_protocol::Preamble::new(false, false)
        .to_bytes()
        .to_vec();
    let asked = gtrace_protocol::ResumeLane {
        lane: 1,
        attempt: 9,
        received: 0,
    };
    for (op, payload) in [
        (
            gtrace_protocol::control::RESUME,
            gtrace_protocol::Payload::to_bytes(&asked),
        ),
        (gtrace_protocol::control::PROOF, vec![0; 32]),
    ] {
        let mut header = gtrace_protocol::Header {
            op,
            ..Default::default()
        };
        header.set_payload(payload.len(), 0);
        bytes.extend(header.to_bytes());
        bytes.extend(payload);
    }
    other.write_all(&bytes).unwrap();
    let mut answer = [0; gtrace_protocol::HEADER_LEN];
    other.read_exact(&mut answer).unwrap();
    let answer = gtrace_protocol::Header::parse(&answer).unwrap();
    assert_eq!(answer.op, gtrace_protocol::control::REFUSED);
    exchange(&mut here, &mut there, 100_000);
    assert_eq!(here.info.changes.severances(), 0);
}

/// What a proxy lets pass of the connections of a client, one after the other.
enum Passing {
    /// So many bytes from the client; when more come, both ends are closed.
    Cut(usize),
    /// Everything.
    Whole,
    /// Nothing: the connection is handed out.
    Held(std::sync::mpsc::Sender<std::net::TcpStream>),
}

/// A proxy to `server` that treats its connections so; the last way is for all further ones. Also, the bytes that the
/// first connection has carried from the client.
fn proxy(server: &str, mut ways: Vec<Passing>) -> (String, std::sync::Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, server) = (
        listener.local_addr().unwrap().to_string(),
        server.to_owned(),
    );
    let carried = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&carried);
    ways.reverse();
    thread::spawn(move || {
        let mut first = true;
        while let Ok((client, _)) = listener.accept() {
            let limit = match ways.last().unwrap() {
                Passing::Held(sender) => {
                    let _ = sender.send(client);
                    continue;
                }
                Passing::Cut(bytes) => *bytes,
                Passing::Whole => usize::MAX,
            };
            if ways.len() > 1 {
                ways.pop();
            }
            let counted = std::mem::take(&mut first).then(|| std::sync::Arc::clone(&counted));
            let to = std::net::TcpStream::connect(&server).unwrap();
            let (from, mut back) = (client.try_clone().unwrap(), client);
            let mut answers = to.try_clone().unwrap();
            thread::spawn(move || {
                let _ = std::io::copy(&mut answers, &mut back);
                let _ = back.shutdown(std::net::Shutdown::Both);
            });
            thread::spawn(move || pass(from, to, limit, counted.as_deref()));
        }
    });
    (address, carried)
}

/// Passes `limit` bytes on, and closes both ends when more come.
fn pass(
    mut from: std::net::TcpStream,
    mut to: std::net::TcpStream,
    limit: usize,
    counted: Option<&AtomicUsize>,
) {
    use std::io::{Read as _, Write as _};
    let (mut passed, mut bytes) = (0, [0; 16 << 10]);
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let now = read.min(limit - passed);
        if to.write_all(&bytes[..now]).is_err() || now < read {
            break;
        }
        passed += now;
        if let Some(counted) = counted {
            counted.store(passed, Ordering::SeqCst);
        }
    }
    for socket in [from, to] {
        let _ = socket.shutdown(std::net::Shutdown::Both);
    }
}

/// A client that chooses its link asks for RDMA, in vain, probes the connection, and says SWITCH. Wherever the connection
/// breaks once the server has let the lane in, the lane goes on.
#[test]
fn a_connection_that_breaks_while_its_lane_is_opened_is_replaced() {
    let target = |address: &str| {
        let mut target = target(address);
        target.rdma_trusted = "127.0.0.1".parse().unwrap();
        target
    };
    let (address, lanes) = lane_server(resuming(terms()));
    let (through, carried) = proxy(&address, vec![Passing::Whole]);
    drop(connect(&target(&through), &hello(false), None).unwrap());
    let wait = Duration::from_secs(60);
    drop(lanes.recv_timeout(wait).unwrap());
    // Nothing of the lane was sent, so that SWITCH was the last.
    let all = carried.load(Ordering::SeqCst);
    let switch = gtrace_protocol::HEADER_LEN;
    for cut in [all, all - 1, all - switch + 1, all - switch] {
        let (address, lanes) = lane_server(resuming(terms()));
        let (through, _) = proxy(&address, vec![Passing::Cut(cut), Passing::Whole]);
        let (mut here, _, _) = connect(&target(&through), &hello(false), None).unwrap();
        let mut there = lanes.recv_timeout(wait).expect("the server has the lane");
        exchange(&mut here, &mut there, 100_000);
        assert_eq!(here.info.changes.resumptions(), 1, "cut after {cut} bytes");
    }
}

/// A child of a fork that happens in the middle of an attempt to attach a lane again has no part of the new connection: its
/// end is seen while the child lives.
#[test]
#[allow(unsafe_code)]
fn a_child_of_a_fork_keeps_no_connection_that_is_being_opened() {
    use std::io::Read as _;
    let (address, lanes) = lane_server(resuming(terms()));
    let (sender, held) = channel();
    let (through, _) = proxy(&address, vec![Passing::Cut(4000), Passing::Held(sender)]);
    let mut target = target(&through);
    target.link = Preference::Tcp;
    target.timeout = Duration::from_secs(2);
    let (mut here, _there) = lane(&target, &lanes);
    here.tx.bulk(&[7; 10_000]).unwrap();
    // Nobody greets there, so that the attempt waits.
    let began = Instant::now();
    let mut attempt = loop {
        assert!(here.end.is_alive() && began.elapsed() < Duration::from_secs(10));
        if let Ok(attempt) = held.recv_timeout(Duration::from_millis(5)) {
            break attempt;
        }
    };
    // SAFETY: the child makes system calls only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        gtrace_link::forget_in_child();
        loop {
            // SAFETY: a system call.
            unsafe { libc::pause() };
        }
    }
    drop(here);
    // The attempt is given up after some seconds, and its socket closed.
    attempt
        .set_read_timeout(Some(Duration::from_secs(8)))
        .unwrap();
    let end = attempt.read(&mut [0]);
    // SAFETY: a child of this process, which is waited for.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    assert!(
        matches!(end, Ok(0)),
        "the child holds the connection: {end:?}"
    );
}

/// A thread that sends for others does not wait for one that reads nothing, and loses none of its bytes.
#[test]
fn what_does_not_fit_is_sent_later_by_who_does_not_wait() {
    const PIECE: usize = 16 << 10;
    for (tls, resumes) in [(false, false), (true, false), (false, true), (true, true)] {
        let certificates = tls.then(Certificates::new);
        let mut terms = resuming(terms_with(certificates.as_ref()));
        if !resumes {
            terms.resume = Duration::ZERO;
        }
        let (address, lanes) = lane_server(terms);
        let mut target = target(&address);
        target.link = Preference::Tcp;
        target.tls = trust_of(certificates.as_ref());
        let (mut here, mut there) = lane(&target, &lanes);
        let mut stream = Bytes::new(7);
        let mut pieces = 0;
        // Until the socket is full; it holds some megabytes.
        loop {
            stream.fill(here.tx.reserve(PIECE).unwrap());
            here.tx.commit(PIECE);
            pieces += 1;
            if !here.tx.flush_some().unwrap() {
                break;
            }
            assert!(pieces < 4096, "it takes everything");
        }
        let reader = thread::spawn(move || {
            let mut stream = Bytes::new(7);
            let (mut wanted, mut read) = (vec![0; PIECE], vec![0; PIECE]);
            for piece in 0..pieces {
                stream.fill(&mut wanted);
                there.rx.read(&mut read).unwrap();
                assert!(
                    read == wanted,
                    "piece {piece}, TLS {tls}, resumes {resumes}"
                );
            }
            there
        });
        let began = Instant::now();
        while !here.tx.flush_some().unwrap() {
            assert!(began.elapsed() < Duration::from_secs(20));
            thread::sleep(Duration::from_millis(1));
        }
        reader.join().unwrap();
    }
}
