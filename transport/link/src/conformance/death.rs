//! The other process ends: whoever waits for it sees it within a second.
//!
//! Where the other end is to be killed, it is this test binary again, which the environment makes connect
//! and stay.

use std::env;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::ends::{Ends, Kind, kinds};
use crate::client::{connect, hello};
use crate::common::{Certificates, rdma_address, tcp_server, tcp_server_at, terms};
use crate::emulated::emulate;
use crate::link::{Link, LinkError};
use crate::target::{Preference, Target};
use crate::tcp::TlsClient;

const ADDRESS: &str = "GTRACE_TEST_ADDRESS";
const LINK: &str = "GTRACE_TEST_LINK";
const CA: &str = "GTRACE_TEST_CA";

/// Not a test by itself: the process that is killed.
#[test]
fn the_other_process() {
    let Ok(address) = env::var(ADDRESS) else {
        return;
    };
    let mut target = Target::parse(&address).unwrap();
    target.link = env::var(LINK).unwrap().parse().unwrap();
    if let Some(ip) = rdma_address() {
        target.rdma_trusted = ip.to_string().parse().unwrap();
    }
    target.tls = env::var_os(CA).map(|ca| TlsClient::new(ca.into(), None));
    let (mut link, _, _) = connect(&target, &hello(false), None).unwrap();
    link.tx.bulk(b"here").unwrap();
    thread::sleep(Duration::from_secs(60));
}

/// A link to a process of its own.
fn other_process(link: Preference, tls: Option<&Certificates>) -> (Link, Child) {
    let mut terms = tls.map_or_else(terms, Certificates::terms);
    let (address, accepted) = match rdma_address() {
        Some(ip) if link == Preference::Rdma => {
            terms.rdma_trusted = ip.to_string().parse().unwrap();
            tcp_server_at(ip, terms)
        }
        _ => tcp_server(terms),
    };
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "conformance::death::the_other_process"])
        .env(ADDRESS, address)
        .env(LINK, link.to_string())
        .stdout(Stdio::null());
    if let Some(tls) = tls {
        command.env(CA, tls.path("cert"));
    }
    let child = command.spawn().unwrap();
    let (mut link, _, _) = accepted
        .recv_timeout(Duration::from_secs(20))
        .unwrap()
        .unwrap();
    assert_eq!(link.rx.peek(4, None).unwrap(), b"here");
    link.rx.consume(4);
    (link, child)
}

/// The same, with a process of its own where that is possible.
enum Other {
    Process(Child),
    /// The other end in this process, whose connection is reset.
    Here(Box<Ends>),
}

fn other(kind: Kind) -> (Link, Other) {
    let certificates = (kind == Kind::Tls).then(Certificates::new);
    let preference = match kind {
        Kind::Tcp | Kind::Tls | Kind::Emulated => Preference::Tcp,
        Kind::Unix => Preference::Unix,
        Kind::SharedMemory => Preference::SharedMemory,
        Kind::Device => Preference::Rdma,
        Kind::Doubled | Kind::EmulatedDoubled | Kind::Resumed | Kind::ResumedTls => {
            let mut ends = Ends::of(kind);
            let spare = Ends::of(Kind::Unix).here;
            let here = std::mem::replace(&mut ends.here, spare);
            return (here, Other::Here(Box::new(ends)));
        }
    };
    let (mut link, child) = other_process(preference, certificates.as_ref());
    if kind == Kind::Emulated {
        link = emulate(link, "rtt=1ms".parse().unwrap()).unwrap();
    }
    (link, Other::Process(child))
}

impl Other {
    fn dies(&mut self) {
        match self {
            Self::Process(child) => {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            Self::Here(ends) => ends.cutter()(),
        }
    }
}

#[test]
fn a_peer_that_is_killed_is_seen_by_whoever_waits() {
    thread::scope(|scope| {
        for kind in kinds() {
            for sends in [false, true] {
                scope.spawn(move || killed(kind, sends));
            }
        }
    });
}

fn killed(kind: Kind, sends: bool) {
    let (mut link, mut other) = other(kind);
    let waiting = thread::spawn(move || {
        if sends {
            let body = vec![1; 1 << 20];
            while let Ok(()) = link.tx.bulk(&body) {}
            link.tx.bulk(&body).unwrap_err()
        } else {
            link.rx.peek(1, None).unwrap_err()
        }
    });
    // Long enough that the wait sleeps, and checks seldom.
    thread::sleep(Duration::from_millis(1300));
    assert!(!waiting.is_finished(), "{kind}, sending: {sends}");
    let began = Instant::now();
    other.dies();
    let error = waiting.join().unwrap();
    let took = began.elapsed();
    assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
    assert!(took < Duration::from_secs(1), "{kind}: {took:?}");
}

#[test]
fn what_was_sent_before_the_end_is_read_and_then_the_end() {
    for kind in kinds() {
        let Ends {
            mut here,
            mut there,
            ..
        } = Ends::of(kind);
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
    for kind in kinds() {
        let Ends {
            here, mut there, ..
        } = Ends::of(kind);
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
